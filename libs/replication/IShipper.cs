using Garnet.Aof;
using Garnet.Aof.Shipping;
using Tsavorite;

namespace Garnet.Replication;

/// <summary>What a <see cref="ReplicaLink"/> needs of the server that ships.</summary>
public interface IShipper
{
    /// <summary>The last batches.</summary>
    Backlog Backlog { get; }

    /// <summary>The log in force if it is on disk, else null.</summary>
    AppendOnlyLog? LogOnDisk { get; }

    /// <summary>Term of the log.</summary>
    uint Term { get; }

    /// <summary>Lanes and hash seed of whoever writes the log.</summary>
    (int Lanes, ulong HashSeed) Layout { get; }

    /// <summary>Name of the history.</summary>
    string HistoryId { get; }

    /// <summary>Run ids from the first primary down to this server.</summary>
    IReadOnlyList<string> Path { get; }

    /// <summary>True if the position is one of this log's own.</summary>
    bool Reaches(LogPosition position);

    /// <summary>True if this log has another batch of that number and term.</summary>
    bool Diverges(LogPosition position);

    /// <summary>
    /// True if this server is a replica itself and what the position names may still come to it: whoever is there would go back in time
    /// within one history if it followed now.
    /// </summary>
    bool IsToCome(LogPosition position);

    /// <summary>A replica's log has diverged from this one.</summary>
    void OnDiverged(HelloFacts replica);

    /// <summary>The last batch that is common to the position's history and this one; <see cref="ulong.MaxValue"/> = not known.</summary>
    ulong ForkOf(LogPosition position);

    /// <summary>What is known of the terms of this history.</summary>
    IReadOnlyList<TermStart> TermStarts { get; }

    /// <summary>
    /// The copy that the replica had begun when its link broke, to go on where it was, if there is one. False while the end of that link
    /// is still to come.
    /// </summary>
    bool TryResume(HelloFacts replica, out FullCopy? copy);

    /// <summary>Cuts the store between two batches; null while another snapshot is being taken.</summary>
    StoreSnapshot? TryCut();

    /// <summary>It is decided how a replica comes up to date.</summary>
    void OnPlanned(HelloFacts replica, bool isFull);

    /// <summary>A replica has acknowledged something.</summary>
    void OnAck();
}

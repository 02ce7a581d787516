using Garnet.Server.Clients;
using Garnet.Server.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>Places in the history as one number: for tools that know offsets, and for tokens.</summary>
internal sealed partial class ReplicationNode
{
    private const int BatchBits = 40; // more batches than that overflow into terms that no promotion takes

    /// <summary>Where this server stands, as one number: a larger one is a superset in the same history, and a later history. 0 while a replica's data is coming in: a Sentinel chooses by it.</summary>
    internal long Offset =>
        IsLoading ? 0 : ShowsApplied ? OffsetOf(Applied.Term, Applied.Number) : Node.Current is null ? 0 : OffsetOf(_term, Backlog.End.Batch);

    /// <summary>The primary that is followed, or is to be.</summary>
    internal Peer Primary
    {
        get
        {
            lock (_gate)
                return (_isWish ? _wish : null) ?? _following?.Primary ?? _wish ?? new Peer("", 0);
        }
    }

    /// <summary>Where a replica stands.</summary>
    internal long OffsetOf(AckFrame ack) => OffsetOf(ack.Term, ack.Applied);

    internal static long OffsetOf(uint term, ulong batch) => ((long)term << BatchBits) + (long)batch;

    /// <summary>Covers all that anybody can have seen here so far, also while the role is being changed. Ends a batch, so not out of a transaction (NoMulti).</summary>
    internal (uint Term, ulong Batch) Token() => ShowsApplied ? (Applied.Term, Applied.Number) : (_term, Node.EndBatch());

    /// <summary>The same for clients.</summary>
    internal string TokenText() => Token() is var (term, batch) ? TextOf(term, batch) : "";

    /// <summary>A moment of this history for clients.</summary>
    internal string TextOf(uint term, ulong batch) => Tokens.Text(term, batch, _terms.OwnerOf(term));

    // What can be read here is what was applied last: on a replica, and until it leads (replication.Z4). A primary becomes one when its log has ended (replication.Z2).
    private bool ShowsApplied => _follower is not null || (_isReplica && Node.Current is null);

    /// <summary>The term this server leads in, or led in last.</summary>
    internal uint LedTerm => _term;

    /// <summary>True if a client's change is not a part of the history this server leads now: it was discarded, or nobody knows.</summary>
    internal bool HasGivenUp(LogMark write) => write.IsKnown && write.Term != _term && (_terms.IsOthers(write.Term, Terms.OwnerBy(RunId)) || _terms.LastOf(write.Term) is not { } end || write.Batch > end);

    /// <summary>Somebody waits for the change.</summary>
    internal void Demand(LogMark write)
    {
        if (write.Term == _term)
            Node.Leading?.Demand(write.Batch);
    }

    /// <summary>Whether what a token covers can be read here.</summary>
    internal TokenState Reached(uint term, ulong batch, uint owner = 0)
    {
        bool showsApplied = ShowsApplied;
        (uint here, ulong last) = showsApplied ? (Applied.Term, Applied.Number) : (_term, LastBatch);
        return _terms.Judge((term, batch, owner), here, last, isReadable: !showsApplied || ChecksReads);
    }
}

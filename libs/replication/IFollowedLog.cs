using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Shipping;

namespace Garnet.Replication;

/// <summary>The log of a replica, as its <see cref="Follower"/> uses it.</summary>
public interface IFollowedLog
{
    /// <summary>The last batches.</summary>
    Backlog Backlog { get; }

    /// <summary>The log in force; null while a server without an append-only file was never followed.</summary>
    AppendOnlyLog? Current { get; }

    /// <summary>The same if it is on disk.</summary>
    AppendOnlyLog? OnDisk { get; }

    /// <summary>True if what the store held before a full copy can be read back from this server's own disk.</summary>
    bool IsKeptOnDisk { get; }

    /// <summary>Where snapshots of a primary are kept; null = nowhere.</summary>
    IDisk? Disk { get; }

    /// <summary>From here on batches of a primary go to the log.</summary>
    void Follow(AofStart start);

    /// <summary>Nothing goes to the log any more: all that did is written and durable, as far as the disk lets it. Returns where it stands.</summary>
    LogPosition Stop();

    /// <summary>True if what came behind the batch can be taken back again; it was empty.</summary>
    bool CanRewind(ulong batch);

    /// <summary>Takes batches back that the primary never had; they were empty. False if the log is not such that they can be taken back.</summary>
    bool TryRewind(LogPosition to);

    /// <summary>A primary's snapshot takes the place of all that was in the directory.</summary>
    void Replace(string snapshot, LogPosition at, IReadOnlyList<TermStart> terms);
}

using Garnet.Aof;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>Cuts the store between two batches, whatever the role.</summary>
internal sealed class StoreCuts(Store store, RoleState role, NodeHistory history, NodeLog log)
{
    private const int TurnMs = 20;

    /// <summary>Cuts as soon as nobody else's snapshot runs; null if that is given up before.</summary>
    internal StoreSnapshot? Cut(SnapshotOptions options, CancellationToken cancellation)
    {
        StoreSnapshot? snapshot;
        while ((snapshot = TryCut(options)) is null && !cancellation.WaitHandle.WaitOne(TurnMs))
        {
            // a replica's snapshot is under way, or all data are coming in
        }

        return snapshot;
    }

    /// <summary>Null while somebody else's snapshot runs, or the role changes.</summary>
    internal StoreSnapshot? TryCut(SnapshotOptions options)
    {
        try
        {
            long words = role.Words;
            if (role.Follower is { } follower)
                return follower.AtBoundary((_, batch) => store.BeginSnapshot(options, batch));
            if (role.IsReplica || role.IsChanging)
                return null;
            StoreSnapshot snapshot = store.BeginSnapshot(options);
            if (role.Words == words)
                return snapshot;
            snapshot.Dispose(); // the role has been changed meanwhile: it may be cut in the middle of a batch that is applied
            return null;
        }
        catch (InvalidOperationException)
        {
            return null; // another snapshot is being taken
        }
    }

    /// <summary>The same for a replica, which goes on from there with the log: a server that was never followed has one in memory from now on, unless it is on disk.</summary>
    internal StoreSnapshot? TryCutForReplica()
    {
        lock (role.Gate)
        {
            if (log.Current is null && !role.IsReplica && !role.IsChanging) // while it changes, a promotion begins one itself
                log.Lead(new AofStart(history.LedTerm, 0, [0], store.Partitions, store.HashSeed));
        }

        long most = log.Backlog.PinnedBytesMax;
        return TryCut(new SnapshotOptions { BufferBytes = most, BufferBytesMax = most });
    }
}

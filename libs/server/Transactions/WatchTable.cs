using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Transactions;

/// <summary>
/// Who watches which key: WATCH, so that EXEC does nothing where it has changed, and MIGRATE, which deletes only what nobody has written. The store's observer tells of every change while anybody watches; it runs under the partition's
/// lock, and EXEC looks with the locks of the watched keys held, so it sees every change or comes before it. A version kept
/// with each record would cost every write something, whether anybody watches or not; a bucket's sequence would also
/// count changes of neighbours.
///
/// transactions.X1  A key is watched under its partition's lock, under which it is also looked whether it is there and whether the database still
///     stands for the namespace; who watches listens before (rule store.N1): no change is missed.
/// transactions.X2  A watch names its key by the number of the database, not by the namespace, which FLUSHDB and SWAPDB exchange. These hold
///     all locks, and mark the watches of every key that the databases held as changed before they exchange anything.
/// transactions.X3  The removal of a record that had expired before it was watched is no change of its key: the key did not exist when it was
///     watched, and does not now.
/// </summary>
internal sealed class WatchTable(Store store, IClock clock, Listeners watchers)
{
    private readonly KeyChains<Watch> _watches = new();
    private long _keys;

    /// <summary>Connections that watch, those that move keys (MIGRATE) among them.</summary>
    internal int Clients => watchers.Count;

    /// <summary>Keys watched; one that several clients watch counts once for each.</summary>
    internal long Keys => Volatile.Read(ref _keys);

    /// <summary>A connection begins to watch.</summary>
    internal void Begin() => watchers.Enter();

    /// <summary>True if the connection watches the key.</summary>
    internal bool Has(WatchedKeys owner, int database, ReadOnlySpan<byte> key, ulong hash) => Any(database, key, hash, its => its == owner);

    /// <summary>True if a MIGRATE moves the key.</summary>
    internal bool IsMoved(int database, ReadOnlySpan<byte> key, ulong hash) => Any(database, key, hash, static its => its.IsMove);

    private bool Any(int database, ReadOnlySpan<byte> key, ulong hash, Predicate<WatchedKeys> holds)
    {
        KeyShard<Watch> shard = _watches.Of(hash);
        if (shard.Count == 0)
            return false;
        lock (shard.Gate)
        {
            for (Watch? watch = shard.First(hash); watch is not null; watch = watch.Next)
            {
                if (watch.Is(database, key) && holds(watch.Owner))
                    return true;
            }
        }

        return false;
    }

    /// <summary>Adds a watch (transactions.X1).</summary>
    internal void Add(Watch watch)
    {
        KeyShard<Watch> shard = _watches.Of(watch.Hash);
        lock (shard.Gate)
            shard.Add(watch);

        Interlocked.Increment(ref _keys);
    }

    /// <summary>A connection watches no more.</summary>
    internal void End(WatchedKeys watched)
    {
        EndAll(watched);
        watchers.Leave();
    }

    /// <summary>It watches none of its keys any more, and may watch others.</summary>
    internal void EndAll(WatchedKeys watched)
    {
        foreach (Watch watch in watched.Watches)
            Remove(watch);
        Interlocked.Add(ref _keys, -watched.Watches.Count);
        watched.Clear();
    }

    /// <summary>Ends a client's transaction and all its watching, whatever had begun.</summary>
    internal void EndTransaction(Connection client)
    {
        if (client.Transaction is not { } transaction)
            return;
        client.Transaction = null;
        client.Modes &= ~ClientModes.Transaction;
        transaction.Queue.Dispose();
        if (transaction.Watched is { } watched)
            End(watched);
    }

    /// <summary>The client watches no more; what is queued stays.</summary>
    internal void Unwatch(Connection client)
    {
        if (client.Transaction is not { Watched: { } watched } transaction)
            return;
        End(watched);
        transaction.Watched = null;
        if ((client.Modes & ClientModes.Transaction) == 0)
            client.Transaction = null;
    }

    /// <summary>A key has changed; under its partition's lock.</summary>
    internal unsafe void OnChange(in KeyRef key, KeyChange change)
    {
        ulong hash = store.HashBytes(key.Bytes, key.Length);
        KeyShard<Watch> shard = _watches.Of(hash);
        if (shard.Count == 0)
            return;
        int database = store.DatabaseOf(key.Namespace);
        lock (shard.Gate)
        {
            for (Watch? watch = shard.First(hash); watch is not null; watch = watch.Next)
            {
                bool vanished = change == KeyChange.Expired && !watch.Existed; // transactions.X3
                if (!vanished && watch.Is(database, key.Span))
                    watch.Touch();
            }
        }
    }

    /// <summary>The database is about to be emptied (transactions.X2).</summary>
    internal void OnFlush(int database) => TouchWhere(watch => watch.Database == database && watch.Existed);

    /// <summary>Two databases are about to change places (transactions.X2).</summary>
    internal void OnSwap(int first, int second)
    {
        long nowMs = clock.UnixMs;
        TouchWhere(watch => (watch.Database == first && (watch.Existed || MayBeIn(second, watch, nowMs)))
            || (watch.Database == second && (watch.Existed || MayBeIn(first, watch, nowMs))));
    }

    // A key that cannot be read, as of damage on a tier, may be there: EXEC is refused rather than run.
    private bool MayBeIn(int database, Watch watch, long nowMs)
    {
        try
        {
            return IsIn(database, watch, nowMs);
        }
        catch (GarnetException)
        {
            return true;
        }
    }

    private unsafe bool IsIn(int database, Watch watch, long nowMs)
    {
        fixed (byte* bytes = watch.Bytes)
            return store.IsLive(store.KeyFromHash(bytes, watch.Key.Length, store.Namespaces.Id(database), watch.Hash), nowMs);
    }

    private void TouchWhere(Predicate<Watch> holds)
    {
        foreach (KeyShard<Watch> shard in _watches.Shards)
        {
            lock (shard.Gate)
            {
                foreach (Watch first in shard.Chains)
                {
                    for (Watch? watch = first; watch is not null; watch = watch.Next)
                    {
                        if (holds(watch))
                            watch.Touch();
                    }
                }
            }
        }
    }

    private void Remove(Watch watch)
    {
        KeyShard<Watch> shard = _watches.Of(watch.Hash);
        lock (shard.Gate)
            shard.Remove(watch);
    }
}

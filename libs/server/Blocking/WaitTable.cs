using Garnet.Server.Base;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Blocking;

/// <summary>
/// Who waits for which key. The store's observer tells of every change while anybody waits, whichever command makes it; the changed
/// key's queue is noted, and served by the thread that made the change, once its command (or the whole of EXEC) is through.
///
/// blocking.B1  A command joins its queues under the locks of all its keys, under which it has also looked that none holds what it waits for;
///     it listens before that (rule store.N1): no change is missed, and of several keys filled as one step the first is taken from.
/// blocking.B2  A queue is served in its order, under the lock of the key's partition: two threads that serve it cannot overtake each other.
/// blocking.B3  A key for which others wait is not taken from by a newcomer that could wait: it joins the queue.
/// blocking.B4  The end of a wait is decided once (<see cref="Parking.TryEnd"/>), before anything is taken for it.
/// blocking.B5  Who can be served is asked about again (<see cref="IServeRule"/>), with no lock held. Who is refused leaves his queues with the error; who
///     is to wait for something else first keeps his places, is passed over meanwhile, and then the queues of his keys are served again.
/// blocking.B6  What the log does not take, or cannot be read, is the error of the first who waits for it, not of whoever serves him: that command is done.
/// blocking.B7  While a full copy of a primary's data comes in a key may hold a part of its value: it is looked at, for whoever waits, once all of it is there.
/// </summary>
internal sealed class WaitTable(Store store, Listeners waiters)
{
    private readonly KeyChains<KeyQueue> _queues = new();
    private int _keysToStay;

    /// <summary>Commands that wait.</summary>
    internal int Count => waiters.Count;

    /// <summary>Keys that are waited for.</summary>
    internal int Keys => _queues.Shards.Sum(static shard => shard.Count);

    /// <summary>Of these, those with somebody whose wait ends, too, when the key is deleted (XREADGROUP).</summary>
    internal int KeysToStay => Volatile.Read(ref _keysToStay);

    /// <summary>A command begins to wait.</summary>
    internal void Begin() => waiters.Enter();

    /// <summary>Adds the command to the queue of a key, once; the key's partition is locked, as it is for others who join.</summary>
    internal void Join(KeyWait wait, ReadOnlySpan<byte> key, ulong hash)
    {
        KeyShard<KeyQueue> shard = _queues.Of(hash);
        int database = wait.Client.Database;
        lock (shard.Gate)
        {
            KeyQueue queue = Find(shard, database, key, hash) ?? Open(shard, database, key, hash);
            if (queue.Last?.Owner == wait) // the command names the key twice
                return;
            wait.Waits = this;
            var place = new WaitPlace(wait, queue) { Other = wait.Places };
            wait.Places = place;
            bool before = queue.EndsWithoutKey;
            queue.Add(place);
            if (queue.EndsWithoutKey != before)
                Interlocked.Increment(ref _keysToStay);
        }
    }

    /// <summary>Takes a command whose wait is over out of all queues; once, by whoever ended it.</summary>
    internal void Remove(KeyWait wait)
    {
        for (WaitPlace? place = wait.Places; place is not null; place = place.Other)
        {
            KeyShard<KeyQueue> shard = _queues.Of(place.Queue.Hash);
            lock (shard.Gate)
            {
                bool before = place.Queue.EndsWithoutKey;
                place.Queue.Remove(place);
                if (place.Queue.EndsWithoutKey != before)
                    Interlocked.Decrement(ref _keysToStay);
                if (place.Queue.First is null)
                    shard.Remove(place.Queue);
            }
        }

        waiters.Leave();
    }

    /// <summary>True if somebody waits for the key.</summary>
    internal bool Has(int database, ReadOnlySpan<byte> key, ulong hash) => Queue(database, key, hash) is not null;

    /// <summary>Those who wait for the key, null for nobody.</summary>
    internal KeyQueue? Queue(int database, ReadOnlySpan<byte> key, ulong hash)
    {
        KeyShard<KeyQueue> shard = _queues.Of(hash);
        if (shard.Count == 0)
            return null;
        lock (shard.Gate)
            return Find(shard, database, key, hash);
    }

    /// <summary>The first in the queue whose wait is not over, and who is not held.</summary>
    internal KeyWait? First(KeyQueue queue)
    {
        lock (_queues.Of(queue.Hash).Gate)
        {
            WaitPlace? place = queue.First;
            while (place is not null && (place.Owner.End != WaitEnd.None || place.Owner.IsHeld))
                place = place.Behind;
            return place?.Owner;
        }
    }

    /// <summary>The first of them for whom the key, which holds that kind of value, has what is waited for; the key's partition is locked.</summary>
    internal KeyWait? FirstReady(KeyQueue queue, StoreSession store, in KeyRef key, RecordKind kind)
    {
        lock (_queues.Of(queue.Hash).Gate)
        {
            WaitPlace? place = queue.First;
            while (place is not null
                && (place.Owner.End != WaitEnd.None || place.Owner.IsHeld || !place.Owner.IsReady(store, in key, kind)))
                place = place.Behind;
            return place?.Owner;
        }
    }

    /// <summary>A key has changed; under its partition's lock. The queue to serve, null for none.</summary>
    internal unsafe KeyQueue? OnChange(in KeyRef key, KeyChange change)
    {
        if (change is KeyChange.Retimed or KeyChange.Persisted)
            return null;
        ulong hash = store.HashBytes(key.Bytes, key.Length);
        return _queues.Of(hash).Count == 0 ? null : Queue(store.DatabaseOf(key.Namespace), key.Span, hash);
    }

    /// <summary>The queues of two databases that change places.</summary>
    internal void CopyQueues(int first, int second, List<KeyQueue> to)
    {
        foreach (KeyShard<KeyQueue> shard in _queues.Shards)
        {
            lock (shard.Gate)
            {
                foreach (KeyQueue chain in shard.Chains)
                {
                    for (KeyQueue? queue = chain; queue is not null; queue = queue.Next)
                    {
                        if (queue.Database == first || queue.Database == second)
                            to.Add(queue);
                    }
                }
            }
        }
    }

    private static KeyQueue? Find(KeyShard<KeyQueue> shard, int database, ReadOnlySpan<byte> key, ulong hash)
    {
        KeyQueue? queue = shard.First(hash);
        while (queue is not null && !queue.Is(database, key))
            queue = queue.Next;
        return queue;
    }

    private static KeyQueue Open(KeyShard<KeyQueue> shard, int database, ReadOnlySpan<byte> key, ulong hash)
    {
        var queue = new KeyQueue(database, key, hash);
        shard.Add(queue);
        return queue;
    }
}

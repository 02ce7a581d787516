using System.Collections.Concurrent;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Tracking;

/// <summary>
/// Which clients may hold which keys, by client id, in shards with a lock each. Databases are not told apart, as in Redis.
/// Ids of clients that have gone, or do not track any more, stay until their key changes, or until as many more have read it as did when it was
/// looked through last: nobody is owed a message for them.
/// </summary>
/// <param name="clients">Those that track. A client is among them before it reads (tracking.T1).</param>
internal sealed class TrackedKeys(ConcurrentDictionary<long, Connection> clients)
{
    private const int Shards = 64;
    private const int KeyBytes = 160, ItemBytes = 40; // what one takes beside the key's name, about

    private readonly Shard[] _shards = Arrays.Of(Shards, static () => new Shard());
    private long _keys;
    private long _items;
    private long _bytes;

    /// <summary>Keys remembered.</summary>
    internal long Keys => Volatile.Read(ref _keys);

    /// <summary>Pairs of key and client.</summary>
    internal long Items => Volatile.Read(ref _items);

    /// <summary>Bytes of the keys' names.</summary>
    internal long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Bytes of memory that all of it takes, an estimate.</summary>
    internal long MemoryBytes => (Keys * KeyBytes) + (Items * ItemBytes) + Bytes;

    /// <summary>Remembers that the client has seen the key.</summary>
    internal void Add(ReadOnlySpan<byte> key, long client)
    {
        Shard shard = ShardOf(key);
        lock (shard.Gate)
        {
            var lookup = shard.ByKey.GetAlternateLookup<ReadOnlySpan<byte>>();
            if (lookup.TryGetValue(key, out Holders? holders))
            {
                Interlocked.Add(ref _items, holders.Add(client, clients));
                return;
            }

            byte[] own = key.ToArray();
            shard.ByKey[own] = new Holders(client) { At = shard.Order.Count };
            shard.Order.Add(own);
            Interlocked.Increment(ref _keys);
            Interlocked.Add(ref _bytes, own.Length);
            Interlocked.Increment(ref _items);
        }
    }

    /// <summary>Forgets the key; returns the clients that have seen it, none if there are none.</summary>
    internal IReadOnlyCollection<long> Take(byte[] key)
    {
        Shard shard = ShardOf(key);
        lock (shard.Gate)
        {
            if (!shard.ByKey.Remove(key, out Holders? holders))
                return [];
            byte[] last = shard.Order[^1];
            shard.Order[holders.At] = last;
            shard.Order.RemoveAt(shard.Order.Count - 1);
            if (holders.At < shard.Order.Count)
                shard.ByKey[last].At = holders.At;
            IReadOnlyCollection<long> clients = holders.All;
            Interlocked.Decrement(ref _keys);
            Interlocked.Add(ref _bytes, -key.Length);
            Interlocked.Add(ref _items, -clients.Count);
            return clients;
        }
    }

    /// <summary>Any key, each as likely as the next, to be forgotten because there are too many; null if there is none.</summary>
    internal byte[]? Victim()
    {
        int first = Random.Shared.Next(Shards);
        for (int tried = 0; tried < Shards; tried++)
        {
            Shard shard = _shards[(first + tried) % Shards];
            lock (shard.Gate)
            {
                if (shard.Order.Count > 0)
                    return shard.Order[Random.Shared.Next(shard.Order.Count)];
            }
        }

        return null;
    }

    internal void Clear()
    {
        foreach (Shard shard in _shards)
        {
            lock (shard.Gate)
            {
                Interlocked.Add(ref _keys, -shard.ByKey.Count);
                Interlocked.Add(ref _bytes, -shard.Order.Sum(static key => (long)key.Length));
                Interlocked.Add(ref _items, -shard.ByKey.Values.Sum(static holders => (long)holders.All.Count));
                shard.ByKey.Clear();
                shard.Order.Clear();
            }
        }
    }

    private Shard ShardOf(ReadOnlySpan<byte> key) => _shards[ByteString.Comparer.GetHashCode(key) & (Shards - 1)];

    private sealed class Shard
    {
        internal Lock Gate { get; } = new();
        internal Dictionary<byte[], Holders> ByKey { get; } = new(ByteString.Comparer);

        /// <summary>The keys, so that one can be drawn.</summary>
        internal List<byte[]> Order { get; } = [];
    }

    /// <summary>Who holds a key: nearly always one.</summary>
    private sealed class Holders(long first)
    {
        private const int LookedThroughMin = 8;

        private HashSet<long>? _all;
        private int _lookAt = LookedThroughMin; // so many are looked through for those who have gone

        /// <summary>The key's place in the order of its shard.</summary>
        internal int At { get; set; }

        internal IReadOnlyCollection<long> All => _all is null ? [first] : _all;

        /// <summary>By how many there are more of them now, or fewer.</summary>
        internal int Add(long client, ConcurrentDictionary<long, Connection> there)
        {
            if (_all is null && client == first)
                return 0;
            _all ??= [first];
            if (!_all.Add(client))
                return 0;
            return _all.Count < _lookAt ? 1 : 1 - DropGone(there);
        }

        // Next time when there are twice as many: a share of it is paid by each who has come since.
        private int DropGone(ConcurrentDictionary<long, Connection> there)
        {
            int gone = _all!.RemoveWhere(id => !there.ContainsKey(id));
            _lookAt = Math.Max(LookedThroughMin, 2 * _all.Count);
            if (gone > _all.Count)
                _all.TrimExcess();
            return gone;
        }
    }
}

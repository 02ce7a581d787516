using Garnet.Server.Base;

namespace Garnet.Server.Tracking;

/// <summary>
/// Which clients may hold which keys, by client id, in shards with a lock each. Databases are not told apart, as in Redis.
/// Ids of clients that have gone stay until their key changes.
/// </summary>
internal sealed class TrackedKeys
{
    private const int Shards = 64;

    private readonly Shard[] _shards = [.. Enumerable.Range(0, Shards).Select(static _ => new Shard())];
    private long _keys;
    private long _items;
    private long _bytes;

    /// <summary>Keys remembered.</summary>
    internal long Keys => Volatile.Read(ref _keys);

    /// <summary>Pairs of key and client.</summary>
    internal long Items => Volatile.Read(ref _items);

    /// <summary>Bytes of the keys' names.</summary>
    internal long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Remembers that the client has seen the key.</summary>
    internal void Add(ReadOnlySpan<byte> key, long client)
    {
        Shard shard = ShardOf(key);
        lock (shard.Gate)
        {
            var lookup = shard.ByKey.GetAlternateLookup<ReadOnlySpan<byte>>();
            if (lookup.TryGetValue(key, out Holders? holders))
            {
                if (holders.Add(client))
                    Interlocked.Increment(ref _items);
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
        private HashSet<long>? _all;

        /// <summary>The key's place in the order of its shard.</summary>
        internal int At { get; set; }

        internal IReadOnlyCollection<long> All => _all is null ? [first] : _all;

        internal bool Add(long client)
        {
            if (_all is null && client == first)
                return false;
            return (_all ??= [first]).Add(client);
        }
    }
}

using Garnet.Server.Base;

namespace Garnet.Server.Tracking;

/// <summary>
/// Which clients may hold which keys, by client id, in shards with a lock each. Databases are not told apart, as in Redis.
/// Ids of clients that have gone stay until their key changes.
/// </summary>
internal sealed class TrackedKeys
{
    private const int Shards = 64;

    private readonly Lock[] _gates = [.. Enumerable.Range(0, Shards).Select(static _ => new Lock())];
    private readonly Dictionary<byte[], HashSet<long>>[] _shards = [.. Enumerable.Range(0, Shards).Select(static _ => new Dictionary<byte[], HashSet<long>>(ByteString.Comparer))];
    private long _keys;
    private long _items;
    private int _nextVictim;

    /// <summary>Keys remembered.</summary>
    internal long Keys => Volatile.Read(ref _keys);

    /// <summary>Pairs of key and client.</summary>
    internal long Items => Volatile.Read(ref _items);

    /// <summary>Remembers that the client has seen the key.</summary>
    internal void Add(ReadOnlySpan<byte> key, long client)
    {
        int shard = ShardOf(key);
        lock (_gates[shard])
        {
            var lookup = _shards[shard].GetAlternateLookup<ReadOnlySpan<byte>>();
            if (!lookup.TryGetValue(key, out HashSet<long>? clients))
            {
                lookup[key] = clients = [];
                Interlocked.Increment(ref _keys);
            }

            if (clients.Add(client))
                Interlocked.Increment(ref _items);
        }
    }

    /// <summary>Forgets the key; returns the clients that have seen it, null if there are none.</summary>
    internal HashSet<long>? Take(byte[] key)
    {
        int shard = ShardOf(key);
        lock (_gates[shard])
        {
            if (!_shards[shard].Remove(key, out HashSet<long>? clients))
                return null;
            Interlocked.Decrement(ref _keys);
            Interlocked.Add(ref _items, -clients.Count);
            return clients;
        }
    }

    /// <summary>Some key, to be forgotten because there are too many; null if there is none.</summary>
    internal byte[]? Victim()
    {
        for (int tried = 0; tried < Shards; tried++)
        {
            int shard = (int)((uint)Interlocked.Increment(ref _nextVictim) % Shards);
            lock (_gates[shard])
            {
                foreach (byte[] key in _shards[shard].Keys)
                    return key;
            }
        }

        return null;
    }

    internal void Clear()
    {
        for (int shard = 0; shard < Shards; shard++)
        {
            lock (_gates[shard])
            {
                Interlocked.Add(ref _keys, -_shards[shard].Count);
                Interlocked.Add(ref _items, -_shards[shard].Values.Sum(static clients => (long)clients.Count));
                _shards[shard].Clear();
            }
        }
    }

    private static int ShardOf(ReadOnlySpan<byte> key) => ByteString.Comparer.GetHashCode(key) & (Shards - 1);
}

using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Tracking;

/// <summary>
/// The prefixes of broadcast mode and who wants them. A key is looked up by its beginnings of the lengths there are: how many prefixes
/// there are does not matter.
/// </summary>
internal sealed class Prefixes
{
    private readonly Lock _gate = new();
    private readonly Dictionary<byte[], HashSet<Connection>> _clients = new(ByteString.Comparer);
    private readonly SortedDictionary<int, int> _lengths = []; // how many prefixes have that length
    private volatile int _count;

    /// <summary>Keys that begin with a prefix, in their order, and who wants it.</summary>
    internal sealed record Hit(Connection[] Clients, List<byte[]> Keys);

    /// <summary>How many there are.</summary>
    internal int Count => _count;

    internal void Add(Connection client, IEnumerable<byte[]> prefixes)
    {
        lock (_gate)
        {
            foreach (byte[] prefix in prefixes)
            {
                if (!_clients.TryGetValue(prefix, out HashSet<Connection>? clients))
                {
                    _clients[prefix] = clients = [];
                    _lengths[prefix.Length] = _lengths.GetValueOrDefault(prefix.Length) + 1;
                }

                clients.Add(client);
            }

            _count = _clients.Count;
        }
    }

    internal void Remove(Connection client, IEnumerable<byte[]> prefixes)
    {
        lock (_gate)
        {
            foreach (byte[] prefix in prefixes)
            {
                HashSet<Connection> clients = _clients[prefix];
                clients.Remove(client);
                if (clients.Count > 0)
                    continue;
                _clients.Remove(prefix);
                if (--_lengths[prefix.Length] == 0)
                    _lengths.Remove(prefix.Length);
            }

            _count = _clients.Count;
        }
    }

    /// <summary>The prefixes that the keys begin with, in byte order.</summary>
    internal IReadOnlyCollection<Hit> Of(IEnumerable<byte[]> keys)
    {
        var hits = new SortedDictionary<byte[], Hit>(ByteOrder.Comparer);
        lock (_gate)
        {
            var lookup = _clients.GetAlternateLookup<ReadOnlySpan<byte>>();
            foreach (byte[] key in keys)
            {
                foreach (int length in _lengths.Keys.TakeWhile(length => length <= key.Length))
                {
                    if (!lookup.TryGetValue(key.AsSpan(0, length), out byte[]? prefix, out HashSet<Connection>? clients))
                        continue;
                    if (!hits.TryGetValue(prefix, out Hit? hit))
                        hits[prefix] = hit = new Hit([.. clients], []);
                    hit.Keys.Add(key);
                }
            }
        }

        return hits.Values;
    }

    /// <summary>True if one begins with the other.</summary>
    internal static bool Overlap(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other) => one.StartsWith(other) || other.StartsWith(one);

    /// <summary>Both in byte order, where the first are so already.</summary>
    internal static byte[][] Merge(byte[][] held, IEnumerable<byte[]> added)
    {
        List<byte[]> merged = [];
        int next = 0;
        foreach (byte[] prefix in added.Order(ByteOrder.Comparer))
        {
            for (; next < held.Length && ByteOrder.Comparer.Compare(held[next], prefix) <= 0; next++)
                merged.Add(held[next]);
            merged.Add(prefix);
        }

        merged.AddRange(held[next..]);
        return [.. merged];
    }

    /// <summary>
    /// The first of the added that overlaps with one held, which are in byte order, or another added; -1 for none. In that order what
    /// begins with a prefix stands straight behind it, so that a look at the neighbours is enough.
    /// </summary>
    internal static int FirstOverlap(IReadOnlyList<byte[]> added, byte[][] held)
    {
        int first = int.MaxValue;
        (byte[] Prefix, int At) outermost = ([], int.MaxValue);
        bool any = false;
        IEnumerable<(byte[] Prefix, int At)> numbered = added.Select(static (prefix, i) => (prefix, i));
        foreach ((byte[] Prefix, int At) one in numbered.OrderBy(static one => one.Prefix, ByteOrder.Comparer))
        {
            if (OverlapsHeld(one.Prefix, held))
                first = Math.Min(first, one.At);
            if (!any || !one.Prefix.AsSpan().StartsWith(outermost.Prefix))
                outermost = one;
            else
                first = Math.Min(first, Math.Min(one.At, outermost.At));
            any = true;
        }

        return first == int.MaxValue ? -1 : first;
    }

    // The empty prefix may be held beside others; these do not overlap.
    private static bool OverlapsHeld(byte[] prefix, byte[][] held)
    {
        if (held.Length == 0)
            return false;
        int at = Array.BinarySearch(held, prefix, ByteOrder.Comparer);
        if (at >= 0 || held[0].Length == 0)
            return true;
        return (~at < held.Length && Overlap(prefix, held[~at])) || (~at > 0 && Overlap(prefix, held[~at - 1]));
    }
}

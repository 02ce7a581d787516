using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Tracking;

/// <summary>The prefixes of broadcast mode and who wants them. Changed under a lock, read without: readers see a whole list, old or new.</summary>
internal sealed class Prefixes
{
    private readonly Lock _gate = new();
    private volatile Entry[] _entries = [];

    /// <summary>A prefix and its clients.</summary>
    internal sealed record Entry(byte[] Prefix, Connection[] Clients);

    /// <summary>All, in byte order.</summary>
    internal IReadOnlyList<Entry> All => _entries;

    internal bool Any => _entries.Length > 0;

    internal void Add(Connection client, IEnumerable<byte[]> prefixes)
    {
        lock (_gate)
        {
            var grown = new SortedDictionary<byte[], Entry>(_entries.ToDictionary(static entry => entry.Prefix), ByteOrder.Comparer);
            foreach (byte[] prefix in prefixes)
                grown[prefix] = new Entry(prefix, [.. grown.GetValueOrDefault(prefix)?.Clients ?? [], client]);
            _entries = [.. grown.Values];
        }
    }

    internal void Remove(Connection client)
    {
        lock (_gate)
        {
            _entries = [.. _entries.Select(entry => entry with { Clients = [.. entry.Clients.Where(other => other != client)] })
                .Where(static entry => entry.Clients.Length > 0)];
        }
    }

    /// <summary>True if one begins with the other.</summary>
    internal static bool Overlap(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other) => one.StartsWith(other) || other.StartsWith(one);

    /// <summary>
    /// The first of the added that overlaps with one held or another added; -1 for none. In byte order what begins with a prefix stands straight
    /// behind it, so that one look at each is enough.
    /// </summary>
    internal static int FirstOverlap(IReadOnlyList<byte[]> added, IReadOnlyList<byte[]> held)
    {
        int first = int.MaxValue;
        (byte[] Prefix, int At) outermost = ([], int.MaxValue);
        bool any = false;
        foreach ((byte[] Prefix, int At) one in added.Select(static (prefix, i) => (prefix, i)).Concat(held.Select(static prefix => (prefix, int.MaxValue))).OrderBy(static one => one.Item1, ByteOrder.Comparer))
        {
            if (!any || !one.Prefix.AsSpan().StartsWith(outermost.Prefix))
                outermost = one;
            else
                first = Math.Min(first, Math.Min(one.At, outermost.At));
            any = true;
        }

        return first == int.MaxValue ? -1 : first;
    }
}

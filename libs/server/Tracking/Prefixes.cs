using Garnet.Server.Net;

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

    internal void Add(Connection client, byte[] prefix)
    {
        lock (_gate)
        {
            Entry? held = Array.Find(_entries, entry => entry.Prefix.AsSpan().SequenceEqual(prefix));
            Entry grown = new(prefix, [.. held?.Clients ?? [], client]);
            _entries = [.. _entries.Where(entry => entry != held).Append(grown).OrderBy(static entry => entry.Prefix, ByteOrder.Comparer)];
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
}

using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// A walk over all records with parts that expire on their own, and what it learns: when the first of those that lie
/// in a segment of the tier is due. Until then nobody reads the segment for that again. A cold record never changes (store.C5), so what was learned of it
/// holds as long as its word stands; a segment in which others have come meanwhile is looked into again. Used by one thread.
/// </summary>
public sealed unsafe class TimedPass
{
    /// <summary>What cannot be read is tried again after that time.</summary>
    public const long RetryMs = 60_000;

    private readonly ColdLayers? _segments;
    private readonly Dictionary<uint, Seen> _seen = [];
    private long _fromMs;

    /// <summary>Walks over that store.</summary>
    public TimedPass(Store store)
    {
        ArgumentNullException.ThrowIfNull(store);
        _segments = store.Core.Tier?.Segments;
    }

    /// <summary>Where the record that was shown last lies; 0: in memory.</summary>
    public uint Segment { get; internal set; }

    /// <summary>A walk over all namespaces begins.</summary>
    public void Begin(long nowMs)
    {
        _fromMs = long.MaxValue;
        _seen.Clear();
        foreach (uint number in _segments?.Numbers ?? [])
        {
            ColdSegment* segment = _segments![number];
            if (Volatile.Read(ref segment->Live) != 0 && Volatile.Read(ref segment->TimedFromMs) <= nowMs)
                _seen[number] = new Seen { Life = segment->Life, Named = Volatile.Read(ref segment->TimedNamed), FromMs = long.MaxValue };
        }
    }

    /// <summary>
    /// <see cref="StoreSession.Scan"/> for records with parts whose time has come (<see cref="IValueCheck.TimedPartsFrom"/>): others are not read from a tier, nor
    /// shown from there, nor is what cannot be read; a call waits for one round of reads at most, or ends with what it has shown.
    /// </summary>
    /// <exception cref="ColdMissException">It has shown nothing, and its owner allows it to be put off.</exception>
    public ulong Scan<T>(StoreSession session, uint ns, ulong cursor, int count, ref T visitor) where T : struct, IRead
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.Walk(session.TermsOf(ns) with { Reads = ScanReads.Timed, Pass = this }, cursor, count, ref visitor);
    }

    /// <summary>No part of a record that was shown from that segment is due earlier.</summary>
    public void Found(uint segment, long fromMs)
    {
        _fromMs = Math.Min(_fromMs, fromMs);
        ref Seen seen = ref CollectionsMarshal.GetValueRefOrNullRef(_seen, segment);
        if (!System.Runtime.CompilerServices.Unsafe.IsNullRef(ref seen))
            seen.FromMs = Math.Min(seen.FromMs, fromMs);
    }

    /// <summary>All namespaces were walked over; returns when the next walk has something to find, the end of time if there is nothing.</summary>
    public long End()
    {
        foreach ((uint number, Seen seen) in _seen) _segments!.LearnTimed(number, seen.Life, seen.Named, seen.FromMs);
        foreach (uint number in _segments?.Numbers ?? [])
        {
            ColdSegment* segment = _segments![number];
            if (Volatile.Read(ref segment->Live) != 0)
                _fromMs = Math.Min(_fromMs, Volatile.Read(ref segment->TimedFromMs));
        }
        return _fromMs;
    }

    internal void BeInMemory() => Segment = 0;

    /// <summary>A record cannot be read.</summary>
    internal void Lacks(long nowMs) => Found(Segment, nowMs + RetryMs);

    private struct Seen
    {
        public ulong Life;
        public int Named;
        public long FromMs;
    }
}

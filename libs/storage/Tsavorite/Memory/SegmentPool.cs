using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// Record segments for all partitions. Free ones are handed out again before fresh ones, those still backed by
/// memory first, and the lowest of them; <see cref="Trim"/> gives memory back, the highest first, when much of it is free, and nobody has wanted it for a second or
/// two: memory that is new costs a page fault every 4 KiB, and where large values come and go that is as much as writing them (COPY of a list of 100 KB).
/// By their order what is in use comes to lie together: where a huge page is not quite free, the kernel sooner or later fills up what was given back of it
/// (khugepaged), and a process in 256 MiB grew by 33 MiB while it was idle.
/// </summary>
internal sealed unsafe class SegmentPool
{
    private const long IdleMs = 1000;
    private readonly Arena _arena;
    private readonly Segment* _segments;
    private readonly long _start;
    private readonly uint _segmentsMax;
    private int _gate;
    private readonly FreeNumbers _withMemory, _withoutMemory; // the free ones
    private uint _fresh = 1;
    private int _backed; // those that have memory
    private int _backedLow; // the fewest of them since the last look
    private int _backedLowBefore; // the fewest between the two looks before: as many lay idle
    private long _lookedMs;

    public SegmentPool(Arena arena, int segmentBytes)
    {
        _arena = arena;
        SegmentBytes = segmentBytes;
        _start = arena.SegmentsStart;
        _segmentsMax = (uint)Math.Min((arena.ExtentsStart - _start) / segmentBytes, int.MaxValue);
        _segments = (Segment*)arena.Table((long)_segmentsMax * sizeof(Segment));
        (_withMemory, _withoutMemory) = (new FreeNumbers(arena, _segmentsMax), new FreeNumbers(arena, _segmentsMax));
    }

    public int SegmentBytes { get; }
    public Segment* Segments => _segments;
    public int BackedFree => _backed;

    /// <summary>Above the numbers of all that were ever handed out.</summary>
    public uint End => Volatile.Read(ref _fresh);

    public byte* Address(uint number) => _arena.Base + _start + (long)number * SegmentBytes;

    public ulong Offset(uint number) => (ulong)(_start + (long)number * SegmentBytes);

    /// <summary>A segment with its header written, or 0. Number 0 is never handed out.</summary>
    public uint Take(int partition, int ttlClass, Claim claim)
    {
        if (!_arena.Take(SegmentBytes, claim))
            return 0;
        SpinLatch.Enter(ref _gate);
        uint number = TakeNumber();
        SpinLatch.Exit(ref _gate);
        if (number == 0)
        {
            _arena.Give(SegmentBytes);
            return 0;
        }
        Segment* segment = _segments + number;
        *segment = new Segment
        {
            State = SegmentState.Active,
            Partition = partition,
            Class = ttlClass,
            Used = Segment.HeaderBytes,
            MinExpiryMs = long.MaxValue,
            Life = segment->Life + 1,
        };
        byte* header = Address(number);
        *(uint*)header = Segment.Magic;
        *(uint*)(header + 4) = Record.FormatVersion;
        *(int*)(header + 8) = partition;
        *(int*)(header + 12) = ttlClass;
        return number;
    }

    public void Give(uint number)
    {
        SpinLatch.Enter(ref _gate);
        _segments[number].State = SegmentState.Free;
        _withMemory.Add(number);
        _backed++;
        SpinLatch.Exit(ref _gate);
        _arena.Give(SegmentBytes);
    }

    /// <summary>
    /// Gives memory of free segments back until so many bytes are backed, or up to <paramref name="mostBytes"/> while those beyond were wanted a moment
    /// ago; at most 64 per call.
    /// </summary>
    public bool Trim(long keepBytes, long mostBytes, long nowMs)
    {
        SpinLatch.Enter(ref _gate);
        if (!Elapsed.IsWithin(nowMs, _lookedMs, IdleMs))
            (_backedLowBefore, _backedLow, _lookedMs) = (_backedLow, _backed, nowMs);
        long keep = Math.Max(keepBytes / SegmentBytes, Math.Min(mostBytes / SegmentBytes, _backed - _backedLowBefore));
        SpinLatch.Exit(ref _gate);
        for (int i = 0; i < 64 && _backed > keep; i++)
        {
            SpinLatch.Enter(ref _gate);
            uint number = _withMemory.TakeHighest();
            if (number != 0)
            {
                _backed--;
                _backedLowBefore = Math.Max(_backedLowBefore - 1, 0);
                _backedLow = Math.Min(_backedLow, _backed);
            }
            SpinLatch.Exit(ref _gate);
            if (number == 0)
                return false;
            _arena.Release((long)Offset(number), SegmentBytes);
            SpinLatch.Enter(ref _gate);
            _withoutMemory.Add(number);
            SpinLatch.Exit(ref _gate);
        }
        return _backed > keep;
    }

    private uint TakeNumber()
    {
        uint number = _withMemory.TakeLowest();
        if (number != 0)
        {
            _backedLow = Math.Min(_backedLow, --_backed);
            _backedLowBefore = Math.Min(_backedLowBefore, _backed);
            return number;
        }
        number = _withoutMemory.TakeLowest();
        if (number != 0)
            return number;
        return _fresh < _segmentsMax ? _fresh++ : 0;
    }
}

using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Descriptor of an index segment, off heap.</summary>
[StructLayout(LayoutKind.Sequential, Size = 16)]
internal struct IndexSegment
{
    /// <summary>Words in the segment, overflow included.</summary>
    public int Words;
    /// <summary>Tag bits that its keys have in common.</summary>
    public int Depth;
    /// <summary>Next free segment.</summary>
    public uint Next;
}

/// <summary>Index segments for all partitions: a pool whose memory never serves anything else (store.U15).</summary>
internal sealed unsafe class IndexPool
{
    private readonly Arena _arena;
    private readonly IndexSegment* _descriptors;
    private readonly uint _segmentsMax;
    private int _gate;
    private uint _fresh, _freeHead = uint.MaxValue;

    public IndexPool(Arena arena, int segmentBytes)
    {
        _arena = arena;
        SegmentBytes = segmentBytes;
        _segmentsMax = (uint)Math.Min((arena.SlabStart - arena.IndexStart) / segmentBytes, int.MaxValue);
        _descriptors = (IndexSegment*)arena.Table((long)_segmentsMax * sizeof(IndexSegment));
    }

    public int SegmentBytes { get; }
    public byte* Base => _arena.Base + _arena.IndexStart;
    public IndexSegment* Descriptor(uint number) => _descriptors + number;
    public byte* Address(uint number) => Base + (long)number * SegmentBytes;

    /// <summary>An empty segment; false if there is no room.</summary>
    public bool TryTake(bool force, out uint number)
    {
        number = 0;
        if (!_arena.Take(SegmentBytes, force ? Claim.Forced : Claim.Limited))
            return false;
        SpinLatch.Enter(ref _gate);
        bool reused = _freeHead != uint.MaxValue;
        bool found = reused || _fresh < _segmentsMax;
        if (reused)
        {
            number = _freeHead;
            _freeHead = _descriptors[number].Next;
        }
        else if (found)
            number = _fresh++;
        SpinLatch.Exit(ref _gate);
        if (!found)
        {
            _arena.Give(SegmentBytes);
            return false;
        }
        if (reused)
            Bucket.ClearAll(Address(number), SegmentBytes / Bucket.Bytes);
        _descriptors[number] = default;
        return true;
    }

    /// <summary>Takes a segment back; its memory returns to the system where it covers whole pages.</summary>
    public void Give(uint number)
    {
        if (SegmentBytes >= Arena.PageBytes)
            _arena.Release(_arena.IndexStart + (long)number * SegmentBytes, SegmentBytes);
        SpinLatch.Enter(ref _gate);
        _descriptors[number].Next = _freeHead;
        _freeHead = number;
        SpinLatch.Exit(ref _gate);
        _arena.Give(SegmentBytes);
    }

    public nint Table(long bytes) => (nint)_arena.Table(bytes);

    public void Account(long bytes) => _arena.Take(bytes, Claim.Forced);

    public void Unaccount(long bytes) => _arena.Give(bytes);

    public void ReleaseSlab(Partition* partition) =>
        _arena.Release(partition->Slab - _arena.Base, (long)partition->SlabNodesMax * Bucket.NodeBytes / Arena.PageBytes * Arena.PageBytes);
}

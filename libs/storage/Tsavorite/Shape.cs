using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// The constants of an open store that hot code needs, in one off-heap block: where things lie and which bits of a
/// hash mean what. From the top: partition, bucket, tag; the tag's leading bits choose the index segment.
/// </summary>
internal unsafe struct Shape
{
    public byte* Base;
    public Partition* Partitions;
    public byte* IndexBase;
    /// <summary>Offset of the first byte that a record may have, and how many follow (a guard behind them is readable).</summary>
    public ulong RecordsStart, RecordsBytes;
    /// <summary>End of what a reader may touch: records and a page of guard.</summary>
    public byte* RecordsLimit;
    public Segment* Segments;
    public ulong SegmentsStart;
    public int PartitionShift, BucketShift, TagShift, IndexSegmentShift, SegmentShift;
    public uint BucketMask;
    public int PartitionCount, BucketsPerSegment, SegmentBytes, RecordBytesMax, Classes;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Partition* PartitionOf(Shape* shape, ulong hash) => shape->Partitions + (hash >> 1 >> shape->PartitionShift);

    /// <summary>The hash with the tag in its topmost bits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong TagOf(Shape* shape, ulong hash) => hash << shape->TagShift;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* BucketOf(Shape* shape, Partition* partition, ulong hash)
    {
        ulong directory = Volatile.Read(ref partition->Directory);
        ulong slot = hash << shape->TagShift >> 1 >> (63 - (int)(directory & 63));
        uint number = ((uint*)(directory & ~63UL))[slot];
        return shape->IndexBase + ((ulong)number << shape->IndexSegmentShift) + ((hash >> shape->BucketShift) & shape->BucketMask);
    }

    /// <summary>The record a word names, or null if the word cannot be one: a reader without the lock may hold garbage (store.U3).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* RecordOf(Shape* shape, ulong word) =>
        HoldsRecord(shape, word) ? shape->Base + IndexWord.Offset(word) : null;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool HoldsRecord(Shape* shape, ulong word) =>
        // a cold one lies above all memory
        ((word & (IndexWord.AddressMask | IndexWord.ColdBit)) << 3) - shape->RecordsStart < shape->RecordsBytes;

    /// <summary>Number of the segment that holds the offset; meaningless for extents.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint SegmentOf(Shape* shape, ulong offset) => (uint)((offset - shape->SegmentsStart) >> shape->SegmentShift);
}

using System.Numerics;

namespace Tsavorite;

/// <summary>The bits of a hash that an index tells of a word without its record: partition and bucket, which stand above the tag, and the tag.</summary>
internal static unsafe class HashBits
{
    /// <summary>Partition and bucket, of as many bits as <see cref="AboveCount"/>.</summary>
    public static uint Above(Shape* shape, Partition* partition, byte* bucket)
    {
        uint inSegment = (uint)((ulong)(bucket - shape->IndexBase) & ((1UL << shape->IndexSegmentShift) - 1)) / Bucket.Bytes;
        return ((uint)partition->Number << BitOperations.Log2((uint)shape->BucketsPerSegment)) | inSegment;
    }

    public static int AboveCount(Shape* shape) => shape->TagShift;

    /// <summary>A hash with these bits and the word's tag below; zeros follow, which no look at the index of this shape goes by.</summary>
    public static ulong Hash(Shape* shape, uint above, ulong word) =>
        (AboveCount(shape) == 0 ? 0 : (ulong)above << (64 - AboveCount(shape))) | (word & IndexWord.TagMask) >> AboveCount(shape);

    /// <summary>True if a key of that hash is looked for where a word with these bits (<see cref="Hash"/>) stands.</summary>
    public static bool IsOf(Shape* shape, ulong bits, ulong hash) =>
        ((bits ^ hash) & ~((1UL << (IndexWord.TagShift - AboveCount(shape))) - 1)) == 0;
}

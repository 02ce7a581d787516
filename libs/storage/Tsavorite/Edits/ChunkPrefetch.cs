using System.Numerics;
using System.Runtime.Intrinsics.X86;

namespace Tsavorite;

/// <summary>Chunks in memory that an edit comes to in a moment: asked of the memory while it does something else.</summary>
public static unsafe class ChunkPrefetch
{
    /// <summary>Brings the beginning of a chunk towards the cache; a hint that changes nothing.</summary>
    public static void Prefetch(this in RecordEdit edit, uint number)
    {
        if (!Sse.IsSupported)
            return;
        StoreCore core = edit.Core;
        ulong hash = ChunkKey.Hash(core, edit.Key.Hash, edit.Owner, number);
        byte* bucket = Shape.BucketOf(core.Shape, edit.Partition, hash);
        uint matches = Bucket.Matches(bucket, Shape.TagOf(core.Shape, hash));
        if (matches == 0)
            return;
        byte* record = core.Shape->Base + IndexWord.Offset(((ulong*)bucket)[BitOperations.TrailingZeroCount(matches)]);
        Sse.Prefetch0(record);
        Sse.Prefetch0(record + 64);
        Sse.Prefetch0(record + 128);
    }
}

using System.Numerics;

namespace Tsavorite;

/// <summary>Derives the sizes of a store from its settings: small limits get small segments and one expiry class.</summary>
internal static unsafe class StoreShape
{
    private const int IndexBucketsMax = 1024, SegmentBytesMin = 4096, SmallSegmentBytes = 64 << 10;

    public static Shape Derive(StoreSettings settings, Arena arena)
    {
        int partitions = settings.Partitions != 0
            ? settings.Partitions
            : (int)Math.Clamp(BitOperations.RoundUpToPowerOf2((uint)Environment.ProcessorCount * 8), 64, 1024);
        if (!BitOperations.IsPow2(partitions) || partitions > 1024)
            throw new ArgumentException("Partitions must be a power of two up to 1,024.", nameof(settings));
        int segmentBytes = settings.SegmentBytes != 0 ? settings.SegmentBytes : SegmentBytesFor(settings.MemoryLimitBytes, partitions);
        if (!BitOperations.IsPow2(segmentBytes) || segmentBytes is < SegmentBytesMin or > 1 << 20)
            throw new ArgumentException("SegmentBytes must be a power of two from 4 KiB to 1 MiB.", nameof(settings));
        int coldBytes = settings.TierSegmentBytes != 0 ? settings.TierSegmentBytes : ColdSegments.SegmentBytesDefault;
        if (!BitOperations.IsPow2(coldBytes) || coldBytes is < ColdSegments.SegmentBytesMin or > ColdSegments.SegmentBytesMax)
            throw new ArgumentException("TierSegmentBytes must be a power of two from 8 KiB to 1 GiB.", nameof(settings));
        int buckets = settings.IndexBuckets != 0 ? settings.IndexBuckets : IndexBucketsFor(settings.MemoryLimitBytes, partitions);
        int partitionBits = BitOperations.Log2((uint)partitions), bucketBits = BitOperations.Log2((uint)buckets);
        long classes = settings.MemoryLimitBytes / 20 / ((long)partitions * segmentBytes);
        return new Shape
        {
            Base = arena.Base,
            IndexBase = arena.Base + arena.IndexStart,
            RecordsStart = (ulong)arena.SegmentsStart,
            RecordsBytes = (ulong)(arena.End - arena.SegmentsStart),
            RecordsLimit = arena.Base + arena.End + Arena.PageBytes,
            SegmentsStart = (ulong)arena.SegmentsStart,
            PartitionShift = 63 - partitionBits,
            BucketShift = 64 - partitionBits - bucketBits - 6,
            TagShift = partitionBits + bucketBits,
            IndexSegmentShift = bucketBits + 6,
            SegmentShift = BitOperations.Log2((uint)segmentBytes),
            BucketMask = (uint)(buckets - 1) << 6,
            PartitionCount = partitions,
            BucketsPerSegment = buckets,
            SegmentBytes = segmentBytes,
            RecordBytesMax = segmentBytes <= SmallSegmentBytes ? segmentBytes / 4 : segmentBytes / 8,
            Classes = (int)Math.Clamp(settings.TtlClasses != 0 ? settings.TtlClasses : classes, 1, Partition.ClassesMax),
        };
    }

    // The active segments of one class together take a sixteenth of a small limit at most. Each is half empty in the mean: larger ones only
    // where cleaning would have very many to choose from (RESULTS, memory of collections).
    private static int SegmentBytesFor(long limit, int partitions)
    {
        if (limit > 128L << 30)
            return 1 << 20;
        if (limit > 32L << 30)
            return 256 << 10;
        return 1 << BitOperations.Log2((ulong)Math.Clamp(limit / 16 / partitions, SegmentBytesMin, SmallSegmentBytes));
    }

    public static int IndexBucketsFor(long limit, int partitions)
    {
        long share = Math.Max(limit / 16 / partitions / Bucket.Bytes, 16);
        return (int)Math.Min(BitOperations.RoundUpToPowerOf2((ulong)share), IndexBucketsMax);
    }
}

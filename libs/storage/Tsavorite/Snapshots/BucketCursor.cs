namespace Tsavorite;

/// <summary>
/// A place in the order of hashes of one partition's buckets. A split only refines the order: what lies before the cursor stays
/// before it. While a snapshot runs nothing merges (store.U16). At other times a merge keeps the buckets of its left half, which the
/// cursor has met, is in or will meet.
/// </summary>
internal unsafe struct BucketCursor
{
    private const int PrefixBits = IndexWord.TagBits;
    // The directory prefix with the first tag bit on top, and the bucket in its segment.
    private uint _prefix;
    private int _bucket;

    public readonly bool AtEnd => _prefix >> PrefixBits != 0;

    /// <summary>The bucket at the cursor, under the partition's lock.</summary>
    public readonly byte* Current(StoreCore core, Partition* partition) => core.Index.BucketAt(SegmentAt(partition), _bucket);

    /// <summary>Goes to the next bucket, under the partition's lock.</summary>
    public void MoveOn(StoreCore core, Partition* partition)
    {
        if (++_bucket < core.Shape->BucketsPerSegment)
            return;
        uint span = 1u << (PrefixBits - core.Index.Descriptor(SegmentAt(partition))->Depth);
        _prefix = (_prefix & ~(span - 1)) + span;
        _bucket = 0;
    }

    /// <summary>
    /// Without the lock: the bucket that is probably at the cursor, and how many of its segment follow with it. Good for
    /// prefetching only (store.U3: index memory stays index memory).
    /// </summary>
    public readonly byte* Peek(StoreCore core, Partition* partition, out int buckets)
    {
        ulong directory = Volatile.Read(ref partition->Directory);
        uint number = ((uint*)(directory & ~63UL))[_prefix >> (PrefixBits - (int)(directory & 63))];
        buckets = core.Shape->BucketsPerSegment - _bucket;
        return core.Index.BucketAt(number, _bucket);
    }

    private readonly uint SegmentAt(Partition* partition) =>
        IndexSpace.Entries(partition)[_prefix >> (PrefixBits - IndexSpace.DepthOf(partition))];
}

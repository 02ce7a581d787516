using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// The index of all partitions: an extendible directory of segments of buckets each. A segment splits by the next tag
/// bit, from the index words alone, and merges with its buddy when both are nearly empty. Everything here runs under
/// the partition's lock.
/// store.U3, store.U15: directories of every depth stay mapped until the store closes, so late readers always find valid numbers
/// (or zero, which is one). Those of past depths that fill pages give their memory back; the rest is 4 KiB at most.
/// The structure sequence is odd while segments change places (store.U12).
/// </summary>
internal sealed unsafe class IndexSpace : IDisposable
{
    public const int DepthMax = IndexWord.TagBits;
    private const int PagedDepth = 10;
    private readonly Shape* _shape;
    private readonly IndexPool _pool;
    private readonly nint[] _directories;
    private readonly int _splitAt, _mergeBelow;

    public IndexSpace(Shape* shape, IndexPool pool)
    {
        _shape = shape;
        _pool = pool;
        _directories = new nint[shape->PartitionCount * (DepthMax + 1)];
        // Measured: above 6 of 7 words the chains cost more than the bytes they save.
        _splitAt = shape->BucketsPerSegment * 6;
        _mergeBelow = shape->BucketsPerSegment * 5 / 2;
    }

    /// <summary>Gives a new partition its first segment.</summary>
    public void Open(Partition* partition)
    {
        if (!_pool.TryTake(force: true, out uint number))
            throw new InvalidOperationException("No address space for the index.");
        partition->IndexSegments = 1;
        partition->SlabTaken = 1;
        ulong directory = DirectoryOf(partition, 0);
        *(uint*)(directory & ~63UL) = number;
        partition->Directory = directory;
    }

    public static int DepthOf(Partition* partition) => (int)(partition->Directory & 63);

    public static uint* Entries(Partition* partition) => (uint*)(partition->Directory & ~63UL);

    public IndexSegment* SegmentOf(byte* bucket) =>
        _pool.Descriptor((uint)((ulong)(bucket - _shape->IndexBase) >> _shape->IndexSegmentShift));

    public IndexSegment* Descriptor(uint number) => _pool.Descriptor(number);

    public byte* BucketAt(uint number, int bucket) => _pool.Address(number) + (long)bucket * Bucket.Bytes;

    /// <summary>
    /// Makes sure that <see cref="Insert"/> into the hash's bucket will succeed, splitting if it is time; false if
    /// there is no memory for that. Buckets looked up before are void.
    /// </summary>
    public bool MakeRoom(Partition* partition, ulong hash)
    {
        byte* bucket = Shape.BucketOf(_shape, partition, hash);
        if (SegmentOf(bucket)->Words >= _splitAt && Split(partition, hash))
            bucket = Shape.BucketOf(_shape, partition, hash);
        if (Bucket.FindEmpty(partition, bucket) != null || CanTakeNode(partition))
            return true;
        return Split(partition, hash) && Bucket.FindEmpty(partition, Shape.BucketOf(_shape, partition, hash)) != null;
    }

    /// <summary>Adds a word; the bucket's sequence is odd and room has been made.</summary>
    public void Insert(Partition* partition, byte* bucket, ulong word)
    {
        Place(partition, bucket, word);
        partition->Words++;
        SegmentOf(bucket)->Words++;
    }

    /// <summary>Empties a slot and keeps the chain short; the bucket's sequence is odd.</summary>
    public void Remove(Partition* partition, byte* bucket, ulong* slot)
    {
        Volatile.Write(ref *slot, 0);
        partition->Words--;
        SegmentOf(bucket)->Words--;
        uint head = Bucket.Overflow(bucket);
        if (head == 0)
            return;
        ulong* words = Bucket.Node(partition, head);
        bool inHead = slot > words && slot <= words + Bucket.NodeWords;
        for (int i = 1; i <= Bucket.NodeWords && !inHead; i++)
        {
            if (words[i] == 0)
                continue;
            Volatile.Write(ref *slot, words[i]);
            words[i] = 0;
            break;
        }
        if ((words[1] | words[2] | words[3]) != 0)
            return;
        Bucket.SetOverflow(bucket, (uint)words[0]);
        GiveNode(partition, head);
    }

    /// <summary>Splits the segment that the hash leads to; false if it cannot or should not be split.</summary>
    public bool Split(Partition* partition, ulong hash)
    {
        uint left = Entries(partition)[EntryOf(partition, hash)];
        int depth = _pool.Descriptor(left)->Depth;
        // Keys that agree in their tags gain nothing from a split: the directory may not outgrow the keys.
        bool outgrown = ((long)_shape->BucketsPerSegment << depth) > 64L * (partition->Words + 16);
        if (depth >= DepthMax || outgrown || !_pool.TryTake(force: partition->Claim >= Claim.Promised, out uint right))
            return false;
        Partition.BeginStructure(partition);
        if (depth == DepthOf(partition))
            Deepen(partition);
        int words = 0;
        for (int i = 0; i < _shape->BucketsPerSegment; i++)
            words += SplitBucket(partition, BucketAt(left, i), BucketAt(right, i), depth);
        _pool.Descriptor(left)->Words -= words;
        _pool.Descriptor(left)->Depth = depth + 1;
        *_pool.Descriptor(right) = new IndexSegment { Words = words, Depth = depth + 1 };
        int span = 1 << (DepthOf(partition) - depth);
        ulong first = EntryOf(partition, hash) & ~((ulong)span - 1);
        for (int i = span / 2; i < span; i++) Entries(partition)[first + (ulong)i] = right;
        partition->IndexSegments++;
        partition->Splits++;
        Partition.EndStructure(partition);
        return true;
    }

    /// <summary>Merges the segment at a directory entry with its buddy if both are nearly empty.</summary>
    public bool TryMerge(Partition* partition, uint entry)
    {
        if (partition->Snapshot != 0 && !StoreTestHooks.Has(PlantedFault.MergeDuringSnapshot))
            return false; // store.U16
        uint* entries = Entries(partition);
        int depth = _pool.Descriptor(entries[entry])->Depth;
        if (depth == 0)
            return false;
        uint span = 1u << (DepthOf(partition) - depth);
        uint first = entry & ~(2 * span - 1);
        uint left = entries[first], right = entries[first + span];
        IndexSegment* into = _pool.Descriptor(left), from = _pool.Descriptor(right);
        if (into->Depth != depth || from->Depth != depth || into->Words + from->Words > _mergeBelow)
            return false;
        if (partition->SlabNodesMax - partition->SlabTaken + partition->SlabFreeNodes < (uint)from->Words)
            return false;
        Partition.BeginStructure(partition);
        for (int i = 0; i < _shape->BucketsPerSegment; i++) MergeBucket(partition, BucketAt(right, i), BucketAt(left, i));
        into->Words += from->Words;
        into->Depth = depth - 1;
        for (uint i = 0; i < span; i++) entries[first + span + i] = left;
        partition->IndexSegments--;
        partition->Merges++;
        Flatten(partition);
        Partition.EndStructure(partition);
        _pool.Give(right);
        return true;
    }

    /// <summary>Gives the overflow memory back once no node is in use.</summary>
    public bool TrimSlab(Partition* partition)
    {
        if (partition->SlabTaken == 1 || partition->SlabFreeNodes != partition->SlabTaken - 1)
            return false;
        _pool.ReleaseSlab(partition);
        _pool.Unaccount(SlabBytes(partition));
        partition->SlabTaken = 1;
        partition->SlabFreeHead = partition->SlabFreeNodes = 0;
        return true;
    }

    /// <summary>Bytes of overflow nodes ever touched since the last trim.</summary>
    public static long SlabBytes(Partition* partition) =>
        ((long)partition->SlabTaken * Bucket.NodeBytes - 1) / Arena.PageBytes * Arena.PageBytes
            + (partition->SlabTaken > 1 ? Arena.PageBytes : 0);

    /// <summary>Bytes of directories, past depths included.</summary>
    public long DirectoryBytes(Partition* partition)
    {
        long bytes = 0;
        for (int depth = 0; depth <= DepthMax; depth++)
            if (DirectoryAt(partition, depth) != 0 && (depth < PagedDepth || depth == DepthOf(partition)))
                bytes += DirectoryBytesAt(depth);
        return bytes;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        for (int i = 0; i < _directories.Length; i++)
            if (i % (DepthMax + 1) < PagedDepth)
                NativeMemory.AlignedFree((void*)_directories[i]);
        Array.Clear(_directories);
    }

    public ulong EntryOf(Partition* partition, ulong hash) => Shape.TagOf(_shape, hash) >> 1 >> (63 - DepthOf(partition));

    private static long DirectoryBytesAt(int depth) => Math.Max(64L, 4L << depth);

    // One array per depth, made once and used again: a stale reader finds numbers of this partition's past.
    private ulong DirectoryOf(Partition* partition, int depth)
    {
        ref nint directory = ref DirectoryAt(partition, depth);
        if (directory == 0 || depth >= PagedDepth)
            _pool.Account(DirectoryBytesAt(depth));
        if (directory == 0)
            directory = depth < PagedDepth ? Allocate(DirectoryBytesAt(depth)) : _pool.Table(DirectoryBytesAt(depth));
        return (ulong)directory | (uint)depth;
    }

    private ref nint DirectoryAt(Partition* partition, int depth) => ref _directories[partition->Number * (DepthMax + 1) + depth];

    private static nint Allocate(long bytes)
    {
        nint directory = (nint)NativeMemory.AlignedAlloc((nuint)bytes, 64);
        NativeMemory.Clear((void*)directory, (nuint)bytes);
        return directory;
    }

    // Another directory is in force from here on.
    private void Enter(Partition* partition, ulong directory)
    {
        int past = DepthOf(partition);
        Volatile.Write(ref partition->Directory, directory);
        if (past < PagedDepth)
            return;
        Arena.ReleaseTable((byte*)DirectoryAt(partition, past), DirectoryBytesAt(past));
        _pool.Unaccount(DirectoryBytesAt(past));
    }

    private void Deepen(Partition* partition)
    {
        int depth = DepthOf(partition);
        uint* from = Entries(partition);
        ulong directory = DirectoryOf(partition, depth + 1);
        uint* to = (uint*)(directory & ~63UL);
        for (long i = 0; i < 2L << depth; i++) to[i] = from[i >> 1];
        Enter(partition, directory);
    }

    private void Flatten(Partition* partition)
    {
        while (DepthOf(partition) > 0)
        {
            int depth = DepthOf(partition);
            uint* from = Entries(partition);
            for (long i = 0; i < 1L << depth; i += 2)
                if (from[i] != from[i + 1])
                    return;
            ulong directory = DirectoryOf(partition, depth - 1);
            uint* to = (uint*)(directory & ~63UL);
            for (long i = 0; i < 1L << (depth - 1); i++) to[i] = from[2 * i];
            Enter(partition, directory);
        }
    }

    // Moves the words whose next tag bit is set; the nodes freed on the way always suffice for those needed.
    private int SplitBucket(Partition* partition, byte* left, byte* right, int depth)
    {
        int bit = 63 - depth, moved = 0;
        Bucket.BeginWrite(left);
        if (!StoreTestHooks.Has(PlantedFault.SplitWithoutStamp))
            Bucket.SetStamp(right, Bucket.Stamp(left)); // store.U16
        for (int i = 1; i <= Bucket.Words; i++)
        {
            ulong word = ((ulong*)left)[i];
            if (word == 0 || (word >> bit & 1) == 0)
                continue;
            ((ulong*)left)[i] = 0;
            Place(partition, right, word);
            moved++;
        }
        uint node = Bucket.Overflow(left);
        Bucket.SetOverflow(left, 0);
        while (node != 0)
        {
            ulong* words = Bucket.Node(partition, node);
            ulong first = words[1], second = words[2], third = words[3];
            uint next = (uint)words[0];
            GiveNode(partition, node);
            if (StoreTestHooks.Has(PlantedFault.ForgetOverflowOnSplit))
                first = second = third = 0;
            moved += Deal(partition, left, right, first, bit) + Deal(partition, left, right, second, bit)
                + Deal(partition, left, right, third, bit);
            node = next;
        }
        Bucket.EndWrite(left);
        return moved;
    }

    private int Deal(Partition* partition, byte* left, byte* right, ulong word, int bit)
    {
        if (word == 0)
            return 0;
        int side = (int)(word >> bit & 1);
        Place(partition, side == 0 ? left : right, word);
        return side;
    }

    private void MergeBucket(Partition* partition, byte* from, byte* into)
    {
        Bucket.BeginWrite(into);
        for (int i = 1; i <= Bucket.Words; i++)
            if (((ulong*)from)[i] != 0)
                Place(partition, into, ((ulong*)from)[i]);
        uint node = Bucket.Overflow(from);
        Bucket.SetOverflow(from, 0);
        while (node != 0)
        {
            ulong* words = Bucket.Node(partition, node);
            ulong first = words[1], second = words[2], third = words[3];
            uint next = (uint)words[0];
            GiveNode(partition, node);
            if (first != 0)
                Place(partition, into, first);
            if (second != 0)
                Place(partition, into, second);
            if (third != 0)
                Place(partition, into, third);
            node = next;
        }
        Bucket.EndWrite(into);
    }

    private void Place(Partition* partition, byte* bucket, ulong word)
    {
        ulong* slot = Bucket.FindEmpty(partition, bucket);
        if (slot == null)
        {
            uint node = TakeNode(partition);
            ulong* words = Bucket.Node(partition, node);
            words[0] = Bucket.Overflow(bucket);
            words[1] = word;
            words[2] = words[3] = 0;
            Bucket.SetOverflow(bucket, node);
            return;
        }
        Volatile.Write(ref *slot, word);
    }

    private static bool CanTakeNode(Partition* partition) => partition->SlabFreeHead != 0 || partition->SlabTaken < partition->SlabNodesMax;

    private uint TakeNode(Partition* partition)
    {
        uint node = partition->SlabFreeHead;
        if (node != 0)
        {
            partition->SlabFreeHead = (uint)*Bucket.Node(partition, node);
            partition->SlabFreeNodes--;
            return node;
        }
        Garnet.Common.Faults.Check.That(partition->SlabTaken < partition->SlabNodesMax, "store.U1 overflow nodes suffice");
        long before = SlabBytes(partition);
        node = partition->SlabTaken++;
        long after = SlabBytes(partition);
        if (after != before)
            _pool.Account(after - before);
        return node;
    }

    private static void GiveNode(Partition* partition, uint node)
    {
        ulong* words = Bucket.Node(partition, node);
        words[0] = partition->SlabFreeHead;
        words[1] = words[2] = words[3] = 0;
        partition->SlabFreeHead = node;
        partition->SlabFreeNodes++;
    }
}

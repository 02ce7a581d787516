using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Tsavorite;

/// <summary>
/// A bucket: 8 bytes of header (32-bit sequence, 8-bit snapshot stamp, 24-bit number of the first overflow node) and
/// 7 index words. Overflow nodes are 32 bytes from the partition's slab: the next node's number and 3 words; half the
/// size of a bucket, because an overfull bucket is rarely overfull by more than three. The bucket's sequence covers
/// its chain (store.U1).
/// </summary>
internal static unsafe class Bucket
{
    public const int Bytes = 64, Words = 7, NodeBytes = 32, NodeWords = 3;
    /// <summary>Readers without the lock may see a chain being rebuilt: they stop after this many nodes.</summary>
    private const int ChainMax = 1 << 20;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Overflow(byte* bucket) => *(uint*)(bucket + 4) >> 8;

    public static void SetOverflow(byte* bucket, uint node) => *(uint*)(bucket + 4) = (*(uint*)(bucket + 4) & 0xFF) | node << 8;

    /// <summary>Low 8 bits of the number of the snapshot that last had the bucket (store.U18).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte Stamp(byte* bucket) => bucket[4];

    public static void SetStamp(byte* bucket, byte stamp) => bucket[4] = stamp;

    /// <summary>store.U1: makes the sequence odd before anything in the bucket or its records changes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void BeginWrite(byte* bucket)
    {
        *(uint*)bucket += StoreTestHooks.Has(PlantedFault.SkipOddSequence) ? 0u : 1u;
        Volatile.WriteBarrier();
        StoreTestHooks.Yield(YieldPoint.SequenceOdd);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void EndWrite(byte* bucket)
    {
        StoreTestHooks.Yield(YieldPoint.BeforeSequenceEven);
        Volatile.Write(ref *(uint*)bucket, *(uint*)bucket + (StoreTestHooks.Has(PlantedFault.SkipOddSequence) ? 2u : 1u));
    }

    /// <summary>Empties buckets of a reused segment; their sequences go on rising (store.U3).</summary>
    public static void ClearAll(byte* bucket, int count)
    {
        for (int i = 0; i < count; i++, bucket += Bytes)
        {
            BeginWrite(bucket);
            *(uint*)(bucket + 4) = 0;
            new Span<ulong>(bucket + 8, Words).Clear();
            EndWrite(bucket);
        }
    }

    /// <summary>
    /// The slot of the word that names the key's record, or null. Safe without the lock: whatever it returns then
    /// counts only if the sequences have not moved (store.U2, store.U12). Tags are compared eight words at a time; StoreBenchmark.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong* Find(Shape* shape, Partition* partition, byte* bucket, in KeyRef key) =>
        Find(shape, partition, bucket, key, out _, out _);

    /// <summary>
    /// The same, with the word and the record's first eight bytes as they were compared: nothing on the way of a hit
    /// is read twice (store.U2; StoreBenchmark).
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong* Find(Shape* shape, Partition* partition, byte* bucket, in KeyRef key, out ulong word, out ulong head)
    {
        ulong tag = Shape.TagOf(shape, key.Hash);
        for (uint matches = Matches(bucket, tag); matches != 0; matches &= matches - 1)
        {
            ulong* slot = (ulong*)bucket + System.Numerics.BitOperations.TrailingZeroCount(matches);
            if (Names(shape, slot, key, out word, out head))
                return slot;
        }
        word = head = 0;
        if (Overflow(bucket) == 0)
            return null;
        ulong* found = FindOverflow(shape, partition, bucket, key);
        if (found == null)
            return null;
        word = Volatile.Read(ref *found);
        byte* record = Shape.RecordOf(shape, word);
        head = record == null ? 0 : *(ulong*)record;
        return record == null ? null : found;
    }

    /// <summary>
    /// The slot of a chunk's word, or null; under the lock. Its key is compared where its parts lie (<see cref="ChunkKey"/>);
    /// <paramref name="root"/> is the root's key with the chunk's hash.
    /// </summary>
    public static ulong* FindChunk(Shape* shape, Partition* partition, byte* bucket, ulong owner, uint number, in KeyRef root)
    {
        ulong tag = Shape.TagOf(shape, root.Hash);
        for (uint matches = Matches(bucket, tag); matches != 0; matches &= matches - 1)
        {
            ulong* slot = (ulong*)bucket + System.Numerics.BitOperations.TrailingZeroCount(matches);
            if (NamesChunk(shape, *slot, owner, number, root))
                return slot;
        }
        if (Overflow(bucket) == 0)
            return null;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
            if ((*walk.Slot ^ tag) >> IndexWord.TagShift == 0 && NamesChunk(shape, *walk.Slot, owner, number, root))
                return walk.Slot;
        return null;
    }

    /// <summary>A bit for each of the 7 words whose tag matches (bits 1 to 7; an empty word may match).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Matches(byte* bucket, ulong tag)
    {
        if (!Vector256.IsHardwareAccelerated)
            return MatchesInPairs(bucket, tag);
        Vector256<ulong> wanted = Vector256.Create(tag);
        Vector256<ulong> low = Vector256.ShiftRightLogical(Vector256.Load((ulong*)bucket) ^ wanted, IndexWord.TagShift);
        Vector256<ulong> high = Vector256.ShiftRightLogical(Vector256.Load((ulong*)(bucket + 32)) ^ wanted, IndexWord.TagShift);
        uint matches = Vector256.Equals(low, Vector256<ulong>.Zero).ExtractMostSignificantBits()
            | Vector256.Equals(high, Vector256<ulong>.Zero).ExtractMostSignificantBits() << 4;
        return matches & 0xFE;
    }

    // For processors without vectors of four words, and the native build, which is for those too. No branch: one that depends on a word is
    // often mispredicted, and is known to be so only when the bucket has come from memory, so that the prefetches behind it wait for each other.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static uint MatchesInPairs(byte* bucket, ulong tag)
    {
        Vector128<ulong> wanted = Vector128.Create(tag);
        uint matches = PairMatches(bucket, wanted) | PairMatches(bucket + 16, wanted) << 2
            | PairMatches(bucket + 32, wanted) << 4 | PairMatches(bucket + 48, wanted) << 6;
        return matches & 0xFE;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint PairMatches(byte* words, Vector128<ulong> wanted) =>
        Vector128.Equals(Vector128.ShiftRightLogical(Vector128.Load((ulong*)words) ^ wanted, IndexWord.TagShift), Vector128<ulong>.Zero)
            .ExtractMostSignificantBits();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ulong* FindOverflow(Shape* shape, Partition* partition, byte* bucket, in KeyRef key)
    {
        ulong tag = Shape.TagOf(shape, key.Hash);
        uint node = Overflow(bucket);
        for (int steps = 0; node != 0 && node < partition->SlabNodesMax && steps < ChainMax; steps++)
        {
            ulong* words = Node(partition, node);
            for (int i = 1; i <= NodeWords; i++)
                if ((words[i] ^ tag) >> IndexWord.TagShift == 0 && Names(shape, words + i, key, out _, out _))
                    return words + i;
            node = (uint)Volatile.Read(ref *words);
        }
        return null;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool Names(Shape* shape, ulong* slot, in KeyRef key, out ulong word, out ulong head)
    {
        word = Volatile.Read(ref *slot);
        head = 0;
        // An empty word's offset lies before the first record.
        if (!Shape.HoldsRecord(shape, word))
            return false;
        byte* record = shape->Base + IndexWord.Offset(word);
        head = Volatile.Read(ref *(ulong*)record);
        return head >> 48 == (uint)key.Length && Record.Namespace(record) == key.Namespace
            && Record.SameKey(record + Record.KeyOffset((byte)(head >> 40)), key.Bytes, key.Length);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // CollectionCost
    private static bool NamesChunk(Shape* shape, ulong word, ulong owner, uint number, in KeyRef root)
    {
        if ((word & (IndexWord.InternalBit | IndexWord.ColdBit)) != IndexWord.InternalBit)
            return false;
        byte* record = shape->Base + IndexWord.Offset(word), key = record + Record.KeyOffset(Record.Flags(record));
        return Record.KeyBytes(record) == root.Length + ChunkKey.HeadBytes && Record.Namespace(record) == root.Namespace
            && ChunkKey.Owner(key) == owner && ChunkKey.Number(key) == number
            && Record.SameKey(key + ChunkKey.HeadBytes, root.Bytes, root.Length);
    }

    /// <summary>The slot that holds an address, or null; under the lock.</summary>
    public static ulong* FindAddress(Partition* partition, byte* bucket, ulong offset)
    {
        ulong address = offset >> 3;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
            if ((*walk.Slot & (IndexWord.AddressMask | IndexWord.ColdBit)) == address && *walk.Slot != 0)
                return walk.Slot;
        return null;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong* Node(Partition* partition, uint number) => (ulong*)(partition->Slab + (ulong)number * NodeBytes);

    /// <summary>An empty slot of the bucket or its chain, or null.</summary>
    public static ulong* FindEmpty(Partition* partition, byte* bucket)
    {
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
            if (*walk.Slot == 0)
                return walk.Slot;
        return null;
    }
}

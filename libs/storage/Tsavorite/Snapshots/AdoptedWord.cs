using System.Buffers.Binary;

namespace Tsavorite;

/// <summary>An index word that is made of a snapshot's reference: its record stays where it lies.</summary>
internal static unsafe class AdoptedWord
{
    /// <summary>Puts it in. Several threads may, each its own.</summary>
    /// <param name="core">The store's.</param>
    /// <param name="reference">The reference, and what follows it.</param>
    /// <param name="isJudged">
    /// The snapshot is not believed: a second word that may be of the same key is not put beside the first, which would come to light once that is gone.
    /// </param>
    /// <param name="isAdopted">False if it was not put in for that reason.</param>
    public static LoadOutcome Put(StoreCore core, ReadOnlySpan<byte> reference, bool isJudged, out bool isAdopted)
    {
        ColdLayers segments = core.Tier!.Segments;
        ulong word = BinaryPrimitives.ReadUInt64LittleEndian(reference);
        uint above = BinaryPrimitives.ReadUInt32LittleEndian(reference[sizeof(ulong)..]), number = segments.NumberOf(word);
        isAdopted = false;
        if ((ulong)above >> HashBits.AboveCount(core.Shape) != 0)
            return LoadOutcome.Damaged;
        ulong hash = HashBits.Hash(core.Shape, above, word);
        Partition* partition = Shape.PartitionOf(core.Shape, hash);
        Partition.Enter(partition);
        bool hasRoom = core.Index.MakeRoom(partition, hash);
        if (hasRoom)
        {
            byte* bucket = Shape.BucketOf(core.Shape, partition, hash);
            isAdopted = !isJudged || !HasLike(partition, bucket, word);
            if (isAdopted)
            {
                Interlocked.Increment(ref segments[number]->Live);
                Bucket.BeginWrite(bucket);
                core.Index.Insert(partition, bucket, word);
                Bucket.EndWrite(bucket);
                core.Count(partition, segments[number]->Namespace is var ns && ns >= 0 ? (uint)ns : 0, word, 1);
            }
        }
        Partition.Exit(partition);
        return hasRoom ? LoadOutcome.Done : LoadOutcome.OutOfMemory;
    }

    private static bool HasLike(Partition* partition, byte* bucket, ulong word)
    {
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            if (*walk.Slot != 0 && ((*walk.Slot ^ word) & (IndexWord.TagMask | IndexWord.InternalBit)) == 0)
                return true;
        }
        return false;
    }
}

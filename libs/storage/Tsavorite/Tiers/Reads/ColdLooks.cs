namespace Tsavorite;

/// <summary>Looks at a bucket for what lies on the tier, by what a session has read of it (<see cref="ColdReads"/>).</summary>
internal static unsafe class ColdLooks
{
    /// <summary>
    /// Looks the key up among the cold words of its bucket; the record found, or null. Under the partition's lock, or to be looked at again by
    /// sequence before anything is believed. What must be read before it can be said is among the missing then, and pinned.
    /// </summary>
    public static byte* Find(this ColdReads reads, Shape* shape, Partition* partition, byte* bucket, in KeyRef key, out ulong* slot)
    {
        ulong tag = Shape.TagOf(shape, key.Hash);
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = Volatile.Read(ref *walk.Slot);
            if ((word ^ tag) >> IndexWord.TagShift != 0 || !IndexWord.IsCold(word) || (word & IndexWord.InternalBit) != 0)
                continue;
            byte* record = reads.Record(word);
            slot = walk.Slot;
            if (record != null && Record.KeyBytes(record) == key.Length && Record.Namespace(record) == key.Namespace
                && Record.SameKey(Record.Key(record), key.Bytes, key.Length)) return record;
        }
        slot = null;
        return null;
    }

    /// <summary>The same for a look that needs no more than the head of the record.</summary>
    public static byte* FindHead(this ColdReads reads, Shape* shape, Partition* partition, byte* bucket, in KeyRef key, out ulong* slot)
    {
        using HeadsAsked heads = new(reads, headsDo: true);
        return reads.Find(shape, partition, bucket, key, out slot);
    }

    /// <summary>True if no more than the head of the word's record is at hand: there is nothing to take back to memory.</summary>
    public static bool IsHead(this ColdReads reads, ulong word) => reads.Known(word) is { IsHead: true };

    /// <summary>
    /// A word of the bucket that may be the key's by all that it says, and whose record was read and is not what was written; null: there is none. Under the
    /// partition's lock. <paramref name="where"/>: what a person is told of the place.
    /// </summary>
    public static ulong* FindDamaged(
        this ColdReads reads, StoreCore core, Partition* partition, byte* bucket, in KeyRef key, out string where)
    {
        ulong tag = Shape.TagOf(core.Shape, key.Hash);
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = *walk.Slot;
            if ((word ^ tag) >> IndexWord.TagShift != 0 || !IndexWord.IsCold(word) || (word & IndexWord.InternalBit) != 0)
                continue;
            if (reads.Known(word) is not { IsDamaged: true } read || !core.Tier!.MayHold(word, key.Namespace))
                continue;
            where = core.Tier.PlaceOf(read);
            return walk.Slot;
        }
        where = "";
        return null;
    }

    /// <summary><see cref="Find"/> for a chunk.</summary>
    public static byte* FindChunk(
        this ColdReads reads, Shape* shape, Partition* partition, byte* bucket, in ChunkName chunk, out ulong* slot)
    {
        ulong tag = Shape.TagOf(shape, chunk.Hash);
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = *walk.Slot;
            if ((word ^ tag) >> IndexWord.TagShift != 0 || !IndexWord.IsCold(word) || (word & IndexWord.InternalBit) == 0)
                continue;
            byte* record = reads.Record(word);
            slot = walk.Slot;
            if (record != null && chunk.Names(record))
                return record;
        }
        slot = null;
        return null;
    }

    /// <summary>
    /// Bytes to be read at most, as what may be the chunk of that hash lies on the tier and is lacked, as far as the session knows (<see cref="ChunkLack"/>); 0 if nothing is.
    /// </summary>
    public static long LackedBytesOfChunk(
        this ColdReads reads, StoreCore core, Partition* partition, byte* bucket, ulong hash, ChunkLack how)
    {
        long bytes = 0;
        ulong tag = Shape.TagOf(core.Shape, hash);
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = Volatile.Read(ref *walk.Slot);
            if ((word ^ tag) >> IndexWord.TagShift != 0 || !IndexWord.IsCold(word) || (word & IndexWord.InternalBit) == 0)
                continue;
            if (reads.Known(word) is not null && ((how & ChunkLack.Coming) == 0 || reads.IsDone(word)))
                continue;
            if ((how & ChunkLack.Fetches) != 0)
                reads.Ask(word, (how & ChunkLack.Ahead) != 0);
            bytes += core.Tier!.Segments.BytesMaxOf(word);
        }
        return bytes;
    }

    /// <summary>True if the word's record was wanted and could not be read; a walk learns what of it was late (<see cref="ColdReads.Late"/>).</summary>
    public static bool IsUnreadable(this ColdReads reads, ulong word)
    {
        if (reads.Known(word) is not { } read || (read.State != ColdReadState.Failed && !reads.Patience.TryTell(read)))
            return false;
        if (read.IsLate && (reads.Late is null || read.BegunAtUs != 0))
            reads.Late = read;
        return true;
    }

    /// <summary>True if the word's record was fetched and is kept.</summary>
    public static bool IsAtHand(this ColdReads reads, ulong word) => reads.Known(word) is { State: ColdReadState.Ready };
}

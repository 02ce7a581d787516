namespace Tsavorite;

/// <summary>What goes through many chunks of a value, and has those that lie on a tier fetched side by side (<see cref="ChunkAhead"/>).</summary>
public static unsafe class EditWalks
{
    /// <summary>Bytes of memory of the record and its chunks, and how many records that are.</summary>
    public static long Footprint(this ref RecordEdit edit, out int records)
    {
        long bytes = edit.Core.Records.Capacity(edit.Found);
        records = 1;
        uint sets = RootLimit.SetsOf(edit.Value);
        for (uint i = 0; edit.Owner != 0 && i < RootLimit.Of(edit.Value) * sets; i++)
        {
            byte* chunk = edit.FindChunk(RootLimit.NumberOf(i % sets, i / sets));
            if (chunk == null)
                continue;
            bytes += edit.Core.Records.Capacity(chunk);
            records++;
        }
        return bytes;
    }

    /// <summary>
    /// A walk comes to the first of these chunks now, and then to the others, in this order: their numbers stand that many numbers apart from each other. To be followed by a look
    /// at the first.
    /// </summary>
    public static void LookAhead(this ref RecordEdit edit, uint* numbers, int apart, int count)
    {
        if (edit.Cold is not { } cold || !edit.Lacks(cold, *numbers, ChunkLack.Fetches))
            return;
        int left = edit.Ahead.Begin(cold.Patience.ThisTurn, edit.Owner, *numbers), at = 1;
        for (; at < count && left > 0 && cold.MayGatherAhead; at++)
            left -= edit.Lacks(cold, numbers[at * apart], ChunkLack.Fetches | ChunkLack.Ahead) ? 1 : 0;
        if (at < count)
            edit.Ahead.End(numbers[at * apart]);
        else
            edit.Ahead.EndOpen();
        edit.Ahead.Tell(edit.Owner, *numbers);
    }

    /// <summary>The chunk is lacked. Most follow each other in the order of their numbers.</summary>
    internal static void LookBehind(this ref RecordEdit edit, ColdReads cold, uint number)
    {
        ReadOnlySpan<uint> named = edit.Foreseen.TakeLacked(edit.Owner);
        for (int i = 0; i < named.Length && cold.MayGatherAhead; i++) edit.Lacks(cold, named[i], ChunkLack.Fetches);
        if (named.Length > 0 || edit.Ahead.TakeTold(edit.Owner, number))
            return;
        int left = edit.Ahead.Begin(cold.Patience.ThisTurn, edit.Owner, number);
        uint next = number + 1, end = ChunkAhead.EndOf(number, RootLimit.Of(edit.Value), left);
        for (; next < end && left > 0 && cold.MayGatherAhead; next++)
            left -= edit.Lacks(cold, next, ChunkLack.Fetches | ChunkLack.Ahead) ? 1 : 0;
        edit.Ahead.End(next);
    }

    internal static bool Lacks(this ref RecordEdit edit, ColdReads cold, uint number, ChunkLack how) =>
        edit.LackedBytes(cold, number, how) != 0;

    /// <summary>Bytes to be read at most for the chunk, as it lies on a tier and what may be it is lacked; 0 if it is not.</summary>
    internal static long LackedBytes(this ref RecordEdit edit, ColdReads cold, uint number, ChunkLack how)
    {
        Shape* shape = edit.Core.Shape;
        ulong hash = ChunkKey.Hash(edit.Core, edit.Key.Hash, edit.Owner, number);
        byte* bucket = Shape.BucketOf(shape, edit.Partition, hash);
        bool isHere = Bucket.FindChunk(shape, edit.Partition, bucket, edit.Owner, number, ChunkKey.InRoot(edit.Key, hash)) != null;
        return isHere ? 0 : cold.LackedBytesOfChunk(edit.Core, edit.Partition, bucket, hash, how);
    }
}

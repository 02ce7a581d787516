namespace Tsavorite;

/// <summary>
/// How many keys a namespace has at one moment. Looked at without a lock, the sum holds if no partition was locked when it was come to, nor after the last,
/// and none of their counts changed in between: whoever changes a count has the locks of all that his step changes until its end.
/// </summary>
internal static unsafe class KeyCount
{
    /// <summary>The keys; under all locks if <paramref name="mayPeek"/> is not set, or some partition was busy.</summary>
    public static long Of(StoreCore core, uint ns, bool mayPeek)
    {
        if (mayPeek && TryPeek(core.Shape, ns, out long keys))
            return keys;
        core.EnterAll();
        TryPeek(core.Shape, ns, out keys); // all are held, so that the sum holds whatever it says
        core.ExitAll();
        return keys;
    }

    private static bool TryPeek(Shape* shape, uint ns, out long keys)
    {
        keys = 0;
        uint before = 0, after = 0;
        int busy = 0, count = shape->PartitionCount;
        Partition* partitions = shape->Partitions;
        for (int i = 0; i < count; i++)
        {
            busy |= Volatile.Read(ref partitions[i].Lock);
            before += Volatile.Read(ref partitions[i].CountChanges);
            uint known = Volatile.Read(ref partitions[i].CountsMax); // its array stands before it
            keys += ns < known ? partitions[i].Counts[ns].Keys : 0;
            StoreTestHooks.Yield(YieldPoint.Peeked);
        }

        Volatile.ReadBarrier();
        for (int i = 0; i < count; i++)
        {
            busy |= Volatile.Read(ref partitions[i].Lock);
            after += partitions[i].CountChanges; // each only grows: equal sums are equal parts
        }

        return busy == 0 && before == after;
    }
}

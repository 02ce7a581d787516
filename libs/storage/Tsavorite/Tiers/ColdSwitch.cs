namespace Tsavorite;

/// <summary>
/// What a blind change (<see cref="IModify.IsBlind"/>) makes of a record on the tier, under the partition's lock, with no more of it at hand than its head: its word names another
/// record in memory from here on, or nothing. What lay there is dead, and its chunks go in the background.
/// </summary>
internal static unsafe class ColdSwitch
{
    public static void ToMemory(StoreCore core, in Target target, uint ns, ulong word)
    {
        Disinherit(core, target, ns);
        ulong old = *target.Slot;
        core.SaveFirst(target.Partition, target.Bucket);
        Bucket.BeginWrite(target.Bucket);
        Volatile.Write(ref *target.Slot, word | (old & IndexWord.FrequencyMask));
        Bucket.EndWrite(target.Bucket);
        core.Tier!.Segments.Died(old);
        core.Count(target.Partition, ns, old, -1);
        core.Count(target.Partition, ns, word, 1);
    }

    public static void ToNothing(StoreCore core, in Target target, uint ns)
    {
        Disinherit(core, target, ns);
        core.RemoveCold(target.Partition, target.Bucket, target.Slot, ns);
    }

    // What lies in a namespace given up is removed record by record.
    private static void Disinherit(StoreCore core, in Target target, uint ns)
    {
        if (Record.Owner(target.Record) != 0 && core.CountOf(target.Partition, ns)->Retired == 0)
            core.Adopt(target.Partition, Orphan.Of(target.Record), gone: true);
    }
}

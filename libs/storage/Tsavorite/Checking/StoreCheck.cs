namespace Tsavorite;

/// <summary>
/// Walks a whole store under all of its locks, taken in ascending order (store.U6), and names every rule that does not hold.
/// For tests and for doubt in the field; slow.
/// </summary>
public static unsafe class StoreCheck
{
    /// <summary>The broken rules, each with where; empty if all hold.</summary>
    public static IReadOnlyList<string> Run(Store store)
    {
        ArgumentNullException.ThrowIfNull(store);
        List<string> broken = [];
        StoreCore core = store.Core;
        long used = ((long)core.Shape->PartitionCount * sizeof(Partition)) + (core.Sketch?.Bytes ?? 0)
            + (core.Tier?.Segments.TableBytes ?? 0);
        using ColdReads? cold = core.Tier is { } tier ? new ColdReads(tier, Garnet.Media.ReaderWake.None) : null;
        core.EnterAll();
        try
        {
            RunLocked(core, used, cold, broken);
        }
        finally
        {
            core.ExitAll(); // what lies on the tier may be unreadable
        }
        return broken;
    }

    private static void RunLocked(StoreCore core, long used, ColdReads? cold, List<string> broken)
    {
        Dictionary<uint, int> coldLive = [];
        for (int i = 0; i < core.Shape->PartitionCount; i++)
        {
            PartitionCheck check = new(core, core.Shape->Partitions + i, broken, cold, coldLive);
            check.Run();
            used += check.UsedBytes;
        }
        long parts = used + core.OldCountBytes + core.Records.WaitingBytes(out long account);
        if (parts != account)
            broken.Add($"accounting: parts sum to {parts}, used is {account}");
        if (core.Tier is not { } checkedTier)
            return;
        CompareLive(checkedTier.Segments, coldLive, broken);
        CheckRuns(checkedTier.Segments, broken);
    }

    private static void CompareLive(ColdLayers segments, Dictionary<uint, int> live, List<string> broken)
    {
        foreach (uint number in segments.Numbers)
        {
            // What is staged counts as live until it is named, or is not.
            if (segments[number]->State == ColdState.Open
                ? segments[number]->Live >= live.GetValueOrDefault(number)
                : segments[number]->Live == live.GetValueOrDefault(number))
                continue;
            broken.Add(
                $"store.C2 segment {number} counts {segments[number]->Live} live records, words name {live.GetValueOrDefault(number)}");
        }
    }

    private static void CheckRuns(ColdLayers segments, List<string> broken)
    {
        Dictionary<uint, uint> firsts = [];
        foreach (uint number in segments.Numbers)
        {
            if (segments[number]->State is ColdState.Free or ColdState.Follows)
                continue;
            int parts = 1;
            for (uint next = segments[number]->Next; next != 0; next = segments[next]->Next, parts++)
            {
                bool isOfRun = firsts.TryAdd(next, number) && segments[next]->State == ColdState.Follows
                    && segments[next]->Life == segments[number]->Life;
                if (!isOfRun)
                    broken.Add($"store.C10 segment {next} follows {number}, and is of another run or none");
            }
            if (parts != segments[number]->Parts)
                broken.Add($"store.C10 segment {number} has {parts} parts, and should have {segments[number]->Parts}");
        }
        foreach (uint number in segments.Numbers)
        {
            if (segments[number]->State == ColdState.Follows && !firsts.ContainsKey(number))
                broken.Add($"store.C10 segment {number} continues none");
        }
    }
}

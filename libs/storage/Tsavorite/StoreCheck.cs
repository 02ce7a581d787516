namespace Tsavorite;

/// <summary>
/// Walks a whole store, one partition at a time under its lock, and names every rule that does not hold. For tests and
/// for doubt in the field; slow.
/// </summary>
public static unsafe class StoreCheck
{
    /// <summary>The broken rules, each with where; empty if all hold.</summary>
    public static IReadOnlyList<string> Run(Store store)
    {
        ArgumentNullException.ThrowIfNull(store);
        List<string> broken = [];
        StoreCore core = store.Core;
        long used = (long)core.Shape->PartitionCount * sizeof(Partition);
        for (int i = 0; i < core.Shape->PartitionCount; i++)
        {
            Partition* partition = core.Shape->Partitions + i;
            Partition.Enter(partition);
            PartitionCheck check = new(core, partition, broken);
            check.Run();
            used += check.UsedBytes;
            Partition.Exit(partition);
        }
        long oldCounts = core.OldCountBytes;
        if (used + oldCounts != core.Arena.Used) broken.Add($"accounting: parts sum to {used + oldCounts}, used is {core.Arena.Used}");
        return broken;
    }
}

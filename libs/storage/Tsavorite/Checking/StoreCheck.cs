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
        long used = ((long)core.Shape->PartitionCount * sizeof(Partition)) + (core.Sketch?.Bytes ?? 0);
        core.EnterAll();
        for (int i = 0; i < core.Shape->PartitionCount; i++)
        {
            PartitionCheck check = new(core, core.Shape->Partitions + i, broken);
            check.Run();
            used += check.UsedBytes;
        }
        long parts = used + core.OldCountBytes + core.Records.WaitingBytes(out long account);
        if (parts != account) broken.Add($"accounting: parts sum to {parts}, used is {account}");
        core.ExitAll();
        return broken;
    }
}

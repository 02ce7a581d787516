using NUnit.Framework;
using Tsavorite.Test.Tiers;

namespace Tsavorite.Test;

/// <summary>
/// What every test that opens a store ends with: after FLUSHALL all counters stand where they stood in the empty
/// store. Only directories of past depths and outgrown count arrays may remain, for readers that come late (store.U3).
/// </summary>
internal static unsafe class EmptyBaseline
{
    private const int RoundsMax = 2000, DirectNamespaces = 4;

    /// <summary>Flushes everything and asserts the baseline; silent if the test has failed already.</summary>
    public static void Expect(Store store, long nowMs)
    {
        if (TestContext.CurrentContext.Result.Assertions.Any()) return;
        string left = "";
        for (int database = 0; database < DirectNamespaces; database++) store.Namespaces.Id(database);
        foreach (int database in store.Namespaces.Databases()) store.Namespaces.Flush(database, wait: true);
        for (int round = 0; round < RoundsMax; round++)
        {
            bool more = store.StepMovers(nowMs + (round * 1000L)); // memory that waits to be used again goes back with time
            left = Left(store);
            if (left.Length == 0 && !more) break;
            Thread.Yield();
        }
        Assert.That(left, Is.Empty, "what a flushed store still holds");
        TierFunnel.Expect(store.Figures().Tier);
        Assert.That(StoreCheck.Run(store), Is.Empty);
    }

    private static string Left(Store store)
    {
        StoreCore core = store.Core;
        long baseline = store.Figures().FixedBytes + core.OldCountBytes;
        List<string> left = [];
        for (int i = 0; i < core.Shape->PartitionCount; i++)
        {
            Partition* partition = core.Shape->Partitions + i;
            Partition.Enter(partition);
            baseline += core.Index.DirectoryBytes(partition) - 64 + (partition->CountsMax - 16) * sizeof(NamespaceCount);
            long sum = partition->Words + partition->LiveBytes + partition->ExtentBytes + partition->Segments + partition->ExtentsHead
                + partition->Draining + partition->SlabFreeNodes + partition->SlabTaken - 1 + partition->IndexSegments - 1;
            if (sum != 0) left.Add($"partition {i}: words {partition->Words} live {partition->LiveBytes} segments {partition->Segments} extents {partition->ExtentsHead} draining {partition->Draining} slab {partition->SlabTaken - 1} free {partition->SlabFreeNodes} index {partition->IndexSegments}");
            Partition.Exit(partition);
        }
        if (core.Arena.Promised != 0) left.Add($"promised {core.Arena.Promised}");
        if (left.Count == 0 && store.Figures().UsedBytes != baseline) left.Add($"used {store.Figures().UsedBytes}, baseline {baseline}");
        return string.Join("; ", left);
    }
}

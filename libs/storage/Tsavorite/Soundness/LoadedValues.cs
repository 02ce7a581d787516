namespace Tsavorite;

/// <summary>Judges all values with chunks of a store that a snapshot was loaded into, before anybody is served from it (store.V1).</summary>
public static unsafe class LoadedValues
{
    /// <summary>What is wrong with one of them; null if all are sound, or nobody knows what they mean. Several threads share the work.</summary>
    public static string? Judge(Store store)
    {
        ArgumentNullException.ThrowIfNull(store);
        if (store.Settings.ValueCheck is not { } check)
            return null;
        string? fault = null;
        Parallel.For(0, store.Partitions, (number, loop) =>
        {
            if (Judge(store.Core, store.Core.Shape->Partitions + number, check) is not { } found)
                return;
            fault = found;
            loop.Stop();
        });
        return fault;
    }

    private static string? Judge(StoreCore core, Partition* partition, IValueCheck check)
    {
        using ColdReads? cold = core.Tier is { } tier ? new ColdReads(tier, Garnet.Media.ReaderWake.None) : null;
        using ChunkScratch scratch = new() { Cold = cold };
        string? fault = null;
        Partition.Enter(partition);
        uint* entries = IndexSpace.Entries(partition);
        for (uint entry = 0; entry < 1u << IndexSpace.DepthOf(partition) && fault is null;)
        {
            IndexSegment* segment = core.Index.Descriptor(entries[entry]);
            for (int i = 0; i < core.Shape->BucketsPerSegment && fault is null; i++)
                fault = JudgeBucket(core, partition, core.Index.BucketAt(entries[entry], i), check, scratch);
            entry += 1u << (IndexSpace.DepthOf(partition) - segment->Depth);
        }
        Partition.Exit(partition);
        return fault;
    }

    private static string? JudgeBucket(StoreCore core, Partition* partition, byte* bucket, IValueCheck check, ChunkScratch scratch)
    {
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            if (*walk.Slot == 0 || (*walk.Slot & IndexWord.InternalBit) != 0)
                continue;
            scratch.Cold?.BeginStep();
            byte* record = core.RecordAt(*walk.Slot, scratch.Cold);
            // Those without chunks were judged as they came.
            if (Record.Owner(record) == 0 || core.CountOf(partition, Record.Namespace(record))->Retired != 0)
                continue;
            RecordKind kind = Record.Kind(record);
            if (!IsSound(core, partition, core.KeyOf(record), check, scratch))
                return $"what a record of the kind {kind} holds is not as it must be (its key has {Record.KeyBytes(record)} bytes)";
        }
        return null;
    }

    private static bool IsSound(StoreCore core, Partition* partition, in KeyRef key, IValueCheck check, ChunkScratch scratch)
    {
        System.Runtime.CompilerServices.Unsafe.SkipInit(out RecordEdit edit);
        edit.Begin(core, partition, scratch, key, nowMs: 0, EditAim.Look);
        return Judgement.Of(check, ref edit);
    }
}

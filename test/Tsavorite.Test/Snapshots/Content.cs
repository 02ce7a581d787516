using System.Globalization;

namespace Tsavorite.Test.Snapshots;

/// <summary>All that a store holds, read from its records whatever they are: chunks and expired ones too.</summary>
internal static unsafe class Content
{
    /// <summary>Database and key to kind, expiry, ETag and value; nobody writes meanwhile.</summary>
    public static SortedDictionary<string, string> Of(Store store)
    {
        SortedDictionary<string, string> content = new(StringComparer.Ordinal);
        StoreCore core = store.Core;
        using ColdReads? cold = core.Tier is { } tier ? new ColdReads(tier, Garnet.Media.ReaderWake.None) : null;
        for (int i = 0; i < core.Shape->PartitionCount; i++)
        {
            Partition* partition = core.Shape->Partitions + i;
            Partition.Enter(partition);
            for (BucketCursor cursor = default; !cursor.AtEnd; cursor.MoveOn(core, partition))
                for (SlotWalk walk = new(partition, cursor.Current(core, partition)); walk.Next();)
                    if (*walk.Slot != 0) Add(core, content, *walk.Slot, cold);
            Partition.Exit(partition);
        }
        return content;
    }

    private static void Add(StoreCore core, SortedDictionary<string, string> content, ulong word, ColdReads? cold)
    {
        byte* record = core.RecordAt(word, cold);
        int database = core.Databases[Record.Namespace(record)];
        if (database < 0) return;
        RecordView view = Record.View(record, word);
        content.Add(string.Create(CultureInfo.InvariantCulture, $"{database}:{Convert.ToHexString(view.KeySpan)}"),
            string.Create(CultureInfo.InvariantCulture,
                $"{view.Kind} {view.ExpireAtMs} {view.ETag} {Convert.ToHexString(view.ValueSpan)}"));
    }
}

using Garnet.Aof.Disk;
using Garnet.Common;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>What recovery asks of snapshot files, answered by <see cref="SnapshotReader"/>.</summary>
public sealed class SnapshotFiles : ISnapshotSource
{
    private SnapshotFiles()
    {
    }

    /// <summary>The one instance; it holds nothing.</summary>
    public static SnapshotFiles Instance { get; } = new();

    /// <inheritdoc/>
    public SnapshotFacts Check(IDisk disk, string name, JobProgress progress)
    {
        try
        {
            SnapshotFileFacts facts = SnapshotReader.Check(disk, name, progress);
            return new SnapshotFacts(facts.Batch, facts.Term, facts.FileBytes, (long)facts.Records, null)
            {
                Cold = (long)facts.References, Segments = (long)facts.Segments, TierId = facts.TierId,
                ColdInMemory = facts.ReferencesToMemory, SegmentsInMemory = facts.SegmentsInMemory,
                StartUnixUs = facts.StartUnixUs, HashSeed = facts.HashSeed, Lanes = (int)facts.Partitions };
        }
        catch (SnapshotFileException e)
        {
            return new SnapshotFacts(0, 0, 0, 0, e.Fault) { IsNewer = e.IsNewer };
        }
    }

    /// <inheritdoc/>
    public void Keep(IDisk disk, string name, Store store) => SnapshotReader.Keep(disk, name, store);

    /// <inheritdoc/>
    public IReadOnlyList<string> Load(IDisk disk, string name, Store store, JobProgress progress, DirectoryKey? key = null) =>
        Load(disk, name, () => SnapshotReader.Load(disk, name, store, progress, key: key));

    /// <summary>The same without what cannot be read on the tier, which <paramref name="losses"/> has then.</summary>
    internal static void LoadReadable(
        IDisk disk, string name, Store store, ColdLosses losses, JobProgress progress, DirectoryKey? key = null) =>
        Load(disk, name, () => SnapshotReader.LoadReadable(disk, name, store, losses, progress, key));

    private static IReadOnlyList<string> Load(IDisk disk, string name, Func<SnapshotLoad> read)
    {
        SnapshotLoad load;
        try
        {
            load = read();
        }
        catch (SnapshotFileException e)
        {
            throw new GarnetException(ExitKind.Data, $"the snapshot cannot be loaded: {disk.Path}/{name}",
                $"{e.Fault}, though the checksums hold",
                "Nothing on disk was changed. Put the snapshot back from a copy; if there is none, keep a copy of the directory and " +
                "ask for help.");
        }
        if (load.Outcome != LoadOutcome.OutOfMemory)
            return load.DamagedHeads;
        throw new GarnetException(ExitKind.Data, $"the snapshot cannot be loaded: {disk.Path}/{name}",
            $"it does not fit into memory: {load.Records} of {load.Facts.Records} records filled {load.Store.UsedBytes} of the " +
            $"{load.Store.LimitBytes} bytes that were set aside by maxmemory",
            "Raise maxmemory and start again; nothing on disk was changed");
    }
}

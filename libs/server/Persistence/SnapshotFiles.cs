using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>Between the store's snapshot files and the data directory: what recovery asks of a file, and how one is made.</summary>
internal sealed class SnapshotFiles : ISnapshotSource
{
    private SnapshotFiles()
    {
    }

    /// <summary>The one instance; it holds nothing.</summary>
    internal static SnapshotFiles Instance { get; } = new();

    /// <inheritdoc/>
    public SnapshotFacts Check(IDisk disk, string name, JobProgress progress)
    {
        try
        {
            SnapshotFileFacts facts = SnapshotReader.Check(disk, name);
            return new SnapshotFacts(facts.Batch, facts.Term, facts.FileBytes, (long)facts.Records, null);
        }
        catch (SnapshotFileException e)
        {
            return new SnapshotFacts(0, 0, 0, 0, e.Message);
        }
    }

    /// <inheritdoc/>
    public void Load(IDisk disk, string name, Store store, JobProgress progress)
    {
        SnapshotLoad load = SnapshotReader.Load(disk, name, store);
        progress.Add(load.Bytes);
        if (load.Outcome != LoadOutcome.OutOfMemory)
            return;
        throw new GarnetException(
            ExitKind.Data,
            $"the snapshot {name} does not fit into memory",
            $"{load.Records} of {load.Facts.Records} records filled {load.Store.UsedBytes} bytes, maxmemory is {load.Store.LimitBytes}",
            "Raise maxmemory, or set a maxmemory-policy that evicts");
    }

    /// <summary>Takes a snapshot and gives the file its name; it is not published yet.</summary>
    internal static SavedSnapshot Save(Server server, DataDirectory directory, SnapshotProgress progress, CancellationToken cancellation)
    {
        var options = new SnapshotJobOptions
        {
            Term = server.Replication.IsReplica ? server.Replication.Applied.Term : directory.Manifest.Term,
            Cut = memory => server.Replication.Cut(memory, cancellation)
                ?? throw new GarnetException(ExitKind.Data, "no snapshot can be taken", "the server stops, or gets all its data from its primary", "Take it later."),
        };
        SnapshotResult result = SnapshotJob.Run(server.Store, directory.Disk, options, server.Clock, cancellation, progress);
        if (result.State != SnapshotState.Whole)
            return new SavedSnapshot(Outcome: result.State, "", 0, 0, 0);
        SnapshotWriter.Publish(directory.Disk, result.Facts);
        directory.Disk.SyncDirectory();
        return new SavedSnapshot(result.State, result.Facts.Name, result.Facts.Batch, (long)result.Facts.Records, result.Facts.FileBytes);
    }
}

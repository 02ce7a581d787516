using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Takes snapshots into a data directory in the order that loses nothing wherever it is interrupted (log.M1):
/// log.P1: the file is written, synced and named, and its name synced, before anything speaks of it.
/// log.P2: the log is durable up to the file's batch before the manifest names the file, so that what a crash leaves of the log
/// does not end before its snapshot.
/// log.P3: the log is cut only when the manifest is durable, and only behind the snapshot before this one, which stays the way back.
/// Failures of the disk throw <see cref="Disk.DiskException"/>; the directory is then as it was, but for files nobody names.
/// </summary>
public sealed class SnapshotTaker(Store store, DataDirectory directory, IClock clock)
{
    /// <summary>Makes the log durable up to a batch and waits for it; false if it cannot.</summary>
    public required Func<ulong, bool> AwaitDurable { get; init; }

    /// <summary>Deletes what the log holds below a batch.</summary>
    public required Action<ulong> Truncate { get; init; }

    /// <summary>What is known of the terms of the log.</summary>
    public required Func<IReadOnlyList<TermStart>> Terms { get; init; }

    /// <summary>
    /// Takes one snapshot, on the caller's thread. It counts if the state is <see cref="SnapshotState.Whole"/> and
    /// <paramref name="published"/> is true; whole and not published: the log failed meanwhile.
    /// </summary>
    public SnapshotResult Take(SnapshotJobOptions options, SnapshotProgress progress, CancellationToken cancellation, out bool published)
    {
        published = false;
        // Who judges nothing may hold anything, and does not vouch for it.
        DirectoryKey? key = store.Settings.ValueCheck is null ? null : directory.KeyToSealWith();
        SnapshotResult result = SnapshotJob.Run(store, directory.Disk, options with { Key = key }, clock, cancellation, progress);
        if (result.State != SnapshotState.Whole)
            return result;
        directory.ExpectSnapshot(result.Facts.Name);
        SnapshotWriter.Publish(directory.Disk, result.Facts);
        directory.Disk.SyncDirectory(); // log.P1
        if (!AwaitDurable(result.Facts.Batch))
            return result; // log.P2
        directory.PublishSnapshot(result.Facts.Name, result.Facts.Batch, Terms(), waits: store.Names is { WantsSnapshot: true });
        store.Names?.Published(result.Facts.Name, directory.Manifest.Previous?.File);
        Truncate(directory.LogNeededFrom); // log.P3
        published = true;
        return result;
    }
}

using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Common;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Takes a snapshot of a store and writes it to a file, on the caller's thread, which is the only one that waits for the disk.
/// </summary>
public static class SnapshotJob
{
    private const int PauseMsMax = 10;

    /// <summary>
    /// Cuts the store, walks it and writes the file. Failures of the disk throw <see cref="DiskException"/>; the snapshot is
    /// abandoned then and no file is left. Throws <see cref="InvalidOperationException"/> if a snapshot runs already.
    /// </summary>
    public static SnapshotResult Run(Store store, IDisk disk, SnapshotJobOptions options, IClock clock, CancellationToken cancellation,
        SnapshotProgress? progress = null)
    {
        ArgumentNullException.ThrowIfNull(store);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(clock);
        // The file is for the directory of this very store: what lies on its tier is there when the file is loaded.
        SnapshotOptions how = options.Snapshot with { NamesSegments = store.Names is { MayName: true }, Ended = cancellation };
        using StoreSnapshot snapshot = options.Cut is { } cut ? cut(how) : store.BeginSnapshot(how);
        SnapshotFileFacts facts = new()
        {
            Name = SnapshotFileName.Of(snapshot.Batch),
            Term = options.Term,
            Batch = snapshot.Batch,
            HashSeed = snapshot.HashSeed,
            Partitions = (uint)snapshot.Partitions,
            StartUnixUs = clock.UnixUs,
            NamesSegments = how.NamesSegments,
        };
        using SnapshotWriter writer = new(disk, facts, options.Key);
        long startUs = clock.MonotonicUs;
        progress?.Walked(snapshot.Figures, 0);
        while (!cancellation.IsCancellationRequested && snapshot.Step(writer))
        {
            progress?.Walked(snapshot.Figures, clock.MonotonicUs - startUs);
            options.Yield();
            while (IsAhead(snapshot, options, clock.MonotonicUs - startUs) && !store.SnapshotBehind
                && !cancellation.IsCancellationRequested)
                cancellation.WaitHandle.WaitOne(PauseMsMax);
        }
        progress?.Walked(snapshot.Figures, clock.MonotonicUs - startUs);
        if (snapshot.State == SnapshotState.Whole)
        {
            if (store.Names?.TryKeep(facts.Name, snapshot) == false)
                throw new GarnetException(ExitKind.Data, "no snapshot can be taken",
                    $"what it names on the tier cannot be made durable: {store.Names.WhyBroken}",
                    "Look at the tier's disk. The next snapshot holds all values itself");
            facts = writer.Finish();
        }
        SnapshotState state = snapshot.State == SnapshotState.Running ? SnapshotState.Abandoned : snapshot.State;
        return new SnapshotResult(state, facts, snapshot.Figures);
    }

    private static bool IsAhead(StoreSnapshot snapshot, SnapshotJobOptions options, long elapsedUs) =>
        options.BytesPerSecondMax > 0 && snapshot.Figures.Bytes > options.BytesPerSecondMax * (elapsedUs / 1e6);
}

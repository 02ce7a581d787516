using System.Diagnostics;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Recovery;

/// <summary>
/// The way from a directory's files to a store: the newest sound snapshot, then the log behind it; what an interrupted write left is cut away, and
/// what is damaged refused or cut, as the settings say.
/// </summary>
internal sealed class DirectoryRecovery(DataDirectory directory, RecoverySettings settings, ISnapshotSource snapshots, JobProgress progress)
{
    private readonly IDisk _disk = directory.Disk;

    /// <summary>Fills the store and says where the log goes on; <paramref name="completed"/> is what the disk had to finish first.</summary>
    internal RecoveryReport Run(Store store, ReplayTable table, IReadOnlyList<string> completed)
    {
        long started = Stopwatch.GetTimestamp();
        Manifest manifest = directory.Manifest;
        IReadOnlyList<CheckFinding> missing = NamedFiles.Missing(_disk, manifest);
        if (missing.Count > 0 && settings.OnCorruption == CorruptionPolicy.Refuse)
            throw NamedFiles.Refused(_disk, missing);
        SnapshotChoice choice = SnapshotChoice.Of(_disk, manifest, snapshots, progress);
        if (choice.Damaged.Count == 0 && manifest.Previous is { } previous && _disk.List().Contains(previous.File))
            snapshots.Keep(_disk, previous.File, store);
        IReadOnlyList<string> heads = choice.Chosen is not { } snapshot
            ? []
            : snapshots.Load(_disk, snapshot.File, store, progress, directory.ReadKey());
        using var recovery = new LogRecovery(_disk, manifest, store, table, settings, choice.Chosen?.Batch ?? 0)
        {
            SnapshotTerm = choice.Term, TermsBefore = DataDirectory.UpTo(choice.Chosen?.Batch ?? 0, manifest.Terms),
        };
        recovery.Replay(progress, "replaying the log");
        TailScan tail = recovery.JudgeEnd();
        LogReader reader = recovery.Reader;
        bool isDamaged = tail.IsDamage || missing.Count > 0, wasCut = tail.HasRest || isDamaged;
        uint term = Math.Max(Math.Max(manifest.Term, reader.LastTerm), choice.Term) + (wasCut ? 1u : 0);
        // The term is durable before the cut: a crash between them must not leave a cut log in the old term.
        var cut = new LogCut(_disk, isDamaged ? CorruptionPolicy.Truncate : CorruptionPolicy.Refuse);
        directory.PublishRecovered(choice, cut.Left(reader, manifest) with { Term = term, Lanes = store.Partitions });
        cut.Apply(reader);
        if (missing.Count > 0)
            TailFiles.GiveUp(_disk);
        return new RecoveryReport
        {
            Start = StartOf(recovery, choice, Math.Max(term, 1), store),
            Snapshot = choice.Chosen?.File,
            SnapshotRecords = choice.Records,
            SnapshotBatch = choice.Chosen?.Batch ?? 0,
            Batches = recovery.Batches,
            Entries = recovery.Entries,
            Bytes = recovery.Bytes,
            ElapsedMs = (long)Stopwatch.GetElapsedTime(started).TotalMilliseconds,
            WasCut = wasCut,
            Notes = recovery.Notes,
            Messages =
            [
                .. completed, .. missing.Select(static finding => $"The log went on without what is missing: {finding}."),
                .. choice.Messages,
                .. heads.Select(static head => $"On the tier, {head}; each value of it shows for itself whether it is sound."),
                .. recovery.Messages, .. cut.Kept.Select(static name => $"Kept aside: {name}."),
            ],
        };
    }

    private AofStart StartOf(LogRecovery recovery, SnapshotChoice choice, uint term, Store store)
    {
        LogReader reader = recovery.Reader;
        return new AofStart(term, reader.LastBatch, ChainOf(reader), store.Partitions, directory.Manifest.HashSeed)
        {
            LastTerm = reader.Reaches ? recovery.LastTerm() : 0,
            SealedUnixUs = recovery.Batches > 0 ? recovery.SealedUnixUs : choice.StartUnixUs,
            Filled = reader.Reaches ? recovery.Filled : null,
            Terms = recovery.Terms,
        };
    }

    private static uint[] ChainOf(LogReader reader) => [.. reader.Cursors.Select(cursor => reader.Reaches ? cursor.LastCrc : 0)];
}

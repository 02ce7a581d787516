using Garnet.Aof.Checking;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof;

/// <summary>
/// Reads everything in a data directory and says what is wrong with it; changes nothing and needs no store. The caller sees to it
/// that no server uses the directory. Throws <see cref="DiskException"/>.
/// </summary>
public static class DirectoryCheck
{
    /// <summary>Checks manifest, snapshots and the whole log, also the part of it that a recovery would not read.</summary>
    public static CheckReport Run(IDisk disk, ISnapshotSource snapshots, JobProgress progress)
    {
        using var inspection = new Inspection(disk, snapshots, progress);
        inspection.Run();
        return new CheckReport
        {
            Findings = inspection.Findings,
            LastBatch = inspection.LastBatch,
            Batches = inspection.Batches,
            Remark = inspection.Remark,
        };
    }

    /// <summary>
    /// Reads the values of a directory that <see cref="Run"/> found sound, as a start does, into stores that <paramref name="open"/> makes and
    /// that judge what comes from outside: of each snapshot, and of the log behind the newest, the first that is not as it must be. It takes the
    /// memory of a start, and changes nothing on disk.
    /// </summary>
    public static IReadOnlyList<CheckFinding> Judge(IDisk disk, Func<Manifest, Store> open, ReplayTable table, JobProgress progress)
    {
        ArgumentNullException.ThrowIfNull(open);
        if (ManifestFile.TryRead(disk, out Manifest? manifest) != HeaderState.Whole)
            return [];
        var findings = new List<CheckFinding>();
        ColdLosses losses = new();
        if (manifest!.Previous is { } previous)
        {
            using Store store = open(manifest);
            JudgeSnapshot(previous.File, store, new ColdLosses());
        }
        using Store newest = open(manifest);
        if (manifest.Snapshot is { } snapshot && !JudgeSnapshot(snapshot.File, newest, losses))
            return findings;
        ulong after = manifest.Snapshot?.Batch ?? 0;
        using var log = new LogRecovery(disk, manifest, newest, table, new RecoverySettings { Losses = losses }, after);
        Judge("the log behind it", findings, () => log.Replay(progress, "judging the log"));
        return findings;

        bool JudgeSnapshot(string file, Store store, ColdLosses lost)
        {
            bool isSound = Judge(file, findings, () => SnapshotFiles.LoadReadable(disk, file, store, lost, progress));
            if (!lost.IsAsNamed)
                findings.Add(new CheckFinding(file, 0, TierState.Words(lost), IsDamage: true) { IsOfTier = true });
            return isSound;
        }
    }

    private static bool Judge(string file, List<CheckFinding> findings, Action read)
    {
        try
        {
            read();
            return true;
        }
        catch (GarnetException e)
        {
            findings.Add(new CheckFinding(file, 0, e.What.Contains(file, StringComparison.Ordinal) ? e.Why : e.Message, IsDamage: true));
            return false;
        }
    }
}

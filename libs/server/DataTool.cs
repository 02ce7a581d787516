using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Media;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Server;

/// <summary>
/// The data directory without a server: <c>garnet-server check DIR</c> reads everything and says what is sound, <c>repair DIR</c>
/// proposes what would make a damaged one usable and, with <c>--apply</c>, does it; originals are kept aside. Lines go to <c>say</c>,
/// how far it is, every second, to <c>speak</c>.
/// </summary>
public static class DataTool
{
    private const int SpeakMs = 1000;
    private const string NameIt = "Name the directory that was given as --dir, or, where appenddirname is set, that directory in it";

    /// <summary>0 if everything is sound, else <see cref="ExitKind.Data"/>. Throws <see cref="GarnetException"/> if the directory cannot be used.</summary>
    public static int Check(string path, Action<string> say, Action<string> speak) => With(path, say, speak, (disk, progress) =>
    {
        CheckReport report = DirectoryCheck.Run(disk, SnapshotFiles.Instance, progress);
        foreach (CheckFinding finding in report.Findings)
            say((finding.IsDamage ? "DAMAGED  " : "         ") + finding);
        say($"{CheckReport.InWords(report.Batches)} read; the last good one is {report.LastBatch}.");
        if (!report.IsSound)
        {
            say($"The directory is damaged: garnet-server repair {path} proposes what to do.");
            return (int)ExitKind.Data;
        }

        if (!HasSoundValues(disk, progress, say))
            return (int)ExitKind.Data;
        if (report.Remark.Length > 0)
            say(report.Remark);
        say("The directory is sound.");
        return 0;
    });

    /// <summary>0 if nothing is to be done or it was done, else <see cref="ExitKind.Data"/>. Throws as <see cref="Check"/> does.</summary>
    public static int Repair(string path, bool apply, Action<string> say, Action<string> speak) => With(path, say, speak, (disk, progress) =>
    {
        RepairPlan plan = DirectoryRepair.Plan(disk, SnapshotFiles.Instance, progress);
        if (plan.Hopeless is { } hopeless)
        {
            say(hopeless);
            return (int)ExitKind.Data;
        }

        foreach (string line in plan.Lines)
            say((apply ? "Doing: " : "Would ") + line);
        if (plan.Price.Length > 0)
            say(plan.Price + (apply ? " will be lost." : " would be lost."));
        if (plan.Lines.Count == 0 && plan.Remark.Length > 0)
            say(plan.Remark);
        if (plan.Lines.Count == 0)
            say("There is nothing to repair.");
        else if (apply)
            return Apply(disk, plan, progress, say);
        else
            say($"Nothing of this was done. If a file is missing, or you have a sound copy of a damaged one, put it back first: that loses nothing. Else garnet-server repair {path} --apply does it, keeping the originals as damaged-*.");
        return plan.Lines.Count == 0 ? 0 : (int)ExitKind.Data;
    });

    // What snapshots name on a tier is read there, record by record.
    internal static IReadOnlyList<CheckFinding> Judge(IDisk disk, JobProgress progress)
    {
        IMedium? tier = null;
        try
        {
            Store Open(Manifest manifest) => StoreFor(manifest, tier ??= TierOf(manifest));
            return DirectoryCheck.Judge(disk, Open, CommandFamilies.Replay(), progress);
        }
        finally
        {
            tier?.Dispose();
        }
    }

    private static FileMedium? TierOf(Manifest manifest) => manifest.Tier is { } tier ? FileMedium.Look(tier.Path, tier.Id) : null;

    // As at a start: whatever the limit, and nothing goes by its own.
    private static Store StoreFor(Manifest manifest, IMedium? tier)
    {
        var store = new Store(new StoreSettings
        {
            MemoryLimitBytes = MemoryPlan.LimitBytes(0), ValueCheck = ValueCheck.Instance, HashSeed = manifest.HashSeed,
            Partitions = manifest.Lanes, BackgroundMovers = false, Named = tier,
        });
        store.Logging = false;
        store.PauseExpiry(true);
        store.SetMemoryLimit(0);
        return store;
    }

    private static bool HasSoundValues(IDisk disk, JobProgress progress, Action<string> say)
    {
        IReadOnlyList<CheckFinding> values = Judge(disk, progress);
        foreach (CheckFinding finding in values)
            say("DAMAGED  " + finding);
        if (values.Count > 0)
            say("The files are whole, and what stands in them is not what this server writes: put them back from a copy.");
        return values.Count == 0;
    }

    // What it says of the next start it has looked at, as a check does.
    private static int Apply(IDisk disk, RepairPlan plan, JobProgress progress, Action<string> say)
    {
        IReadOnlyList<string> before = disk.List();
        DirectoryRepair.Apply(plan);
        string[] kept = [.. disk.List().Except(before).Where(static name => name.StartsWith("damaged-", StringComparison.Ordinal))];
        string asides = kept.Length > 0 ? $" Kept aside: {string.Join(", ", kept)}." : "";
        CheckReport report = DirectoryCheck.Run(disk, SnapshotFiles.Instance, progress);
        foreach (CheckFinding finding in report.Findings.Where(static finding => finding.IsDamage))
            say("DAMAGED  " + finding);
        if (!report.IsSound || !HasSoundValues(disk, progress, say))
        {
            say("All that was proposed was done, and the directory is not sound yet: do not start a server on it." + asides);
            return (int)ExitKind.Data;
        }

        if (report.Remark.Length > 0)
            say(report.Remark);
        say($"Done and checked, up to batch {report.LastBatch}; a server can start on it." + asides);
        return 0;
    }

    private static int With(string path, Action<string> say, Action<string> speak, Func<IDisk, JobProgress, int> step)
    {
        string inner = Path.Combine(path, new PersistenceSettings().AppendDirectory);
        string directory = Directory.Exists(inner) ? inner : path;
        if (!Directory.Exists(directory))
            throw new GarnetException(ExitKind.Data, $"there is no data directory {path}", "it does not exist", NameIt);
        if (!DataDirectory.Is(directory)) // before its lock would be put there
            throw new GarnetException(ExitKind.Data, $"{directory} is no data directory", "there is no manifest, no log and no snapshot in it", NameIt);
        using IDisposable held = DataDirectory.Hold(directory);
        var progress = new JobProgress("reading", SystemClock.Instance);
        using var speaker = new Timer(_ => speak(progress.Format()), null, SpeakMs, SpeakMs);
        try
        {
            var disk = new FileDisk(directory);
            foreach (string line in disk.Complete()) say(line);
            return step(disk, progress);
        }
        catch (DiskException e)
        {
            throw new GarnetException(ExitKind.Data, $"the data directory {directory} cannot be read", e.Message, "Look at the disk and at the rights of the files");
        }
    }
}

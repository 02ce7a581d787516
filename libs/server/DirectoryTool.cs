using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Media;
using Garnet.Server.Tiering;

namespace Garnet.Server;

/// <summary>What <see cref="DataTool"/> does with a directory that it holds. <paramref name="path"/> is what the operator calls it; lines go to <paramref name="say"/>.</summary>
internal sealed class DirectoryTool(string path, IDisk disk, JobProgress progress, Action<string> say)
{
    internal int Check()
    {
        CheckReport report = DirectoryCheck.Run(disk, SnapshotFiles.Instance, progress);
        IReadOnlyList<CheckFinding> values = report.IsSound ? Judge() : [];
        // Of a file whose checksums hold and whose values do not one thing is said.
        IEnumerable<CheckFinding> others = report.Findings.Where(finding => !values.Any(value => value.File == finding.File));
        foreach (CheckFinding finding in others.Concat(values))
            say((finding.IsDamage ? "DAMAGED  " : "         ") + finding);
        say($"{CheckReport.InWords(report.Batches)} read; the last good one is {report.LastBatch}.");
        if (!report.IsSound)
        {
            say($"The directory is damaged: garnet-server repair {path} proposes what to do.");
            return (int)ExitKind.Data;
        }

        if (!SayNext(values))
            return (int)ExitKind.Data;
        if (report.Remark.Length > 0)
            say(report.Remark);
        say("The directory is sound.");
        return 0;
    }

    internal int Repair(bool apply)
    {
        RepairPlan plan = DirectoryRepair.Plan(disk, SnapshotFiles.Instance, progress);
        bool isToBeDone = plan.Hopeless is not null || plan.Lines.Count > 0;
        return isToBeDone ? Do(plan, () => DirectoryRepair.Apply(plan), apply) : RepairTier(apply, plan.Remark);
    }

    /// <summary>What snapshots name on a tier is read there, record by record.</summary>
    internal IReadOnlyList<CheckFinding> Judge()
    {
        using TierStores stores = new();
        IReadOnlyList<CheckFinding> found = DirectoryCheck.Judge(disk, stores.OpenToJudge, CommandFamilies.Replay(), progress);
        // A copy of the directory has a tier beside it that nobody has looked at.
        if (stores.Missing is null && Repairing.Named is { } tier)
            say($"Its tier was read where its server had it: {string.Join(" and ", tier.Places)}.");
        if (stores.Missing is { } missing && found.Any(static finding => finding.IsOfTier))
            say(missing);
        return found;
    }

    private TierRepair Repairing => new(disk, CommandFamilies.Replay(), SystemClock.Instance, progress);

    private int RepairTier(bool apply, string remark)
    {
        TierRepair values = Repairing;
        if (values.Named is { } tier && TierMedium.HeadsToMend(tier) is { Count: > 0 } heads)
            return MendHeads(values, tier, heads, apply);
        RepairPlan plan;
        using (TierStores stores = new())
        {
            plan = values.Plan(stores.OpenOver);
            if (stores.Missing is { } missing && plan.Lines.Count > 0)
            {
                say(missing);
                if (!stores.IsPlaceKnown)
                    return (int)ExitKind.Data;
            }
        }
        if (plan.Lines.Count == 0 && remark.Length > 0)
            say(remark);
        return Do(plan, () =>
        {
            using TierStores stores = new();
            values.Apply(stores.OpenOver);
        }, apply);
    }

    // Before anything else of the tier can be looked at.
    private int MendHeads(TierRepair values, TierName tier, IReadOnlyList<(string Path, KeptPart Part)> heads, bool apply)
    {
        const string Why = "what is left of it shows what it was";
        string[] lines = [.. heads.Select(head => $"write the head of {NameOf(head)} in {head.Path} anew: {Why}")];
        return Do(lines, "Nothing", () =>
        {
            foreach ((string Path, KeptPart Part) head in heads)
                TierMedium.MendHead(tier, head, was => values.KeepAside(NameOf(head) + ".head", was));
        }, apply);

        string NameOf((string Path, KeptPart Part) head) => $"tier-{tier.Id:x32}{head.Part.Ending}";
    }

    private int Do(RepairPlan plan, Action steps, bool apply)
    {
        if (plan.Hopeless is not { } hopeless)
            return Do(plan.Lines, plan.Price, steps, apply);
        say(hopeless);
        return (int)ExitKind.Data;
    }

    private int Do(IReadOnlyList<string> lines, string price, Action steps, bool apply)
    {
        foreach (string line in lines)
            say((apply ? "Doing: " : "Would ") + line);
        if (price.Length > 0)
            say(price + (apply ? " will be lost." : " would be lost."));
        if (lines.Count == 0)
        {
            say("There is nothing to repair.");
            return 0;
        }

        if (apply)
            return Apply(steps);
        say("Nothing of this was done. If a file is missing, or you have a sound copy of a damaged one, put it back first: "
            + $"that loses nothing. Else garnet-server repair {path} --apply does it, keeping the originals as damaged-*.");
        return (int)ExitKind.Data;
    }

    // What it says of the next start it has looked at, as a check does.
    private int Apply(Action steps)
    {
        IReadOnlyList<string> before = disk.List();
        steps();
        string[] kept = [.. disk.List().Except(before).Where(static name => name.StartsWith("damaged-", StringComparison.Ordinal))];
        string asides = kept.Length > 0 ? $" Kept aside: {string.Join(", ", kept)}." : "";
        CheckReport report = DirectoryCheck.Run(disk, SnapshotFiles.Instance, progress);
        foreach (CheckFinding finding in report.Findings.Where(static finding => finding.IsDamage))
            say("DAMAGED  " + finding);
        if (!report.IsSound || !HasSoundValues())
        {
            say("All that was proposed was done, and the directory is not sound yet: do not start a server on it." + asides);
            return (int)ExitKind.Data;
        }

        if (report.Remark.Length > 0)
            say(report.Remark);
        say($"Done and checked, up to batch {report.LastBatch}; a server can start on it." + asides);
        return 0;
    }

    private bool HasSoundValues()
    {
        IReadOnlyList<CheckFinding> values = Judge();
        foreach (CheckFinding finding in values)
            say("DAMAGED  " + finding);
        return SayNext(values);
    }

    // What to do about values that are damaged; true if none is.
    private bool SayNext(IReadOnlyList<CheckFinding> values)
    {
        if (values.Any(static finding => !finding.IsOfTier))
            say("The files are whole, and what stands in them is not what this server writes: put them back from a copy.");
        else if (values.Count > 0)
        {
            say("Put the tier's file back from a copy of the same moment, if there is one: that loses nothing. "
                + $"Else garnet-server repair {path} proposes what to do without what cannot be read.");
        }

        return values.Count == 0;
    }
}

using Garnet.Aof.Checking;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Common.Time;

namespace Garnet.Aof;

/// <summary>
/// Makes a damaged data directory one that a server starts on, at the price of what is damaged. Whatever is changed is kept aside
/// first (<c>damaged-&lt;n&gt;-&lt;name&gt;</c>), and nothing is deleted. A repair that was interrupted is planned anew.
/// The caller sees to it that no server uses the directory. Throws <see cref="DiskException"/>.
/// </summary>
public static class DirectoryRepair
{
    /// <summary>Looks at everything and says what could be done; changes nothing.</summary>
    public static RepairPlan Plan(IDisk disk, ISnapshotSource snapshots, JobProgress progress)
    {
        using var inspection = new Inspection(disk, snapshots, progress);
        inspection.Run();
        bool isNewer = inspection.ManifestState == HeaderState.Newer || inspection.HasNewer;
        if (isNewer || inspection.Reader?.Failure?.Kind == LogFailureKind.Newer)
            return new RepairPlan([], [], "A newer version of the server wrote the directory: start that version.");
        if (inspection.IsReplaced == true)
            return new RepairPlan([], [], null); // the next start does it
        if (inspection.Manifest is null)
            return new RepairPlan([], [],
                $"There is no manifest and no sublog file with a whole header in {disk.Path}: nothing says what the directory was.");
        var planning = new Planning(disk, inspection);
        planning.GiveUpMissing();
        planning.CutLog();
        planning.MoveSnapshots();
        planning.RenewManifest();
        planning.GiveUpReplacement();
        return planning.Lost is { } lost ? new RepairPlan([], [], lost)
            : new RepairPlan(planning.Lines, planning.Steps, null)
                { Price = planning.Lines.Count > 0 ? PriceOf(inspection) : "", Remark = inspection.Remark };
    }

    /// <summary>Does what was planned, in order; every step is durable before the next begins.</summary>
    public static void Apply(RepairPlan plan)
    {
        foreach (Action step in plan.Steps) step();
    }

    // Without a manifest nothing says what else there was; a file that is missing, or a snapshot without a log, says nothing of how much it held.
    private static string PriceOf(Inspection inspection)
    {
        bool isNamed = inspection.ManifestState == HeaderState.Whole;
        SnapshotName? newest = inspection.Manifest!.Snapshot;
        ulong known = Math.Max(newest?.Batch ?? 0, isNamed ? inspection.Manifest.Ended : 0), since = 0;
        if (!isNamed)
            foreach (string name in inspection.Damaged)
                if (SnapshotFileName.TryParse(name, out ulong batch))
                    known = Math.Max(known, batch);
        if (inspection.Tail is { IsDamage: true } tail)
            (known, since) = (Math.Max(known, tail.LastKnown), tail.SinceUnixUs);
        if (known > inspection.LastBatch)
            return CheckReport.LossInWords(inspection.LastBatch, known, since);
        bool isCounted = inspection.Reader != null || newest is null || inspection.Sound.Exists(sound => sound.File == newest.File);
        if (!isCounted || inspection.Missing.Count > 0 || inspection.IsReplaced == false)
            return "It is not known how much";
        return isNamed ? "Nothing" : "Nothing that the other files tell of";
    }

    private sealed class Planning(IDisk disk, Inspection inspection)
    {
        private readonly Manifest _manifest = inspection.Manifest!;

        public List<string> Lines { get; } = [];
        public List<Action> Steps { get; } = [];
        public string? Lost { get; private set; }

        private LogCut Cutter => new(disk, CorruptionPolicy.Truncate);
        private bool IsCut => inspection.Tail is { IsDamage: true } || inspection.Missing.Count > 0;

        public void CutLog()
        {
            if (!IsCut || inspection.Reader is not { Failure: { } failure } reader)
                return;
            string what = reader.IsBehindSnapshot
                ? $"begin the log anew behind batch {reader.LastBatch}, which the snapshot ends with: what is left of it ends with " +
                    $"batch {reader.Held}"
                : $"cut the log behind batch {reader.LastBatch}";
            string place = failure.Kind == LogFailureKind.Missing
                ? $"{failure.File}, or the end of the file before it, is missing"
                : $"{failure.File}, offset {failure.Offset}";
            Add($"{what} ({place}); the originals of the files that are cut or dropped are kept", () => Cut(_manifest.Sublogs));
        }

        // First of all steps: it stands between the next start and what is left here.
        public void GiveUpReplacement()
        {
            if (inspection.IsReplaced != false)
                return;
            Lines.Insert(0, $"keep {Manifest.ReplacingFileName} aside, and go on with what was here before");
            Steps.Insert(0, () => Move(Manifest.ReplacingFileName));
        }

        public void MoveSnapshots()
        {
            foreach (string name in inspection.Damaged)
                Add($"keep the damaged snapshot {name} aside", () => Move(name));
        }

        public void RenewManifest()
        {
            Manifest left = !IsCut ? _manifest
                : inspection.Reader is { } reader ? Cutter.Left(reader, _manifest) : _manifest with { Logs = [], Ended = 0 };
            Manifest next = left with
            {
                Snapshot = Usable().FirstOrDefault(), Previous = Usable().Skip(1).FirstOrDefault(),
                Term = Math.Max(_manifest.Term, inspection.Reader?.LastTerm ?? 0) + (IsCut ? 1u : 0),
            };
            ulong from = (next.Snapshot?.Batch ?? 0) + 1;
            bool hadMore = _manifest.Snapshot != null && next.Snapshot is null;
            if (hadMore && !LogFiles.All(disk).Exists(file => file.FirstBatch <= from))
                Lost = "The snapshots are damaged and the log does not reach back to its beginning: put a snapshot back from a copy.";
            bool damaged = inspection.ManifestState != HeaderState.Whole;
            if (!damaged && next == _manifest)
                return;
            // First of all steps: a manifest of the new term must be there before the log is cut.
            Lines.Insert(0, damaged
                ? $"write a new manifest from the other files (term {next.Term}, snapshot {next.Snapshot?.File ?? "none"}); " +
                    "the old one is kept if there is one"
                : $"write the manifest anew (term {next.Term}, snapshot {next.Snapshot?.File ?? "none"})");
            Steps.Insert(0, () => Renew(damaged, next));
        }

        public void GiveUpMissing()
        {
            foreach (CheckFinding missing in inspection.Missing)
                Add($"go on without {missing.File} ({missing.Text})", () => TailFiles.GiveUp(disk));
        }

        // A repaired directory begins with a sound snapshot that the manifest knew, or, without one, with the newest.
        private IEnumerable<SnapshotName> Usable() => inspection.ManifestState == HeaderState.Whole
            ? inspection.Sound.Where(snapshot => snapshot.File == _manifest.Snapshot?.File || snapshot.File == _manifest.Previous?.File)
            : inspection.Sound;

        private void Add(string line, Action step)
        {
            Lines.Add(line);
            Steps.Add(step);
        }

        private void Cut(int sublogs)
        {
            using var reader = new LogReader(disk, sublogs, inspection.Start);
            while (reader.Next())
            {
            }
            Cutter.Apply(reader);
        }

        private void Move(string name)
        {
            Aside.Move(disk, name);
            disk.SyncDirectory();
        }

        private void Renew(bool damaged, Manifest next)
        {
            if (damaged && disk.List().Contains(Manifest.FileName))
                Aside.Copy(disk, Manifest.FileName);
            ManifestFile.Publish(disk, next);
        }
    }
}

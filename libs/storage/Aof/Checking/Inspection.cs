using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Common.Time;

namespace Garnet.Aof.Checking;

/// <summary>
/// One walk over a data directory: the manifest (or what it must have been, from the other files), the snapshots, the log. A
/// check reports it, a repair acts on it.
/// </summary>
internal sealed class Inspection(IDisk disk, ISnapshotSource snapshots, JobProgress progress) : IDisposable
{
    private SnapshotFacts? _newest;
    private readonly List<CheckFinding> _findings = [];

    public IReadOnlyList<CheckFinding> Findings => _findings;
    public ulong LastBatch { get; private set; }
    public long Batches { get; private set; }
    public HeaderState ManifestState { get; private set; }
    /// <summary>The manifest; if it cannot be read, one made from the other files; null if they do not tell.</summary>
    public Manifest? Manifest { get; private set; }
    /// <summary>The snapshots that are sound, newest first, and the names of the damaged ones.</summary>
    public List<SnapshotName> Sound { get; } = [];
    public List<string> Damaged { get; } = [];
    /// <summary>The batch of the snapshot behind which the log was read.</summary>
    public ulong Start { get; private set; }
    /// <summary>True if a newer version of the server wrote one of the snapshots.</summary>
    public bool HasNewer { get; private set; }
    /// <summary>The log, read to its end; null if it was not read.</summary>
    public LogReader? Reader { get; private set; }
    public TailScan? Tail { get; private set; }
    /// <summary>What should be there of the log and is not.</summary>
    public IReadOnlyList<CheckFinding> Missing { get; private set; } = [];

    /// <summary>
    /// A snapshot of a primary is to take the place of all that is here, and a crash came before it had: the next start does that. False if it
    /// cannot, as the snapshot is not there.
    /// </summary>
    public bool? IsReplaced { get; private set; }

    public void Run()
    {
        InspectSnapshots();
        InspectReplacing();
        if (IsReplaced == true)
            return;
        InspectManifest();
        if (Manifest is null)
            return;
        foreach (SnapshotName? named in new[] { Manifest.Snapshot, Manifest.Previous })
            if (named != null && !Damaged.Contains(named.File) && NamedFiles.FaultOf(disk, named, named.File) is { } fault)
                Refuse(named, fault);
        if (LogFiles.All(disk).Count > 0)
            InspectLog(Manifest);
        Missing = NamedFiles.Missing(disk, Manifest);
        _findings.AddRange(Missing);
        LastBatch = Math.Max(LastBatch, UsableSnapshot(Manifest));
    }

    /// <summary>What a start does not need and an operator may want to know; empty if there is nothing.</summary>
    public string Remark { get; private set; } = "";

    public void Dispose() => Reader?.Dispose();

    private void Refuse(SnapshotName named, string fault)
    {
        Note(named.File, 0, $"the manifest names it, and {fault}", true);
        if (Sound.RemoveAll(sound => sound.File == named.File) > 0)
            Damaged.Add(named.File);
    }

    // The next start goes on with it, and refuses to if the snapshot is not there. What else is here then is only what it has not deleted yet.
    private void InspectReplacing()
    {
        if (!disk.List().Contains(Format.Manifest.ReplacingFileName))
            return;
        HeaderState state = Format.Manifest.TryDecode(WholeFile.Read(disk, Format.Manifest.ReplacingFileName, Format.Manifest.BytesMax),
            out Manifest? next);
        if (state != HeaderState.Whole)
            return;
        string unfinished = next!.Snapshot!.File + SnapshotFileName.UnfinishedSuffix;
        string there = disk.List().Contains(unfinished) ? unfinished : next.Snapshot.File;
        string? fault = NamedFiles.FaultOf(disk, next.Snapshot, there)
            ?? SnapshotChoice.DamageOf(next.Snapshot, snapshots.Check(disk, there, progress));
        IsReplaced = fault is null;
        if (fault is null)
            (Manifest, ManifestState, LastBatch) = (next, HeaderState.Whole, next.Snapshot.Batch);
        Note(Format.Manifest.ReplacingFileName, 0,
            fault is null ? "the next start puts a primary's snapshot in the place of all that is here"
                : $"it names {there}, and {fault}", fault != null);
    }

    private void InspectManifest()
    {
        ManifestState = ManifestFile.TryRead(disk, out Manifest? manifest);
        Manifest = manifest;
        switch (ManifestState)
        {
            case HeaderState.Whole:
                Note(Format.Manifest.FileName, 0, "sound", false);
                return;
            case HeaderState.Newer:
                Note(Format.Manifest.FileName, 0, "a newer version of the server wrote it", true);
                return;
            default:
                Note(Format.Manifest.FileName, 0, disk.List().Contains(Format.Manifest.FileName) ? "damaged" : "missing", true);
                Manifest = FromFiles();
                return;
        }
    }

    // Every sublog file says what the manifest said, but for the snapshots, whose names say their batches. Where no log was kept, the newest snapshot says it.
    private Manifest? FromFiles()
    {
        FileHeader? youngest = null;
        foreach (LogFile file in LogFiles.All(disk))
        {
            if (FileHeader.TryRead(WholeFile.Read(disk, file.Name, FileHeader.Bytes), out FileHeader header) != HeaderState.Whole)
                continue;
            if (youngest is null || header.FirstBatch >= youngest.Value.FirstBatch)
                youngest = header;
        }
        if (youngest is not { } known)
        {
            return _newest is not { Lanes: > 0 } newest ? null
                : new Manifest { HashSeed = newest.HashSeed, Lanes = newest.Lanes, Sublogs = 1, Term = newest.Term,
                    Snapshot = Sound[0], Previous = Sound.Skip(1).FirstOrDefault(), Tier = TierOfNewest() };
        }
        return new Manifest
        {
            HashSeed = known.HashSeed, Lanes = (int)known.Lanes, Sublogs = known.Sublogs, Term = known.Term,
            Snapshot = Sound.FirstOrDefault(), Previous = Sound.Skip(1).FirstOrDefault(), Tier = TierOfNewest(),
        };
    }

    // Where its file is the snapshots do not say; the next start looks for it in tier-path.
    private TierName? TierOfNewest() => _newest is { TierId: var id } && !id.IsNone ? new TierName(id, TierName.UnknownPath) : null;

    private void InspectSnapshots()
    {
        bool isOfTwoFiles = ManifestFile.TryRead(disk, out Manifest? manifest) == HeaderState.Whole
            && manifest!.Tier is { Path.Length: > 0, MemoryPath.Length: > 0 };
        foreach (string name in disk.List().Reverse())
        {
            if (!SnapshotFileName.TryParse(name, out ulong batch))
                continue;
            SnapshotName snapshot = NamedFiles.Snapshot(disk, name, batch);
            SnapshotFacts facts = snapshots.Check(disk, name, progress);
            HasNewer |= facts.IsNewer;
            string? damage = SnapshotChoice.DamageOf(snapshot, facts);
            if (damage is null)
            {
                if (Sound.Count == 0)
                    _newest = facts;
                Sound.Add(snapshot);
            }
            else Damaged.Add(name);
            string parts = !isOfTwoFiles ? "" : $": {facts.ColdInMemory} in {facts.SegmentsInMemory} of its file in persistent memory, "
                + $"{facts.Cold - facts.ColdInMemory} in {facts.Segments - facts.SegmentsInMemory} of its file on the disk";
            string cold = facts.Cold > 0 ? $" ({facts.Cold} of them on the tier, in {facts.Segments} segments{parts})" : "";
            Note(name, 0, damage ?? $"sound, {facts.Records} records{cold} up to batch {facts.Batch}, {facts.Bytes} bytes", damage != null);
        }
    }

    private void InspectLog(Manifest manifest)
    {
        progress.Begin("checking the log", LogFiles.All(disk).Sum(file => LogFiles.DataBytes(disk, file.Name)));
        Start = UsableSnapshot(manifest);
        ulong first = FirstCommon(manifest.Sublogs);
        LogFailure? old = first <= Start ? InspectOldLog(manifest.Sublogs, first) : null;
        Reader = new LogReader(disk, manifest.Sublogs, Start);
        while (Reader.Next()) Count(Reader);
        LastBatch = Reader.LastBatch;
        Tail = TailScan.Of(disk, Reader, manifest);
        NoteWayBack(manifest, first, old);
        NoteEnd(Reader.Failure!, Tail);
    }

    private ulong UsableSnapshot(Manifest manifest)
    {
        foreach (SnapshotName? named in new[] { manifest.Snapshot, manifest.Previous })
            if (named != null && Sound.Exists(sound => sound.File == named.File))
                return named.Batch;
        return 0;
    }

    // What the newest snapshot has made unnecessary, and what the one before it would need.
    private LogFailure? InspectOldLog(int sublogs, ulong first)
    {
        using var old = new LogReader(disk, sublogs, first - 1);
        while (old.LastBatch < Start && old.Next()) Count(old);
        return old.Failure;
    }

    // A start needs nothing of it while the newest snapshot is sound; what else is wrong with the newest files is told as their end.
    private void NoteWayBack(Manifest manifest, ulong first, LogFailure? old)
    {
        bool isToldAnyway = old != null && (Tail!.IsDamage || Tail.HasRest)
            && (old.File, old.Offset) == (Reader!.Failure!.File, Reader.Failure.Offset);
        bool isShort = manifest.Snapshot != null && first <= Start && first > (manifest.Previous?.Batch ?? 0) + 1;
        if (isToldAnyway || (old is null && !isShort))
            return;
        if (old != null)
            Note(old.File, old.Offset,
                $"batch {old.Batch}: {old.Reason}; a start does not need it, only the way back behind the newest snapshot does", false);
        else
            Note(LogFiles.All(disk).Find(file => file.FirstBatch == first)!.Name, 0,
                $"the log begins with batch {first}; a start needs no more, only the way back behind the newest snapshot does", false);
        Remark = "Should the newest snapshot ever be damaged, nothing could take its place, for a part of the log before it is damaged " +
            "or missing. "
            + "A start does not need that part; take a snapshot (BGSAVE), and there is a way back again.";
    }

    private void Count(LogReader reader)
    {
        Batches++;
        foreach (SublogCursor cursor in reader.Cursors) progress.Add(cursor.Part.End - cursor.Part.Offset);
    }

    private void NoteEnd(LogFailure failure, TailScan tail)
    {
        for (int i = 0; i < Reader!.Cursors.Count; i++)
        {
            SublogCursor cursor = Reader.Cursors[i];
            string name = cursor.FileIndex >= 0 ? cursor.Files[cursor.FileIndex].Name : LogFileName.Of(i, 1);
            ulong last = Math.Min(LastBatch, cursor.Next - 1); // a snapshot may hold more
            if (i != failure.Sublog)
                Note(name, cursor.Offset, $"sublog {i} is whole up to batch {last}", false);
            else if (tail.IsDamage)
                Note(failure.File, failure.Offset,
                    $"batch {failure.Batch}: {failure.Reason}, and {tail.Evidence}; batch {LastBatch} is the last good one", true);
            else if (tail.HasRest)
                Note(failure.File, failure.Offset,
                    $"batch {failure.Batch}: {failure.Reason}: an interrupted write, which the next start cuts off", false);
            else
                Note(failure.File, failure.Offset, $"sublog {i} ends with batch {last}", false);
        }
    }

    // The first batch of which every sublog still has the file.
    private ulong FirstCommon(int sublogs)
    {
        ulong first = 1;
        for (int i = 0; i < sublogs; i++)
            if (LogFiles.Of(disk, i) is [var oldest, ..])
                first = Math.Max(first, oldest.FirstBatch);
        return first;
    }

    private void Note(string file, long offset, string text, bool isDamage) =>
        _findings.Add(new CheckFinding(file, offset, text, isDamage));
}

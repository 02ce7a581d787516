using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Common;
using Garnet.Common.Time;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Which snapshot a recovery begins with: the newest, or, if that is damaged, the one before it, or none at all — as long as
/// the log reaches back that far.
/// </summary>
internal sealed class SnapshotChoice
{
    private readonly List<string> _faults = [];

    /// <summary>The snapshot to load; null = begin with an empty store.</summary>
    public SnapshotName? Chosen { get; private set; }
    /// <summary>Its term, 0 without one.</summary>
    public uint Term { get; private set; }
    /// <summary>Its records, 0 without one.</summary>
    public long Records { get; private set; }
    /// <summary>When it was cut, 0 without one.</summary>
    public long StartUnixUs { get; private set; }
    /// <summary>Named by the manifest and damaged.</summary>
    public List<SnapshotName> Damaged { get; } = [];
    public IEnumerable<string> Messages =>
        _faults.Select((fault, i) => i + 1 < _faults.Count ? $"Snapshot {fault}." : $"Snapshot {fault}; {Instead}.");

    private string Instead => Chosen is null ? "the log alone was read" : "an earlier one and more of the log were read instead";

    public static SnapshotChoice Of(IDisk disk, Manifest manifest, ISnapshotSource source, JobProgress progress)
    {
        var choice = new SnapshotChoice();
        foreach (SnapshotName? snapshot in new[] { manifest.Snapshot, manifest.Previous })
            if (snapshot != null && choice.Chosen is null)
                choice.Try(disk, snapshot, source, progress);
        ulong batch = choice.Chosen?.Batch ?? 0;
        if (choice.Damaged.Count > 0 && !LogReaches(disk, manifest.Sublogs, batch + 1))
            throw choice.Refused(disk, batch);
        return choice;
    }

    /// <summary>What is wrong with a snapshot; null = nothing.</summary>
    public static string? DamageOf(SnapshotName snapshot, SnapshotFacts facts) =>
        facts.Damage ?? (facts.Batch != snapshot.Batch ? $"it ends with batch {facts.Batch}, the manifest says {snapshot.Batch}" : null);

    /// <summary>The facts of a snapshot, also of one that is not there.</summary>
    public static SnapshotFacts FactsOf(IDisk disk, SnapshotName snapshot, ISnapshotSource source, JobProgress progress) =>
        NamedFiles.FaultOf(disk, snapshot, snapshot.File) is { } fault ? new SnapshotFacts(0, 0, 0, 0, fault)
            : source.Check(disk, snapshot.File, progress);

    private void Try(IDisk disk, SnapshotName snapshot, ISnapshotSource source, JobProgress progress)
    {
        SnapshotFacts facts = FactsOf(disk, snapshot, source, progress);
        if (facts.IsNewer)
        {
            throw new GarnetException(ExitKind.Data, $"the snapshot cannot be read: {disk.Path}/{snapshot.File}", facts.Damage!,
                "Start the version of the server that wrote it.");
        }

        string? damage = DamageOf(snapshot, facts);
        if (damage is null)
        {
            Chosen = snapshot;
            (Term, Records, StartUnixUs) = (facts.Term, facts.Records, facts.StartUnixUs);
            return;
        }
        Damaged.Add(snapshot);
        _faults.Add(disk.List().Contains(snapshot.File) ? $"{snapshot.File} is damaged ({damage})" : $"{snapshot.File} is missing");
    }

    private static bool LogReaches(IDisk disk, int sublogs, ulong batch)
    {
        for (int i = 0; i < sublogs; i++)
            if (!LogFiles.Of(disk, i).Exists(file => file.FirstBatch <= batch))
                return false;
        return true;
    }

    private GarnetException Refused(IDisk disk, ulong batch) => new(ExitKind.Data,
        $"the snapshot cannot be read: {disk.Path}/{Damaged[0].File}",
        $"{string.Join(", ", _faults)}, and the log does not reach back to batch {batch + 1}",
        "Put the snapshot back from a copy, or see what 'garnet-server repair' proposes.");
}

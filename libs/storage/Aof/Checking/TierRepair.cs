using Garnet.Aof.Checking;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof;

/// <summary>
/// Makes of a directory whose snapshots name values on a tier that cannot be read there one that a server starts on. Where the snapshot before, or the log alone, comes to all that there
/// was, that is taken. Else a new snapshot is written, of all that can be read, as of the end of the log. What takes the place of what is kept aside, and nothing is written to the tier. The
/// files are sound otherwise (<see cref="DirectoryRepair"/>), and no server uses them.
/// It takes the memory and the time of a start, and of one more for each way that is tried. Throws <see cref="DiskException"/> and <see cref="GarnetException"/>.
/// </summary>
public sealed class TierRepair(IDisk disk, ReplayTable table, IClock clock, JobProgress progress)
{
    private enum Way
    {
        Nothing,
        ForgetPrevious,
        TakePrevious,
        TakeLog,
        WriteAnew,
    }

    private readonly List<string> _lines = [];
    private Way _way;
    private string _price = "";

    /// <summary>The tier that the directory's manifest names; null if it names none, or cannot be read.</summary>
    public TierName? Named => ManifestFile.TryRead(disk, out Manifest? manifest) == HeaderState.Whole ? manifest!.Tier : null;

    /// <summary>Keeps what is about to be written over elsewhere.</summary>
    public void KeepAside(string name, ReadOnlySpan<byte> bytes) => Aside.Put(disk, name, bytes);

    /// <summary>
    /// Says what could be done; changes nothing. <paramref name="open"/> makes an empty store over the directory's tier, or without one if its file is not there; each is disposed of before
    /// the next is asked for.
    /// </summary>
    public RepairPlan Plan(Func<Manifest, Store> open)
    {
        ArgumentNullException.ThrowIfNull(open);
        if (ManifestFile.TryRead(disk, out Manifest? manifest) == HeaderState.Whole && manifest is { Tier: not null, Snapshot: { } newest })
            Choose(manifest, newest, open);
        return new RepairPlan(_lines, [], null) { Price = _price };
    }

    /// <summary>Does what was planned; every step is durable before the next begins.</summary>
    public void Apply(Func<Manifest, Store> open)
    {
        ArgumentNullException.ThrowIfNull(open);
        ManifestFile.TryRead(disk, out Manifest? manifest);
        switch (_way)
        {
            case Way.ForgetPrevious:
                Publish(manifest! with { Previous = null }, manifest!.Previous);
                break;
            case Way.TakePrevious:
                Publish(manifest! with { Snapshot = manifest!.Previous, Previous = null }, manifest.Snapshot);
                break;
            case Way.TakeLog:
                Publish(manifest! with { Snapshot = null, Previous = null }, manifest!.Snapshot, manifest.Previous);
                break;
            case Way.WriteAnew:
                using (Store store = open(manifest!)) WriteAnew(manifest!, store);
                break;
        }
    }

    private void Choose(Manifest manifest, SnapshotName newest, Func<Manifest, Store> open)
    {
        TierState found = Try(manifest, newest, open)!;
        if (found.Losses.IsAsNamed)
        {
            ChooseForPrevious(manifest, open);
            return;
        }
        string lost = TierState.Words(found.Losses);
        _price = "Nothing";
        string aside = string.Join(" and ", new[] { newest, manifest.Previous }.OfType<SnapshotName>().Select(static name => name.File));
        if (manifest.Previous is { } previous && ComesToAll(TryOther(manifest, previous, open), found))
        {
            _way = Way.TakePrevious;
            _lines.Add($"begin with {previous.File} and more of the log, which comes to all there was, "
                + $"instead of {newest.File}: of that {lost}");
            _lines.Add($"keep {newest.File} aside");
        }
        else if (newest.Batch > 0 && ComesToAll(TryOther(manifest, null, open), found))
        {
            _way = Way.TakeLog;
            _lines.Add($"begin with the log alone, which comes to all there was, instead of {newest.File}: of that {lost}");
            _lines.Add($"keep {aside} aside");
        }
        else
        {
            _way = Way.WriteAnew;
            string left = $"{SnapshotFileName.Of(found.LastBatch)} of all that is left, {TierState.Count(found.Values, "value")}";
            string how = found.Losses.HasAny ? "go on without what cannot be read of" : "go on with all that is named in";
            _lines.Add($"{how} {newest.File}: {lost}{found.Mended()}");
            _lines.Add($"write {left}, and keep {aside} aside");
            if (found.Lost > 0)
                _price = $"{found.Lost} of {TierState.Count(found.Values + found.Lost, "value")}";
        }
    }

    private void ChooseForPrevious(Manifest manifest, Func<Manifest, Store> open)
    {
        if (manifest.Previous is not { } previous || Try(manifest, previous, open)!.Losses is not { IsAsNamed: false } losses)
            return;
        _way = Way.ForgetPrevious;
        _lines.Add($"keep {previous.File} aside, which was only the way back behind the newest snapshot: {TierState.Words(losses)}");
        _price = "Nothing";
    }

    private static bool ComesToAll(TierState? other, TierState found) =>
        other is not null && other.Losses.IsAsNamed && other.LastBatch == found.LastBatch && other.Values == found.Values + found.Lost;

    private TierState Try(Manifest manifest, SnapshotName? from, Func<Manifest, Store> open)
    {
        using Store store = open(manifest);
        return TierState.Of(disk, manifest, from, store, table, progress);
    }

    // A way that does not lead anywhere is none.
    private TierState? TryOther(Manifest manifest, SnapshotName? from, Func<Manifest, Store> open)
    {
        try
        {
            return Try(manifest, from, open);
        }
        catch (GarnetException)
        {
            return null;
        }
    }

    private void WriteAnew(Manifest manifest, Store store)
    {
        TierState state = TierState.Of(disk, manifest, manifest.Snapshot, store, table, progress);
        // Who judges nothing may hold anything, and does not vouch for it.
        DirectoryKey? key = store.Settings.ValueCheck is null ? null
            : state.Key is { IsProven: true } ? state.Key : DirectoryKey.TryMake(disk);
        SnapshotJobOptions options = new()
        {
            Term = state.LastTerm, Key = key, Cut = how => store.BeginSnapshot(how, state.LastBatch),
        };
        SnapshotResult written = SnapshotJob.Run(store, disk, options, clock, CancellationToken.None);
        if (written.State != SnapshotState.Whole)
        {
            throw new GarnetException(ExitKind.Data, "no snapshot could be written", $"it is {written.State}",
                "Nothing that was there has changed");
        }

        string name = written.Facts.Name;
        if (disk.List().Contains(name))
        {
            // The one of that name counts until the other has its place, and then the other.
            ManifestFile.Publish(disk, manifest with { Snapshot = new SnapshotName(name, state.LastBatch), Previous = null });
            Aside.Copy(disk, name);
        }
        SnapshotWriter.Publish(disk, written.Facts);
        disk.SyncDirectory();
        Manifest next = manifest with { Snapshot = NamedFiles.Snapshot(disk, name, state.LastBatch), Previous = null, Terms = state.Terms };
        Publish(next, [.. new[] { manifest.Snapshot, manifest.Previous }.Where(old => old?.File != name)]);
    }

    // What is not named any more is out of the way only then.
    private void Publish(Manifest next, params SnapshotName?[] aside)
    {
        ManifestFile.Publish(disk, next);
        foreach (SnapshotName? old in aside)
        {
            if (old is not null && disk.List().Contains(old.File))
                Aside.Move(disk, old.File);
        }
        disk.SyncDirectory();
    }
}

using System.Globalization;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Snapshots;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Checking;

/// <summary>
/// What a directory comes to if a start begins with one of its snapshots, or with the log alone, and goes on without what cannot be read on the tier: read into a store that
/// is of no other use.
/// </summary>
internal sealed record TierState
{
    private const int SegmentsToldMax = 20;

    /// <summary>What of the snapshot cannot be read.</summary>
    public required ColdLosses Losses { get; init; }
    /// <summary>Values there are at the end of the log, and those lost that are missing among them.</summary>
    public required long Values { get; init; }
    /// <inheritdoc cref="Values"/>
    public required long Lost { get; init; }
    /// <summary>The last batch, its term, and the terms that are known then.</summary>
    public required ulong LastBatch { get; init; }
    /// <inheritdoc cref="LastBatch"/>
    public required uint LastTerm { get; init; }
    /// <inheritdoc cref="LastBatch"/>
    public required IReadOnlyList<TermStart> Terms { get; init; }

    /// <summary>The directory's key, if there is one; proven if the snapshot is sealed with it.</summary>
    public DirectoryKey? Key { get; private init; }

    /// <summary>Fills the store, which is empty, from the snapshot (null: from the log alone), and the log behind it.</summary>
    public static TierState Of(IDisk disk, Manifest manifest, SnapshotName? from, Store store, ReplayTable table, JobProgress progress)
    {
        ColdLosses losses = new();
        DirectoryKey? key = DirectoryKey.TryRead(disk);
        // What the other snapshot names is not written over, whatever this one comes to.
        if (from == manifest.Snapshot && manifest.Previous is { } previous && disk.List().Contains(previous.File))
            SnapshotReader.Keep(disk, previous.File, store, mustFit: false);
        if (from is not null)
            SnapshotFiles.LoadReadable(disk, from.File, store, losses, progress, key);
        uint term = from is null ? 0 : SnapshotFiles.Instance.Check(disk, from.File, progress).Term;
        ulong batch = from?.Batch ?? 0;
        using LogRecovery log = new(disk, manifest, store, table, new RecoverySettings { Losses = losses }, batch)
        {
            SnapshotTerm = term, TermsBefore = DataDirectory.UpTo(batch, manifest.Terms),
        };
        log.Replay(progress, "replaying the log");
        Salvage.Tidy(store);
        return new TierState
        {
            Key = key, Losses = losses, Values = Salvage.CountValues(store), Lost = losses.CountLost(store),
            LastBatch = log.Reader.LastBatch, LastTerm = Math.Max(log.LastTerm(), term),
            Terms = DataDirectory.UpTo(log.Reader.LastBatch, log.Terms),
        };
    }

    /// <summary>What cannot be read of the snapshot, in words.</summary>
    public static string Words(ColdLosses losses)
    {
        if (!losses.HasAny)
        {
            string which = losses.PlacesOf(losses.Others.Take(SegmentsToldMax));
            string are = losses.Others.Count == 1 ? "is not the one that is" : "are not those that are";
            return $"{Count(losses.Others.Count, "segment")} of the tier {are} named "
                + $"({which}), though all that is named in it can be read";
        }
        IEnumerable<string> told = losses.Segments.Take(SegmentsToldMax).Select(
            segment => $"{losses.PlacesOf([segment.Number])} ({segment.Lost} of {segment.Named})");
        string more = losses.Segments.Count > SegmentsToldMax ? $" and {losses.Segments.Count - SegmentsToldMax} segments more" : "";
        string pieces = losses.Pieces + losses.Collections == 0 ? ""
            : $", {losses.Pieces} of them pieces, without which {Count(losses.Collections, "collection")} cannot be read either";
        return $"{Count(losses.Keys + losses.Pieces, "record")} on the tier cannot be read{pieces}: {string.Join(", ", told)}{more}";
    }

    /// <summary>Why fewer values are lost than cannot be read, in words; empty if they are not.</summary>
    public string Mended() => Losses.Values - Lost is var mended and > 0
        ? $"; {Count(mended, "value")} of these the log puts anew or removes" : "";

    /// <summary>So many, in words.</summary>
    public static string Count(long count, string noun) =>
        string.Create(CultureInfo.InvariantCulture, $"{count} {noun}{(count == 1 ? "" : "s")}");
}

using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Replication;

/// <summary>
/// A snapshot on its way to a replica, and the place in the log from which batches follow it. What the store hands out is handed out once,
/// so blocks are kept here until the replica has said that it has them: a copy goes on over another connection where it was.
///
/// replication.C1  Never more than <see cref="WindowBytes"/> and one block are kept: a replica that acknowledges nothing gets nothing more.
/// replication.C2  Blocks are sent in their order, and again only those that were not acknowledged.
/// </summary>
public sealed class FullCopy(StoreSnapshot snapshot, Func<ulong, BatchFeed> feeds) : ISnapshotStream, IDisposable
{
    /// <summary>What may be under way, unacknowledged: enough for a fast link over a long distance.</summary>
    public const long WindowBytes = 8 << 20;

    private readonly Queue<(NativeBuffer Bytes, int Count)> _kept = new();
    private SnapshotOutlet? _outlet;
    private StoreSnapshot? _snapshot = snapshot;
    private byte[]? _footer;
    private ulong _acknowledged, _sent, _made;
    private long _keptBytes;

    /// <summary>The last batch before the cut.</summary>
    public ulong Batch { get; } = snapshot.Batch;

    /// <summary>The batches behind it.</summary>
    public BatchFeed Feed { get; private set; } = feeds(snapshot.Batch);

    /// <summary>Where the log stood at the cut, and the primary's time then.</summary>
    public LogPosition At { get; set; } = LogPosition.None;
    public long StartedUnixUs { get; set; }

    /// <summary>True if the replica has acknowledged a part of it, and the rest can still be made.</summary>
    public bool CanGoOn => _acknowledged > 0 && (_footer is not null || _snapshot is { State: SnapshotState.Running });

    /// <summary>True when the replica has all blocks for all that this side knows.</summary>
    public bool IsSent { get; private set; }

    /// <summary>Adds the next block, or the footer; false if there is nothing to add now, with the reason if there never will be.</summary>
    public bool Fill(FrameWriter to, out string? failure)
    {
        failure = null;
        while (_sent == _made && _footer is null)
        {
            if (_keptBytes >= WindowBytes)
                return false; // replication.C1
            if (!TryMake(out failure))
                return false;
        }

        if (_sent < _made)
        {
            (NativeBuffer bytes, int count) = _kept.ElementAt((int)(_sent++ - _acknowledged));
            to.Add(FrameKind.Snapshot, bytes.Span(0, count));
            return true;
        }

        to.Add(FrameKind.SnapshotEnd, _footer);
        IsSent = true;
        return true;
    }

    /// <summary>The replica has so many blocks; false if that cannot be.</summary>
    public bool Acknowledge(ulong blocks)
    {
        if (blocks < _acknowledged || blocks > _sent)
            return false;
        for (; _acknowledged < blocks; _acknowledged++)
        {
            (NativeBuffer bytes, int count) = _kept.Dequeue();
            _keptBytes -= count;
            bytes.Dispose();
        }

        return true;
    }

    /// <summary>Goes on, for a replica that has come again, with what it has not got; false if that cannot be.</summary>
    public bool TryResume(CopyPlace place)
    {
        if (!CanGoOn || !At.IsKnown || !place.At.Is(At) || place.StartedUnixUs != StartedUnixUs || !Acknowledge(place.Blocks))
            return false;
        _sent = place.Blocks; // replication.C2
        if (Feed.Next != Batch + 1)
        {
            BatchFeed advanced = Feed;
            Feed = feeds(Batch); // batches had been sent already; whether they are still there will be seen
            advanced.Dispose();
        }

        IsSent = false;
        return true;
    }

    /// <inheritdoc/>
    public void Block(ReadOnlySpan<byte> header, ReadOnlySpan<byte> records)
    {
        int count = checked(header.Length + records.Length);
        var bytes = new NativeBuffer();
        bytes.Grow(count, keep: 0);
        header.CopyTo(bytes.Span(0, header.Length));
        records.CopyTo(bytes.Span(header.Length, records.Length));
        _kept.Enqueue((bytes, count));
        _keptBytes += count;
        _made++;
    }

    /// <summary>Bytes kept until the replica has them.</summary>
    public long KeptBytes => _keptBytes;

    /// <summary>The replica has all of it, though it has not acknowledged each block: only <see cref="Feed"/> is needed from here on.</summary>
    public void End()
    {
        _snapshot?.Dispose();
        _snapshot = null;
        while (_kept.TryDequeue(out var block))
            block.Bytes.Dispose();
        _keptBytes = 0;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        End();
        Feed.Dispose();
    }

    // True if there may be more to send now.
    private bool TryMake(out string? failure)
    {
        failure = null;
        _outlet ??= new SnapshotOutlet(this, Batch);
        try
        {
            if (_snapshot!.Step(_outlet))
                return true;
        }
        catch (GarnetException e)
        {
            failure = "no full copy can be made: " + e.Message;
            End();
            return false;
        }
        bool isWhole = _snapshot.State == SnapshotState.Whole;
        _snapshot.Dispose();
        _snapshot = null;
        if (isWhole)
            _footer = _outlet.Footer();
        else
            failure =
                "the replica took the snapshot too slowly: what writers changed meanwhile exceeded client-output-buffer-limit for replicas";
        return isWhole;
    }
}

using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Common;

namespace Garnet.Aof.Shipping;

/// <summary>
/// The batches behind a position, one after the other, for one replica: from memory where they are still there, else read back
/// from the files. Only what all sublogs have handed to the system is read from files.
/// </summary>
public sealed unsafe class BatchFeed : IDisposable
{
    private readonly Backlog _backlog;
    private readonly Func<AppendOnlyLog?> _log;
    private readonly BacklogPin _pin;
    private LogReader? _reader;
    private ulong _readable;

    /// <summary>Begins behind <paramref name="after"/>. <paramref name="log"/>: the log in force, null if it is in memory only.</summary>
    public BatchFeed(Backlog backlog, Func<AppendOnlyLog?> log, ulong after)
    {
        ArgumentNullException.ThrowIfNull(backlog);
        _backlog = backlog;
        _log = log;
        _pin = backlog.Pin(after + 1);
        Next = after + 1;
    }

    /// <summary>The batch that comes next.</summary>
    public ulong Next { get; private set; }

    /// <summary>The first batch that is kept for this reader: it may have to begin there again.</summary>
    public ulong Needed => _pin.Next;

    /// <summary>True if what comes next is nowhere any more: the reader has been too slow.</summary>
    public bool IsLost { get; private set; }

    /// <summary>The next batch, held for the caller; null if there is none yet, or it is lost.</summary>
    public BatchBytes? TryNext()
    {
        BatchBytes? batch = _backlog.TryTake(Next);
        if (batch is null && Next < _backlog.First)
            batch = FromFiles();
        if (batch is null)
            return null;
        Next = batch.Batch + 1;
        return batch;
    }

    /// <summary>The reader has all up to this batch for good, whatever becomes of its connection.</summary>
    public void Confirm(ulong batch)
    {
        if (batch >= _pin.Next)
            _pin.Next = Math.Min(batch + 1, Next);
    }

    /// <summary>
    /// Whether the position is one of this log's own: the header checksums of that batch, in memory or in the files, are the same.
    /// </summary>
    public static bool Reaches(Backlog backlog, AppendOnlyLog? log, LogPosition position)
    {
        ArgumentNullException.ThrowIfNull(backlog);
        ArgumentNullException.ThrowIfNull(position);
        if (!position.IsKnown || position.Batch > backlog.End.Batch)
            return false;
        if (backlog.PositionAt(position.Batch) is { } known)
            return known.Is(position);
        if (log is null || position.Batch >= log.Written)
            return false;
        (IDisk disk, int sublogs) = log.Files;
        // What follows the position names its checksums, and is of no earlier term: a log that began with the position and was cut there
        // may name the term that it was to go on in.
        using var reader = new LogReader(disk, sublogs, position.Batch);
        return sublogs == position.Crcs.Count && reader.Next()
            && reader.Cursors.All(cursor => cursor.Part.Header.PreviousCrc == position.Crcs[cursor.Sublog]
                && cursor.Part.Header.Term >= position.Term);
    }

    /// <summary>
    /// Whether this log has another batch of that number and term: two servers wrote in one term, or one of them lost what it had written.
    /// </summary>
    public static bool Diverges(Backlog backlog, AppendOnlyLog? log, LogPosition position)
    {
        ArgumentNullException.ThrowIfNull(backlog);
        ArgumentNullException.ThrowIfNull(position);
        if (!position.IsKnown || position.Batch > backlog.End.Batch)
            return false;
        if (backlog.PositionAt(position.Batch) is { } known)
            return known.Term == position.Term && !known.Is(position);
        if (log is null || position.Batch == 0 || position.Batch > log.Written)
            return false;
        (IDisk disk, int sublogs) = log.Files;
        using var reader = new LogReader(disk, sublogs, position.Batch - 1);
        return reader.Next() && reader.LastBatch == position.Batch && reader.Cursors[0].Part.Header.Term == position.Term
            && (sublogs != position.Crcs.Count || reader.Cursors.Any(cursor => cursor.LastCrc != position.Crcs[cursor.Sublog]));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reader?.Dispose();
        _pin.Dispose();
    }

    private BatchBytes? FromFiles()
    {
        if (_log() is not { } log)
        {
            IsLost = true;
            return null;
        }
        // A reader sees the files as they were when it looked: what was written by then is whole in them.
        if (_reader is null || _readable < Next)
            Reopen(log);
        if (_readable < Next)
            return null;
        if (!_reader!.Next() || _reader.LastBatch != Next)
        {
            IsLost = true;
            return null;
        }
        BatchBytes? batch = null;
        foreach (SublogCursor cursor in _reader.Cursors)
        {
            batch ??= new BatchBytes(cursor.Part.Header);
            batch.Add(cursor.Part.Header, cursor.Part.HeaderCrc,
                new ReadOnlySpan<byte>(cursor.Part.Body, checked((int)cursor.Part.Header.BodyBytes)));
        }
        if (batch!.Batch == _readable || _backlog.First <= Next + 1)
            Close();
        return batch;
    }

    private void Reopen(AppendOnlyLog log)
    {
        Close();
        _readable = log.Written;
        (IDisk disk, int sublogs) = log.Files;
        _reader = new LogReader(disk, sublogs, Next - 1);
    }

    private void Close()
    {
        _reader?.Dispose();
        _reader = null;
        _readable = 0;
    }
}

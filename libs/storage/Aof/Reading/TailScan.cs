using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Reading;

/// <summary>
/// Looks at everything behind the end of a log and says whether the end is an interrupted write or damage. Damage is: what
/// can never come of an interrupted write; a mark that says that the failed batch had been durable; and, where headers bear
/// no marks, a whole header of a later batch behind the failure in the same sublog. Parts of later batches in other sublogs
/// prove nothing: their writes are separate.
/// </summary>
internal sealed unsafe class TailScan
{
    private readonly LogReader _reader;
    private readonly LogFailure _failure;
    private ulong _mark;

    private TailScan(IDisk disk, LogReader reader)
    {
        _reader = reader;
        _failure = reader.Failure!;
        _mark = reader.Cursors.Max(static cursor => cursor.Mark);
        using var view = new DiskView(disk);
        foreach (SublogCursor cursor in reader.Cursors) Scan(view, cursor);
        IsDamage = _failure.Kind is LogFailureKind.Impossible or LogFailureKind.Newer || _mark > _failure.Batch || LaterBatch != 0;
    }

    /// <summary>True if the log is damaged; false if it just ends, or its last writes were interrupted.</summary>
    public bool IsDamage { get; }
    /// <summary>True if anything but zeros stands behind the end.</summary>
    public bool HasRest { get; private set; }
    /// <summary>A whole later batch behind the failure; 0 = none.</summary>
    public ulong LaterBatch { get; private set; }
    /// <summary>What was found behind the end, for people.</summary>
    public string Evidence => LaterBatch != 0 ? $"a whole batch {LaterBatch} follows"
        : _mark > _failure.Batch ? $"later batches say that batch {_mark - 1} was durable" : "no interrupted write leaves this";

    /// <summary>Scans behind the end of a log that has been read to its end.</summary>
    public static TailScan Of(IDisk disk, LogReader reader) => new(disk, reader);

    private void Scan(DiskView view, SublogCursor cursor)
    {
        for (int i = Math.Max(cursor.FileIndex, 0); i < cursor.Files.Count; i++)
        {
            view.Open(cursor.Files[i].Name);
            bool isHead = i == cursor.FileIndex && cursor.Offset > 0;
            if (!isHead && view.Length > 0 && HasContent(view, 0)) HasRest = true;
            ScanFile(view, cursor, isHead ? cursor.Offset : FileHeader.Bytes);
        }
    }

    private void ScanFile(DiskView view, SublogCursor cursor, long from)
    {
        long at = from;
        while (at < view.Length)
        {
            long step = (at + BatchHeader.Bytes) / BatchHeader.Bytes * BatchHeader.Bytes;
            step = Math.Min(step, view.Length);
            var bytes = new ReadOnlySpan<byte>(view.At(at, step - at), (int)(step - at));
            if (!HasRest && bytes.ContainsAnyExcept((byte)0)) HasRest = true;
            at = at % BatchHeader.Bytes == 0 ? Math.Max(step, Note(view, cursor, at, bytes)) : step;
        }
    }

    /// <summary>
    /// Notes a header that stands there; returns where its batch ends, so that headers inside of values are not believed.
    /// </summary>
    private long Note(DiskView view, SublogCursor cursor, long at, ReadOnlySpan<byte> bytes)
    {
        if (BatchHeader.TryRead(bytes, out BatchHeader header, out _) != HeaderState.Whole) return 0;
        if (header.Part != cursor.Sublog || header.Parts != _reader.Cursors.Count || header.Term < cursor.LastTerm) return 0;
        ulong mark = DurableMark.Read(bytes);
        _mark = Math.Max(_mark, mark);
        if (mark == 0 && cursor.Sublog == _failure.Sublog && header.Batch > _failure.Batch && LaterBatch == 0) LaterBatch = header.Batch;
        long end = at + BatchHeader.Bytes + header.BodyBytes;
        return end > view.Length ? 0 : (end + BatchHeader.Bytes - 1) / BatchHeader.Bytes * BatchHeader.Bytes;
    }

    private static bool HasContent(DiskView view, long at)
    {
        long bytes = Math.Min(FileHeader.Bytes, view.Length - at);
        return FileHeader.TryRead(new ReadOnlySpan<byte>(view.At(at, bytes), (int)bytes), out _) == HeaderState.None
            && new ReadOnlySpan<byte>(view.At(at, bytes), (int)bytes).ContainsAnyExcept((byte)0);
    }
}

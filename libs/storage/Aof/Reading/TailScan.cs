using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Reading;

/// <summary>
/// Looks at everything behind the end of a log and says whether the end is an interrupted write or damage. Damage is: what
/// can never come of an interrupted write; a header (of received batches: a proof), or the manifest, that says that the failed batch had been durable; and a later file of the
/// same sublog, for a file is synced before its successor exists. A whole later batch alone proves nothing.
/// </summary>
internal sealed unsafe class TailScan
{
    private const int ZerosAtOnce = 64 << 10;

    private readonly LogReader _reader;
    private readonly LogFailure _failure;
    private ulong _durable, _seen;
    private bool _isReceived;

    private TailScan(IDisk disk, LogReader reader, Manifest manifest)
    {
        _reader = reader;
        _failure = reader.Failure!;
        _durable = Math.Max(manifest.DurableIn(_failure.Sublog), reader.Cursors.Max(static cursor => cursor.Durable));
        using var view = new DiskView(disk);
        foreach (SublogCursor cursor in reader.Cursors) Scan(view, cursor);
        IsDamage = _failure.Kind is LogFailureKind.Impossible or LogFailureKind.Newer || _durable >= _failure.Batch;
    }

    /// <summary>True if the log is damaged; false if it just ends, or its last writes were interrupted.</summary>
    public bool IsDamage { get; }
    /// <summary>True if anything but zeros stands behind the end.</summary>
    public bool HasRest { get; private set; }
    /// <summary>The highest batch that is known of behind the end, and when the first one there was closed, microseconds of Unix time; 0 if that is not known.</summary>
    public ulong LastKnown => Math.Max(_seen, _durable);
    public ulong SinceUnixUs { get; private set; }
    /// <summary>What is lost if the log is cut at its end, in words that go behind "lost"; empty if that is nothing.</summary>
    public string Loss => LastKnown > _reader.LastBatch ? CheckReport.LossInWords(_reader.LastBatch, LastKnown, SinceUnixUs) : "";
    /// <summary>What was found behind the end, for people.</summary>
    public string Evidence => _durable >= _failure.Batch ? $"what follows, or the manifest, says that batch {_durable} was durable"
        : "no interrupted write leaves this";

    /// <summary>Scans behind the end of a log that has been read to its end.</summary>
    public static TailScan Of(IDisk disk, LogReader reader, Manifest manifest) => new(disk, reader, manifest);

    private void Scan(DiskView view, SublogCursor cursor)
    {
        for (int i = Math.Max(cursor.FileIndex, 0); i < cursor.Files.Count; i++)
        {
            view.Open(cursor.Files[i].Name);
            bool isHead = i == cursor.FileIndex && cursor.Offset > 0;
            NoteFile(view, cursor, isHead);
            ScanFile(view, cursor, isHead ? cursor.Offset : FileHeader.Bytes);
        }
    }

    private void ScanFile(DiskView view, SublogCursor cursor, long from)
    {
        long at = from;
        while (at < view.DataEnd)
        {
            // Most of what there is was set aside and never written.
            int many = (int)Math.Min(ZerosAtOnce, view.Length - at);
            if (many > BatchHeader.Bytes && !new ReadOnlySpan<byte>(view.At(at, many), many).ContainsAnyExcept((byte)0))
            {
                at += many;
                continue;
            }
            long step = (at + BatchHeader.Bytes) / BatchHeader.Bytes * BatchHeader.Bytes;
            step = Math.Min(step, view.Length);
            var bytes = new ReadOnlySpan<byte>(view.At(at, step - at), (int)(step - at));
            if (!HasRest && bytes.ContainsAnyExcept((byte)0))
                HasRest = true;
            at = at % BatchHeader.Bytes == 0 ? Math.Max(step, Note(view, cursor, at, bytes)) : step;
        }
    }

    /// <summary>
    /// Notes a header that stands there; returns where its batch ends, so that headers inside of values are not believed.
    /// </summary>
    private long Note(DiskView view, SublogCursor cursor, long at, ReadOnlySpan<byte> bytes)
    {
        if (_isReceived)
            NoteProof(cursor, bytes);
        if (BatchHeader.TryRead(bytes, out BatchHeader header, out _) != HeaderState.Whole)
            return 0;
        if (header.Part != cursor.Sublog || header.Parts != _reader.Cursors.Count || header.Term < cursor.LastTerm)
            return 0;
        if (!_isReceived)
            _durable = Math.Max(_durable, header.DurableBatch);
        if (header.Batch > _reader.LastBatch)
        {
            _seen = Math.Max(_seen, header.Batch);
            SinceUnixUs = SinceUnixUs == 0 ? header.SealedUnixUs : Math.Min(SinceUnixUs, header.SealedUnixUs);
        }
        long end = at + BatchHeader.Bytes + header.BodyBytes;
        return end > view.Length ? 0 : (end + BatchHeader.Bytes - 1) / BatchHeader.Bytes * BatchHeader.Bytes;
    }

    private void NoteProof(SublogCursor cursor, ReadOnlySpan<byte> bytes)
    {
        if (!DurableProof.TryRead(bytes, out DurableProof proof))
            return;
        if (proof.Sublog == cursor.Sublog && proof.Sublogs == _reader.Cursors.Count && proof.Term >= cursor.LastTerm)
            _durable = Math.Max(_durable, proof.Batch);
    }

    private void NoteFile(DiskView view, SublogCursor cursor, bool isHead)
    {
        int bytes = (int)Math.Min(FileHeader.Bytes, view.Length);
        _isReceived = false;
        if (bytes == 0)
            return;
        var block = new ReadOnlySpan<byte>(view.At(0, bytes), bytes);
        HeaderState state = FileHeader.TryRead(block, out FileHeader header);
        _isReceived = state == HeaderState.Whole && header.IsReceived;
        if (isHead)
            return;
        if (state == HeaderState.None && block.ContainsAnyExcept((byte)0))
            HasRest = true;
        if (state != HeaderState.Whole || header.Sublog != _failure.Sublog || cursor.Sublog != _failure.Sublog)
            return;
        if (header.Term >= cursor.LastTerm)
            _durable = Math.Max(_durable, header.FirstBatch - 1);
    }
}

using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Reading;

/// <summary>
/// Walks one sublog from file to file: finds the next part, checks everything about it that can be checked in one sublog
/// (checksums, chain, number, lane table), and moves behind it only when told that the whole batch counts.
/// </summary>
internal sealed unsafe class SublogCursor : IDisposable
{
    private const int BatchAlignment = 64, WriteAlignment = 4096;

    private readonly DiskView _view;
    private readonly int _sublogs;

    public SublogCursor(IDisk disk, int sublog, int sublogs)
    {
        _view = new DiskView(disk);
        _sublogs = sublogs;
        Sublog = sublog;
        Files = LogFiles.Of(disk, sublog);
    }

    public int Sublog { get; }
    /// <summary>The sublog's files, oldest first.</summary>
    public IReadOnlyList<LogFile> Files { get; }
    /// <summary>The file that holds the last part that counts, and where that part ends; -1 if there is no file.</summary>
    public int FileIndex { get; private set; } = -1;
    public long Offset { get; private set; }
    public uint LastCrc { get; private set; }
    public uint LastTerm { get; private set; }
    /// <summary>Number of the batch that comes next.</summary>
    public ulong Next { get; private set; }
    /// <summary>The last batch that headers seen so far call durable.</summary>
    public ulong Durable { get; private set; }
    public LogFailure? Failure { get; private set; }
    /// <summary>The part the last <see cref="TryRead"/> found.</summary>
    public LogPart Part;
    private FileHeader _layout;
    // The header of the file the view shows.
    private FileHeader _open;

    /// <summary>
    /// Goes to the beginning of the youngest file from which batch <paramref name="wanted"/> can be reached;
    /// <see cref="Failure"/> if there is none.
    /// </summary>
    public void Begin(ulong wanted)
    {
        Next = wanted;
        if (Files.Count == 0)
            return;
        int index = Files.Count - 1;
        while (index >= 0 && Files[index].FirstBatch > wanted) index--;
        if (index < 0)
        {
            Fail(LogFailureKind.Impossible, Files[0].Name, 0,
                $"the log begins with batch {Files[0].FirstBatch}; the batches before it are missing");
            return;
        }
        bool opened = TryOpen(index, out FileHeader header);
        // The youngest file may be one whose creation was interrupted.
        while (!opened && index > 0 && Failure!.Kind == LogFailureKind.Broken) opened = TryOpen(--index, out header);
        if (opened)
            Failure = null;
        FileIndex = index;
        Offset = FileHeader.Bytes;
        Next = Files[index].FirstBatch;
        LastCrc = header.PreviousCrc;
        LastTerm = header.Term;
        _layout = header;
    }

    /// <summary>Finds and checks the next part; false with <see cref="Failure"/> set if there is none that counts.</summary>
    public bool TryRead()
    {
        SkipProofs();
        if (FileIndex < 0)
            return Fail(LogFailureKind.End, LogFileName.Of(Sublog, Next), 0, "the file does not exist");
        LogFile file = Files[FileIndex];
        _view.Open(file.Name);
        _open = _layout;
        long near = Up(Offset, BatchAlignment), far = Up(Offset, WriteAlignment);
        HeaderState state = HeaderAt(near, out BatchHeader header, out uint crc);
        if (state == HeaderState.None && far != near)
        {
            HeaderState other = HeaderAt(far, out header, out crc);
            if (other != HeaderState.None)
                (near, state) = (far, other);
        }
        if (state == HeaderState.Whole)
            return Accepts(new Place(FileIndex, near), header, crc, _layout);
        if (FileIndex + 1 < Files.Count && Files[FileIndex + 1].FirstBatch == Next)
            return TryNextFile();
        if (state == HeaderState.None && IsFileMissing(near))
            return Fail(LogFailureKind.Missing, LogFileName.Of(Sublog, Next), 0,
                $"it, or the end of {file.Name}, is missing: that one ends with batch {Next - 1}, and the next begins with batch " +
                $"{Files[FileIndex + 1].FirstBatch}");
        return state switch
        {
            HeaderState.None => Fail(LogFailureKind.End, file.Name, near, "nothing is there"),
            HeaderState.Newer => Fail(LogFailureKind.Newer, file.Name, near, "the batch is of a newer version of the format"),
            _ => Fail(LogFailureKind.Broken, file.Name, near, "the checksum of the batch header does not hold"),
        };
    }

    /// <summary>Moves behind the proofs of durability that stand next, and believes them; then a part stands there, or nothing that counts.</summary>
    public void SkipProofs()
    {
        if (FileIndex < 0 || !_layout.IsReceived)
            return;
        _view.Open(Files[FileIndex].Name);
        while (Offset > FileHeader.Bytes && (TrySkipProof(Up(Offset, BatchAlignment)) || TrySkipProof(Up(Offset, WriteAlignment))))
        {
            // there are seldom two
        }
    }

    /// <summary>The part found is one that counts.</summary>
    public void Accept()
    {
        FileIndex = Part.FileIndex;
        Offset = Part.End;
        LastCrc = Part.HeaderCrc;
        LastTerm = Part.Header.Term;
        _layout = Part.Layout;
        Next++;
    }

    public void Dispose() => _view.Dispose();

    private bool TryNextFile()
    {
        if (!TryOpen(FileIndex + 1, out FileHeader header))
            return false;
        string name = Files[FileIndex + 1].Name;
        if (header.PreviousCrc != LastCrc)
            return Fail(LogFailureKind.Broken, name, 0, "the file does not go on where the one before it ended");
        if (header.Term < LastTerm)
            return Fail(LogFailureKind.Broken, name, 0, $"its term {header.Term} is before term {LastTerm}");
        HeaderState state = HeaderAt(FileHeader.Bytes, out BatchHeader batch, out uint crc);
        return state switch
        {
            HeaderState.Whole => Accepts(new Place(FileIndex + 1, FileHeader.Bytes), batch, crc, header),
            HeaderState.None => Fail(LogFailureKind.End, name, FileHeader.Bytes, "nothing is there"),
            HeaderState.Newer => Fail(LogFailureKind.Newer, name, FileHeader.Bytes, "the batch is of a newer version of the format"),
            _ => Fail(LogFailureKind.Broken, name, FileHeader.Bytes, "the checksum of the batch header does not hold"),
        };
    }

    // A later file begins only when all before it is durable. Where anything stands behind the end of this one, it is this one that is damaged.
    private bool IsFileMissing(long end)
    {
        if (FileIndex + 1 >= Files.Count || Files[FileIndex + 1].FirstBatch < Next)
            return false;
        for (long at = end; at < _view.DataEnd; at += WriteAlignment)
        {
            long bytes = Math.Min(WriteAlignment, _view.Length - at);
            if (bytes > 0 && new ReadOnlySpan<byte>(_view.At(at, bytes), (int)bytes).ContainsAnyExcept((byte)0))
                return false;
        }
        return TryOpen(FileIndex + 1, out FileHeader header) && header.Term >= LastTerm;
    }

    private bool TryOpen(int index, out FileHeader header)
    {
        string name = Files[index].Name;
        _view.Open(name);
        byte* at = _view.At(0, FileHeader.Bytes);
        HeaderState state = HeaderState.None;
        header = default;
        if (at != null)
            state = FileHeader.TryRead(new ReadOnlySpan<byte>(at, FileHeader.Bytes), out header);
        if (state == HeaderState.Newer)
            return Fail(LogFailureKind.Newer, name, 0, "the file is of a newer version of the format");
        if (state != HeaderState.Whole)
            return Fail(LogFailureKind.Broken, name, 0, "the file header is not whole");
        _open = header;
        if (header.Sublog == Sublog && header.Sublogs == _sublogs && header.FirstBatch == Files[index].FirstBatch)
            return true;
        return Fail(LogFailureKind.Impossible, name, 0,
            $"the file header says sublog {header.Sublog} of {header.Sublogs} from batch {header.FirstBatch} on: it is another file's");
    }

    private HeaderState HeaderAt(long offset, out BatchHeader header, out uint crc)
    {
        header = default;
        crc = 0;
        byte* at = _view.At(offset, BatchHeader.Bytes);
        if (at == null)
            return HeaderState.None;
        var bytes = new ReadOnlySpan<byte>(at, BatchHeader.Bytes);
        HeaderState state = BatchHeader.TryRead(bytes, out header, out crc);
        if (state == HeaderState.Whole && !_open.IsReceived)
            Durable = Math.Max(Durable, header.DurableBatch);
        return state;
    }

    // What stands between here and there is nothing: a write may begin at the next page.
    private bool TrySkipProof(long offset)
    {
        long near = Up(Offset, BatchAlignment);
        byte* at = _view.At(near, DurableProof.Bytes);
        if (at == null || (near != offset && new ReadOnlySpan<byte>(at, DurableProof.Bytes).ContainsAnyExcept((byte)0)))
            return false;
        at = _view.At(offset, DurableProof.Bytes);
        if (at == null || !DurableProof.TryRead(new ReadOnlySpan<byte>(at, DurableProof.Bytes), out DurableProof proof))
            return false;
        if (proof.Sublog != Sublog || proof.Sublogs != _sublogs || proof.PreviousCrc != LastCrc)
            return false;
        Durable = Math.Max(Durable, proof.Batch);
        Offset = offset + DurableProof.Bytes;
        return true;
    }

    // The header is whole: is it the one that comes next, and does its body hold?
    private bool Accepts(Place place, in BatchHeader header, uint crc, in FileHeader layout)
    {
        string name = Files[place.FileIndex].Name;
        if (header.Batch != Next)
            return Fail(LogFailureKind.Broken, name, place.Offset, $"batch {header.Batch} stands there");
        if (header.Part != Sublog || header.Parts != _sublogs)
            return Fail(LogFailureKind.Impossible, name, place.Offset,
                $"part {header.Part} of {header.Parts} stands in sublog {Sublog} of {_sublogs}");
        if (header.PreviousCrc != LastCrc)
            return Fail(LogFailureKind.Broken, name, place.Offset, "the batch does not follow the one before it (its chain is broken)");
        if (header.Term < LastTerm)
            return Fail(LogFailureKind.Broken, name, place.Offset, $"its term {header.Term} is before term {LastTerm}");
        byte* body = header.BodyBytes > LogLimits.PartBodyBytesMax ? null : _view.At(place.Offset + BatchHeader.Bytes, header.BodyBytes);
        if (body == null)
            return Fail(LogFailureKind.Broken, name, place.Offset, "the file ends before the batch does");
        if (Crc32C.Of(new ReadOnlySpan<byte>(body, (int)header.BodyBytes)) != header.BodyCrc)
            return Fail(LogFailureKind.Broken, name, place.Offset, "the checksum of the batch's body does not hold");
        Part = new LogPart
        {
            File = name, FileIndex = place.FileIndex, Offset = place.Offset, End = place.Offset + BatchHeader.Bytes + header.BodyBytes,
            Header = header, HeaderCrc = crc, Body = body, Layout = layout,
        };
        string? wrong = PartCheck.TableFault(header, new ReadOnlySpan<byte>(body, (int)header.BodyBytes));
        return wrong is null || Fail(LogFailureKind.Impossible, name, place.Offset, wrong);
    }

    private bool Fail(LogFailureKind kind, string file, long offset, string reason)
    {
        Failure = new LogFailure(kind, Sublog, file, offset, Next, reason);
        return false;
    }

    private static long Up(long offset, long alignment) => (offset + alignment - 1) & -alignment;

    private readonly record struct Place(int FileIndex, long Offset);
}

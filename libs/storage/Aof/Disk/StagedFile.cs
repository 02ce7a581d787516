using Garnet.Common;
using Garnet.Common.Faults;

namespace Garnet.Aof.Disk;

/// <summary>
/// A file written from front to back through a ring of our own instead of the system's cache: a write is a copy into memory that
/// outlives the process (<see cref="StagingFile"/>), and the disk gets large pieces past the cache. Where a second's small writes
/// went through the system's cache, that took 130 to 220 ns of a processor for each 130 bytes, so 12 (measured on ext4).
/// log.D1: bytes of the ring are given up only after the disk has taken them; so each byte written is in the file or in the ring.
/// log.D2: writes go on where the one before ended, one writer at a time; one thread at a time drains, beside it. A write that failed, as the
/// disk took nothing more, is made again from its beginning, with the same bytes; those that stand in the ring already are passed over.
/// log.D5: what the file is to begin with in the end, once its ring is not needed any more, is one block.
/// What a killed process leaves is put into the file by <see cref="TailFiles"/>.
/// </summary>
internal sealed unsafe class StagedFile : IDiskFile
{
    private const int Block = 4096;

    private readonly IDiskFile _file;
    private readonly StagingPool _pool;
    private readonly Lock _gate = new(); // the ring against its readers
    private readonly Lock _draining = new();
    private StagingFile? _ring;
    private readonly NativeArray<byte> _memory = new(Block, Block);
    private byte* _block;
    // These also stand in the ring's header, for the process that starts after this one; this process never reads them back.
    private long _written, _drained;
    // the disk has all bytes before this one: a sync up to here has nothing to write and cannot fail because the disk is full
    private long _handed;
    private byte[]? _last; // what the first block is to be in the end
    private long _failedFrom = -1; // where the write began that failed; -1 if none did

    internal StagedFile(IDiskFile file, StagingFile ring, StagingPool pool)
    {
        _file = file;
        _ring = ring;
        _pool = pool;
        _block = _memory.Items;
    }

    /// <inheritdoc/>
    public long Length => _file.Length;

    /// <inheritdoc/>
    public int Alignment => 1;

    /// <inheritdoc/>
    public bool HasTail => true;

    /// <inheritdoc/>
    public ulong TailNumber => Ring.Number;

    /// <inheritdoc/>
    public void LeaveAs(ReadOnlySpan<byte> firstBytes)
    {
        Check.That(firstBytes.Length == Block, "log.D5 what is changed in the end is a block");
        _last = firstBytes.ToArray();
    }

    /// <inheritdoc/>
    public long CopyRoom => StagingFile.RingBytes - (_written - Volatile.Read(ref _drained));

    /// <summary>False once it is closed: the file is then one like others.</summary>
    public bool IsOpen => Volatile.Read(ref _ring) is not null;

    private StagingFile Ring => _ring!;

    /// <summary>Creates the file, which keeps its length; null where there can be no ring.</summary>
    public static StagedFile? TryCreate(string path, long bytes, StagingPool pool)
    {
        if (bytes % Block != 0 || pool.TryTake(path + StagingFile.Suffix) is not { } ring)
            return null;
        ring.FileLength = bytes;
        try
        {
            return new StagedFile(LinuxFile.Create(path, bytes, FileCaching.Direct), ring, pool);
        }
        catch (DiskException)
        {
            pool.Give(ring);
            throw;
        }
    }

    /// <inheritdoc/>
    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        long stored = _written - offset;
        Check.That(stored == 0 || (offset == _failedFrom && stored > 0 && stored <= bytes.Length),
            "log.D2 a write goes on where the one before ended");
        bytes = bytes[(int)stored..];
        _failedFrom = offset;
        while (!bytes.IsEmpty)
        {
            if (CopyRoom == 0)
                Drain(Volatile.Read(ref _written));
            int taken = Store(bytes[..(int)Math.Min(bytes.Length, CopyRoom)]);
            bytes = bytes[taken..];
        }
        _failedFrom = -1;
    }

    /// <inheritdoc/>
    public int Read(long offset, Span<byte> to)
    {
        int copied = Copy(offset, to, out long inFile);
        return copied > 0 ? copied : _file.Read(offset, to[..(int)Math.Min(to.Length, inFile - offset)]);
    }

    /// <summary>
    /// Copies bytes that stand in the ring. 0: they are in the file, at least up to <paramref name="inFile"/>.
    /// </summary>
    public int Copy(long offset, Span<byte> to, out long inFile)
    {
        lock (_gate)
        {
            inFile = long.MaxValue;
            if (_ring is null || offset >= _written)
                return 0;
            inFile = Math.Max(0, _written - StagingFile.RingBytes);
            if (offset < inFile)
                return 0;
            Span<byte> found = Ring.At(offset, Math.Min(to.Length, _written - offset));
            found.CopyTo(to);
            return found.Length;
        }
    }

    /// <inheritdoc/>
    public void BeginSync(long from, long to) => Drain(to & -(long)Block);

    /// <inheritdoc/>
    public void Settle() => Drain(Volatile.Read(ref _written));

    /// <inheritdoc/>
    public void Sync()
    {
        Drain(Volatile.Read(ref _written));
        _file.Sync();
    }

    /// <inheritdoc/>
    public void SetLength(long bytes) => throw new NotSupportedException("a staged file keeps its length");

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_ring is null)
            return;
        bool all = TryDrain();
        StagingFile ring = Ring;
        lock (_gate) _ring = null;
        if (all)
            _pool.Give(ring);
        else
            ring.Dispose();
        _file.Dispose();
        if (_block != null)
            _memory.Dispose();
        _block = null;
    }

    private int Store(ReadOnlySpan<byte> bytes)
    {
        lock (_gate)
        {
            Span<byte> room = Ring.At(_written, bytes.Length);
            bytes[..room.Length].CopyTo(room);
            Volatile.Write(ref _written, _written + room.Length);
            Ring.Written = _written;
            return room.Length;
        }
    }

    // A block that is not full goes out as far as it is, and again when it is: what stood in it is written again as it was.
    private void Drain(long to)
    {
        lock (_draining)
        {
            long whole = to & -(long)Block;
            while (_drained < whole)
            {
                Span<byte> piece = Ring.At(_drained, whole - _drained);
                _file.Write(_drained, piece);
                Ring.Drained = _drained + piece.Length; // log.D1; and before a writer may use the room, should we be killed here
                Volatile.Write(ref _drained, _drained + piece.Length);
            }
            if (to <= Math.Max(_drained, _handed))
                return;
            var rest = new Span<byte>(_block, Block);
            rest.Clear();
            Ring.At(whole, to - whole).CopyTo(rest);
            _file.Write(whole, rest);
            _handed = to;
        }
    }

    private bool TryDrain()
    {
        try
        {
            Drain(Volatile.Read(ref _written));
            if (_last is not null)
            {
                _last.CopyTo(new Span<byte>(_block, Block));
                _file.Write(0, new ReadOnlySpan<byte>(_block, Block));
            }
            return true;
        }
        catch (DiskException)
        {
            return false; // nothing is lost: the next start takes the bytes from the ring
        }
    }
}

using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Writing;
using Garnet.Common.Faults;
using Garnet.Media;

namespace Garnet.Aof.Pm;

/// <summary>
/// A file of the log whose bytes are durable in a ring before they are in the file: a sync is a fence, and the file gets its bytes in the
/// background. What a machine that went down left in the ring is put into the file by <see cref="PmRings"/>.
/// log.R6: the head gives up what the file has only after the file was synced; so each byte that was fenced is durable in one of them.
/// log.R7: the file's own header goes to the file itself, and is durable there before the ring has anything: it says that without the ring the
/// file is not whole. In the end, when the file has everything, that is taken back.
/// log.R8: a full ring is drained by whoever writes; nothing is passed by, and a file that fails ends the writes.
/// </summary>
internal sealed class PmFile : IDiskFile
{
    /// <summary>So much is drained at once, while more is coming.</summary>
    public const int DrainBytes = 1 << 20;
    private const int LingerMs = 50, AtOnceBytesMax = 2 << 20; // as much as a ring of the system's memory has (StagingFile)

    private readonly IDiskFile _file;
    private readonly PmRing _ring;
    private readonly Action<PmRing, bool> _giveBack;
    private readonly PlantedPmFault _fault;
    private readonly Lock _draining = new();
    private readonly Bell _bell = new();
    private Thread? _thread;
    private volatile bool _stopping, _isOver;
    private volatile DiskException? _failure; // of a sync, after which nothing of the file may be believed, or of a write in the background
    private byte[]? _last;
    private bool _hasNewHeader;
    private PmPlace _inFile; // the file has, perhaps not durably, all before it
    private long _written = FileHeader.Bytes, _failedFrom = -1;

    /// <summary>The file has its length and is empty; the ring serves it. <paramref name="giveBack"/> gets the ring back, and whether all is in the file.</summary>
    public PmFile(IDiskFile file, PmRing ring, Action<PmRing, bool> giveBack, PlantedPmFault fault = PlantedPmFault.None)
    {
        (_file, _ring, _giveBack, _fault) = (file, ring, giveBack, fault);
        _inFile = ring.Head.Place;
    }

    /// <inheritdoc/>
    public long Length => _file.Length;

    /// <inheritdoc/>
    public int Alignment => 1;

    /// <inheritdoc/>
    public long CopyRoom => SyncIsFence ? Math.Min(_ring.Room, AtOnceBytesMax) : 0; // who writes fences; only the log's thread may wait

    /// <inheritdoc/>
    public bool SyncIsFence => _ring.FencesAtOnce;

    /// <inheritdoc/>
    public bool HasTail => true;

    /// <inheritdoc/>
    public ulong TailNumber => _ring.Number;

    /// <inheritdoc/>
    public string TailRun => PmRing.Run;

    /// <inheritdoc/>
    public PersistenceDomain Domain => _ring.Domain;

    /// <summary>False once all is in the file: it is then one like others.</summary>
    public bool IsOpen => !_isOver;

    /// <summary>Drains in the background from now on.</summary>
    public void StartDraining()
    {
        _thread = new Thread(DrainInTurn) { Name = "aof-drain", IsBackground = true };
        _thread.Start();
    }

    /// <inheritdoc/>
    public void LeaveAs(ReadOnlySpan<byte> firstBytes) => _last = firstBytes.ToArray();

    /// <inheritdoc/>
    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        ThrowIfFailed();
        if (offset < FileHeader.Bytes)
        {
            Check.That(offset + bytes.Length <= FileHeader.Bytes, "log.R7 the header is written alone");
            _file.Write(offset, bytes);
            _hasNewHeader = true;
            return;
        }
        long stored = _written - offset;
        bool isAgain = offset == _failedFrom && stored > 0 && stored <= bytes.Length;
        Check.That(stored == 0 || isAgain, "log.D2 a write goes on where the one before ended");
        Check.That(offset + bytes.Length <= Length, "log.R8 a file keeps its length");
        bytes = bytes[(int)stored..];
        _failedFrom = offset;
        while (!bytes.IsEmpty)
        {
            int taken = _ring.Append(bytes);
            bytes = bytes[taken..];
            _written += taken;
            if (taken == 0)
                MakeRoom();
        }
        _failedFrom = -1;
    }

    /// <inheritdoc/>
    public int Read(long offset, Span<byte> to)
    {
        BringUpTo(offset + to.Length);
        return _file.Read(offset, to);
    }

    /// <inheritdoc/>
    public void Sync()
    {
        ThrowIfFailed();
        if (_hasNewHeader)
            _file.Sync();
        _hasNewHeader = false;
        long before = _ring.FencedPosition;
        Fence();
        if (_ring.HeadPosition >= before || _ring.Undrained >= DrainBytes) // who drains may have found nothing and gone to sleep
            _bell.Ring();
    }

    /// <inheritdoc/>
    public void SetLength(long bytes) => throw new NotSupportedException("a file behind a ring keeps its length");

    /// <summary>Puts what is fenced into the file, makes it durable there and gives up its room.</summary>
    public void Drain()
    {
        lock (_draining)
        {
            if (_isOver)
                return;
            if (_fault == PlantedPmFault.HeadBeforeSync)
                GiveUp(LastFenced());
            BringOver();
            if (_inFile == _ring.Head.Place)
                return;
            SyncFile();
            GiveUp(_inFile); // log.R6
        }
    }

    /// <summary>The file gets, not durably, what it has not and is fenced, at least up to the offset, for whoever reads it.</summary>
    public void BringUpTo(long offset)
    {
        lock (_draining)
        {
            if (!_isOver && offset > _inFile.FileOffset)
                BringOver();
        }
    }

    /// <inheritdoc/>
    public void Finish()
    {
        if (_isOver)
            return;
        ThrowIfFailed();
        Fence();
        Drain();
        lock (_draining)
        {
            if (_last is not null)
                _file.Write(0, _last);
            SyncFile(); // log.R7
            _isOver = true;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_stopping)
            return;
        try
        {
            Finish();
        }
        catch (DiskException)
        {
            // nothing is lost: the next start takes the bytes from the ring, which serves nobody else until then
        }
        _stopping = true;
        _bell.Ring();
        _thread?.Join();
        _giveBack(_ring, _isOver);
        _file.Dispose();
    }

    private void DrainInTurn()
    {
        while (!_stopping && _failure is null)
        {
            // Who fences looks at what is undrained after it has said that there is more, and we look for that after we have given up.
            Interlocked.MemoryBarrier();
            if (_ring.Undrained == 0)
            {
                _bell.Wait(Timeout.Infinite);
                continue;
            }
            if (_ring.Undrained < DrainBytes)
                _bell.Wait(LingerMs);
            if (!_stopping)
                TryDrain();
        }
    }

    // A disk that is full may have room again; who writes says so when the ring is full.
    private void TryDrain()
    {
        try
        {
            Drain();
        }
        catch (DiskException e) when (e.IsFull)
        {
            _bell.Wait(LingerMs);
        }
        catch (DiskException e)
        {
            _failure ??= e;
        }
    }

    private void MakeRoom()
    {
        Fence();
        Check.That(_ring.Undrained > 0, "log.R8 a ring that is empty has room");
        Drain();
    }

    private void Fence()
    {
        int error = _ring.Fence();
        if (error != 0)
            throw Fail(PmRing.Failure("fence", error));
    }

    // The lock is held.
    private void BringOver()
    {
        ThrowIfFailed();
        long fenced = _ring.FencedPosition;
        PmPlace at = _inFile;
        for (PmPlace next = at; _ring.TryNext(ref next, out ReadOnlySpan<byte> bytes); at = next)
        {
            _file.Write(at.FileOffset, bytes);
            _inFile = next;
        }
        if (_inFile.Position < fenced)
            throw Fail(new DiskException("read", "the ring in persistent memory", "a record does not hold", isFull: false));
    }

    private void SyncFile()
    {
        ThrowIfFailed();
        try
        {
            _file.Sync();
        }
        catch (DiskException e)
        {
            throw Fail(e.IsFull ? new DiskException("sync", "the log", e.Message, isFull: false) : e);
        }
    }

    private void GiveUp(PmPlace place)
    {
        int error = _ring.GiveUp(place);
        if (error != 0)
            throw Fail(PmRing.Failure("give up", error));
    }

    private PmPlace LastFenced()
    {
        PmPlace place = _ring.Head.Place;
        while (_ring.TryNext(ref place, out _))
        {
            // to the last
        }
        return place;
    }

    private DiskException Fail(DiskException failure)
    {
        _failure ??= failure;
        return failure;
    }

    private void ThrowIfFailed()
    {
        if (_failure is { } failure)
            throw new DiskException("write", "the log", failure.Message, isFull: false);
    }
}

using System.Diagnostics.CodeAnalysis;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Lanes;
using Garnet.Common.Time;
using Garnet.Media;

namespace Garnet.Aof.Writing;

/// <summary>
/// One sublog: a queue of closed parts and the thread that writes them, as many at once as have gathered, and syncs as
/// the policy says. Where a write is only a copy, those who wait for it write themselves (<see cref="TryWrite"/>).
/// log.W10: who lays out and writes holds the turn; who syncs does not, so that a slow disk keeps nobody from writing (but for log.W13).
/// log.W6: a disk that is full is asked again, with the same bytes for the same place, until there is space or the log stops.
/// log.W7: after any other failure, and after any failed sync, nothing is written any more; what comes is dropped.
/// log.W8: durable is reported only after a sync that began when all of it was written.
/// log.W13: where a sync is a fence, whoever writes fences before he lets go of the turn: it says nothing of what other threads have stored
/// (media.P2). If it fails, that ends the log at once.
/// log.W12: the manifest names a file, durable, before a batch is in it: that it is missing, or another's, can be seen.
/// </summary>
internal sealed class Sublog : IDisposable
{
    private const long SyncEveryUs = 1_000_000, RetryUs = 100_000, GatherBytesMax = 4 << 20;

    private readonly AofSettings _settings;
    private readonly IClock _clock;
    private readonly LogState _state;
    private readonly ChunkPool _pool;
    private readonly SegmentWriter _writer;
    private readonly int _number;
    private readonly uint _term;
    private readonly Action _write, _sync, _begin, _switch, _name, _unname;
    private readonly Action _onFree;
    private readonly Thread _thread;

    // Under the gate.
    private readonly Lock _gate = new();
    private readonly Queue<SealedPart> _queue = new();
    private readonly Stack<SealedPart> _spare = new();

    // What is set here is looked at when the bell has rung.
    private readonly Bell _bell = new();
    private volatile bool _stopping, _retry, _called;
    private volatile bool _idle;

    // Under the turn.
    private readonly Lock _turn = new();
    private SealedPart? _next;
    private ulong _laid, _written;
    private bool _unsynced;

    // Under the turn where a sync is a fence, else the thread's own; only the thread goes on from a file that is fenced to one that is synced, or back.
    private ulong _durable;
    private long _lastSyncAtUs;

    // The thread's own.
    private bool _lastTry;
    private long _provenAtUs;

    private ulong _required; // the last batch whose sync somebody waits for

    private long _bytesWritten, _writes, _syncs, _lastSyncUs;

    /// <summary><paramref name="onFree"/> is called on the writer's thread whenever it could begin a write.</summary>
    public Sublog(AofSettings settings, IClock clock, LogState state, LogPieces pieces, Action onFree)
    {
        _settings = settings;
        _clock = clock;
        _state = state;
        _pool = pieces.Pool;
        _number = pieces.Place.Number;
        _laid = _written = _durable = pieces.Place.Start.LastBatch;
        _writer = new SegmentWriter(pieces, settings.SegmentBytes);
        _term = pieces.Place.Start.Term;
        _onFree = onFree;
        _write = Write;
        _sync = Sync;
        _begin = BeginSync;
        _switch = () => _writer.Switch(_next!.Batch, _next.Bytes, _next.Whole?.Term ?? _term, Caching);
        _name = () => pieces.Names?.Invoke(_number, [_writer.Named]);
        _unname = () => pieces.Names?.Invoke(_number, [default]);
        _lastSyncAtUs = clock.MonotonicUs - SyncEveryUs;
        _provenAtUs = _lastSyncAtUs;
        _thread = new Thread(Run) { Name = $"aof-writer-{_number}", IsBackground = true };
    }

    public long BytesWritten => Volatile.Read(ref _bytesWritten);
    public long Writes => Volatile.Read(ref _writes);
    public long Syncs => Volatile.Read(ref _syncs);
    public long LastSyncUs => Volatile.Read(ref _lastSyncUs);

    /// <summary>What a sync of that file is worth.</summary>
    public PersistenceDomain Domain => _writer.Domain;

    /// <summary>The file that is written, as the manifest is to name it.</summary>
    public NamedLog Named => _writer.Named;

    /// <summary>Creates the first file; failures are the caller's.</summary>
    public void Open(ulong firstBatch) => _writer.Switch(firstBatch, 0, _term, Caching);

    public void Start() => _thread.Start();

    /// <summary>
    /// The thread has nothing to do, or is about to ask whether it has: false promises that it will ask (<c>onFree</c>) after now.
    /// </summary>
    public bool IsIdle => _idle;

    /// <summary>What is written on the spot is durable there, as far as can be told; nothing waits for the thread.</summary>
    public bool KeepsOnTheSpot => _writer.SyncIsFence && Queued == 0;

    /// <summary>Parts closed and not yet looked at.</summary>
    public int Queued
    {
        get
        {
            lock (_gate) return _queue.Count;
        }
    }

    /// <summary>A part to fill and to <see cref="Enqueue"/>.</summary>
    public SealedPart Rent()
    {
        lock (_gate) return _spare.TryPop(out SealedPart? part) ? part : new SealedPart();
    }

    /// <summary>
    /// Hands a part over, in the order of batches. Never waits: how many may be under way is the group committer's to say. Without
    /// <paramref name="wakes"/> the caller goes on to write it, or to call the thread.
    /// </summary>
    public void Enqueue(SealedPart part, bool wakes)
    {
        lock (_gate) _queue.Enqueue(part);
        if (wakes)
            _bell.Ring();
    }

    /// <summary>
    /// Writes what is queued on the caller's thread, if that is a copy and nobody else is at it; else calls the thread. True if
    /// nothing is left in the queue.
    /// </summary>
    public bool TryWrite()
    {
        bool done = false;
        if (_turn.TryEnter())
        {
            done = _state.Poison == null && _state.Stalled == null && WriteQueued();
            _turn.Exit();
        }
        if (!done)
            Call();
        return done;
    }

    /// <summary>Syncs when everything up to the batch is written, whatever the policy.</summary>
    public void RequireSync(ulong batch)
    {
        ulong before = Volatile.Read(ref _required);
        while (before < batch)
        {
            ulong seen = Interlocked.CompareExchange(ref _required, batch, before);
            if (seen == before)
                break;
            before = seen;
        }
        if (batch > Volatile.Read(ref _durable))
            _bell.Ring();
    }

    /// <summary>Makes the writer look at clock, policy and, if it waits for space, the disk.</summary>
    public void Wake()
    {
        _retry = true;
        _bell.Ring();
    }

    /// <summary>Ends the thread and writes and syncs what is queued. A disk that is full is asked once more.</summary>
    public void Stop()
    {
        _stopping = true;
        _bell.Ring();
        if (_thread.IsAlive)
            _thread.Join();
        Finish();
    }

    /// <summary>Writes what is queued, and syncs if that is due.</summary>
    public void Turn()
    {
        lock (_turn)
        {
            if (_state.Poison == null)
                Gather();
            if (_state.Poison != null)
                DropAll();
        }
        if (_state.Poison != null)
            return;
        if (_settings.Sync == SyncPolicy.EverySecond && !Insist(_begin))
            return;
        SyncByPolicy();
        if (ProofDueUs() <= _clock.MonotonicUs)
            Prove();
    }

    /// <summary>A log that follows says what of it is durable (log.W11), and makes that durable.</summary>
    public void Prove()
    {
        _provenAtUs = _clock.MonotonicUs;
        bool isSaid = false;
        lock (_turn)
        {
            if (_state.Poison == null && _writer.UsedBytes == 0 && _writer.LayProof(_state.Durable))
                isSaid = Insist(_write);
        }
        if (isSaid && (!_unsynced || Insist(_sync)))
            Report();
    }

    // When nothing has been written for as long as a sync may wait.
    private long ProofDueUs() =>
        _unsynced || _state.Poison != null || _settings.Sync == SyncPolicy.No || !_writer.Owes(_durable)
            ? long.MaxValue
            : Math.Max(_lastSyncAtUs, _provenAtUs) + SyncEveryUs;

    // A second's writes handed to the disk at once kept the processor from others for 20 to 50 ms.
    private void BeginSync()
    {
        long offset;
        lock (_turn) offset = _writer.Offset;
        _writer.BeginSync(offset);
    }

    /// <summary>Writes what is queued and syncs all, whatever the policy; the thread has ended.</summary>
    public void Finish()
    {
        do Turn();
        while (Queued > 0);
        if (_state.Poison == null && _unsynced && Insist(_sync))
            Report();
    }

    /// <summary>Whether an empty part can be written without a new file; the thread has ended.</summary>
    public bool HasRoomForProof => _writer.HasRoom(BatchHeader.Bytes);

    /// <summary>Gives the file back; nothing is written any more.</summary>
    public void Close()
    {
        lock (_turn) _writer.Close();
    }

    public void Dispose()
    {
        while (_queue.TryDequeue(out SealedPart? part)) part.Drop(_pool);
        _writer.Dispose();
    }

    private void Run()
    {
        while (true)
        {
            _idle = true;
            Interlocked.MemoryBarrier(); // who demands does so before it looks at us
            // On a single core: reactors that were kept waiting add to the batch: 7 % less time per change.
            if (_settings.Sync == SyncPolicy.Always)
                Thread.Yield();
            _onFree();
            if (!Await())
                break;
            _idle = false;
            Turn();
        }
    }

    // False when there is nothing left to do and the log stops.
    private bool Await()
    {
        while (Queued == 0 && !_called)
        {
            if (_stopping)
                return false;
            long dueUs = Math.Min(SyncDueUs(), ProofDueUs()) - _clock.MonotonicUs;
            if (dueUs <= 0)
                break;
            _bell.Wait(Milliseconds(dueUs));
        }
        _called = false;
        return true;
    }

    private void Gather()
    {
        while (_writer.UsedBytes < GatherBytesMax && TryPeek(out _next))
        {
            if (!_writer.Fits(_next))
            {
                if (_writer.UsedBytes > 0)
                    break;
                if (!SwitchSegment())
                    return;
            }
            Lay(_next);
        }
        if (_writer.UsedBytes == 0)
            return;
        if (Insist(_write))
            Report();
    }

    // A write that fails is done again by the thread, which knows what to do about it.
    private bool WriteQueued()
    {
        if (_writer.UsedBytes > 0)
            return false; // one that has failed
        while (_writer.UsedBytes < GatherBytesMax && TryPeek(out _next) && _writer.Fits(_next) && _writer.IsCopy(_next)) Lay(_next);
        try
        {
            bool first = !_unsynced;
            if (_writer.UsedBytes > 0)
                Write();
            if (IsRequired)
                Call();
            if (_settings.Sync == SyncPolicy.EverySecond && _unsynced && (first || _writer.HasMuchUnsynced))
                Call(); // to sync in time and little by little
        }
        catch (DiskException)
        {
            return false;
        }
        Report();
        return Queued == 0;
    }

    private void Lay(SealedPart part)
    {
        _writer.Lay(part, _state.Durable);
        _laid = part.Batch;
        Recycle();
    }

    private void Call()
    {
        _called = true;
        _bell.Ring();
    }

    private FileCaching Caching => _settings.Sync switch
    {
        SyncPolicy.Always => FileCaching.Direct,
        SyncPolicy.EverySecond => FileCaching.Staged,
        _ => FileCaching.Buffered,
    };

    // log.W3: the old file first. log.W12: the manifest names the new one before a batch is in it; and none while one without a batch, whose
    // room the first batch exceeds, is made anew: a power cut in between must not leave a manifest that names what is not there.
    private bool SwitchSegment()
    {
        if (_unsynced && !Insist(_sync))
            return false;
        Report();
        bool isAnew = _writer.Named.FirstBatch == _next!.Batch;
        return (!isAnew || Insist(_unname)) && Insist(_switch) && Insist(_name);
    }

    private void SyncByPolicy()
    {
        if (SyncDueUs() <= _clock.MonotonicUs && Insist(_sync))
            Report();
    }

    private long SyncDueUs()
    {
        if (!_unsynced || _state.Poison != null)
            return long.MaxValue;
        if (IsRequired)
            return 0;
        return _settings.Sync switch
        {
            SyncPolicy.No => long.MaxValue,
            SyncPolicy.Always => 0,
            _ => _lastSyncAtUs + SyncEveryUs,
        };
    }

    private bool IsRequired => Volatile.Read(ref _required) > Volatile.Read(ref _durable);

    private void Write()
    {
        long bytes = _writer.Flush();
        _written = _laid;
        Volatile.Write(ref _bytesWritten, _bytesWritten + bytes);
        Volatile.Write(ref _writes, _writes + 1);
        if (_writer.SyncIsFence)
            Fence();
        else
            _unsynced = true; // never of what only its writer can fence: nobody else may try
    }

    // log.W13
    private void Fence()
    {
        try
        {
            Sync();
        }
        catch (DiskException e)
        {
            _state.Fail(e.Message);
            throw;
        }
    }

    private void Sync()
    {
        long start = _clock.MonotonicUs;
        _lastSyncAtUs = start;
        ulong written;
        lock (_turn)
        {
            written = _written;
            _unsynced = false;
        }
        _writer.Sync();
        _durable = written; // log.W8
        Volatile.Write(ref _lastSyncUs, _clock.MonotonicUs - start);
        Volatile.Write(ref _syncs, _syncs + 1);
    }

    private void Report() => _state.Report(_number, _written, _durable);

    // log.W6, log.W7. False if the log is lost.
    private bool Insist(Action step)
    {
        bool stalled = false;
        while (true)
        {
            try
            {
                step();
                if (stalled)
                    _state.Stall(_number, null);
                return true;
            }
            catch (DiskException e) when (e.IsFull && !_lastTry)
            {
                stalled = true;
                _state.Stall(_number, e.Message);
                AwaitSpace();
            }
            catch (DiskException e)
            {
                if (stalled)
                    _state.Stall(_number, null);
                _state.Fail(e.Message);
                return false;
            }
        }
    }

    private void AwaitSpace()
    {
        _retry = false;
        long until = _clock.MonotonicUs + RetryUs;
        for (long left = RetryUs; left > 0 && !_retry && !_stopping; left = until - _clock.MonotonicUs) _bell.Wait(Milliseconds(left));
        _lastTry = _stopping;
    }

    private void DropAll()
    {
        _writer.Discard();
        while (TryPeek(out _next))
        {
            _next.Drop(_pool);
            Recycle();
        }
    }

    private bool TryPeek([NotNullWhen(true)] out SealedPart? part)
    {
        lock (_gate) return _queue.TryPeek(out part);
    }

    private void Recycle()
    {
        lock (_gate) _spare.Push(_queue.Dequeue());
    }

    // The wait is real time, what is due is the clock's to say; whoever moves a clock by hand wakes the writer.
    private static int Milliseconds(long us) => us > int.MaxValue ? Timeout.Infinite : (int)((us + 999) / 1000);
}

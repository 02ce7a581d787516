using Garnet.Aof.Format;
using Garnet.Aof.Lanes;
using Garnet.Common.Faults;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Writing;

/// <summary>
/// Closes batches: raises the number, visits every partition, hands each sublog its part. A thread of its own does it when
/// it is time; an exclusive step does it when it must (<see cref="Close"/>), and while somebody waits for what is open a
/// writer that has just become free does it for itself, so that all that gathered during one write is in the next.
/// log.S1: who closes a batch holds the gate from raising the number until the parts are queued; so sublogs see batches in
/// order, and an exclusive step, which holds it throughout, is at a boundary of batches.
/// log.S2: a batch is closed only if something was written to it, but for log.S4 and log.S5: who writes nothing causes no writes.
/// log.S3: while a partition lock is held nothing here waits for the disk; <see cref="Close"/> may exceed the queue's bound.
/// log.S4: a log that has been quiet for a second, or ends, with all of it durable, gets one empty batch whose header says so:
/// without it a reader would take damage in its last batches for an interrupted write.
/// log.S5: a new term begins with an empty batch if it is told to: from then on whoever has the log knows of the term.
/// log.S6: a batch that has grown very long is closed however many wait for the disk, so that there is always one with room (log.L5).
/// </summary>
internal sealed class GroupCommitter : IPartitionVisitor
{
    private const int Running = 0, Lingering = 1, Asleep = 2;
    private const int QueuedMax = 4, YieldsMax = 400;
    private const long Never = long.MaxValue / 2, QuietUs = 1_000_000;

    private readonly AofSettings _settings;
    private readonly IClock _clock;
    private readonly Store _store;
    private readonly LaneSet _lanes;
    private readonly ChunkPool _pool;
    private readonly LogState _state;
    private readonly Lock _gate = new();
    private readonly object _bell = new();
    private readonly Thread _thread;
    private Sublog[] _sublogs = [];
    private SealedPart[] _parts = [];
    private ulong _closing, _demanded, _proven;
    private int _activity;
    private bool _stopping;
    private long _lastSealUs, _dueUs, _batches, _entries;

    public GroupCommitter(AofSettings settings, IClock clock, Store store, LaneSet lanes, ChunkPool pool, LogState state)
    {
        _settings = settings;
        _clock = clock;
        _store = store;
        _lanes = lanes;
        _pool = pool;
        _state = state;
        _proven = lanes.Batch - 1;
        lanes.OnLong(Nudge);
        _lastSealUs = clock.MonotonicUs - Math.Max(settings.LazySealMs * 1000L, settings.SealMinUs);
        _thread = new Thread(Run) { Name = "aof-group committer", IsBackground = true };
    }

    public long Batches => Volatile.Read(ref _batches);
    public long Entries => Volatile.Read(ref _entries);

    /// <summary>Names who gets the parts; nothing is closed before.</summary>
    public void Attach(Sublog[] sublogs)
    {
        _sublogs = sublogs;
        _parts = new SealedPart[sublogs.Length];
    }

    /// <summary>Starts the thread.</summary>
    public void Start() => _thread.Start();

    /// <summary>Something was written, perhaps. Costs a fence and a read while the group committer is at work.</summary>
    public void Nudge()
    {
        // Between the writes to a lane and the look at the activity, as the group committer has one between its activity and its look at the lanes.
        Interlocked.MemoryBarrier();
        int activity = _activity;
        if (activity == Running || (activity == Lingering && !_lanes.IsLong))
            return;
        Wake(activity);
    }

    /// <summary>
    /// Somebody waits for the batch. If the writers have nothing to do it is closed here, else by the first of them that has.
    /// </summary>
    public void Demand(ulong batch)
    {
        ulong before = Volatile.Read(ref _demanded);
        while (before < batch)
        {
            ulong seen = Interlocked.CompareExchange(ref _demanded, batch, before);
            if (seen == before)
                break;
            before = seen;
        }
        if (batch < _lanes.Batch)
            return;
        foreach (Sublog sublog in _sublogs)
        {
            if (!sublog.IsIdle)
                return;
        }
        if (!TryTurn(wakes: true))
            Wake(Volatile.Read(ref _activity));
    }

    /// <summary>Makes the thread look at everything again, the clock included.</summary>
    public void Wake()
    {
        lock (_bell) Monitor.Pulse(_bell);
    }

    /// <summary>A writer could begin.</summary>
    public void OnFree()
    {
        if (IsAwaited && !Volatile.Read(ref _stopping) && Queued() < QueuedMax && _gate.TryEnter())
        {
            if (_lanes.HasEntries())
                Seal();
            _gate.Exit();
        }
        int activity = Volatile.Read(ref _activity);
        if (activity == Lingering)
            Wake(activity);
    }

    /// <summary>Begins an exclusive step.</summary>
    public void Hold() => _gate.Enter();

    /// <summary>Ends an exclusive step.</summary>
    public void Release() => _gate.Exit();

    /// <summary>
    /// Closes what is open; all partition locks and the gate are held. Returns the last batch that holds anything written before.
    /// </summary>
    public ulong Close()
    {
        if (!_lanes.HasEntries())
            return _lanes.Batch - 1;
        Begin(BatchKind.Data);
        for (int lane = 0; lane < _lanes.Count; lane++) Visit(lane);
        return Finish();
    }

    /// <summary>Writes a control batch; all partition locks and the gate are held.</summary>
    public unsafe void Control(byte opId, ReadOnlySpan<byte> arguments)
    {
        Check.That(!_lanes.HasEntries(), "log.S1 nothing is written between the closing of a batch and the control batch behind it");
        var header = new EntryHeader((uint)(EntryHeader.Bytes + arguments.Length), opId, 0, 0);
        Chunk* chunk = _pool.Take((int)header.EntryBytes);
        chunk->Used = (int)header.EntryBytes;
        header.Write(new Span<byte>(Chunk.Start(chunk), EntryHeader.Bytes));
        arguments.CopyTo(new Span<byte>(Chunk.Start(chunk) + EntryHeader.Bytes, arguments.Length));
        Begin(BatchKind.Control);
        _parts[0].Add(new LaneTake { Lane = 0, Entries = 1, Bytes = header.EntryBytes, Head = chunk });
        Finish();
    }

    /// <summary>Closes what an exclusive step wrote, all of it to lane 0, as one batch whose entries run in their order; 0 if it wrote nothing.</summary>
    public ulong CloseOrdered()
    {
        if (!_lanes.HasEntries())
            return 0;
        Begin(BatchKind.Ordered);
        Visit(0);
        return Finish();
    }

    /// <inheritdoc/>
    public void Visit(int partition)
    {
        if (_lanes.TryTake(partition, _closing, out LaneTake take))
            _parts[partition % _parts.Length].Add(take);
    }

    /// <summary>Closes what is open; log.S4 if nothing is and it is time. What the thread does when it is due.</summary>
    public void Turn()
    {
        _gate.Enter();
        if (_lanes.HasEntries() || (OwesProof && IsQuiet))
            Seal();
        _gate.Exit();
    }

    /// <summary>
    /// Closes what is open if nobody else is just at it; without <paramref name="wakes"/> the caller then has the sublogs write.
    /// False: somebody else is.
    /// </summary>
    public bool TryTurn(bool wakes)
    {
        if (!_gate.TryEnter())
            return false;
        if (_lanes.HasEntries())
            Seal(wakes);
        _gate.Exit();
        return true;
    }

    /// <summary>log.S5: closes what is open, or an empty batch.</summary>
    public void Mark()
    {
        _gate.Enter();
        Seal();
        _gate.Exit();
    }

    /// <summary>log.S4 at the end: closes an empty batch if the log owes one; true if it did.</summary>
    public bool Prove()
    {
        _gate.Enter();
        bool owes = OwesProof && _state.Durable == _lanes.Batch - 1;
        if (owes)
            Seal();
        _gate.Exit();
        return owes;
    }

    /// <summary>Ends the thread after closing what is open.</summary>
    public void Stop()
    {
        lock (_bell)
        {
            _stopping = true;
            Monitor.Pulse(_bell);
        }
        if (_thread.IsAlive)
            _thread.Join();
        Turn();
    }

    private bool IsAwaited => _settings.Sync == SyncPolicy.Always || Volatile.Read(ref _demanded) >= _lanes.Batch;

    // A policy that syncs nothing can prove nothing.
    private bool OwesProof => _lanes.Batch - 1 > _proven && _settings.Sync != SyncPolicy.No && _state.Poison == null;

    private bool IsQuiet => _clock.MonotonicUs >= Volatile.Read(ref _lastSealUs) + QuietUs && _state.Durable == _lanes.Batch - 1;

    private void Run()
    {
        while (AwaitWork())
        {
            AwaitPause();
            Turn();
        }
    }

    // The gate is held.
    private void Seal(bool wakes = true)
    {
        Begin(BatchKind.Data);
        _store.VisitPartitions(this);
        Finish(wakes);
    }

    private void Begin(BatchKind kind)
    {
        long now = _clock.UnixUs;
        for (int i = 0; i < _parts.Length; i++) _parts[i] = _sublogs[i].Rent();
        _closing = _lanes.Raise();
        foreach (SealedPart part in _parts) part.Reset(_closing, kind, now);
    }

    private ulong Finish(bool wakes = true)
    {
        long entries = 0;
        Volatile.Write(ref _lastSealUs, _clock.MonotonicUs); // before anyone can see the batch written
        for (int i = 0; i < _parts.Length; i++)
        {
            entries += _parts[i].Entries;
            _sublogs[i].Enqueue(_parts[i], wakes);
        }
        if (entries == 0)
            _proven = _closing;
        Volatile.Write(ref _entries, _entries + entries);
        Volatile.Write(ref _batches, _batches + 1);
        return _closing;
    }

    // Waits until a batch is to be closed; false when the log stops.
    private bool AwaitWork()
    {
        lock (_bell)
        {
            while (!_stopping)
            {
                int waitMs = Timeout.Infinite;
                SetActivity(Asleep);
                if (_lanes.HasEntries())
                {
                    SetActivity(Lingering);
                    _dueUs = DueUs(out bool isSoon);
                    long leftUs = _dueUs - _clock.MonotonicUs;
                    if (leftUs <= 0 || isSoon)
                        break;
                    if (leftUs < int.MaxValue)
                        waitMs = (int)((leftUs + 999) / 1000);
                }
                else if (OwesProof)
                {
                    _dueUs = 0;
                    if (IsQuiet)
                        break;
                    waitMs = (int)(QuietUs / 1000);
                }
                Monitor.Wait(_bell, waitMs);
            }
            SetActivity(Running);
            return !_stopping;
        }
    }

    // The clock's time at which the open batch is to be closed, as things are; Never if a writer must be free first (it
    // calls OnFree). Soon is sooner than the system's shortest wait.
    private long DueUs(out bool isSoon)
    {
        int queued = Queued();
        bool awaited = IsAwaited;
        isSoon = false;
        if (queued >= (awaited ? 1 : QueuedMax))
            return _lanes.IsVeryLong ? 0 : Never; // log.S6
        isSoon = awaited;
        if (_lanes.IsLong)
            return 0;
        return Volatile.Read(ref _lastSealUs) + (awaited ? _settings.SealMinUs : _settings.LazySealMs * 1000L);
    }

    // Ends after so many yields at the latest: a clock may stand still.
    private void AwaitPause()
    {
        for (int yields = 0; yields < YieldsMax && _clock.MonotonicUs < _dueUs; yields++) Thread.Yield();
    }

    private int Queued()
    {
        int most = 0;
        foreach (Sublog sublog in _sublogs) most = Math.Max(most, sublog.Queued);
        return most;
    }

    private void SetActivity(int activity)
    {
        Volatile.Write(ref _activity, activity);
        Interlocked.MemoryBarrier();
    }

    // Only the first of those who find the group committer waiting rings.
    private void Wake(int activity)
    {
        if (activity == Running || Interlocked.CompareExchange(ref _activity, Running, activity) != activity)
            return;
        Wake();
    }
}

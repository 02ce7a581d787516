using System.Collections.Concurrent;
using Garnet.Common;
using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// The thread that keeps room free in memory and on the tier, ahead of demand: woken when less than the low mark of memory is free, it demotes and cleans up to the
/// target; then it compacts the tier up to its own. Apart from the other movers, whose work must not wait for a disk.
/// store.C6: memory that demotion has emptied but that is not given back yet (dead bytes of segments that are cleaned up) counts as on its way: no more is
/// demoted than is needed. So do segments that wait for nothing but snapshots: no more goes on to the disk, is moved together or is given up than is needed, and
/// a snapshot is wanted instead.
/// The thread may be in the middle of a write that the medium does not answer, and nobody can take it out of there: whoever needs it, or what it has locked, waits for so long at
/// most and does without (store.C12).
/// </summary>
internal sealed unsafe class TierMovers : IDisposable
{
    /// <summary>Parts of the memory limit: below the first demotion begins, at the second it ends.</summary>
    public const int LowPart = 32, TargetPart = 16;
    private const int PauseMs = 100, FullPauseMs = 10, AwaitedPauseMs = 5, CleanParts = 8;
    private const int ExtentsPerRound = 64, FailurePauseMs = 1000, RoomToldMs = 10_000;
    private const int Laps = 4; // what was read most loses its frequency in three
    private const int RevivingHolds = 64; // a part of a millisecond: where nothing may be written rounds go on for as long
    private const int StopMs = 5000; // a round takes milliseconds, or waits for the medium
    private const long StageBytesMax = 1 << 20;
    private const int LackingPart = 4; // a record that lacks more than this part of the tier is not made room for
    /// <summary>Writers wait for room about as long: where the budget has nothing for longer than that, they are not to.</summary>
    private const int PatienceMs = 1000;
    /// <summary>What is dead may take as long to be free, as a snapshot has to be taken for it: if nothing has moved for longer, none comes.</summary>
    private const int ComingMs = 10_000;
    /// <summary>So long they wait for a snapshot to free what is dead where they may evict instead: a client notices more.</summary>
    private const int ReleasePatienceMs = 100;
    private readonly StoreCore _core;
    private readonly ColdTier _tier;
    private readonly MoverScheduler _movers;
    private readonly ColdWriter _writer, _lower; // to the upper part of the tier, and to the lower; one where there is one part
    private readonly Demoter _demoter;
    private readonly ColdCleaner _coldCleaner;
    private readonly Cleaner _cleaner;
    private readonly ColdAging _aging;
    private readonly AutoResetEvent _wake;
    private readonly WantedRoom _wanted = new(PatienceMs);
    private readonly Lock _stepping = new();
    private readonly RoundTimer _round = new();
    private readonly ConcurrentQueue<DemotionRequest> _asked = new();
    private Thread? _thread;
    private volatile bool _stopping;
    private int _turn, _idleRounds;
    private long _failedMs = -FailurePauseMs, _roomFromMs, _progressMs;
    private volatile TaskCompletionSource? _seal;
    private readonly Lock _telling = new();
    private volatile bool _isHung;
    private bool _toldFailing, _toldFull, _toldSpent, _waitsAbove, _waitsBelow;

    public TierMovers(StoreCore core, ColdTier tier, MoverScheduler movers, Cleaner cleaner, AutoResetEvent wake)
    {
        _core = core;
        _tier = tier;
        _movers = movers;
        _cleaner = cleaner;
        _wake = wake;
        _writer = new ColdWriter(core, tier);
        _lower = tier.Segments.Parts.Length == 1 ? _writer : new ColdWriter(core, tier, goesDown: true);
        _demoter = new Demoter(core, _writer);
        _coldCleaner = new ColdCleaner(core, tier, _writer, _lower);
        _aging = new ColdAging(core, tier);
    }

    /// <summary>True if nothing more can be moved to the tier, which is full, fails, or takes none of what is left: eviction from memory is what remains.</summary>
    public bool IsFull { get => field || _isHung; private set; }

    /// <summary>
    /// True if a good part of the full tier is dead, and waits for nothing but those who still read it, or for snapshots, of which a
    /// new one is wanted then; or if it has room, and nothing has moved for a moment only, as what there is was just read: who can wait
    /// need not be refused.
    /// </summary>
    public bool RoomComes { get => field && !_isHung; private set; }

    /// <summary>True if less of the part that nothing goes on from is free than is kept so.</summary>
    public bool IsShort { get; private set; }

    /// <summary>
    /// True if a round has not ended for as long as writers have patience: the medium stalls. After the time that a read has nobody waits for it any more, and the tier is as if it
    /// were full (<see cref="IsFull"/>) until the round has ended.
    /// </summary>
    public bool IsStalled(long nowMs)
    {
        long forMs = _round.Look(nowMs);
        if (forMs > _tier.ReadTimeoutMs && !_isHung)
            BeHung();
        return forMs > PatienceMs;
    }

    /// <summary>True once that time is over.</summary>
    public bool IsHung => _isHung;

    private void BeHung()
    {
        lock (_telling)
        {
            if (_isHung || _round.Look(_movers.NowMs) == 0)
                return;
            _isHung = true;
        }

        _tier.Observer?.OnWriting("the device has not answered");
        _core.Arena.Bell.Ring();
    }

    // The round that was hung has ended.
    private void BeWell()
    {
        lock (_telling)
            _isHung = false;
        _tier.Observer?.OnWriting(null);
    }

    // A record that no segment takes alone wants more at once.
    private bool HasTierRoom => _tier.HasRoom(_tier.Segments.Bottom) && !LacksRoom;

    private bool LacksRoom
    {
        get
        {
            ColdSegments bottom = _tier.Segments.Bottom;
            return bottom.Free < _tier.ReserveOf(bottom) + Math.Max(LackingWorthRoom, 1);
        }
    }

    // Of segments, for a long record. Where others would be given up for it, it is not to cost most of what there is: it stays in memory, as if it could not be moved.
    private int LackingWorthRoom
    {
        get
        {
            int lacking = _writer.Runs.Lacking;
            return _movers.Policy == EvictionPolicy.NoEviction || lacking <= _tier.Segments.Bottom.Total / LackingPart ? lacking : 0;
        }
    }

    /// <summary>Somebody lacks so much room.</summary>
    public void Wake(long bytes)
    {
        if (bytes < _core.Arena.Ceiling - _core.Arena.Fixed) // more there will never be
            _wanted.Ask(bytes);
        _wake.Set();
    }

    /// <summary>Somebody wants a key moved: at most one for each client that waits.</summary>
    public void Ask(DemotionRequest request)
    {
        _asked.Enqueue(request);
        _wake.Set();
    }

    public void Start()
    {
        _thread = new Thread(Run) { IsBackground = true, Name = "tier movers" };
        _thread.Start();
    }

    /// <summary>Ends the thread; false if it is in the middle of what the medium does not answer: all that it works with must stay.</summary>
    public bool TryStop()
    {
        _stopping = true;
        _wake.Set();
        return _thread?.Join(StopMs) != false;
    }

    /// <summary>Behind <see cref="TryStop"/>.</summary>
    public void Dispose()
    {
        _writer.Dispose();
        if (_lower != _writer)
            _lower.Dispose();
        _coldCleaner.Dispose();
    }

    /// <summary>One round; true if there is more to do at once.</summary>
    public bool Step(long nowMs)
    {
        if (!_stepping.TryEnter(PatienceMs))
            return false; // the medium has another round
        try
        {
            _round.Begin(nowMs);
            (bool, bool, bool) before = (IsFull, RoomComes, IsShort);
            bool worked = StepLocked(nowMs);
            _round.End();
            if (_isHung)
                BeWell();
            if (before != (IsFull, RoomComes, IsShort))
                _core.Arena.Bell.Ring(); // what those are to do who found no room is another thing now
            return worked;
        }
        finally
        {
            _stepping.Exit();
        }
    }

    private bool StepLocked(long nowMs)
    {
        if (Interlocked.Exchange(ref _seal, null) is { } seal)
        {
            SealLocked();
            seal.TrySetResult();
        }

        _tier.CloseNow();
        _writer.SealDead();
        _lower.SealDead();
        bool worked = Grant() | _aging.Step();
        _coldCleaner.MayRemove = _movers.MayExpire;
        if (_coldCleaner.MayRemove)
        {
            _writer.SealDue(nowMs);
            _lower.SealDue(nowMs);
            worked |= _coldCleaner.Sweep(nowMs);
        }

        bool mayWrite = _tier.Budget.WaitMs(nowMs) == 0;
        if (_tier.Segments is { Memory: { } memory, Disk: not null })
            worked |= MakeRoomAbove(memory, mayWrite, nowMs);
        RoomComes &= mayWrite;
        if (mayWrite)
            worked |= MakeTierRoom(nowMs);
        _tier.Names?.TellInTheWay(_waitsAbove || _waitsBelow);
        TellRoom(isFull: false, nowMs);
        return Demote(nowMs) | worked;
    }

    /// <summary>Writes and seals what is being filled, so that a snapshot that is about to be cut can name it. The movers' thread does, which alone waits for the medium.</summary>
    /// <exception cref="GarnetException">The medium has not answered.</exception>
    /// <param name="ended">Whoever takes the snapshot is to end.</param>
    public void Seal(CancellationToken ended)
    {
        if (_thread is null)
        {
            lock (_stepping) SealLocked();
            return;
        }

        TaskCompletionSource request = new(); // of one snapshot: another is not begun meanwhile
        _seal = request;
        _wake.Set();
        bool isSealed = false;
        try
        {
            isSealed = request.Task.Wait(TimeSpan.FromMilliseconds(_tier.ReadTimeoutMs), ended);
        }
        catch (OperationCanceledException)
        {
            // as if the time were over
        }

        if (!isSealed)
            throw new GarnetException(ExitKind.Data, "no snapshot can be taken", "the tier's disk has not answered a write",
                "Look at the disk; what was in the log is there, and the next snapshot is taken once it answers");
    }

    /// <summary>Returns when no step that began before goes on, or none that will remove anything on its own.</summary>
    public void AwaitStep()
    {
        if (_stepping.TryEnter(PatienceMs))
            _stepping.Exit();
        else
            _coldCleaner.StopRemoving(); // until the next round: this one is with the medium
    }

    private void SealLocked()
    {
        _writer.Flush(seal: true);
        _lower.Flush(seal: true);
    }

    /// <summary>Moves everything that nobody has read to the tier, as far as it takes it; for tests.</summary>
    public void DemoteAll()
    {
        lock (_stepping)
        {
            _demoter.TakesActive = true;
            bool isFull = false;
            for (int lap = 0; lap < Laps && !isFull; lap++)
            {
                _demoter.Stage(long.MaxValue, out isFull);
                _writer.Flush(seal: true);
            }
            _demoter.TakesActive = false;
        }
    }

    private bool Grant()
    {
        bool granted = false;
        _writer.Runs.IsHeldBack = false; // who asks for a key by name is not bound by what may be written
        for (; _asked.TryDequeue(out DemotionRequest? request); granted = true)
            request.Finish(request.IsGivenUp ? 0 : _demoter.Move(request));
        return granted;
    }

    private bool MakeRoomAbove(ColdSegments memory, bool mayWrite, long nowMs)
    {
        if (mayWrite && _lower.Runs.IsActive)
        {
            _lower.Runs.Advance(StageBytesMax); // what was begun is brought to its end before more goes on
            return true;
        }
        bool isShort = !_tier.HasRoom(memory), comes = isShort && _tier.HasRoomComing(memory);
        // A snapshot writes about what memory holds: until as much has gone past persistent memory, it would cost more than it wins.
        _waitsAbove = comes && memory.Kept > 0 && _tier.PassedBytes >= _core.Arena.Used;
        return isShort && !comes && (_coldCleaner.Compact(memory, nowMs) || (mayWrite && _coldCleaner.Sink(nowMs)));
    }

    private bool MakeTierRoom(long nowMs)
    {
        _waitsBelow = false;
        _writer.Runs.RenewLacking();
        bool wasShort = IsShort;
        IsShort = !HasTierRoom;
        if (!IsShort)
        {
            // A snapshot has let go of much: what waited for that is moved now, and nobody is to be refused before.
            if (wasShort && !Rests(nowMs))
                (IsFull, _progressMs, _idleRounds) = (false, nowMs, 0);
            RoomComes = !Rests(nowMs) && Elapsed.IsWithin(nowMs, _progressMs, PatienceMs);
            return false;
        }
        ColdSegments bottom = _tier.Segments.Bottom;
        int lacking = LackingWorthRoom;
        bool comes = _tier.Names is not null && _tier.HasRoomComing(bottom, lacking);
        bool won = !comes && _coldCleaner.Compact(bottom, nowMs);
        _waitsBelow = comes || (!won && LacksRoom);
        bool mayCome = !Rests(nowMs) && Elapsed.IsWithin(nowMs, _progressMs, ComingMs);
        RoomComes = won || (mayCome && _tier.HasMuchComing(bottom, _coldCleaner.Winnable(bottom)));
        if (won || comes)
            return won;
        // Memory evicts what it could not move meanwhile, and has room for a moment then: what needs several segments finds them the next time.
        bool mayEvict = LacksRoom && (lacking > 0 || _core.Arena.Used > _core.Arena.LowMark) && _movers.MayExpire;
        return mayEvict && !_tier.HasRoomOnceReleased(bottom, lacking) && _coldCleaner.Evict(_movers.Policy, nowMs);
    }

    private bool Demote(long nowMs)
    {
        Arena arena = _core.Arena;
        long wantedFree = _wanted.Bytes(nowMs);
        bool isLow = arena.Used >= arena.LowMark || arena.Ceiling - arena.Used < wantedFree;
        if (!isLow)
        {
            IsFull = false;
            _progressMs = nowMs;
            _idleRounds = 0;
            if (_movers.Policy == EvictionPolicy.NoEviction || !LacksRoom)
                _writer.Runs.ForgetLacking();
        }
        if ((!isLow && !_writer.Runs.IsActive) || Rests(nowMs))
            return false;
        if (!isLow)
        {
            _writer.Runs.Advance(StageBytesMax); // what was begun is brought to its end
            return true;
        }
        long target = arena.Ceiling - Math.Max(arena.Ceiling / TargetPart, wantedFree), wanted = arena.Used - target;
        long dead = _cleaner.DeadWithin(CleanParts);
        long asked = Math.Min(wanted - dead, StageBytesMax); // no more is promised to those who wait than the rounds below give back
        bool moves = asked > 0 && (MayWrite(nowMs) ? Move(asked, nowMs) : Revive(asked));
        bool cleaned = _core.Records.ReturnExtents(ExtentsPerRound);
        for (int i = 0; i < _core.Shape->PartitionCount && arena.Used > target; i++)
            cleaned |= Clean(nowMs);
        return moves || cleaned;
    }

    // Whoever may not write for long has no tier for so long.
    private bool MayWrite(long nowMs)
    {
        long waitMs = _tier.Budget.WaitMs(nowMs);
        bool isSpent = waitMs > PatienceMs;
        if (isSpent != _toldSpent && (isSpent || waitMs == 0))
        {
            _toldSpent = isSpent;
            _tier.Observer?.OnBudget(isSpent);
        }
        _writer.Runs.IsHeldBack = waitMs != 0;
        if (waitMs == 0 || _tier.HasRoomAbove)
            return true;
        IsFull = isSpent;
        _tier.Count(TierCount.HeldBack);
        return false;
    }

    // What was read loses its frequency round by round: only after some rounds without a move is there nothing to be moved.
    private bool Move(long bytes, long nowMs)
    {
        long before = _tier.Of(TierCount.Demoted), voidBefore = _tier.Of(TierCount.Stillborn);
        _writer.Runs.TakeCopied(); // for others
        long staged = _demoter.Stage(bytes, out bool isTierFull);
        bool hasMoved = _writer.Flush(seal: false) > 0 | _tier.Of(TierCount.Demoted) != before;
        if (hasMoved)
            _core.Arena.Bell.Ring(); // who waits cleans up behind them, beside this thread
        bool failed = _writer.TakeFailure() | _lower.TakeFailure();
        Tell(failed, worked: hasMoved, isTierFull, nowMs);
        if (failed)
            _failedMs = nowMs;
        // A long record is progress once it has moved: one that is changed again and again would be for ever.
        bool progresses = staged > _writer.Runs.TakeCopied() || _tier.Of(TierCount.Demoted) != before;
        bool goesOn = _writer.Runs.IsActive && _tier.Of(TierCount.Stillborn) == voidBefore;
        if (progresses && !failed)
            _progressMs = nowMs;
        _idleRounds = progresses && !failed ? 0 : goesOn ? _idleRounds : _idleRounds + 1;
        bool isIdle = failed || _idleRounds > Laps;
        IsFull = isIdle && (failed || !IsToBeReleased(nowMs));
        return !isIdle;
    }

    // What needs no write leaves all the same. Who may evict does not wait for it, as it may be little; who may not is better off than with an error.
    private bool Revive(long bytes)
    {
        bool revives = _demoter.Revive(bytes, RevivingHolds) > 0;
        RoomComes |= revives;
        return revives;
    }

    // Who may evict waits for a moment, too, before he does.
    private bool IsToBeReleased(long nowMs) => _waitsBelow && RoomComes && Elapsed.IsWithin(nowMs, _progressMs, ReleasePatienceMs);

    // Behind a write that failed.
    private bool Rests(long nowMs) => Elapsed.IsWithin(nowMs, _failedMs, FailurePauseMs);

    // Once for each time it begins and ends: a round without work says nothing.
    private void Tell(bool failed, bool worked, bool isTierFull, long nowMs)
    {
        if (failed != _toldFailing && (failed || worked))
        {
            _toldFailing = failed;
            _tier.Observer?.OnWriting(failed ? _tier.LastFailure : null);
        }
        TellRoom(isTierFull && !failed && _idleRounds > Laps, nowMs);
    }

    // A tier that is full again a moment later was full all the time.
    private void TellRoom(bool isFull, long nowMs)
    {
        if (!_toldFull || !HasTierRoom)
            _roomFromMs = nowMs;
        if (_toldFull ? Elapsed.IsWithin(nowMs, _roomFromMs, RoomToldMs) : !isFull)
            return;
        _toldFull = !_toldFull;
        _tier.Observer?.OnFull(_toldFull);
    }

    private bool Clean(long nowMs)
    {
        int next = _turn++ & (_core.Shape->PartitionCount - 1);
        return _cleaner.Clean(_core.Shape->Partitions + next, nowMs, CleanParts, passesHeld: true);
    }

    private void Run()
    {
        int fullPauseMs = FullPauseMs;
        while (!_stopping)
        {
            _tier.Heap.Look(_movers.NowMs);
            if (Step(_movers.NowMs))
            {
                fullPauseMs = FullPauseMs;
                continue;
            }
            bool isWoken = _wake.WaitOne(_core.Arena.Bell.HasWaiters ? AwaitedPauseMs : IsFull || _waitsBelow ? fullPauseMs : PauseMs);
            // Nobody waits, and a look at what is left goes through all of memory.
            fullPauseMs = isWoken ? FullPauseMs : Math.Min(2 * fullPauseMs, PauseMs);
        }
    }
}

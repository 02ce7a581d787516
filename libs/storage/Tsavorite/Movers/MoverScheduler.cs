namespace Tsavorite;

/// <summary>
/// All work that no command asks for: expiry, eviction, cleaning, merging, reclaiming, giving memory back. Every piece
/// is a step that a test can call; one background thread calls them, at once when memory is tight, else with a
/// growing pause, so that an idle store costs next to nothing.
/// No step holds a lock for more than a few records (store.U5), and the thread runs at normal priority (store.U14). A partition that somebody else
/// holds is left for the next round: waiting for a long step would take as much of the machine as that step.
/// </summary>
internal sealed unsafe class MoverScheduler : IDisposable
{
    private const int PauseMinMs = 10, PauseMaxMs = 500, StepsPerPartition = 4, EvictionsPerRound = 16, RoundsMax = 100_000,
        HoldsPerRound = 4096, HoldsPressed = 64;
    private const int KeepMin = 4 << 20; // bytes of free segments that are never given back
    private const int CleanPartsPressed = 6, CleanPartsLast = 16;
    // A third of a segment, in a partition of which a fourth is dead, is cleaned before anything is evicted.
    private const int WorstParts = 3;
    private const double WorstShare = 0.25;
    private enum Relief
    {
        None,
        Some,
        /// <summary>Records are on their way to the tier, or its room to those.</summary>
        Coming,
        Enough,
    }

    private readonly StoreCore _core;
    private readonly AutoResetEvent _wake;
    private readonly Func<long> _clockMs;
    private readonly Expirer _expirer;
    private volatile bool _expiryPaused;
    private readonly Lock _stepping = new();
    private readonly Cleaner _cleaner;
    private readonly Evictor _evictor;
    private readonly Reclaimer _reclaimer;
    private readonly ChunkReaper _reaper;
    private readonly Lock _reclaiming = new();
    private Thread? _thread;
    private volatile bool _stopping;
    private int _turn;

    /// <summary>The policy in force.</summary>
    public volatile EvictionPolicy Policy;

    public MoverScheduler(StoreCore core, StoreSettings settings, NamespaceTable namespaces, AutoResetEvent wake)
    {
        _core = core;
        _wake = wake;
        Policy = settings.Policy;
        _clockMs = settings.ClockMs ?? MoverClock.NowMs;
        _expirer = new Expirer(core);
        _cleaner = new Cleaner(core);
        _evictor = new Evictor(core);
        _reclaimer = new Reclaimer(core, namespaces);
        _reaper = new ChunkReaper(core);
    }

    public long NowMs => _clockMs();

    /// <summary>Who makes room where there is a tier.</summary>
    public TierMovers? Tiers { get; set; }

    public Cleaner Cleaner => _cleaner;

    // What a mover removes is saved too while a snapshot runs: it waits with the writers.
    public bool MayExpire => !_expiryPaused && _core.Snapshots.Running is not { Behind: true };

    public void Start()
    {
        _thread = new Thread(Run) { IsBackground = true, Name = "store movers" };
        _thread.Start();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _stopping = true;
        _wake.Set();
        _thread?.Join();
        _reclaimer.Dispose();
        _reaper.Dispose();
    }

    public void Wake() => _wake.Set();

    /// <summary>One round over all partitions; true if there is more to do at once.</summary>
    public bool Step(long nowMs)
    {
        lock (_stepping) return StepLocked(nowMs);
    }

    public bool IsExpiryPaused => _expiryPaused;

    /// <summary>Returns when no step that began before goes on.</summary>
    public void PauseExpiry(bool paused)
    {
        _expiryPaused = paused;
        if (!paused)
            return;
        lock (_stepping)
        {
        }
        Tiers?.AwaitStep();
    }

    private bool StepLocked(long nowMs)
    {
        bool more = Reclaim();
        bool worked = _core.Records.ReturnIdleExtents(nowMs);
        for (int i = 0; i < _core.Shape->PartitionCount && !_stopping; i++)
        {
            Partition* partition = _core.Shape->Partitions + i;
            if (Partition.IsHeld(partition))
            {
                worked = true;
                continue;
            }
            for (int step = 0; step < 64 && MayExpire && _expirer.Step(partition, nowMs); step++) worked = true;
            for (int step = 0; step < StepsPerPartition && _cleaner.Step(partition, nowMs); step++) worked = true;
            worked |= Tidy(partition);
        }
        worked |= _reaper.Step(HoldsPerRound, passesHeld: true);
        Arena arena = _core.Arena;
        if (arena.Used > arena.Ceiling - arena.Ceiling / 64 && Policy != EvictionPolicy.NoEviction)
            worked |= Relieve(arena.Ceiling / 64, nowMs, 64) != Relief.None;
        long mayBeTaken = arena.Ceiling - arena.Used + (arena.Ceiling / 64);
        long keepBytes = Math.Max(Math.Min(arena.Used / 8, mayBeTaken), KeepMin), mostBytes = Math.Max(mayBeTaken, KeepMin);
        return _core.Segments.Trim(keepBytes, mostBytes, nowMs) | worked | more;
    }

    /// <summary>Empties retired namespaces; true if there were any.</summary>
    public bool Reclaim()
    {
        lock (_reclaiming) return _reclaimer.Step(NowMs);
    }

    /// <summary>
    /// Room for that many bytes more under the ceiling, by cleaning and evicting; false if there is none to be had, or, <paramref name="isComing"/>, none yet: said by
    /// this look alone, since a moment later it may be eviction's turn.
    /// </summary>
    public bool EnsureRoom(long bytes, long nowMs, out bool isComing)
    {
        Relief relief = HasRoom(bytes, Claim.Limited) ? Relief.Enough
            : Fits(bytes) ? Relieve(Need(bytes), nowMs, RoundsMax) : Relief.None; // for what never fits nobody else gives way
        isComing = relief == Relief.Coming;
        return relief == Relief.Enough;
    }

    /// <summary>
    /// The same for who has waited for long enough: by evicting where the policy allows it, though room comes, while the tier is short of it itself. While that has
    /// some, nothing is evicted for who is only faster than it.
    /// </summary>
    public bool EnsureRoomNow(long bytes, long nowMs) => Tiers is { IsShort: true } && Policy != EvictionPolicy.NoEviction
        && Fits(bytes) && Relieve(Need(bytes), nowMs, RoundsMax, waits: false) == Relief.Enough;

    /// <summary>True if there is room for that many bytes more as things are: under the ceiling, or as far beyond it as the claim may go.</summary>
    public bool HasRoom(long bytes, Claim claim)
    {
        long ceiling = _core.Arena.Ceiling;
        return claim >= Claim.Promised || _core.Arena.Used + _core.Arena.Promised + Need(bytes)
            <= ceiling + (claim == Claim.Assured ? Arena.BeyondAssured(ceiling) : 0);
    }

    /// <summary>False if <see cref="EnsureRoom"/> can make no room for so many bytes, whatever there is.</summary>
    public bool MayMake(long bytes) =>
        (Policy != EvictionPolicy.NoEviction || Tiers is { IsFull: false } or { RoomComes: true }) && Fits(bytes);

    /// <summary>True if in an empty store there would be room for it.</summary>
    public bool Fits(long bytes) => _core.Arena.Fixed + Need(bytes) <= _core.Arena.Ceiling;

    /// <summary>What has to be free under the ceiling for so many bytes: whatever takes memory takes a segment.</summary>
    public long Need(long bytes) => bytes + _core.Shape->SegmentBytes + (bytes > _core.Shape->RecordBytesMax ? Arena.PageBytes : 0);

    // Dead space first; where there is little, records by policy until there is some.
    private Relief Relieve(long need, long nowMs, int rounds, bool waits = true)
    {
        Arena arena = _core.Arena;
        EvictionPolicy policy = Policy;
        SpinWait pause = default;
        while (arena.Used + arena.Promised + need > arena.Ceiling)
        {
            if (rounds-- == 0)
                return Relief.Some;
            if (_core.Records.ReturnExtents(EvictionsPerRound) || _reaper.Step(HoldsPressed, passesHeld: false)
                || CleanSome(nowMs, CleanPartsPressed, 4) || CleanWorst(nowMs))
                continue;
            if (_core.Records.IsReturning) // by the mover, or another writer: what was evicted for this is not evicted twice
            {
                StoreTestHooks.Yield(YieldPoint.Blocked);
                pause.SpinOnce();
                continue;
            }
            bool mayEvict = policy != EvictionPolicy.NoEviction;
            if (waits && Tiers is { IsFull: false } tiers && !(tiers.IsStalled(nowMs) && (mayEvict || tiers.IsFull)))
            {
                tiers.Wake(need);
                return Relief.Coming;
            }
            int evicted = 0;
            // One large value, or collection, may be enough: what it has left is given back before anything more is evicted.
            while (evicted < EvictionsPerRound && (evicted == 0 || !HasLeft) && _evictor.EvictOne(policy)) evicted++;
            if (evicted == 0 && !CleanSome(nowMs, CleanPartsLast, _core.Shape->PartitionCount))
                return Tiers is { RoomComes: true } ? Relief.Coming : Relief.None;
        }
        return Relief.Enough;
    }

    private bool HasLeft => _core.Records.HasWaiting || Volatile.Read(ref _core.Orphans) != 0;

    // Cleans in the partition that has the most dead space, if that is much: of one large collection that grows all lies in one.
    private bool CleanWorst(long nowMs)
    {
        Partition* worst = null;
        long most = 0;
        for (int i = 0; i < _core.Shape->PartitionCount; i++)
        {
            long dead = _cleaner.DeadBytes(_core.Shape->Partitions + i);
            worst = dead > most ? _core.Shape->Partitions + i : worst;
            most = Math.Max(most, dead);
        }
        return worst != null && _cleaner.DeadShare(worst) > WorstShare && _cleaner.Clean(worst, nowMs, WorstParts);
    }

    // Cleans in the first of the next few partitions that has a segment worth it.
    private bool CleanSome(long nowMs, int parts, int partitions)
    {
        for (int i = 0; i < partitions; i++)
        {
            int turn = Interlocked.Increment(ref _turn) & (_core.Shape->PartitionCount - 1);
            if (_cleaner.Clean(_core.Shape->Partitions + turn, nowMs, parts))
                return true;
        }
        return false;
    }

    // Merges index segments, closes empty active segments, frees unused overflow memory: at most one merge per hold.
    private bool Tidy(Partition* partition)
    {
        bool merges = partition->IndexSegments > 1
            && partition->Words <= partition->IndexSegments * (_core.Shape->BucketsPerSegment * 3 / 2);
        bool empty = partition->Words == 0 && (partition->Segments != 0 || partition->SlabTaken > 1);
        if (!merges && !empty)
            return false;
        Partition.Enter(partition);
        bool merged = false;
        for (uint i = 0; i < 16 && merges && !merged; i++)
            merged = _core.Index.TryMerge(partition, partition->MergeCursor++ & ((1u << IndexSpace.DepthOf(partition)) - 1));
        if (empty)
            _core.Records.RetireEmptyActives(partition);
        _core.Index.TrimSlab(partition);
        Partition.Exit(partition);
        return merged;
    }

    private void Run()
    {
        int pauseMs = PauseMinMs;
        while (!_stopping)
        {
            bool worked = Step(NowMs);
            pauseMs = worked ? PauseMinMs : Math.Min(pauseMs * 2, PauseMaxMs);
            // store.U14: throttled between lock holds, never by priority.
            _wake.WaitOne(worked ? 1 : pauseMs);
        }
    }
}

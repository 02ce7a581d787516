using Garnet.Common.Time;

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
    private const int BriefRounds = 256; // some milliseconds: whoever may wait does no more of it himself, as he serves others too
    private const long BriefLooks = 1 << 16; // buckets: those that may go may be rare
    private const int PatienceMs = 1000; // so long room is made for who has asked for it; he asks again
    private const int SparedMs = 10_000; // memory may be over its limit for so long before what the tier would take is evicted
    private const int KeepMin = 4 << 20; // bytes of free segments that are never given back
    private const int CleanPartsLast = 16;
    private const int AheadPart = 64; // so much of the limit is kept free ahead of need, by what costs no key
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
    private readonly WantedRoom _wanted = new(PatienceMs);
    private Thread? _thread;
    private volatile bool _stopping;
    private volatile bool _evicts; // until a 64th of the limit is free
    private long? _withinMs; // when memory was last seen within its limit
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
        _evictor = new Evictor(core, namespaces);
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
        worked |= _reaper.Step(HoldsPerRound);
        Arena arena = _core.Arena;
        worked |= RelieveAhead(nowMs);
        long mayBeTaken = arena.Ceiling - arena.Used + (arena.Ceiling / AheadPart);
        long keepBytes = Math.Max(Math.Min(arena.Used / 8, mayBeTaken), KeepMin), mostBytes = Math.Max(mayBeTaken, KeepMin);
        return _core.Segments.Trim(keepBytes, mostBytes, nowMs) | worked | more;
    }

    /// <summary>Empties retired namespaces; true if there were any.</summary>
    public bool Reclaim()
    {
        lock (_reclaiming) return _reclaimer.Step(NowMs);
    }

    /// <summary>
    /// Room for that many bytes more under the ceiling, by cleaning and evicting for a few milliseconds. False if there is none; <paramref name="isComing"/> then tells whether the
    /// movers go on making some, so that it is worth waiting for. Both are answers of one look: whether room is on its way to the tier may be otherwise when that is asked about later.
    /// </summary>
    public bool EnsureRoom(long bytes, long nowMs, out bool isComing)
    {
        Relief relief = HasRoom(bytes, Claim.Limited) ? Relief.Enough
            : Fits(bytes) ? Relieve(Need(bytes), nowMs, isBrief: true) : Relief.None; // for what never fits nobody else gives way
        isComing = relief is Relief.Some or Relief.Coming;
        return relief == Relief.Enough;
    }

    /// <summary>Somebody waits for room for so many bytes: the movers make it.</summary>
    public void Want(long bytes)
    {
        _wanted.Ask(Need(bytes));
        _wake.Set();
    }

    /// <summary><see cref="EnsureRoom"/> for who cannot wait, however long it takes; false if the rest is on its way to the tier.</summary>
    public bool EnsureRoomInPlace(long bytes, long nowMs) =>
        HasRoom(bytes, Claim.Limited) || (Fits(bytes) && Relieve(Need(bytes), nowMs, isBrief: false) == Relief.Enough);

    /// <summary>
    /// <see cref="EnsureRoom"/> for a writer who has waited for long enough for room that is coming: if the policy allows it, records are evicted instead, though the tier would take them later. Only
    /// while the tier is short of room itself. While it has room, the writer is only faster than its disk, and goes on waiting: that costs nobody a key.
    /// </summary>
    public bool EnsureRoomNow(long bytes, long nowMs) => Tiers is { IsShort: true } && Policy != EvictionPolicy.NoEviction
        && Fits(bytes) && Relieve(Need(bytes), nowMs, isBrief: true, waits: false) == Relief.Enough;

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

    // Within the limit no key is given up, or a value that just fits would be gone at once. Once it has been passed, or somebody had to evict for what he writes,
    // a little is made free for those who come next, though that takes some steps; and all of it for who waits. While nobody does, as at a start that has loaded more than the
    // limit, nothing is given up that has a place on the tier in some seconds.
    private bool RelieveAhead(long nowMs)
    {
        Arena arena = _core.Arena;
        long wanted = Wanted(nowMs);
        bool mayEvict = Policy != EvictionPolicy.NoEviction;
        if (!mayEvict || arena.Used <= arena.Ceiling)
            _withinMs = nowMs;
        _withinMs ??= nowMs;
        if (!mayEvict && wanted == 0)
            return _evicts = false;
        long ahead = mayEvict ? Math.Max(arena.Ceiling / AheadPart, wanted) : wanted;
        bool worked = false;
        for (int i = 0; i < BriefRounds && arena.Used > arena.Ceiling - ahead && GiveBack(nowMs); i++) worked = true;
        _evicts = mayEvict && arena.Used > (_evicts ? arena.Ceiling - ahead : arena.Ceiling);
        if (wanted != 0)
            return worked | Relieve(ahead, nowMs, isBrief: true) == Relief.Some;
        bool spares = Tiers is { RoomComes: true } && Elapsed.IsWithin(nowMs, _withinMs.Value, SparedMs);
        return worked | (_evicts && !spares && Relieve(ahead, nowMs, isBrief: true) != Relief.None);
    }

    // Once it has been free for a moment it is taken, or wanted anew: nothing more is given up for who has been called.
    private long Wanted(long nowMs)
    {
        long wanted = _wanted.Bytes(nowMs);
        if (wanted == 0 || (_core.Arena.Bell.HasWaiters && IsShort(wanted)))
            return wanted;
        _wanted.Drop();
        return 0;
    }

    // What is no record's any more, a part of it; false if there is none that is worth its while.
    private bool GiveBack(long nowMs) => _core.Records.ReturnExtents(EvictionsPerRound) || _reaper.StepAtHand(HoldsPressed)
        || CleanSome(nowMs);

    // True while there may be something for GiveBack: nothing more is evicted before that is given back.
    private bool HasDead => _core.Records.HasWaiting || IsReaping || _core.Records.Cleanable != 0;

    // Dead space first, wherever it lies; where there is none, records by policy until there is some.
    private Relief Relieve(long need, long nowMs, bool isBrief, bool waits = true)
    {
        EvictionPolicy policy = Policy;
        long looked = Evictor.Looked;
        for (int rounds = 0; IsShort(need); rounds++)
        {
            if (rounds == RoundsMax || (isBrief && (rounds == BriefRounds || Evictor.Looked - looked > BriefLooks)))
                return Relief.Some;
            long returned = _core.Records.ExtentsReturned;
            // What was evicted for this is not evicted twice, and what another has cleaned while this one looked may be enough.
            if (GiveBack(nowMs) || _core.Records.AwaitReturned(returned) || !IsShort(need))
                continue;
            bool mayEvict = policy != EvictionPolicy.NoEviction;
            if (waits && Tiers is { IsFull: false } tiers && !(tiers.IsStalled(nowMs) && (mayEvict || tiers.IsFull)))
            {
                tiers.Wake(need);
                return Relief.Coming;
            }
            if (EvictSome(policy) || CleanLast(nowMs) || _core.Records.HasWaiting || _core.Records.AwaitReturned(returned))
                continue;
            if (IsShort(need))
                return Tiers is { RoomComes: true } || IsReaping ? Relief.Coming : Relief.None;
        }
        return Relief.Enough;
    }

    // A mover is at it, and may have to wait for the tier.
    private bool IsReaping => Volatile.Read(ref _core.Orphans) != 0;

    private bool IsShort(long need) => _core.Arena.Used + _core.Arena.Promised + need > _core.Arena.Ceiling;

    // One large value may be enough: what it has left is given back before anything more is evicted.
    private bool EvictSome(EvictionPolicy policy)
    {
        int evicted = 0;
        do
        {
            if (!_evictor.EvictOne(policy))
                break;
            evicted++;
            _evicts = true;
        }
        while (evicted < EvictionsPerRound && !HasDead);
        return evicted != 0;
    }

    // Cleans in the next partition that has a segment worth it, whichever that is. A walk of its own: who looks beside it takes no partition from it.
    private bool CleanSome(long nowMs)
    {
        int first = Interlocked.Increment(ref _turn);
        for (int i = 0; i < _core.Shape->PartitionCount && _core.Records.Cleanable != 0; i++)
        {
            StoreTestHooks.Yield(YieldPoint.Peeked);
            Partition* partition = InTurn(first + i);
            if (Volatile.Read(ref partition->Cleanable) != 0 && _cleaner.Clean(partition, nowMs, RecordSpace.CleanableParts))
                return true;
        }
        return false;
    }

    // Nothing may be evicted: what costs more to clean than it gives is cleaned too.
    private bool CleanLast(long nowMs)
    {
        int first = Interlocked.Increment(ref _turn);
        for (int i = 0; i < _core.Shape->PartitionCount; i++)
            if (_cleaner.Clean(InTurn(first + i), nowMs, CleanPartsLast))
                return true;
        return false;
    }

    private Partition* InTurn(int turn) => _core.Shape->Partitions + (turn & (_core.Shape->PartitionCount - 1));

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

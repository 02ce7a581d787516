using Garnet.Aof;
using Garnet.Aof.Format;
using Garnet.Aof.Shipping;
using Garnet.Aof.Snapshots;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Replication;

/// <summary>
/// The store and the log of a replica: takes what the primary's stream says, in the order it says it. Steppable like the links:
/// no thread, no wait, no clock. Taking (<see cref="Part"/> and the like) and applying (<see cref="Turn"/>) may be on two threads.
///
/// replication.F1  A batch that came whole is given to the log and to the applier; nothing else changes the store.
/// replication.F2  A full sync leaves what this server had alone until the snapshot is whole: on disk, or, where it is not kept there, in the store,
///     beside which the snapshot is loaded. Nobody reads meanwhile; who must lead before the end goes on from what was here before.
/// replication.F3  What was here before gives way only to the whole snapshot, or if both need more memory than the server may use.
/// replication.F4  A server whose log failed while it led may hold what that log does not: it gets everything anew.
/// replication.F5  So does one that could not give a batch to both the log and the applier, for lack of memory, say.
/// </summary>
public sealed class Follower(Store store, IFollowedLog log, ReplayTable table, AppliedState state, int threads) : IDisposable
{
    private const int BlocksPerLook = 64; // some 4 MiB

    private readonly Lock _gate = new();
    private StagedNamespaces? _staged;
    private bool _keepsOld;
    private BatchIntake _intake = new(log.Backlog.End, log.Backlog.Filled);
    private BatchApplier? _applier;
    private SnapshotInlet? _inlet;
    private PlanFrame? _plan;
    private (int Lanes, ulong Seed) _layout;
    private LogPosition _received = LogPosition.None;
    private bool _isTorn, _isLoading;
    private bool _isDoubted = log.Current is { Poison: not null }; // replication.F4

    /// <summary>Behind what the log stands; nothing while the store is not whole.</summary>
    public LogPosition Position => IsTorn || IsDoubted ? LogPosition.None : _intake.Position;

    /// <summary>Where this server can go back to, because nothing but empty batches came behind it; its position if it cannot.</summary>
    public LogPosition Earlier => !IsTorn && !IsDoubted && log.CanRewind(_intake.Filled.Batch) ? _intake.Filled : Position;

    /// <summary>True while the store holds a part of a snapshot, or something that could not be applied was in a batch.</summary>
    public bool IsTorn
    {
        get => Volatile.Read(ref _isTorn);
        private set => Volatile.Write(ref _isTorn, value);
    }

    /// <summary>
    /// True if the data are known to differ from the primary's: only a full sync helps. Until it begins they are served, and kept in
    /// case this server must lead.
    /// </summary>
    public bool IsDoubted => Volatile.Read(ref _isDoubted);

    /// <summary>True if the store holds, beside what has come of a snapshot, all it held before (replication.F2).</summary>
    public bool KeepsOld => Volatile.Read(ref _keepsOld);

    /// <summary>The data differ from the primary's.</summary>
    public void Doubt() => Volatile.Write(ref _isDoubted, true);

    /// <summary>True once the store is a state of the primary's.</summary>
    public bool IsFed => _applier is not null && !IsTorn;

    /// <summary>Bytes of batches received and not applied.</summary>
    public long WaitingBytes => _applier?.WaitingBytes ?? 0;

    /// <summary>True if the log has no memory for more: the disk is slower than the primary.</summary>
    public bool IsLogFull => log.Current is { IsFull: true };

    /// <summary>Bytes of the snapshot that is coming in.</summary>
    public long SnapshotBytes => _inlet?.Bytes ?? 0;

    /// <summary>True while a snapshot is coming in.</summary>
    public bool IsLoading => Volatile.Read(ref _isLoading);

    /// <summary>Lanes and hash seed of whoever writes the log.</summary>
    public (int Lanes, ulong Seed) Layout => _layout;

    /// <summary>How far everything is; what a primary may be told of it is its link's to say.</summary>
    public AckFrame Ack()
    {
        if (IsTorn)
            return default;
        LogPosition at = Volatile.Read(ref _received);
        if (!at.IsKnown)
            return default;
        ulong durable = log.OnDisk is { } disk ? Math.Min(disk.Durable, at.Batch) : 0;
        return new AckFrame(at.Term, at.Mark, at.Batch, durable, Math.Min(IsFed ? state.Number : 0, at.Batch));
    }

    /// <summary>Batches follow behind the place where the log stands.</summary>
    public string? Continue(PlanFrame plan)
    {
        LogPosition filled = _intake.Filled;
        if (!plan.At.Is(Position))
        {
            if (!plan.At.Is(filled))
                return $"the primary goes on behind {plan.At}, and this server is at {Position}";
            DrainApplier();
            if (!log.TryRewind(filled))
            {
                IsTorn = true;
                return $"this server cannot go back to {plan.At}";
            }
        }

        Begin(plan);
        _intake = new BatchIntake(plan.At, filled);
        return null;
    }

    /// <summary>A snapshot follows: room is made for it, beside what is here or in its place (replication.F2).</summary>
    public void BeginFull(PlanFrame plan)
    {
        bool keepsOld = !log.IsKeptOnDisk && (IsTorn ? KeepsOld : TryApplyAll());
        IsTorn = true;
        Volatile.Write(ref _isDoubted, false);
        Volatile.Write(ref _isLoading, true);
        DropApplier();
        state.Close(); // whoever was let in to read before may be at it still
        DropCopy();
        log.Stop();
        Volatile.Write(ref _keepsOld, keepsOld);
        if (keepsOld)
            _staged = store.Namespaces.Stage();
        else
            store.Namespaces.Clear(wait: true);
        _plan = plan;
        _inlet = new SnapshotInlet(store, log.Disk, FactsOf(plan), _staged);
    }

    /// <summary>The snapshot that broke off goes on.</summary>
    public string? ResumeFull(PlanFrame plan)
    {
        if (_inlet is null || _plan is null || !_plan.At.Is(plan.At) || _plan.StartedUnixUs != plan.StartedUnixUs)
            return "the primary goes on with a snapshot of which nothing is here";
        Volatile.Write(ref _isLoading, true);
        return null;
    }

    /// <summary>How far a full copy has come; null if none has begun.</summary>
    public CopyPlace? Copy => _inlet is { } inlet && _plan is { } plan ? new CopyPlace(plan.At, plan.StartedUnixUs, inlet.Blocks) : null;

    /// <summary>A block of the snapshot.</summary>
    public string? Block(ReadOnlySpan<byte> bytes)
    {
        if (KeepsOld && _inlet!.Blocks % BlocksPerLook == 0 && store.Figures().UsedBytes > MemoryBytesMax())
            GiveUpOld();
        string? fault = _inlet!.Block(bytes);
        if (fault is null || !_inlet.IsOutOfMemory || !KeepsOld)
            return fault;
        GiveUpOld();
        return _inlet.Block(bytes);
    }

    /// <summary>The snapshot's end: the store is the primary's, and the log goes on behind it.</summary>
    public string? EndFull(ReadOnlySpan<byte> footer)
    {
        string? fault = _inlet!.End(footer);
        if (fault is not null)
            return fault;
        _inlet.Dispose();
        _inlet = null;
        log.Replace(SnapshotFileName.Of(_plan!.At.Batch), _plan.At, _plan.Terms);
        if (_staged is { } staged)
            store.Namespaces.Show(staged);
        _staged = null;
        Volatile.Write(ref _keepsOld, false);
        log.Backlog.Continue(_plan.At);
        Begin(_plan);
        IsTorn = false;
        Volatile.Write(ref _isLoading, false);
        return null;
    }

    /// <summary>A part of a batch.</summary>
    public string? Part(ReadOnlySpan<byte> part)
    {
        uint term = _intake.Position.Term;
        string? fault = _intake.Take(part, out BatchBytes? batch);
        if (fault is not null || batch is null)
            return fault;
        bool isGiven = false;
        try
        {
            Give(batch, term);
            isGiven = true;
        }
        finally
        {
            if (!isGiven)
                IsTorn = true; // replication.F5
        }

        return null;
    }

    private void Give(BatchBytes batch, uint termBefore)
    {
        if (batch.Term != termBefore)
            TermBegan?.Invoke(new TermStart(batch.Term, batch.Batch, termBefore) { Owner = batch.Owner });
        log.Current!.Receive(batch); // replication.F1
        Volatile.Write(ref _received, _intake.Position);
        _applier!.Add(batch);
    }

    /// <summary>The connection is gone: what had come of a batch goes, what had come of a snapshot stays for the next connection.</summary>
    public void Disconnect()
    {
        _intake.Drop();
        Volatile.Write(ref _isLoading, false);
    }

    /// <summary>The last batch that has been applied.</summary>
    public ulong Applied => state.Number;

    /// <summary>Applies some of what waits; false if nothing does.</summary>
    public bool Turn()
    {
        lock (_gate)
        {
            if (_applier is not { } applier)
                return false;
            bool worked = applier.Turn();
            IsTorn |= applier.Failure is not null;
            return worked;
        }
    }

    /// <summary>Why the store is torn by a batch; null if it is not.</summary>
    public string? Failure => _applier?.Failure;

    /// <summary>Told when the data are the plan's: batches follow.</summary>
    public Action<PlanFrame>? Began { get; init; }

    /// <summary>Told when what was here before had to give way to a snapshot that is not whole yet.</summary>
    public Action? OldGivenUp { get; init; }

    /// <summary>What the data may need while a snapshot is loaded beside those from before.</summary>
    public Func<long> MemoryBytesMax { get; init; } = static () => long.MaxValue;

    /// <summary>Told when the first batch of a term has come.</summary>
    public Action<TermStart>? TermBegan { get; init; }

    /// <summary>
    /// Runs a step between two batches, or where nothing has come from a primary yet, on the data that were here before; null if the store is neither.
    /// </summary>
    public T? AtBoundary<T>(Func<uint, ulong, T?> step) where T : class
    {
        lock (_gate)
        {
            if (_applier is null && Position is var at && !IsTorn && !IsDoubted)
                return step(at.Term, at.Batch);
            return IsFed ? _applier!.AtBoundary(step) : null;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Disconnect();
        DropCopy();
        DropApplier();
    }

    // The log and the applier go on if they are there and nothing about the primary's lanes has changed.
    private void Begin(PlanFrame plan)
    {
        LogPosition at = plan.At;
        if (_applier is null || _layout != (plan.Lanes, plan.HashSeed))
        {
            DrainApplier();
            _layout = (plan.Lanes, plan.HashSeed);
            log.Follow(new AofStart(at.Term, at.Batch, at.Crcs, plan.Lanes, plan.HashSeed) { LastTerm = at.Term });
            lock (_gate)
                _applier = new BatchApplier(store, table, threads, state, at, SealedOf(plan));
        }

        log.Backlog.Keep();
        Began?.Invoke(plan);
        Volatile.Write(ref _received, at);
        _intake = new BatchIntake(at);
    }

    // When the batch was closed behind which the store stands; of a snapshot that was its cut.
    private long SealedOf(PlanFrame plan) =>
        plan.IsFull ? plan.StartedUnixUs : (state.Term, state.Number) == (plan.At.Term, plan.At.Batch) ? state.SealedUnixUs : 0;

    private void DrainApplier()
    {
        TryApplyAll();
        DropApplier();
    }

    // False if something of it cannot be applied.
    private bool TryApplyAll()
    {
        while (Turn())
        {
        }

        return !IsTorn;
    }

    private void GiveUpOld()
    {
        Volatile.Write(ref _keepsOld, false);
        store.Namespaces.Clear(wait: true);
        OldGivenUp?.Invoke();
    }

    private void DropCopy()
    {
        _inlet?.Dispose();
        _inlet = null;
        if (_staged is { } staged)
            store.Namespaces.Drop(staged, wait: true);
        _staged = null;
    }

    private void DropApplier()
    {
        lock (_gate)
        {
            _applier?.Dispose();
            _applier = null;
        }
    }

    private static SnapshotFileFacts FactsOf(PlanFrame plan) => new()
    {
        Name = SnapshotFileName.Of(plan.At.Batch), Term = plan.At.Term, Batch = plan.At.Batch, HashSeed = plan.HashSeed,
        Partitions = (uint)plan.Lanes, StartUnixUs = plan.StartedUnixUs,
    };
}

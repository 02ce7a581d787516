using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>Roles: how one is taken, and what a replica that ships on needs to know of its own.</summary>
internal sealed partial class ReplicationNode
{
    private const int TurnMs = 20;
    private Discarding? _discarding; // given up when the copy is whole

    /// <inheritdoc/>
    public AppendOnlyLog? LogOnDisk => Node.OnDisk;

    /// <inheritdoc/>
    public uint Term => _follower is null ? _term : Math.Max(Applied.Term, _following?.Plan?.Term ?? 0);

    /// <inheritdoc/>
    public (int Lanes, ulong HashSeed) Layout => _follower?.Layout ?? (_server.Store.Partitions, _server.Store.HashSeed);

    /// <inheritdoc/>
    public IReadOnlyList<string> Path => _following?.Plan is { } plan ? [.. plan.Path, RunId] : [RunId];

    /// <summary>How often this server has given up what it had for a primary's data, and the writes known to have gone that way.</summary>
    internal long Discards { get; private set; }
    internal long DiscardedWrites { get; private set; }

    /// <summary>How often this server's data were found to be its primary's.</summary>
    internal long Comparisons => Volatile.Read(ref _comparisons);

    /// <inheritdoc/>
    public Follower? Follower => _follower;

    /// <inheritdoc/>
    public bool Reaches(LogPosition position) => BatchFeed.Reaches(Backlog, LogOnDisk, position);

    /// <inheritdoc/>
    public bool Diverges(LogPosition position) => BatchFeed.Diverges(Backlog, LogOnDisk, position);

    /// <inheritdoc/>
    public bool IsToCome(LogPosition position) => _follower is not null && position.IsKnown && Backlog.End is var end && position.Term == end.Term && position.Batch > end.Batch;

    /// <inheritdoc/>
    public void OnDiverged(HelloFacts replica)
    {
        Links.CountDivergence();
        Log.Diverged(replica.Address, replica.Port, replica.Position.InWords);
    }

    /// <summary>This replica's data have been compared with its primary's.</summary>
    internal void OnCompared(Peer primary, bool agrees)
    {
        if (agrees)
        {
            Interlocked.Increment(ref _comparisons);
            return;
        }

        Links.CountDivergence();
        Log.Differs(primary.ToString(), Applied.Number);
    }

    /// <inheritdoc/>
    public ulong ForkOf(LogPosition position) => _terms.ForkOf(position, Backlog.End);

    /// <inheritdoc/>
    public IReadOnlyList<TermStart> TermStarts => _terms.Known;

    /// <inheritdoc/>
    public bool TryResume(HelloFacts replica, out FullCopy? copy)
    {
        copy = null;
        if (Links.All.Any(one => !ReferenceEquals(one.Link.Hello, replica) && one.Link.Hello.RunId == replica.RunId))
            return false;
        copy = _copies.Take(replica.RunId, replica.Copy);
        return true;
    }

    /// <inheritdoc/>
    public void OnPlanned(HelloFacts replica, bool isFull) => Links.CountPlan(replica, isFull);

    /// <inheritdoc/>
    public void OnAck()
    {
        _acked.Set();
        Volatile.Read(ref _handover)?.OnAck();
        OnMoved();
    }

    /// <inheritdoc/>
    public StoreSnapshot? TryCut()
    {
        EnsureLog();
        return TryCut(new SnapshotOptions { BufferBytes = Backlog.PinnedBytesMax, BufferBytesMax = Backlog.PinnedBytesMax });
    }

    /// <summary>Cuts the store between two batches as soon as nobody else's snapshot runs; null if that is given up before.</summary>
    public StoreSnapshot? Cut(SnapshotOptions options, CancellationToken cancellation)
    {
        StoreSnapshot? snapshot;
        while ((snapshot = TryCut(options)) is null && !cancellation.WaitHandle.WaitOne(TurnMs))
        {
            // a replica's snapshot is under way
        }

        return snapshot;
    }

    /// <summary>Cuts the store between two batches; null while somebody else's snapshot runs, or the role changes.</summary>
    internal StoreSnapshot? TryCut(SnapshotOptions options)
    {
        try
        {
            if (_follower is { } follower)
                return follower.AtBoundary((_, batch) => _server.Store.BeginSnapshot(options, batch));
            return _isReplica || _changes ? null : _server.Store.BeginSnapshot(options);
        }
        catch (InvalidOperationException)
        {
            return null; // another snapshot is being taken
        }
    }

    /// <summary>The primary has said how this replica comes up to date; on the link's thread, before it happens.</summary>
    internal void OnPlan(PlanFrame plan, LogPosition mine, Peer primary)
    {
        _termElsewhere = Math.Max(_termElsewhere, plan.Term);
        _discarding = null;
        if (!plan.IsFull)
        {
            Log.PartialSync(primary.ToString(), plan.At.InWords);
            return;
        }

        Links.EndAll("the server that was followed gets all its data anew from its primary");
        Exports.Interrupt();
        _copies.Drop();
        Links.DropPlaces();
        _keeper?.Saves?.Interrupt();
        Log.FullSync(primary.ToString(), plan.At.InWords);
        if (!mine.IsKnown || mine.Batch == 0)
            return;
        var discarding = new Discarding(this, _keeper is { HasLog: true } keeper ? keeper.Files.Disk : null);
        discarding.Run(plan, mine);
        _discarding = discarding;
    }

    // The data are the primary's from here on, and so is their history; what was here before is gone.
    private void OnBegan(PlanFrame plan)
    {
        HistoryId = plan.HistoryId;
        _terms.Take(plan.Terms);
        if (plan.IsFull && _server.Workers.Count > 0)
            _server.Workers[0].Post((owner, _, _) => DataReplaced?.Invoke(owner)); // whoever keeps copies of keys
        if (!plan.IsFull || _discarding is not { } discarded)
            return;
        _discarding = null;
        Discards++;
        DiscardedWrites += Math.Max(discarded.Writes, 0);
        Log.Discarded(discarded.Mine.InWords, discarded.Writes, discarded.File);
    }

    /// <summary>A server that was never followed has no log unless it is on disk: from now on it has one in memory.</summary>
    internal void EnsureLog()
    {
        lock (_gate)
        {
            if (Node.Current is null && !_isReplica)
                Lead(new AofStart(_term, 0, [0], _server.Store.Partitions, _server.Store.HashSeed));
        }
    }

    private void Run()
    {
        while (true)
        {
            _roleWanted.Wait(Timeout.Infinite);
            try
            {
                if (Volatile.Read(ref _handover) is { } handover && !Volatile.Read(ref _stopping))
                    HandOver(handover);
                while (TryTakeWanted(out Peer? primary))
                    Take(primary);
            }
            catch (Exception e) when (BackgroundThread.IsOfEnvironment(e))
            {
                _server.Fail(BackgroundThread.FailureOf("the role of this server cannot be changed", e));
                return;
            }

            if (Volatile.Read(ref _stopping))
                return;
        }
    }

    private bool TryTakeWanted(out Peer? primary)
    {
        lock (_gate)
        {
            primary = _wantedPrimary;
            bool any = _isRoleWanted && !_stopping;
            _isRoleWanted = false;
            return any;
        }
    }

    private void Take(Peer? primary)
    {
        if (primary is null)
        {
            Promote();
            EndChange();
            return;
        }

        if (_follower is null)
            Demote();
        var following = new Following(this, _follower!, primary, _server.Clock);
        _following = following;
        EndChange();
        Log.Follows(primary.ToString());
        following.Run();
        _following = null;
    }

    private void EndChange()
    {
        lock (_gate)
        {
            if (_isRoleWanted || _stopping)
                _following?.Cancel();
            else
                _changes = false;
        }

        OnMoved();
    }

    // replication.Z2
    private void Demote()
    {
        Links.EndAll("the server that was followed follows another one now");
        _copies.Drop();
        Links.DropPlaces();
        EndWriting();
        RoleRounds.Unblock(_server);
        LogPosition at = Node.Stop();
        if (Node.Current is not null)
            Applied.Begin(at, 0); // until the primary is heard of, what was written here is what can be read
        int threads = _server.Settings.Replication.ApplyThreads;
        if (threads == 0)
            threads = Math.Max(1, Environment.ProcessorCount / 2);
        _follower = new Follower(_server.Store, Node, _replay(), Applied, threads == 1 ? 0 : threads) 
        {
            TermBegan = _terms.Add, Began = OnBegan, OldGivenUp = Log.OldGivenUp, MemoryBytesMax = () => _server.MemoryLimitBytes,
        };
    }

    // First what is removed by itself, then what clients do: reactors remove what is due too, between commands.
    private void EndWriting()
    {
        lock (_gate)
        {
            _decides = false;
            _server.Store.SetPolicy(EvictionPolicy.NoEviction);
            _server.Store.SetMemoryLimit(0); // what the primary has is kept, whatever maxmemory says
        }

        _server.Store.PauseExpiry(true); // a mover's step that evicts has ended too
        RoleRounds.Await(_server, () => Volatile.Read(ref _stopping));
    }

    /// <summary>What the settings say of memory is in force from now on, if this server decides what is kept.</summary>
    internal void TakeMemorySettings()
    {
        lock (_gate)
        {
            if (!_decides)
                return;
            _server.Store.SetPolicy(_server.Settings.Memory.Policy);
            _server.Store.SetMemoryLimit(_server.MemoryLimitBytes);
        }
    }

    // Only now that the log is there: what is evicted is in it.
    private void Decide()
    {
        _decides = true;
        TakeMemorySettings();
    }

    // replication.Z4
    private void Promote()
    {
        bool isTorn = _follower is { IsTorn: true, KeepsOld: false }, leadsOn = _follower is null;
        if (_follower is not null)
            Links.EndAll("the server that was followed has become a primary, and its lanes are its own"); // they come back and are told
        _copies.Drop();
        Links.DropPlaces();
        _follower?.Dispose();
        LogPosition at = Node.Stop();
        if (isTorn)
            at = ReadBack(at);
        (HistoryIdBefore, HistoryId) = (HistoryId, NewId());
        bool hasLog = _keeper is { HasLog: true } || Node.Current is not null;
        if (hasLog)
        {
            uint last = Math.Max(Math.Max(at.Term, _term), Math.Max(TermOnDisk, _termElsewhere));
            uint term = leadsOn ? _terms.AfterStart(last) : _terms.AfterPromotion(last);
            Lead(new AofStart(term, at.Batch, at.Crcs, _server.Store.Partitions, _server.Store.HashSeed) { LastTerm = at.Term });
        }
        else if (_keeper?.Counter is { } counter)
        {
            _server.Store.SetLog(counter);
        }

        _follower = null; // from here on what is read and named is this server's own
        Decide();
        _server.Store.PauseExpiry(false);
        Deciding?.Invoke();
        Log.Promoted(_term, at.Batch, at.InWords);
    }

    // The store holds a part of a primary's data: what it held before is on this server's own disk, or nowhere.
    private LogPosition ReadBack(LogPosition at)
    {
        _server.Store.Namespaces.Clear(wait: true);
        if (_keeper is not { HasLog: true } keeper)
        {
            Log.PromotedTorn();
            return at;
        }

        Log.ReadsBack();
        AofStart start = keeper.ReadBack(_server);
        _terms.Take(start.Terms);
        return start.Position;
    }

    // 0 = nobody has led here yet.
    private uint TermOnDisk => _keeper?.Files.Manifest.Term ?? 0;

    private void Lead(AofStart start)
    {
        // Where there is nothing to go on from, the chain begins with a number of its own: two empty histories are not one.
        bool isLater = start.LastTerm != 0 && start.Term > start.LastTerm;
        if (start.LastTerm == 0)
        {
            uint[] chain = [.. start.LastHeaderCrcs.Select(static _ => BitConverter.ToUInt32(Libc.RandomBytes(sizeof(uint))))];
            start = start with { LastHeaderCrcs = chain, LastTerm = start.Term };
        }

        start = start with { Owner = Terms.OwnerBy(RunId) };
        Node.RaiseTerm(start.Term);
        _term = start.Term;
        _terms.Add(new TermStart(start.Term, start.LastBatch + 1, start.LastTerm) { Owner = start.Owner });
        Node.Lead(start);
        if (isLater)
            Node.Leading!.MarkTerm(); // a token taken now can be waited for before anything is written
    }
}

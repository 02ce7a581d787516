using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Shipping;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Persistence;
using Garnet.Server.Replication;
using Tsavorite;
using Tsavorite.Test.Tiers;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>One life of a server without threads: store, log, what it ships and what it follows. Its disk outlives it, if it has one.</summary>
internal sealed class Node : IShipper, IFollowedLog, IDisposable
{
    private const int Lanes = 8;
    private const long TierBytes = 1 << 20;
    private readonly DataDirectory? _directory;
    private readonly ManualClock _clock;
    private readonly Random _random;
    private readonly Terms _terms = new();
    private readonly AofStart? _recovered;
    private readonly SimulatedMedium? _tier; // of this life: its snapshots are whole
    private readonly LedLogs _logs;
    private readonly Dictionary<AppendOnlyLog, SyncPolicy> _policies = [];
    private AppendOnlyLog? _retired, _replaced;
    private string? _lost;
    private ulong _last;

    public Node(int number, SimulatedDisk? disk, ManualClock clock, Random random, bool hasTier = false)
    {
        _tier = hasTier ? new SimulatedMedium(TierBytes) : null;
        (Number, DataDisk, _clock, _random) = (number, disk, clock, random);
        _logs = new LedLogs(KeptBy);
        RunId = string.Concat(Enumerable.Range(0, 40).Select(_ => "0123456789abcdef"[random.Next(16)]));
        Store = new Store(new StoreSettings
        {
            MemoryLimitBytes = 4 << 20, ReserveBytes = 8 << 20, Partitions = Lanes, HugePages = false, BackgroundMovers = false, HashSeed = 77,
            Tier = _tier, TierSegmentBytes = 16 << 10,
        });
        Table.Add<PutNumber>();
        Session = Store.OpenSession();
        if (disk is null) return;
        try
        {
            _directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(Lanes));
            _recovered = Recover();
        }
        catch
        {
            Dispose(); // a start that is refused happens often: each would keep its store's memory
            throw;
        }
        _terms.Take(_recovered.Terms);
        Backlog.Continue(_recovered.Position);
    }

    public int Number { get; }
    public SimulatedDisk? DataDisk { get; }
    public string RunId { get; }
    public Store Store { get; }
    public StoreSession Session { get; }
    public ReplayTable Table { get; } = new();
    public Backlog Backlog { get; } = new();
    public AppliedState Applied { get; } = new();
    public Follower? Follower { get; private set; }
    public Lineage Lineage { get; set; } = new(null, 0);
    /// <summary>The lineage that this node is in once its plan is carried out.</summary>
    public Lineage? Next { get; set; }
    public AppendOnlyLog? Current { get; private set; }
    public bool Leads { get; private set; }
    public uint Term { get; private set; }
    /// <summary>The batch of the last change, while this one leads; 0 if there was none in this life.</summary>
    public ulong LastWrite { get; private set; }
    public int FullSyncs { get; private set; }
    public int PartialSyncs { get; private set; }

    /// <summary>Of a primary that this one met, also before anything of that term came here.</summary>
    public uint TermElsewhere { get; set; }

    /// <summary>The last batch that came back from the disk at the start.</summary>
    public ulong Recovered => _recovered?.LastBatch ?? 0;

    public AppendOnlyLog? OnDisk => DataDisk is null ? null : Current;
    public AppendOnlyLog? LogOnDisk => OnDisk;
    public bool IsKeptOnDisk => _directory is not null && Current is not { Poison: not null };
    public IDisk? Disk => DataDisk;
    public (int Lanes, ulong HashSeed) Layout => Follower?.Layout ?? (Lanes, 77);
    public string HistoryId => RunId;
    public IReadOnlyList<string> Path => [RunId];

    /// <summary>Takes the lead, at the start or from a primary that is gone.</summary>
    public void Lead(SimulationFault fault = SimulationFault.None)
    {
        LogPosition at = _recovered?.Position ?? LogPosition.None;
        uint term = _terms.AfterStart(Math.Max(Term, _directory?.Manifest.Term ?? 0));
        if (Follower is { } follower)
        {
            while (follower.Turn())
            {
                // what has come whole is applied first
            }
            follower.Dispose();
            Follower = null;
            at = Stop();
            if (follower.IsTorn && fault == SimulationFault.PromoteEmpty) Store.Namespaces.Clear(wait: true);
            else if (follower is { IsTorn: true, KeepsOld: false }) at = ReadBack();
            term = _terms.AfterPromotion(Math.Max(Math.Max(at.Term, Term), Math.Max(TermElsewhere, _directory?.Manifest.Term ?? 0)));
        }
        uint[] chain = at.IsKnown ? [.. at.Crcs] : [(uint)_random.Next()];
        _directory?.RaiseTerm(term);
        Term = term;
        AppendOnlyLog log = Fresh(chain.Length);
        log.Open(new AofStart(term, at.Batch, chain, Lanes, 77) { LastTerm = at.IsKnown ? at.Term : term, Owner = Terms.OwnerBy(RunId) });
        _terms.Add(new TermStart(term, at.Batch + 1, at.IsKnown ? at.Term : term) { Owner = Terms.OwnerBy(RunId) });
        _logs.Take(log, term);
        Store.SetLog(log);
        Lineage = new Lineage(Lineage, at.Batch);
        Leads = true;
    }

    /// <summary>True if there is something to go on from.</summary>
    public bool CanLead => Follower is { IsFed: true } or { IsTorn: true, KeepsOld: true } || (Follower is { IsTorn: true } && _directory is not null);

    /// <summary>From now on the node takes what a primary sends.</summary>
    public void BecomeFollower()
    {
        if (Leads) Stop();
        Follower = new Follower(Store, this, Table, Applied, threads: 0) 
        {
            Began = plan =>
            {
                Lineage = Next ?? Lineage;
                _terms.Take(plan.Terms);
            },
            TermBegan = _terms.Add,
        };
    }

    /// <summary>Changes keys in one step; returns the batch it is in.</summary>
    public ulong Write(IReadOnlyList<int> keys, long value)
    {
        KeyRef[] references = [.. keys.Select(key => SimulatedKeys.Of(Store, key))];
        Session.LastBatch = 0;
        Session.Lock(references);
        foreach (KeyRef key in references)
        {
            var put = new PutNumber { Number = value };
            Session.Modify(in key, ref put);
        }
        Session.Unlock();
        foreach (int key in keys) Lineage.Add(Session.LastBatch, key, value);
        LastWrite = Session.LastBatch;
        return Session.LastBatch;
    }

    public long Read(int key)
    {
        KeyRef reference = SimulatedKeys.Of(Store, key);
        var look = default(NumberLook);
        return Session.Read(in reference, ref look) == Outcome.Done ? look.Number : 0;
    }

    /// <summary>Sends a key to the tier, if there are both; true if it went.</summary>
    public bool Demote(int key)
    {
        KeyRef reference = SimulatedKeys.Of(Store, key);
        if (Session.Tier?.Demote(in reference, _clock.UnixMs) is not { } request) return false;
        Store.StepMovers(_clock.UnixMs);
        return request.Moved > 0;
    }

    /// <summary>Records that are on the tier, and those that were read there in this life.</summary>
    public (long Records, long Reads) Tier => Store.Figures().Tier is { } figures ? (figures.Records, figures.Reads) : default;

    /// <summary>What became of changes that were made while this server led, as held replies ask.</summary>
    public LedLogs Logs => _logs;

    /// <summary>The last batch of a log that replies may acknowledge, as its policy says.</summary>
    public ulong KeptBy(AppendOnlyLog log) => _policies[log] == SyncPolicy.Always ? log.Durable : log.Written;

    /// <summary>True if what is applied here can be read.</summary>
    public bool IsReadable => Leads || Follower is { IsFed: true };

    /// <summary>A token for the moment, as clients are given it.</summary>
    public (uint Term, ulong Batch, uint Owner) Token()
    {
        (uint term, ulong batch) = Stands;
        return (term, batch, _terms.OwnerOf(term));
    }

    /// <summary>What it is worth here.</summary>
    public TokenState Judge((uint Term, ulong Batch, uint Owner) token) => _terms.Judge(token, Stands.Term, Stands.Batch, IsReadable);

    private (uint Term, ulong Batch) Stands => Leads ? (Term, Current!.Batch - 1) : (Applied.Term, Applied.Number);

    public void TurnLog()
    {
        if (Current is { } log) log.Turn(_random.Next(log.Turners));
    }

    public void Follow(AofStart start)
    {
        Stop();
        AppendOnlyLog log = Fresh(start.LastHeaderCrcs.Count);
        log.Open(start, follows: true);
        _logs.Take(log, ledTerm: 0);
    }

    public LogPosition Stop()
    {
        Store.SetLog(null);
        Leads = false;
        _last = Math.Max(_last, LastWrite);
        LastWrite = 0;
        Current?.Stop();
        if (Current != _replaced) _lost ??= Current?.Poison;
        return _lost is null ? Backlog.End : new LogPosition(0, Math.Max(Math.Max(Backlog.End.Batch, Applied.Number), _last), [0]);
    }

    public void Replace(string snapshot, LogPosition at, IReadOnlyList<TermStart> terms)
    {
        _directory?.Replace(snapshot, at, terms);
        (_lost, _replaced) = (null, Current);
    }

    public bool CanRewind(ulong batch) => _directory is null || _directory.CanCutBehind(batch);

    public bool TryRewind(LogPosition to)
    {
        Stop();
        if (_directory is { } directory && !directory.TryCutBehind(to)) return false;
        Backlog.Rewind(to);
        return true;
    }

    public bool Reaches(LogPosition position) => BatchFeed.Reaches(Backlog, LogOnDisk, position);

    public bool Diverges(LogPosition position) => BatchFeed.Diverges(Backlog, LogOnDisk, position);

    public bool IsToCome(LogPosition position) => false; // only primaries are followed here

    // Nobody grants terms: one that comes back and one that was promoted meanwhile may have taken the same. The replica gets everything anew.
    public void OnDiverged(HelloFacts replica)
    {
    }

    public ulong ForkOf(LogPosition position) => _terms.ForkOf(position, Backlog.End);

    public bool TryResume(HelloFacts replica, out FullCopy? copy)
    {
        copy = null; // a cut link ends its copy here
        return true;
    }

    public IReadOnlyList<TermStart> TermStarts => _terms.Known;

    public StoreSnapshot? TryCut()
    {
        try
        {
            return Store.BeginSnapshot(new SnapshotOptions());
        }
        catch (InvalidOperationException)
        {
            return null; // another one is being taken
        }
    }

    public void OnPlanned(HelloFacts replica, bool isFull)
    {
        if (isFull) FullSyncs++;
        else PartialSyncs++;
    }

    public void OnAck()
    {
    }

    /// <summary>Ends the life at once: what the disk has not been given is gone.</summary>
    public void Dispose()
    {
        if (DataDisk is { } disk) disk.IsGone = true;
        Follower?.Dispose();
        Store.SetLog(null);
        _retired?.Dispose();
        Current?.Dispose();
        Session.Dispose();
        Store.Dispose();
        _tier?.Dispose();
        Backlog.Dispose();
        Applied.Dispose();
        _directory?.Dispose();
    }

    // A part of a primary's data is in the store; what was there before is on the disk.
    private LogPosition ReadBack()
    {
        Store.Namespaces.Clear(wait: true);
        AofStart start = Recover();
        _terms.Take(start.Terms);
        return start.Position;
    }

    private AofStart Recover() => _directory!.Recover(
        Store, Table, new RecoverySettings { Threads = 1, ReloadsForeignLayout = true }, SnapshotFiles.Instance, new JobProgress("simulation", _clock)).Start;

    private AppendOnlyLog Fresh(int sublogs)
    {
        var settings = new AofSettings { Sublogs = sublogs, SealMinUs = 0, SegmentBytes = 8192 << _random.Next(3), Sync = DataDisk is null ? SyncPolicy.No : (SyncPolicy)_random.Next(3) };
        var log = new AppendOnlyLog(settings, _lost is null && DataDisk is { } disk ? disk : new NullDisk(), _clock, Backlog) { Names = (sublog, logs) => (_lost is null ? _directory : null)?.NameLogs(sublog, logs), Lost = _lost };
        _policies[log] = settings.Sync;
        log.Attach(Store);
        _retired?.Dispose();
        _retired = Current;
        Current = log;
        return log;
    }
}

using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Reading;
using Garnet.Aof.Test.Writing;
using Garnet.Aof.Writing;
using Garnet.Media;
using Tsavorite;
using Tsavorite.Test.Tiers;

namespace Garnet.Aof.Test.Simulation;

/// <summary>A store with its log, from its start to whatever ends it. No threads: every step is somebody's turn.</summary>
internal sealed class Primary : IDisposable
{
    public const int Lanes = 8;
    /// <summary>Of the tier: the smallest, so that large values take several (store.C10).</summary>
    public const int TierSegmentBytes = 8 << 10;
    private const int LargeBytes = 9_000, TurnsOfWalkerPerTurnOfOthers = 30, TurnsToWrite = 4, TriesMax = 1000, DemotesEvery = 4, KeysAtOnce = 6, SnapshotEvery = 6, PauseUs = 1_100_000;
    private const long MemoryBytes = 16 << 20;
    public static readonly TierName TierName = new(new MediumId(0, 7), "/tier");

    private readonly Random _random;
    private readonly History _history;
    private readonly DiskFault _fault;
    private readonly AofSettings _settings;
    private readonly ManualClock _clock = new();
    private readonly Random _tierRandom = new(1); // changes nothing of what the other decides
    private TestStore _store;
    private readonly AppendOnlyLog _log;
    private DataDirectory? _directory;
    private bool _inSnapshot;
    private int _tries;

    public Primary(IDisk disk, int sublogs, History history, Random random, DiskFault fault)
    {
        (_history, _random, _fault) = (history, random, fault);
        _settings = new AofSettings
        {
            Sublogs = sublogs, SealMinUs = 0, SegmentBytes = 8192 << random.Next(4),
            Sync = (SyncPolicy)random.Next(3),
        };
        _log = new AppendOnlyLog(_settings, disk, new TurningClock(_clock, Retry)) { Names = (sublog, logs) => _directory!.NameLogs(sublog, logs) };
        _store = new TestStore(Lanes, MemoryBytes, _log);
    }

    /// <summary>What records go to; null: they stay in memory. It outlives the process, and what it says of syncs is true of a power cut.</summary>
    public SimulatedMedium? Tier
    {
        get;
        init
        {
            field = value;
            if (value is null) return;
            _store.Dispose();
            _store = new TestStore(Lanes, MemoryBytes, _log, settings => settings with { Tier = value, TierId = TierName.Id, TierSegmentBytes = TierSegmentBytes, SegmentBytes = 16 << 10 });
        }
    }

    /// <summary>The tier is small: its room is used again, and what makes that free is among the steps, as is what takes records back to memory.</summary>
    public bool IsCrowded { get; init; }

    /// <summary>Values go to the tier and come back all the time, most of them unchanged.</summary>
    public bool Bounces { get; init; }

    /// <summary>Does something as one of the threads of <see cref="PmDisk"/>.</summary>
    public Action<int, Action> As { get; init; } = static (_, turn) => turn();

    /// <summary>Batches that were durable when whoever waited for them had written them.</summary>
    public int OnTheSpot { get; private set; }

    /// <summary>Records that went to the tier in this life, and those that were there at its start.</summary>
    public long Demoted => Tier is null ? 0 : _store.Store.Figures().Tier!.Demoted;
    /// <summary>Those of them that no segment takes alone.</summary>
    public int LongDemoted { get; private set; }
    /// <inheritdoc cref="Demoted"/>
    public long FoundCold { get; private set; }

    /// <summary>What its tier has done in this life.</summary>
    public TierFigures TierFigures => _store.Store.Figures().Tier!;

    /// <summary>True once recovery is through and changes may come.</summary>
    public bool IsOpen { get; private set; }
    public bool IsPoisoned => IsOpen && _log.Poison != null;
    /// <summary>The last batch of which somebody may have been told that a power cut cannot take it.</summary>
    public ulong Promised => _log.Durable;
    /// <summary>The last batch that the end of the process cannot take.</summary>
    public ulong Written => _log.Written;
    public int Snapshots { get; private set; }
    public int Changes { get; private set; }

    public override string ToString() =>
        $"{_settings.Sync}, segments of {_settings.SegmentBytes}, batch {_log.Batch}, written {Written}, durable {_log.Durable}, poison {_log.Poison}";

    /// <summary>Recovers what the disk holds, compares it with the history and goes on from there.</summary>
    public RecoveryReport Open(IDisk disk, ulong atLeast)
    {
        _directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(Lanes, _settings.Sublogs));
        if (Tier is not null) JudgeTier(disk, Tier);
        RecoveryReport report = _directory.Recover(_store.Store, _store.Table, new RecoverySettings { Threads = 1 },
            SnapshotFiles.Instance, TestStore.Progress());
        FoundCold = Tier is null ? 0 : _store.Store.Figures().Tier!.Records;
        ulong last = report.Start.LastBatch;
        if (last < atLeast) throw new InvalidOperationException($"batch {atLeast} was promised and the log ends with {last}");
        string wanted = _history.State(last), found = _store.Text();
        if (wanted != found) throw new InvalidOperationException($"after batch {last} the store should hold\n{wanted}and holds\n{found}");
        // A crash damages nothing that was published.
        string? damage = report.Messages.FirstOrDefault(static message => message.Contains("damaged", StringComparison.Ordinal));
        if (damage != null) throw new InvalidOperationException(damage);
        _log.Attach(_store.Store);
        _log.Open(report.Start);
        _history.ForgetBehind(last);
        _store.Store.Logging = true;
        IsOpen = true;
        return report;
    }

    public void Step()
    {
        if (IsCrowded || Bounces) Beside();
        else if (Tier is not null && _tierRandom.Next(DemotesEvery) == 0) Demote();
        if (_log.Poison == null && _random.Next(100) < 3) TakeSnapshot();
        else Turn();
    }

    /// <summary>Takes a snapshot that names all there is, or nearly.</summary>
    public void SaveCold()
    {
        for (int database = 0; database < Model.Databases; database++)
        {
            foreach (string key in Workload.Keys) _store.Demote(database, key);
        }
        _store.Store.StepMovers(_clock.UnixMs);
        TakeSnapshot();
    }

    /// <summary>The disk was full, and has room again: nothing is lost, and everything is written.</summary>
    public void CheckTakesWrites()
    {
        for (int turns = 0; turns < TurnsToWrite; turns++)
        {
            for (int turner = 0; turner < _log.Turners; turner++) TurnOf(turner);
            _clock.Advance(1_000_000);
        }
        if (_log.Poison is { } poison) throw new InvalidOperationException($"a full disk ended the log: {poison}");
        if (_log.Stalled is { } why) throw new InvalidOperationException($"there is room again, and still: {why}");
        if (_log.Written != _log.Batch - 1) throw new InvalidOperationException($"there is room again, and batch {_log.Batch - 1} is not written: {this}");
    }

    // A writer that finds the disk full waits for it: here it tries again at once, as long as nobody else can make room.
    private void Retry()
    {
        if (!IsOpen || _log.Stalled is null) return;
        if (++_tries > TriesMax) throw new InvalidOperationException($"there is room again, and still: {_log.Stalled}"); // no disk here is full for so long
        _log.Retry();
    }

    public void Stop()
    {
        _log.Stop();
        try
        {
            if (_log.Poison == null) _directory!.NameEnd(_log.Durable);
        }
        catch (DiskException)
        {
            // One proof less, as the server has it.
        }
    }

    /// <summary>Gives memory back; nothing reaches the disk, which is down.</summary>
    public void Dispose()
    {
        _log.Dispose();
        _store.Dispose();
        _directory?.Dispose();
    }

    // All that either snapshot names can be read, also where the start goes on with the newest.
    private void JudgeTier(IDisk disk, SimulatedMedium tier)
    {
        _directory!.NameTier(TierName);
        using TestStore table = new();
        Store Open(Manifest _) => new(TestStore.Settings(Lanes, MemoryBytes) with { Named = tier });
        if (DirectoryCheck.Judge(disk, Open, table.Table, TestStore.Progress()) is [var finding, ..])
            throw new InvalidOperationException($"what was published cannot be read: {finding}");
    }

    private void Demote()
    {
        TierFigures before = _store.Store.Figures().Tier!;
        if (!_store.Demote(_tierRandom.Next(Model.Databases), Workload.Keys[_tierRandom.Next(Workload.Keys.Length)])) return;
        _store.Store.StepMovers(_clock.UnixMs);
        if (_store.Store.Figures().Tier!.DemotedBytes - before.DemotedBytes > TierSegmentBytes) LongDemoted++;
    }

    private void Beside()
    {
        if (Bounces) Bounce();
        else if (IsCrowded) Crowd();
    }

    private void Bounce()
    {
        for (int keys = 0; keys < KeysAtOnce; keys++) _store.Promote(_tierRandom.Next(Model.Databases), Workload.Keys[_tierRandom.Next(Workload.Keys.Length)]);
        for (int keys = 0; keys < KeysAtOnce; keys++) Demote();
        _clock.Advance(PauseUs / KeysAtOnce);
    }

    // What the tier's own thread, readers and whoever takes snapshots do, beside the log.
    private void Crowd()
    {
        if (_store.Store.Names!.WantsSnapshot && _tierRandom.Next(SnapshotEvery) == 0) TakeSnapshot();
        switch (_tierRandom.Next(8))
        {
            case 0 or 1:
                for (int keys = _tierRandom.Next(KeysAtOnce); keys >= 0; keys--) Demote();
                break;
            case 2 or 3:
                _clock.Advance(PauseUs); // what was written a moment ago is not moved together
                _store.Store.StepMovers(_clock.UnixMs);
                break;
            case 4:
                _store.Promote(_tierRandom.Next(Model.Databases), Workload.Keys[_tierRandom.Next(Workload.Keys.Length)]);
                break;
            default:
                _store.Read(_tierRandom.Next(Model.Databases), Workload.Keys[_tierRandom.Next(Workload.Keys.Length)]); // the second time it comes back
                break;
        }
    }

    private void Turn()
    {
        int dice = _random.Next(100);
        if (dice < 60) Change();
        else if (dice < 66) As(PmDisk.Reactor, WriteOnTheSpot);
        else if (dice < 74) TurnOf(0);
        else if (dice < 94) TurnOf(1 + _random.Next(_log.Sublogs.Count));
        else if (dice < 97) _clock.Advance(_random.Next(1_500_000));
        else _store.Store.StepMovers(_clock.UnixMs);
    }

    private void TurnOf(int turner) => As(PmDisk.FirstTurner + turner, () => _log.Turn(turner));

    private void WriteOnTheSpot()
    {
        ulong before = _log.Durable;
        if (_log.TryWrite() && _settings.Sync == SyncPolicy.Always && _log.Durable > before) OnTheSpot++;
    }

    // A poisoned log gets no more changes: the server refuses them.
    private void Change()
    {
        if (_log.Poison != null) return;
        TestEntry entry = _random.Next(20) == 0 ? Workload.Control(_random) : Workload.Change(_random);
        if (entry.Operation == TestEntry.Put && _random.Next(20) == 0) entry = entry with { Argument = new string('L', LargeBytes) };
        _store.Apply(entry);
        Changes++;
        // Nobody else writes: an operation on the whole store was a batch of its own, a change is in the open one.
        _history.Add(entry.IsControl ? _log.Batch - 1 : _log.Batch, entry);
    }

    private void TakeSnapshot()
    {
        if (_inSnapshot) return;
        _inSnapshot = true;
        var taker = new SnapshotTaker(_store.Store, _directory!, new TurningClock(_clock, TurnsOfOthers))
        {
            AwaitDurable = AwaitDurable,
            Truncate = before => _log.Truncate(before),
            Terms = static () => [],
        };
        var options = new SnapshotJobOptions
        {
            Term = _directory!.Manifest.Term, Snapshot = new SnapshotOptions { BucketsPerHold = 1, HoldsPerStep = 1 },
            Yield = static () => { }, // there is nobody else, and steps are many
        };
        try
        {
            taker.Take(options, new SnapshotProgress(), CancellationToken.None, out bool published);
            if (published) Snapshots++;
            if (_fault == DiskFault.ForgottenNames) _store.Store.Names!.Published("none", null);
        }
        catch (DiskException)
        {
            // A snapshot that failed changes nothing; the server says so and goes on.
        }
        _inSnapshot = false;
    }

    private void TurnsOfOthers()
    {
        if (_random.Next(TurnsOfWalkerPerTurnOfOthers) != 0) return;
        Beside();
        Turn();
    }

    private bool AwaitDurable(ulong batch)
    {
        As(PmDisk.Reactor, () => _log.RequireSync(batch));
        while (_log.Durable < batch && _log.Poison == null)
        {
            for (int turner = 0; turner < _log.Turners; turner++) TurnOf(turner);
            Beside();
            _clock.Advance(1_000_000);
        }
        if (_fault == DiskFault.CutBeforePublish) _log.Truncate(batch + 1);
        return _log.Durable >= batch;
    }
}

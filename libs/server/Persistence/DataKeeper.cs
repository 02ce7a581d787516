using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>
/// Keeps the data of a server that has a data directory: what was there is loaded at the start (<see cref="DataLoad"/>), every change goes to the
/// append-only file (<see cref="KeptLog"/>), snapshots are taken when asked for and when they are due (<see cref="SaveJob"/>). A server without a
/// directory has none of this.
///
/// persistence.D1  Nothing is served from the store before all of it is loaded (LOADING).
/// </summary>
internal sealed class DataKeeper : IDisposable
{
    private const int TickMs = 250, TicksPerNudge = 4; // a full tier waits for the snapshot that is due

    private readonly PersistenceSettings _settings;
    private readonly DataLoad _load;
    private Func<ReplayTable> _replay = static () => new ReplayTable();
    private Timer? _timer;
    private Thread? _loader;
    private readonly TaskCompletionSource _loaded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _loading = true;
    private bool _stopped;
    private int _ticks;

    internal DataKeeper(DataDirectory directory, PersistenceSettings settings, IClock clock, ServerLog lines, Backlog backlog)
    {
        (_settings, Files) = (settings, directory);
        _load = new DataLoad(settings, directory, clock, lines);
        Log = new KeptLog(settings, directory, clock, backlog);
        HasLog = settings.AppendOnly;
        if (!HasLog)
            Counter = new ChangeCounter(directory.Manifest.Lanes);
    }

    /// <summary>True if there is an append-only file.</summary>
    internal bool HasLog { get; }

    /// <summary>The append-only file; one that is never begun where there is none.</summary>
    internal KeptLog Log { get; }

    /// <summary>Counts changes when there is no append-only file.</summary>
    internal ChangeCounter? Counter { get; }

    /// <summary>The files.</summary>
    internal DataDirectory Files { get; }

    /// <summary>Seed of the key hash that the directory was written with.</summary>
    internal ulong HashSeed => Files.Manifest.HashSeed;

    /// <summary>Partitions that the directory was written with.</summary>
    internal int Partitions => Files.Manifest.Lanes;

    /// <summary>The term in which the directory was led last; 0 = nobody has led here yet.</summary>
    internal uint LastTerm => Files.Manifest.Term;

    /// <summary>The directory, for people.</summary>
    internal string Directory => Files.Disk.Path;

    /// <summary>What is to be said of persistent memory under the log, and which of it is a warning; nothing without.</summary>
    internal IReadOnlyList<(bool IsWarning, string Text)> MemoryPlan => MemoryWords.Of(Files.Disk.Memory, _settings);

    /// <summary>What an acknowledged change outlives, in a word: the log's guarantee now.</summary>
    internal string Guarantee => HasLog ? Log.Guarantee : "none";

    /// <summary>How far the load has come.</summary>
    internal JobProgress Progress => _load.Progress;

    /// <summary>Snapshots: the one that runs and the last one; null until the data is loaded.</summary>
    internal SaveJob? Saves { get; private set; }

    /// <summary>The log's figures; null without an append-only file or before it is open.</summary>
    internal AofFigures? Figures => _loading ? null : Log.Figures;

    /// <summary>Ends when the data is loaded.</summary>
    internal Task Loaded => _loaded.Task;

    /// <summary>True until the data is loaded (persistence.D1).</summary>
    internal bool Loading => _loading;

    /// <summary>True if some commands may be refused now.</summary>
    internal bool Blocks => _loading || Log.Blocks;

    /// <summary>Why the log does not keep changes now; null while it does.</summary>
    internal string? Trouble => Log.Trouble;

    /// <summary>Number of the open batch.</summary>
    internal ulong OpenBatch => Log.OpenBatch;

    /// <summary>Replies may acknowledge changes up to this batch.</summary>
    internal ulong Kept => Log.Kept;

    /// <summary>Every change up to this batch is durable under the policy in force.</summary>
    internal ulong Durable => Log.Durable;

    /// <summary>Whether the stop takes a last snapshot if one is due; SHUTDOWN NOSAVE says no.</summary>
    internal bool SavesAtStop { get; set; } = true;

    /// <summary>Told once that all that was to be found has been.</summary>
    internal Action Settled { get; set; } = static () => { };

    /// <summary>Starts loading on a thread of its own; the server listens meanwhile.</summary>
    internal void Begin(ServerCore server, ILogRole role, Func<ReplayTable> replay)
    {
        _replay = replay;
        Log.Begin(server);
        server.Store.Logging = false;
        server.Store.PauseExpiry(true);
        // While the log is read back maxmemory is not applied: a server that was full could not start again. Nor may anything be evicted meanwhile
        // that the log does not evict, since later changes in the log rely on it. What is too much is evicted, or refuses writes, afterwards.
        server.Store.SetPolicy(EvictionPolicy.NoEviction);
        server.Store.SetMemoryLimit(0);
        _loader = BackgroundThread.Begin("recovery", () => Load(server, role), server.Fail);
    }

    /// <summary>Fills the store, which is empty, with what the directory has; nobody writes the log meanwhile. Where it goes on.</summary>
    /// <exception cref="GarnetException">It cannot be read back.</exception>
    internal AofStart ReadBack(Store store) => _load.ReadBack(store, _replay());

    /// <summary>
    /// What still loads ends; a last snapshot if one is due, then the last batch is closed, written and synced; after the reactors have
    /// ended. Nothing of this uses the store or the log when it returns.
    /// </summary>
    internal void Stop()
    {
        if (_stopped)
            return;
        Progress.Cancel();
        _loader?.Join();
        EndTimer();
        if (SavesAtStop && !_loading && Trouble is null)
            Saves?.TakeLast();
        Saves?.Cancel();
        if (!_loading)
            Log.Close();
        _stopped = true;
        Log.End();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Stop();
        Saves?.Dispose();
        Log.Dispose();
        Counter?.Dispose();
        Files.Dispose();
    }

    private void Load(ServerCore server, ILogRole role)
    {
        try
        {
            using IDisposable speaker = _load.Speak();
            RecoveryReport report = _load.Run(server.Store, _replay());
            Settled();
            bool isEmpty = report is { Snapshot: null, Entries: 0 }, imported = isEmpty && DumpImport.TryRun(server, Progress);
            if (!imported)
                DumpImport.TellOfPassedOver(server, isEmpty);
            Saves = new SaveJob(Log, Counter, server, role, Files, _settings);
            server.Store.Logging = Counter is not null;
            role.Begin(HasLog ? report.Start : null);
            if (imported && !Saves.TryTakeNow())
            {
                throw new GarnetException(ExitKind.Data, "what was imported cannot be kept", "no snapshot of it could be taken",
                    "Look at the messages above; nothing has been kept, the next start imports again");
            }

            if (!role.IsReplica)
                server.Store.PauseExpiry(false);
            _loading = false;
            _load.Ended(report);
            if (role.Decides && server.Store.Figures() is var figures && figures.UsedBytes > server.MemoryLimitBytes)
                server.Log.OverLimit(figures.UsedBytes, server.MemoryLimitBytes);
            _loaded.TrySetResult();
            _timer = new Timer(static keeper => ((DataKeeper)keeper!).Tick(), this, TickMs, TickMs);
        }
        catch (OperationCanceledException)
        {
            server.Log.LoadGivenUp();
        }
        catch (Exception e) when (BackgroundThread.IsOfEnvironment(e))
        {
            string next = e is DiskException { IsFull: true }
                ? $"Make room on the disk, for a file of {SettingText.PrintMemory(_settings.SegmentBytes)} at least " +
                    "(aof-segment-size), then start again"
                : $"Look at the disk and at the memory of the machine, then start again; garnet-server check {Directory} shows what " +
                    "is sound";
            server.Fail(BackgroundThread.FailureOf("the data cannot be loaded", e, next));
        }
    }

    private void EndTimer()
    {
        using var ended = new ManualResetEvent(false);
        if (_timer?.Dispose(ended) == true)
            ended.WaitOne();
    }

    private void Tick()
    {
        if (_ticks++ % TicksPerNudge == 0)
            Log.Nudge();
        Saves?.StartIfDue();
    }
}

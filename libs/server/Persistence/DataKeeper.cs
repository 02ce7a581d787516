using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Shipping;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Rdb;
using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>
/// Keeps the data of a server that has a data directory: what was there is loaded at the start, every change goes to the
/// append-only file, snapshots are taken when asked for and when they are due. A server without a directory has none of this.
///
/// persistence.D1  Nothing is served from the store before all of it is loaded (LOADING).
/// persistence.D2  Writes are refused (MISCONF) from the moment the log cannot keep them; reads go on.
/// persistence.D3  The log is cut only behind a snapshot that is durable and named by the manifest.
/// persistence.D4  An RDB file of Redis is imported as a whole, into an empty directory only, and is never written.
/// </summary>
internal sealed class DataKeeper : IDisposable
{
    private readonly PersistenceSettings _settings;
    private readonly IClock _clock;
    private readonly ServerLog _log;
    private readonly DataDirectory _directory;
    private readonly Backlog _backlog;
    private readonly AofSettings _aofSettings;
    private readonly AdvanceBell _advanced = new();
    private readonly LedLogs _logs;
    private ulong _toldKept, _toldDurable;
    private volatile string? _toldTrouble;
    private ServerCore? _server;
    private ILogRole? _role;
    private Func<ReplayTable> _replay = static () => new ReplayTable();
    private Timer? _timer;
    private Thread? _loader;
    private readonly TaskCompletionSource _loaded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _loading = true;
    private volatile bool _stopped;

    private DataKeeper(PersistenceSettings settings, DataDirectory directory, IClock clock, ServerLog log, Backlog backlog)
    {
        _backlog = backlog;
        _logs = new LedLogs(KeptBy);
        _settings = settings;
        _clock = clock;
        _log = log;
        _directory = directory;
        _aofSettings = new AofSettings { Sublogs = _directory.Manifest.Sublogs, Sync = PolicyOf(settings.AppendSync), StagingBytesMax = settings.StagingBytesMax, SegmentBytes = settings.SegmentBytes, StepBytesMax = settings.StepBytesMax };
        Progress = new JobProgress("loading", clock);
        HasLog = settings.AppendOnly;
        if (!HasLog)
            Counter = new ChangeCounter(_directory.Manifest.Lanes);
    }

    /// <summary>Opens the data directory if the settings ask for one; null if the server is to run in memory.</summary>
    /// <exception cref="GarnetException">The directory cannot be used; the message says why and what to do.</exception>
    internal static DataKeeper? Open(PersistenceSettings settings, SettingTable table, IClock clock, ServerLog log, Backlog backlog)
    {
        bool hasDirectory = IsGiven(table, "dir");
        if (!IsGiven(table, "appendonly"))
            settings.AppendOnly = hasDirectory;
        if (hasDirectory || settings.AppendOnly)
            return new DataKeeper(settings, OpenDirectory(settings), clock, log, backlog);
        if (settings.Save.Rules.Count > 0)
            log.SaveWithoutDirectory();
        return null;
    }

    /// <summary>True if there is an append-only file.</summary>
    internal bool HasLog { get; }

    /// <summary>Where the store's changes go as long as nothing is recovered: nowhere, or to be counted.</summary>
    internal IWriteLog? Log => Counter;

    /// <summary>Number of the open batch.</summary>
    internal ulong OpenBatch => Current?.Batch ?? 1;

    /// <summary>The files.</summary>
    internal DataDirectory Files => _directory;

    /// <summary>Seed of the key hash that the directory was written with.</summary>
    internal ulong HashSeed => _directory.Manifest.HashSeed;

    /// <summary>Partitions that the directory was written with.</summary>
    internal int Partitions => _directory.Manifest.Lanes;

    /// <summary>The directory, for people.</summary>
    internal string Directory => _directory.Disk.Path;

    /// <summary>Counts changes when there is no append-only file.</summary>
    internal ChangeCounter? Counter { get; }

    /// <summary>How far the load has come.</summary>
    internal JobProgress Progress { get; }

    /// <summary>Snapshots: the one that runs and the last one; null until the data is loaded.</summary>
    internal SaveJob? Saves { get; private set; }

    /// <summary>The log's figures; null without an append-only file or before it is open.</summary>
    internal AofFigures? Figures => Current is null || _loading ? null : Current.Figures();

    /// <summary>Ends when the data is loaded.</summary>
    internal Task Loaded => _loaded.Task;

    /// <summary>True until the data is loaded (persistence.D1).</summary>
    internal bool Loading => _loading;

    /// <summary>Why the log cannot keep changes any more; null while it can.</summary>
    internal string? Poison => Current?.Poison;

    /// <summary>Why the log does not keep changes now; null while it does.</summary>
    internal string? Trouble => Current?.Poison ?? Current?.Stalled;

    /// <summary>Raised when the log begins not to keep changes, perhaps more than once; from any thread.</summary>
    internal event Action? Troubled;

    /// <summary>True while the log, or a snapshot, has no memory for more changes.</summary>
    internal bool IsFull => Current is { IsFull: true } || _server!.Store.SnapshotBehind;

    /// <summary>True if some commands may be refused now.</summary>
    internal bool Blocks => _loading || IsFull || (Current is { } aof && (aof.Poison is not null || aof.Stalled is not null));

    /// <summary>Replies may acknowledge changes up to this batch: synced under <c>always</c>, else given to the system.</summary>
    internal ulong Kept => _logs.Kept;

    /// <summary>Every change up to this batch is durable under the policy in force.</summary>
    internal ulong Durable => Current?.Durable ?? ulong.MaxValue;

    /// <summary>The term in which the log in force is led; 0 while it follows.</summary>
    internal uint Term => _logs.Term;

    /// <summary>True if replies may acknowledge what is in the batch (net.R7).</summary>
    internal bool Keeps(LogMark mark) => _logs.Keeps(mark);

    /// <summary>True if the batch will never be kept.</summary>
    internal bool HasLost(LogMark mark) => _logs.HasLost(mark);

    /// <summary>True if the batch is durable under the policy in force.</summary>
    internal bool IsDurable(LogMark mark) => _logs.IsDurable(mark);

    /// <summary>
    /// A log over the files, in as many sublogs; not started. <paramref name="lost"/>: why the one that they hold was lost, if it was; then
    /// nothing is written behind its end, where there would be a hole, and nobody can write.
    /// </summary>
    internal AppendOnlyLog NewLog(int sublogs, string? lost)
    {
        _aofSettings.Sublogs = sublogs;
        return lost is null
            ? new AppendOnlyLog(_aofSettings, _directory.Disk, _clock, _backlog) { Names = _directory.NameLogs }
            : new AppendOnlyLog(_aofSettings, new NullDisk(), _clock, _backlog) { Lost = lost };
    }

    /// <summary>The log in force is this one from now on; the one before has ended.</summary>
    internal void TakeLog(AppendOnlyLog log, uint ledTerm)
    {
        if (!HasLog)
            return;
        log.Advanced += OnAdvanced;
        _logs.Take(log, ledTerm);
        _toldKept = ulong.MaxValue; // of another history
        OnAdvanced();
    }

    /// <summary>Starts loading on a thread of its own; the server listens meanwhile.</summary>
    internal void Begin(ServerCore server, ILogRole role, Func<ReplayTable> replay)
    {
        (_role, _replay) = (role, replay);
        _server = server;
        foreach (string name in (ReadOnlySpan<string>)["appendfsync", "aof-step-max-size"])
            server.Table.OnSet(name, TakeSettings);
        server.Store.Logging = false;
        server.Store.PauseExpiry(true);
        // While the log is read back maxmemory is not applied: a server that was full could not start again. Nor may anything be evicted meanwhile
        // that the log does not evict, since later changes in the log rely on it. What is too much is evicted, or refuses writes, afterwards.
        server.Store.SetPolicy(EvictionPolicy.NoEviction);
        server.Store.SetMemoryLimit(0);
        _loader = BackgroundThread.Begin("recovery", () => Load(server, role), server.Fail);
    }

    /// <summary>Blocks until the batch is durable; false if it never will be. For background threads and the end only.</summary>
    internal bool WaitDurable(ulong batch)
    {
        if (Current is not { } aof)
            return true;
        aof.RequireSync(batch);
        _advanced.Await(() => aof.Durable >= batch || aof.Poison is not null || _stopped || aof != Current);
        return aof.Durable >= batch;
    }

    /// <summary>A client waits until its change is durable.</summary>
    internal void RequireSync(LogMark mark) => _logs.RequireSync(mark);

    /// <summary>Deletes log files that only hold batches below <paramref name="before"/>, and that no replica is still to get.</summary>
    internal void Truncate(ulong before)
    {
        if (Current is not { } aof)
            return;
        ulong needed = _role!.NeededFrom;
        bool waits = aof.Figures().SegmentBytes < _server!.Settings.Replication.RetentionBytes; // a replica that is slower than that is not waited for
        aof.Truncate(waits ? Math.Min(before, needed) : before);
    }

    /// <summary>Takes over what of the log's settings may change while it runs.</summary>
    private void TakeSettings()
    {
        _aofSettings.Sync = PolicyOf(_settings.AppendSync);
        _aofSettings.StepBytesMax = _settings.StepBytesMax;
    }

    /// <summary>Whether the stop takes a last snapshot if one is due; SHUTDOWN NOSAVE says no.</summary>
    internal bool SavesAtStop { get; set; } = true;

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
            EndLog();
        _stopped = true;
        _advanced.Ring();
    }

    // The manifest says where the log ended: a log that is found shorter at the next start has lost its end.
    private void EndLog()
    {
        if (Current is not { } log)
            return;
        log.Stop();
        try
        {
            if (log.Poison is null)
                _directory.NameEnd(log.Durable);
        }
        catch (DiskException)
        {
            // the stop goes on: only this one proof that the log is complete is missing
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Stop();
        Saves?.Dispose();
        Current?.Dispose();
        Counter?.Dispose();
        _directory.Dispose();
    }

    /// <summary>The same over a directory that a test has opened.</summary>
    internal static DataKeeper Over(DataDirectory directory, PersistenceSettings settings, IClock clock, ServerLog log, Backlog backlog) => new(settings, directory, clock, log, backlog);

    private static DataDirectory OpenDirectory(PersistenceSettings settings)
    {
        int sublogs = settings.Sublogs > 0 ? settings.Sublogs : Math.Clamp(Environment.ProcessorCount / 4, 1, AofSettings.SublogsMax);
        var fresh = new DirectoryLayout(DirectoryLayout.OfThisMachine.Lanes, sublogs);
        return DataDirectory.Open(Path.Combine(settings.Directory, settings.AppendDirectory), static path => new FileDisk(path), fresh);
    }

    private AppendOnlyLog? Current => _logs.Current;

    private ulong KeptBy(AppendOnlyLog log) => _aofSettings.Sync == SyncPolicy.Always ? log.Durable : log.Written;

    private static bool IsGiven(SettingTable table, string name) => table.TryFind(name, out Setting? setting) && setting.Source != SettingSource.Default;

    private static SyncPolicy PolicyOf(AppendSync sync) => sync switch
    {
        AppendSync.Always => SyncPolicy.Always,
        AppendSync.No => SyncPolicy.No,
        _ => SyncPolicy.EverySecond,
    };

    private void Load(ServerCore server, ILogRole role)
    {
        try
        {
            var settings = new RecoverySettings { OnCorruption = _settings.OnCorruption, Threads = Environment.ProcessorCount };
            using var speaker = new Timer(_ => _log.Progress(Progress.Format()), null, 1000, 1000);
            RecoveryReport report = _directory.Recover(server.Store, _replay(), settings, SnapshotFiles.Instance, Progress);
            Tell(report);
            bool imported = report is { Snapshot: null, Batches: 0 } && TryImport(server);
            Saves = new SaveJob(this, server, role, _directory, _settings);
            server.Store.Logging = Counter is not null;
            role.Begin(HasLog ? report.Start : null);
            if (imported && !Saves.TryTakeNow())
                throw new GarnetException(ExitKind.Data, "what was imported cannot be kept", "no snapshot of it could be taken", "Look at the messages above; nothing has been kept, the next start imports again");
            if (!role.IsReplica)
                server.Store.PauseExpiry(false);
            _loading = false;
            _log.Loaded(report.Entries, report.Batches, report.Bytes, report.ElapsedMs);
            if (role.Decides && server.Store.Figures() is var figures && figures.UsedBytes > server.MemoryLimitBytes)
                _log.OverLimit(figures.UsedBytes, server.MemoryLimitBytes);
            _loaded.TrySetResult();
            _timer = new Timer(static keeper => ((DataKeeper)keeper!).Tick(), this, 1000, 1000);
        }
        catch (OperationCanceledException)
        {
            _log.LoadGivenUp();
        }
        catch (Exception e) when (BackgroundThread.IsOfEnvironment(e))
        {
            string next = e is DiskException { IsFull: true } ? $"Make room on the disk, for a file of {SettingText.PrintMemory(_settings.SegmentBytes)} at least (aof-segment-size), then start again"
                : $"Look at the disk and at the memory of the machine, then start again; garnet-server check {Directory} shows what is sound";
            server.Fail(BackgroundThread.FailureOf("the data cannot be loaded", e, next));
        }
    }

    /// <summary>Fills the store, which is empty, with what the directory has; nobody writes the log meanwhile. Where it goes on.</summary>
    /// <exception cref="GarnetException">It cannot be read back.</exception>
    internal AofStart ReadBack(ServerCore server)
    {
        var settings = new RecoverySettings { OnCorruption = _settings.OnCorruption, Threads = Environment.ProcessorCount };
        RecoveryReport report = _directory.Recover(server.Store, _replay(), settings, SnapshotFiles.Instance, new JobProgress("reading back", _clock));
        Tell(report);
        _log.Loaded(report.Entries, report.Batches, report.Bytes, report.ElapsedMs);
        return report.Start;
    }

    private void Tell(RecoveryReport report)
    {
        foreach (string message in report.Messages)
            _log.Recovery(message);
        foreach (string note in report.Notes)
            _log.RecoveryNote(note);
    }

    // persistence.D4: imported as long as the directory has nothing of its own, and has it once a snapshot of all of it is durable.
    private bool TryImport(ServerCore server)
    {
        string path = Path.Combine(_settings.Directory, _settings.ImportFile);
        if (server.Settings.Replication.ReplicaOf.Length > 0 || !File.Exists(path))
            return false;
        if (server.Settings.Memory.Policy == EvictionPolicy.NoEviction)
            server.Store.SetMemoryLimit(server.MemoryLimitBytes); // if it does not fit the start is refused, and the file stays where it is
        long began = _clock.MonotonicUs;
        using var file = new RdbFile(path);
        using var import = new RdbImport(server.Store, file, server.Settings.Encoding, server.Settings.Memory.Databases, _clock.UnixMs, Progress);
        import.Run();
        _log.Imported(path, import.Keys, import.Expired, (_clock.MonotonicUs - began) / 1000);
        if (import.Skipped > 0)
            _log.Recovery($"{path} holds data of modules, which were left out ({import.Skipped} parts)");
        if (import.Functions > 0)
            _log.Recovery($"{path} held {import.Functions} libraries of functions, which were taken");
        return true;
    }

    private void EndTimer()
    {
        using var ended = new ManualResetEvent(false);
        if (_timer?.Dispose(ended) == true)
            ended.WaitOne();
    }

    private void Tick()
    {
        Current?.Nudge(); // what the store removed by itself (expiry, eviction) while no command came
        Saves?.StartIfDue();
    }

    private void OnAdvanced()
    {
        _advanced.Ring();
        if (_server is not { } server || !HasNews())
            return;
        if (Trouble is not null)
            Troubled?.Invoke();
        server.NudgeWaiting();
    }

    // Of what was kept, made durable or went wrong since the last look; under always, what is only written releases no reply. Two threads that
    // look at once may both find the news; that both miss them cannot be.
    private bool HasNews()
    {
        (ulong Kept, ulong Durable, string? Trouble) now = (Kept, Durable, Trouble), told = (Volatile.Read(ref _toldKept), Volatile.Read(ref _toldDurable), _toldTrouble);
        Volatile.Write(ref _toldKept, now.Kept);
        Volatile.Write(ref _toldDurable, now.Durable);
        _toldTrouble = now.Trouble;
        return now != told;
    }
}

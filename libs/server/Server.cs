using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Common.Time;
using Garnet.Server.Admission;
using Garnet.Server.Base;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Server.Families.Transactions;
using Garnet.Server.Inspect;
using Garnet.Server.Net;
using Garnet.Server.Persistence;
using Garnet.Server.PubSub;
using Garnet.Server.Replication;
using Garnet.Server.Scripting;
using Garnet.Server.Sessions;
using Garnet.Server.Tracking;
using Garnet.Server.Transactions;
using Garnet.Types.Soundness;
using Microsoft.Extensions.Logging;
using Tsavorite;

namespace Garnet.Server;

/// <summary>
/// One server: a store, its reactors, and what they share. Several may live in one process; nothing here is static.
/// </summary>
public sealed class Server : IDisposable
{
    /// <summary>Bytes of replies an unauthenticated client may leave unread before it is closed (CVE-2025-21605).</summary>
    internal const int UnauthenticatedOutputBytesMax = 64 * 1024;

    /// <summary>Unsent replies beyond which a client without a class limit is no longer served until it reads: 256 MiB.</summary>
    private const int DefaultStallBytes = 256 << 20;

    private const long UnauthenticatedIdleMs = 10_000;

    private GarnetException? _failure;
    private int _disposals;
    private readonly TaskCompletionSource _stopRequested = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<Thread> _threads = [];
    private Reactor[] _reactors = [];
    private Acceptor? _acceptor;
    private long _lastClientId;
    private int _clients;
    private long _clientsMax;
    private int _stopRequests;
    private int _reactorsRunning;
    private volatile bool _measuresAll;

    /// <summary>Makes a server; nothing is opened before <see cref="Start"/>.</summary>
    public Server(ServerSettings settings, SettingTable table, ILogger logger)
        : this(settings, table, logger, SystemClock.Instance)
    {
    }

    internal Server(ServerSettings settings, SettingTable table, ILogger logger, IClock clock, IWriteLog? log = null, Aof.DataDirectory? directory = null)
    {
        Settings = settings;
        Table = table;
        Log = new ServerLog(logger);
        Clock = clock;
        MemoryLimitBytes = MemoryPlan.LimitBytes(settings.Memory.MaxMemoryBytes);
        var backlog = new Backlog();
        Keeper = directory is null ? DataKeeper.Open(settings.Persistence, table, clock, Log, backlog) : DataKeeper.Over(directory, settings.Persistence, clock, Log, backlog);
        Store = new Store(new StoreSettings
        {
            MemoryLimitBytes = MemoryLimitBytes,
            Policy = settings.Memory.Policy,
            Log = Keeper?.Log ?? log,
            ValueCheck = ValueCheck.Instance,
            HashSeed = Keeper?.HashSeed ?? 0,
            Partitions = Keeper?.Partitions ?? 0,
            TellsBatches = settings.Persistence.DurableReads && Keeper is { HasLog: true },
        });
        Replication = new ReplicationNode(this, backlog);
        Commands = new CommandTable();
        Changes = new KeyChanges(this);
        Tracker = new Tracker(this);
        Watches = new WatchTable(this);
        Waits = new WaitTable(this);
        ScriptGate = new ScriptGate(this);
        EntryReaper = new EntryReaper(this);
        Events = new KeyEvents(this);
        InspectSettings inspect = settings.Inspect;
        Slowlog = new CommandLog(() => inspect.SlowerThanMicroseconds, () => inspect.SlowEntriesMax);
        LargeRequests = new CommandLog(() => inspect.RequestLargerThanBytes, () => inspect.LargeRequestsMax);
        LargeReplies = new CommandLog(() => inspect.ReplyLargerThanBytes, () => inspect.LargeRepliesMax);
        Statistics = new Statistics(this);
        Latency = new LatencyMonitor(settings.Inspect);
        Refusals = new WriteRefusals(this);
        StartedUnixMs = clock.UnixMs;
        ApplySettings();
        Changes.Listen();
        Store.Namespaces.MayChange = () => KeyChanges.IsAlone(this);
        TakeLiveSettings();
    }

    /// <summary>The settings in force.</summary>
    public ServerSettings Settings { get; }

    /// <summary>The table over <see cref="Settings"/>.</summary>
    public SettingTable Table { get; }

    /// <summary>The memory limit in force, bytes.</summary>
    public long MemoryLimitBytes { get; internal set; }

    /// <summary>Writes the settings in force to the configuration file the server was started with, for CONFIG REWRITE; returns the reason if it cannot. Null without a file.</summary>
    public Func<string?>? RewriteConfiguration { get; set; }

    /// <summary>The configuration file the server was started with; null without one.</summary>
    public string? ConfigurationFile { get; set; }

    /// <summary>False if SHUTDOWN is refused, as the server is a part of a process that has other work.</summary>
    public bool AllowsShutdown { get; init; } = true;

    /// <summary>True if the system granted 2 MiB pages.</summary>
    public bool HugePages => Store.Figures().HugePages;

    /// <summary>The TCP port in use; 0 if none.</summary>
    public int Port => _acceptor?.Port ?? 0;

    /// <summary>What is listened on, for people.</summary>
    public IReadOnlyList<string> Addresses => _acceptor?.Addresses ?? [];

    /// <summary>The directory the data is kept in; null if it is in memory only.</summary>
    public string? DataDirectory => Keeper?.Directory;

    /// <summary>Ends when the data is loaded and commands are served; at once without a data directory.</summary>
    public Task Loaded => Keeper?.Loaded ?? Task.CompletedTask;

    /// <summary>Ends when the server has stopped, by <see cref="Stop"/> or by a client's SHUTDOWN.</summary>
    public Task Completion => _completion.Task;

    /// <summary>Ends when somebody has asked for a stop: <see cref="Stop"/>, SHUTDOWN, or a failure.</summary>
    public Task StopRequested => _stopRequested.Task;

    /// <summary>True while threads serve clients, also after a stop was asked for.</summary>
    public bool IsServing => Volatile.Read(ref _reactorsRunning) != 0;

    internal Store Store { get; }
    internal CommandTable Commands { get; }

    /// <summary>What keeps the data on disk; null without a data directory.</summary>
    internal DataKeeper? Keeper { get; }
    internal IClock Clock { get; }

    /// <summary>The place of this server among others.</summary>
    internal ReplicationNode Replication { get; }

    /// <summary>Replies may acknowledge changes up to this batch.</summary>
    internal ulong Kept => Keeper?.Kept ?? ulong.MaxValue;
    internal ServerLog Log { get; }
    internal PauseGate Pause { get; } = new();
    internal Monitors Monitors { get; } = new();
    internal CommandLog Slowlog { get; }
    internal CommandLog LargeRequests { get; }
    internal CommandLog LargeReplies { get; }

    /// <summary>True if replies are measured one by one: the threshold is too low to be found when much is sent.</summary>
    internal bool MeasuresReplies { get; private set; }
    internal Statistics Statistics { get; }
    internal LatencyMonitor Latency { get; }

    /// <summary>Why writes are refused, for operators.</summary>
    internal WriteRefusals Refusals { get; }
    internal Channels Channels { get; } = new();
    internal KeyChanges Changes { get; }
    internal Tracker Tracker { get; }
    internal WatchTable Watches { get; }
    internal WaitTable Waits { get; }
    internal ScriptCache Scripts { get; } = new();

    /// <summary>Turns of reactors and scripts.</summary>
    internal ScriptGate ScriptGate { get; }
    internal EntryReaper EntryReaper { get; }
    internal KeyEvents Events { get; }
    internal long StartedUnixMs { get; }
    internal IReadOnlyList<Reactor> Reactors => _reactors;
    internal RespLimits Limits { get; private set; }
    internal long QueryBufferLimit { get; private set; }
    internal int StallBytes { get; private set; }
    internal bool PasswordRequired { get; private set; }
    internal bool HasIdleLimit { get; private set; }
    internal int ClientCount => Volatile.Read(ref _clients);
    internal long ConnectionsReceived => _acceptor?.Accepted ?? 0;
    internal long ConnectionsRejected => _acceptor?.Rejected ?? 0;

    /// <summary>Who else is asked before a command runs.</summary>
    internal AdmissionHooks Hooks { get; set; } = new();

    /// <summary>True if all commands are put to the rules of Admission: somebody is asked or watches, a pause is on, or every command is timed or measured.</summary>
    internal bool AsksRules => Monitors.Any | Pause.Active | Changes.PerCommand | _measuresAll || Keeper is { Blocks: true } || Hooks.Any;

    /// <summary>True while something must be looked at every tick although no command arrives.</summary>
    internal bool NeedsTicks => Pause.Active || EntryReaper.IsActive;

    /// <summary>Opens the addresses and starts serving. Throws <see cref="GarnetException"/> when it cannot.</summary>
    public void Start()
    {
        int count = Settings.Network.ReactorThreads > 0 ? Settings.Network.ReactorThreads : Environment.ProcessorCount;
        bool epoll = UsesEpoll();
        var reactors = new Reactor[count];
        for (int i = 0; i < count; i++)
            reactors[i] = new Reactor(this, i, epoll ? new EpollTransport() : new SocketTransport());
        _acceptor = epoll ? new EpollAcceptor(this) : new SocketAcceptor(this);
        try
        {
            _acceptor.Open(Settings.Network);
        }
        catch (GarnetException)
        {
            foreach (Reactor reactor in reactors)
                reactor.Dispose();
            throw;
        }

        if (!FitClients())
            Log.TooFewFiles(Settings.Network.ClientsMax, _clientsMax + OpenFiles.Reserve, _clientsMax);
        _reactors = reactors;
        _reactorsRunning = count;
        foreach (Reactor reactor in reactors)
            StartThread($"reactor {reactor.Index}", () => RunReactor(reactor));
        if (Keeper is null)
            Replication.Begin(null);
        Keeper?.Begin(this);
        StartThread("acceptor", _acceptor.Run);
    }

    /// <summary>Stops accepting, lets the reactors finish their round and flush, closes everything; waits at most <paramref name="grace"/>.</summary>
    public void Stop(TimeSpan grace)
    {
        RequestStop();
        Task.WaitAny([Completion], grace + TimeSpan.FromSeconds(Settings.Replication.StopSeconds)); // a failure is for whoever asks for it
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposals, 1) != 0)
            return; // native memory is given back once
        Stop(TimeSpan.FromSeconds(10));
        if (!Completion.IsCompleted)
            return; // a reactor hangs: its memory must stay
        foreach (Reactor reactor in _reactors)
            reactor.Dispose();
        _acceptor?.Dispose();
        Refusals.Dispose();
        Replication.Dispose();
        Keeper?.Dispose();
        Store.Dispose();
        Commands.Dispose();
        ScriptGate.Dispose();
    }

    /// <summary>Begins to stop; from any thread, also a reactor's.</summary>
    internal void RequestStop()
    {
        if (Interlocked.Exchange(ref _stopRequests, 1) != 0)
            return;
        _stopRequested.TrySetResult();
        if (_completion.Task.IsCompleted || _reactors.Length == 0)
            StopReactors();
        else
            Replication.HandOverAndStop(StopReactors);
    }

    /// <summary>Stops because the environment failed in a way that no client can be told; <see cref="Completion"/> carries it.</summary>
    internal void Fail(GarnetException failure)
    {
        if (Interlocked.CompareExchange(ref _failure, failure, null) is null)
            Log.Failed(failure.Message); // before what the stop says
        RequestStop();
    }

    /// <summary>A place for a new client, or false when <c>maxclients</c> is reached.</summary>
    internal bool TryAdmit()
    {
        if (Interlocked.Increment(ref _clients) <= Volatile.Read(ref _clientsMax))
            return true;
        Interlocked.Decrement(ref _clients);
        return false;
    }

    /// <summary>Takes over <c>maxclients</c>, as far as the limit of open files allows; false if it does not allow all of them.</summary>
    internal bool FitClients()
    {
        long fits = OpenFiles.ClientsFor(Settings.Network.ClientsMax);
        Volatile.Write(ref _clientsMax, fits);
        return fits == Settings.Network.ClientsMax;
    }

    /// <summary>The reactor with the fewest connections.</summary>
    internal Reactor LeastLoaded()
    {
        Reactor best = _reactors[0];
        foreach (Reactor reactor in _reactors)
        {
            if (reactor.ConnectionCount < best.ConnectionCount)
                best = reactor;
        }

        return best;
    }

    /// <summary>The next client id.</summary>
    internal long NextClientId() => Interlocked.Increment(ref _lastClientId);

    /// <summary>The script or function that runs now; null if none does. From any thread.</summary>
    internal Running? RunningScript()
    {
        foreach (Reactor reactor in _reactors)
        {
            if (reactor.Scripts.Running is { } running)
                return running;
        }

        return null;
    }

    /// <summary>True if the script has run for longer than others should wait without a word.</summary>
    internal bool IsBusyWith(Running running) => Settings.Scripts.BusyMilliseconds is > 0 and var limit && Clock.MonotonicUs - running.BeganUs > limit * 1000;

    /// <summary>A connection has gone.</summary>
    internal void ConnectionClosed() => Interlocked.Decrement(ref _clients);

    /// <summary>Takes a closing client out of everything shared; on its reactor's thread.</summary>
    internal void Forget(Connection client)
    {
        Channels.Forget(client);
        Monitors.Remove(client);
        Tracker.Disable(client);
        TransactionRun.End(client);
    }

    /// <summary>All clients of all reactors.</summary>
    internal List<Connection> Clients()
    {
        var clients = new List<Connection>(ClientCount);
        foreach (Reactor reactor in _reactors)
            reactor.Slots.CopyTo(clients);
        return clients;
    }

    /// <summary>True if the client has been idle too long, or has not authenticated in time.</summary>
    internal bool IsOverdue(Connection client, long nowMs)
    {
        if ((client.Gate & Gate.Unauthenticated) != 0 && nowMs - client.CreatedMs > UnauthenticatedIdleMs && client.Pending.Count + (client.Big?.Count ?? 0) > 0)
            return true;
        int timeout = Settings.Network.TimeoutSeconds;
        bool exempt = client.Parked || (client.Gate & Gate.Monitor) != 0 || client.Subscriptions is { Count: > 0 };
        return timeout > 0 && !exempt && nowMs - client.ActiveMs > timeout * 1000L;
    }

    /// <summary>Hard limit, soft limit (bytes) and time over the soft limit (ms) for the client's unsent replies; 0 = none.</summary>
    internal (long Hard, long Soft, long SoftMs) OutputLimit(Connection client)
    {
        OutputBufferLimits limits = Settings.Network.OutputBufferLimits;
        // MONITOR counts as a subscription: Redis leaves it without a limit, and a slow one then takes all memory.
        bool listens = client.Subscriptions is { Count: > 0 } || (client.Gate & Gate.Monitor) != 0;
        BufferLimit limit = listens ? limits.PubSub : limits.Normal;
        return (limit.HardBytes, limit.SoftBytes, limit.SoftSeconds * 1000L);
    }

    /// <summary>True if the client may use a protected command; else the error to answer.</summary>
    internal bool AllowsProtected(Connection client, CommandSpec spec, out string refusal)
    {
        bool module = spec.Name.StartsWith("MODULE", StringComparison.Ordinal);
        AccessScope scope = module ? Settings.Security.ModuleCommand : Settings.Security.DebugCommand;
        string option = module ? "enable-module-command" : "enable-debug-command";
        string name = module ? "MODULE" : "DEBUG";
        refusal = $"ERR {name} command not allowed. If the {option} option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.";
        return scope == AccessScope.Yes || (scope == AccessScope.Local && client.Peer.IsLoopback);
    }

    // Those that other rooms keep something derived from, they ask for themselves.
    private void TakeLiveSettings()
    {
        ReadOnlySpan<string> read = ["proto-max-bulk-len", "client-query-buffer-limit", "client-output-buffer-limit", "requirepass", "timeout", "maxmemory-clients", "slowlog-log-slower-than", "commandlog-request-larger-than", "commandlog-reply-larger-than", "latency-monitor-threshold"];
        foreach (string name in read)
            Table.OnSet(name, ApplySettings);
        Table.OnSet("maxclients", () => FitClients() ? null : "the limit of open files (ulimit -n) does not allow so many clients");
        Table.OnSet("maxmemory", () =>
        {
            MemoryLimitBytes = MemoryPlan.LimitBytes(Settings.Memory.MaxMemoryBytes);
            Replication.TakeMemorySettings();
        });
        Table.OnSet("slowlog-max-len", Slowlog.Trim);
        Table.OnSet("commandlog-large-request-max-len", LargeRequests.Trim);
        Table.OnSet("commandlog-large-reply-max-len", LargeReplies.Trim);
        Table.OnSet("notify-keyspace-events", Changes.Listen);
    }

    /// <summary>Takes over settings that are read on hot paths; called at the start and after CONFIG SET.</summary>
    internal void ApplySettings()
    {
        Limits = new RespLimits { ArgsMax = RespLimits.DefaultArgsMax, BulkBytesMax = Settings.Network.BulkBytesMax };
        QueryBufferLimit = Settings.Network.QueryBufferBytesMax;
        long soft = Settings.Network.OutputBufferLimits.Normal.SoftBytes;
        StallBytes = (int)Math.Min(soft > 0 ? soft : DefaultStallBytes, int.MaxValue / 2);
        PasswordRequired = Settings.Security.Password.Length > 0;
        HasIdleLimit = PasswordRequired || Settings.Network.TimeoutSeconds > 0 || Settings.Memory.ClientsShare != MemoryShare.None;
        foreach (Reactor reactor in _reactors)
            reactor.Nudge(); // one that waits without end does not know the new idle limit
        InspectSettings inspect = Settings.Inspect;
        MeasuresReplies = inspect.ReplyLargerThanBytes is >= 0 and < Reactor.SendEarlyBytes;
        _measuresAll = MeasuresReplies | inspect.RequestLargerThanBytes is >= 0 and < Reactor.PlainRequestBytesMax
            || inspect.SlowerThanMicroseconds is >= 0 and < 1000 || inspect.LatencyMonitorMilliseconds > 0;
    }

    private void StopReactors()
    {
        _acceptor?.Stop();
        foreach (Reactor reactor in _reactors)
            reactor.Stop();
        if (_reactors.Length == 0)
            Complete();
    }

    private void Complete()
    {
        if (Volatile.Read(ref _failure) is { } failure)
            _completion.TrySetException(failure);
        else
            _completion.TrySetResult();
    }

    private bool UsesEpoll()
    {
        bool possible = OperatingSystem.IsLinux();
        if (Settings.Network.Transport == TransportKind.Epoll && !possible)
            throw new GarnetException(ExitKind.Configuration, "transport epoll", "epoll exists on Linux only", "Use --transport auto");
        return possible && Settings.Network.Transport != TransportKind.Sockets;
    }

    private void StartThread(string name, Action body)
    {
        Thread thread = BackgroundThread.Of(name, body, Fail);
        _threads.Add(thread);
        thread.Start();
    }

    private void RunReactor(Reactor reactor)
    {
        try
        {
            reactor.Run();
        }
        catch (Exception e) // the background role's home: a reactor that fails would leave its clients hanging
        {
            Log.ReactorFailed(e, reactor.Index);
            Environment.FailFast($"reactor {reactor.Index} failed: {e}");
        }

        if (Interlocked.Decrement(ref _reactorsRunning) == 0)
        {
            Replication.Stop();
            Keeper?.Stop();
            Log.Stopped();
            Complete();
        }
    }
}

using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Media;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Net;
using Garnet.Server.Persistence;
using Garnet.Server.Replication;
using Garnet.Server.Telemetry;
using Garnet.Server.Tiering;
using Garnet.Server.Tls;
using Garnet.Types.Soundness;
using Microsoft.Extensions.Logging;
using Tsavorite;

namespace Garnet.Server;

/// <summary>
/// One server: makes the store, what stands around it (<see cref="ServerContext"/>) and the reactors, starts them and stops them. Several may
/// live in one process; nothing here is static.
/// </summary>
public sealed class RespServer : IDisposable
{
    private const int ListenersMs = 1000; // they end at once, unless their core has no time for them

    private readonly LayeredMedium? _tier;
    private readonly TaskCompletionSource _stopRequested = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile Thread[] _listeners = [];
    private Reactor[] _reactors = [];
    private Listening? _listening;
    private GarnetException? _failure;
    private int _reactorsRunning, _stopRequests, _disposals;

    /// <summary>
    /// Makes a server: its data directory is opened, and kept from others, its tier made, its memory reserved. Nothing is loaded, no address opened and no thread of it serves
    /// before <see cref="Start"/>.
    /// </summary>
    /// <exception cref="GarnetException">One of these cannot be had; nothing stays open.</exception>
    public RespServer(ServerSettings settings, SettingTable table, ILogger logger, CommandsAhead? commands = null)
        : this(settings, table, logger, new GivenParts { Commands = commands })
    {
    }

    internal RespServer(ServerSettings settings, SettingTable table, ILogger logger, GivenParts given)
    {
        var lines = new ServerLog(logger);
        IClock clock = given.Clock;
        CommandTable commands = given.Commands?.Take() ?? new CommandTable(CommandFamilies.Register);
        ServerRights rights = ConfiguredUsers.Judge(settings, table, lines, commands); // before anything is opened
        long memoryLimitBytes = MemoryPlan.LimitBytes(settings.Memory.MaxMemoryBytes, settings.HasTier);
        var backlog = new Backlog();
        DataKeeper? keeper = null;
        TlsKeys? tls = null;
        Store store;
        try
        {
            tls = new TlsKeys(settings, table, clock, lines); // before anything is opened
            Aof.DataDirectory? directory = given.Directory ?? DirectoryChoice.Open(settings.Persistence, table, lines);
            keeper = directory is null ? null : new DataKeeper(directory, settings.Persistence, clock, lines, backlog);
            _tier = TierMedium.Open(settings.Tier, directory, memoryLimitBytes);
            store = NewStore(settings, memoryLimitBytes, keeper, given, lines);
        }
        catch
        {
            _tier?.Dispose();
            keeper?.Dispose();
            commands.Dispose();
            tls?.Dispose();
            throw;
        }

        var core = new ServerCore
        {
            Settings = settings, Table = table, Log = lines, Clock = clock, Store = store, Tls = tls,
            Fail = Fail, RequestStop = RequestStop, MemoryLimitBytes = memoryLimitBytes, StartedUnixMs = clock.UnixMs,
        };
        if (keeper is not null && _tier is { } tier)
            keeper.Settled = () => TierMedium.Settle(tier, settings.Tier, keeper.Files);
        Context = new ServerContext(core, commands, rights, keeper, backlog, CommandFamilies.Replay)
        {
            Connections = () => _listening?.Connections ?? default,
            Hooks = OwnRules.Of(core),
        };
        Telemetry = new ServerTelemetry(Context);
    }

    private Store NewStore(
        ServerSettings settings, long memoryLimitBytes, DataKeeper? keeper, GivenParts given, ServerLog lines) =>
        new(new StoreSettings
        {
            Tier = _tier,
            TierId = _tier?.Id ?? default,
            IndexBuckets = (int)(_tier?.Note ?? 0),
            TierObserver = TierMedium.ToldTo(lines),
            TierSessions = ReactorsOf(settings.Network),
            ProcessBytesMax = MemoryPlan.AvailableBytes(),
            ResidentBytes = MemoryPlan.ResidentBytes,
            MonotonicUs = () => given.Clock.MonotonicUs,
            MemoryLimitBytes = memoryLimitBytes,
            Policy = settings.Memory.Policy,
            Log = keeper?.Counter ?? given.Log,
            ValueCheck = ValueCheck.Instance,
            HashSeed = keeper?.HashSeed ?? 0,
            Partitions = keeper?.Partitions ?? 0,
            TellsBatches = settings.Persistence.DurableReads && keeper is { HasLog: true },
        });

    /// <summary>The machineries.</summary>
    internal ServerContext Context { get; }

    /// <summary>What it tells of itself to who is no client.</summary>
    public ServerTelemetry Telemetry { get; }

    /// <summary>The settings in force.</summary>
    public ServerSettings Settings => Context.Settings;

    /// <summary>The table over <see cref="Settings"/>.</summary>
    public SettingTable Table => Context.Core.Table;

    /// <summary>The memory limit in force, bytes.</summary>
    public long MemoryLimitBytes => Context.MemoryLimitBytes;

    /// <summary>Writes the settings in force to the configuration file the server was started with, for CONFIG REWRITE; returns the reason if it cannot. Null without a file.</summary>
    public Func<string?>? RewriteConfiguration
    {
        get => Context.RewriteConfiguration;
        set => Context.RewriteConfiguration = value;
    }

    /// <summary>The configuration file the server was started with; null without one.</summary>
    public string? ConfigurationFile
    {
        get => Context.ConfigurationFile;
        set => Context.ConfigurationFile = value;
    }

    /// <summary>False if SHUTDOWN is refused, as the server is a part of a process that has other work.</summary>
    public bool AllowsShutdown
    {
        get => Context.AllowsShutdown;
        init => Context.AllowsShutdown = value;
    }

    /// <summary>True if anybody who reaches a port of it from another machine may do everything.</summary>
    public bool IsOpenToNetwork => Context.ClientLimits.IsOpenToNetwork;

    /// <summary>True if a new connection must say who it is.</summary>
    public bool NeedsPassword => Context.ClientLimits.PasswordRequired;

    /// <summary>The users as a configuration file has them, word by word; null if none but the default one was ever spoken of, or a file of their own has them.</summary>
    public IReadOnlyList<IReadOnlyList<string>>? UserLines => Context.Rights.Lines();

    /// <summary>What of it an empty server takes.</summary>
    public long FixedMemoryBytes => Context.Store.Figures().FixedBytes;

    /// <summary>What keeps the append-only file from being written now; null: nothing, or there is none.</summary>
    public string? LogTrouble => Keeper?.Trouble;

    /// <summary>True if the system granted 2 MiB pages.</summary>
    public bool HugePages => Context.Store.Figures().HugePages;

    /// <summary>What is to be said of the tier, and which of it is a warning; nothing without one.</summary>
    public IReadOnlyList<(bool IsWarning, string Text)> TierPlan => TierMedium.PlanOf(_tier, Settings.Tier);

    /// <summary>What is to be said of persistent memory under the log, and which of it is a warning; nothing without.</summary>
    public IReadOnlyList<(bool IsWarning, string Text)> LogMemoryPlan => Context.Keeper?.MemoryPlan ?? [];

    /// <summary>The TCP port in use; 0 if none.</summary>
    public int Port => Context.Core.Port;

    /// <summary>The port for encrypted connections; 0 if none.</summary>
    public int TlsPort => Context.Core.TlsPort;

    /// <summary>What is listened on, for people.</summary>
    public IReadOnlyList<string> Addresses => _listening?.Addresses ?? [];

    /// <summary>The directory the data is kept in; null if it is in memory only.</summary>
    public string? DataDirectory => Context.Keeper?.Directory;

    /// <summary>Ends when the data is loaded and commands are served; at once without a data directory.</summary>
    public Task Loaded => Context.Keeper?.Loaded ?? Task.CompletedTask;

    /// <summary>Ends when the server has stopped, by <see cref="Stop"/> or by a client's SHUTDOWN.</summary>
    public Task Completion => _completion.Task;

    /// <summary>Ends when somebody has asked for a stop: <see cref="Stop"/>, SHUTDOWN, or a failure.</summary>
    public Task StopRequested => _stopRequested.Task;

    /// <summary>True if what was acknowledged is in a log, whenever the process ends.</summary>
    public bool HasLog => Keeper is { HasLog: true };

    /// <summary>True if the stop takes a last snapshot, without which all since the one before would be lost.</summary>
    public bool SavesAtStop => Keeper is { HasLog: false, SavesAtStop: true };

    /// <summary>True while threads serve clients, also after a stop was asked for.</summary>
    public bool IsServing => Volatile.Read(ref _reactorsRunning) != 0;

    internal Store Store => Context.Store;
    internal CommandTable Commands => Context.Commands;
    internal DataKeeper? Keeper => Context.Keeper;
    internal IClock Clock => Context.Clock;
    internal ReplicationNode Replication => Context.Replication;
    internal WriteRefusals Refusals => Context.Refusals;
    internal IReadOnlyList<Reactor> Reactors => _reactors;

    private static int ReactorsOf(NetworkSettings settings) =>
        settings.ReactorThreads > 0 ? settings.ReactorThreads : Environment.ProcessorCount;

    /// <summary>Opens the addresses and starts serving. Throws <see cref="GarnetException"/> when it cannot.</summary>
    public void Start()
    {
        int count = ReactorsOf(Settings.Network);
        _listening = new Listening(Context.Core, Context.ClientLimits);
        var reactors = new Reactor[count];
        for (int i = 0; i < count; i++)
            reactors[i] = new Reactor(Context, i, _listening.NewTransport(), CommandFamilies.OnWorkers);
        try
        {
            _listening.Open();
        }
        catch (GarnetException)
        {
            foreach (Reactor reactor in reactors)
                reactor.Dispose();
            throw;
        }

        Context.ClientLimits.FitOrSay(Context.Log);
        _reactors = reactors;
        Context.Core.Begin(reactors);
        _reactorsRunning = count;
        foreach (Reactor reactor in reactors)
            BackgroundThread.Begin($"reactor {reactor.Index}", () => RunReactor(reactor), Fail);
        if (Keeper is null)
            Replication.BeginInMemory();
        Keeper?.Begin(Context.Core, Replication.ForKeeper, CommandFamilies.Replay);
        Context.Backups.Begin();
        List<Thread> listeners = []; // no query: a start does without System.Linq
        foreach ((string name, Action work) in _listening.Threads)
            listeners.Add(BackgroundThread.Begin(name, work, Fail));
        _listeners = [.. listeners];
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
        Telemetry.Close();
        foreach (Reactor reactor in _reactors)
            reactor.Dispose();
        _listening?.Dispose();
        Context.Dispose();
        Context.Core.Tls.Dispose();
        if (Store.IsHeldByTier)
            Context.Log.TierLeft();
        else
            _tier?.Dispose();
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
            Context.Log.Failed(failure.Message); // before what the stop says
        RequestStop();
    }

    private void StopReactors()
    {
        _listening?.Stop();
        foreach (Thread thread in _listeners) // reactors end behind it: else nobody would close what it accepts last
        {
            if (thread != Thread.CurrentThread)
                thread.Join(ListenersMs);
        }

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

    private void RunReactor(Reactor reactor)
    {
        try
        {
            reactor.Run();
        }
        catch (Exception e) // the background role's home: a reactor that fails would leave its clients hanging
        {
            Context.Log.ReactorFailed(e, reactor.Index);
            Environment.FailFast($"reactor {reactor.Index} failed: {e}");
        }

        if (Interlocked.Decrement(ref _reactorsRunning) == 0)
        {
            Context.Backups.Stop();
            Replication.Stop();
            Keeper?.Stop();
            Context.Log.Stopped();
            Complete();
        }
    }
}

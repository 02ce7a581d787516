using System.Diagnostics.CodeAnalysis;
using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Expiry;
using Garnet.Server.Inspect;
using Garnet.Server.Persistence;
using Garnet.Server.PubSub;
using Garnet.Server.Replication;
using Garnet.Server.Scripting;
using Garnet.Server.Sessions;
using Garnet.Server.Tracking;
using Garnet.Server.Transactions;
using Tsavorite;

namespace Garnet.Server.Commands;

/// <summary>
/// The server as commands see it: its machineries, each by its name, and what clients are let do. It has no threads, opens nothing and
/// neither starts nor stops: that is <see cref="RespServer"/>.
/// </summary>
internal sealed class ServerContext : ServerCore, IDisposable
{
    /// <summary>Bytes of replies an unauthenticated client may leave unread before it is closed (CVE-2025-21605).</summary>
    internal const int UnauthenticatedOutputBytesMax = 64 * 1024;

    /// <summary>Unsent replies beyond which a client without a class limit is no longer served until it reads: 256 MiB.</summary>
    private const int DefaultStallBytes = 256 << 20;

    private const long UnauthenticatedIdleMs = 10_000;

    private long _lastClientId;
    private int _clients;
    private long _clientsMax;
    private volatile bool _measuresAll;

    [SetsRequiredMembers]
    internal ServerContext(ServerCore core, CommandTable commands, DataKeeper? keeper, Backlog backlog, Func<ReplayTable> replay)
    {
        (Settings, Table, Log, Clock, Store, Fail, RequestStop, MemoryLimitBytes, StartedUnixMs) = (core.Settings, core.Table, core.Log, core.Clock, core.Store, core.Fail, core.RequestStop, core.MemoryLimitBytes, core.StartedUnixMs);
        Commands = commands;
        Keeper = keeper;
        Replication = new ReplicationNode(this, keeper, backlog, replay);
        var listeners = new KeyListeners();
        Listeners = listeners;
        Tracker = new Tracker(this, listeners.Trackers);
        Watches = new WatchTable(this, listeners.Watchers);
        Waits = new WaitTable(Store, listeners.Waiters);
        Events = new KeyEvents(this, Channels);
        Changes = new KeyChanges(this, listeners, Watches, Waits, Tracker, Events);
        ScriptTurns = new ScriptTurns(this);
        Func<bool> removes = () => Keeper is not { Loaded.IsCompleted: false } && !Replication.IsReplica;
        EntryReaper = new EntryReaper(this, keeper is not null, removes, Changes, Tracker);
        InspectSettings inspect = Settings.Inspect;
        Slowlog = new CommandLog(() => inspect.SlowerThanMicroseconds, () => inspect.SlowEntriesMax);
        LargeRequests = new CommandLog(() => inspect.RequestLargerThanBytes, () => inspect.LargeRequestsMax);
        LargeReplies = new CommandLog(() => inspect.ReplyLargerThanBytes, () => inspect.LargeRepliesMax);
        Replication.DataReplaced += Tracker.Flushed;
        Replication.Deciding += EntryReaper.Wake;
        Statistics = new Statistics(this, commands.Specs.Count, () => Connections(), Replication);
        Latency = new LatencyMonitor(inspect);
        Refusals = new WriteRefusals(this, keeper, Replication.Access);
        ApplySettings();
        Changes.Listen();
        Store.Namespaces.MayChange = () => Changes.ThreadsWorker is not { } worker || ScriptTurns.IsHeldBy(worker);
        TakeLiveSettings();
    }

    internal CommandTable Commands { get; }

    /// <summary>What keeps the data on disk; null without a data directory.</summary>
    internal DataKeeper? Keeper { get; }

    /// <summary>The place of this server among others.</summary>
    internal ReplicationNode Replication { get; }

    /// <summary>Replies may acknowledge changes up to this batch.</summary>
    internal ulong Kept => Keeper?.Kept ?? ulong.MaxValue;
    internal ClientPause Pause { get; } = new();
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

    /// <summary>Who wants to be told of changes of keys.</summary>
    internal KeyListeners Listeners { get; }
    internal KeyChanges Changes { get; }
    internal Tracker Tracker { get; }
    internal WatchTable Watches { get; }
    internal WaitTable Waits { get; }
    internal ScriptCache Scripts { get; } = new();

    /// <summary>Turns of reactors and scripts.</summary>
    internal ScriptTurns ScriptTurns { get; }
    internal EntryReaper EntryReaper { get; }
    internal KeyEvents Events { get; }
    internal RespLimits Limits { get; private set; }
    internal long QueryBufferLimit { get; private set; }
    internal int StallBytes { get; private set; }
    internal bool PasswordRequired { get; private set; }
    internal bool HasIdleLimit { get; private set; }

    /// <summary>Writes the settings in force to the configuration file the server was started with; returns the reason if it cannot. Null without a file.</summary>
    internal Func<string?>? RewriteConfiguration { get; set; }

    /// <summary>The configuration file the server was started with; null without one.</summary>
    internal string? ConfigurationFile { get; set; }

    /// <summary>False if SHUTDOWN is refused.</summary>
    internal bool AllowsShutdown { get; set; } = true;

    /// <summary>Connections accepted and refused so far.</summary>
    internal Func<(long Received, long Rejected)> Connections { get; set; } = static () => default;

    /// <summary>Clients at most, as far as the limit of open files allows.</summary>
    internal long ClientsMax => Volatile.Read(ref _clientsMax);

    internal int ClientCount => Volatile.Read(ref _clients);

    /// <summary>Who else is asked before a command runs.</summary>
    internal AdmissionHooks Hooks { get; set; } = new();

    /// <summary>True if all commands are put to the rules of Admission: somebody is asked or watches, a pause is on, or every command is timed or measured.</summary>
    internal bool AsksRules => Monitors.Any | Pause.Active | Changes.PerCommand | _measuresAll || Keeper is { Blocks: true } || Hooks.Any;

    /// <summary>True while something must be looked at every tick although no command arrives.</summary>
    internal bool NeedsTicks => Pause.Active || EntryReaper.IsActive;

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

    /// <summary>The worker with the fewest connections.</summary>
    internal Worker LeastLoaded()
    {
        Worker best = Workers[0];
        foreach (Worker worker in Workers)
        {
            if (worker.ConnectionCount < best.ConnectionCount)
                best = worker;
        }

        return best;
    }

    /// <summary>The next client id.</summary>
    internal long NextClientId() => Interlocked.Increment(ref _lastClientId);

    /// <summary>A connection has gone.</summary>
    internal void ConnectionClosed() => Interlocked.Decrement(ref _clients);

    /// <summary>Takes a closing client out of everything shared; on its reactor's thread.</summary>
    internal void Forget(Connection client)
    {
        Channels.Forget(client);
        Monitors.Remove(client);
        Tracker.Disable(client);
        Watches.EndTransaction(client);
    }

    /// <summary>All clients of all reactors.</summary>
    internal List<Connection> Clients()
    {
        var clients = new List<Connection>(ClientCount);
        foreach (Worker worker in Workers)
            worker.Slots.CopyTo(clients);
        return clients;
    }

    /// <summary>True if the client has been idle too long, or has not authenticated in time.</summary>
    internal bool IsOverdue(Connection client, long nowMs)
    {
        if ((client.Modes & ClientModes.Unauthenticated) != 0 && nowMs - client.CreatedMs > UnauthenticatedIdleMs && client.Pending.Count + (client.Big?.Count ?? 0) > 0)
            return true;
        int timeout = Settings.Network.TimeoutSeconds;
        bool exempt = client.Parked || (client.Modes & ClientModes.Monitor) != 0 || client.Subscriptions is { Count: > 0 };
        return timeout > 0 && !exempt && nowMs - client.ActiveMs > timeout * 1000L;
    }

    /// <summary>Hard limit, soft limit (bytes) and time over the soft limit (ms) for the client's unsent replies; 0 = none.</summary>
    internal (long Hard, long Soft, long SoftMs) OutputLimit(Connection client)
    {
        OutputBufferLimits limits = Settings.Network.OutputBufferLimits;
        // MONITOR counts as a subscription: Redis leaves it without a limit, and a slow one then takes all memory.
        bool listens = client.Subscriptions is { Count: > 0 } || (client.Modes & ClientModes.Monitor) != 0;
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
        Table.OnSet("tier-promotion", TakePromotion);
        Table.OnSet("slowlog-max-len", Slowlog.Trim);
        TakePromotion();
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
        foreach (Worker worker in Workers)
            worker.Nudge(); // one that waits without end does not know the new idle limit
        InspectSettings inspect = Settings.Inspect;
        MeasuresReplies = inspect.ReplyLargerThanBytes is >= 0 and < Worker.SendEarlyBytes;
        _measuresAll = MeasuresReplies | inspect.RequestLargerThanBytes is >= 0 and < Worker.PlainRequestBytesMax
            || inspect.SlowerThanMicroseconds is >= 0 and < 1000 || inspect.LatencyMonitorMilliseconds > 0;
    }

    private void TakePromotion() => Store.Promotion = Settings.Tier.Promotion;

    /// <inheritdoc/>
    public void Dispose()
    {
        Refusals.Dispose();
        Replication.Dispose();
        Keeper?.Dispose();
        Store.Dispose();
        Commands.Dispose();
        ScriptTurns.Dispose();
    }
}

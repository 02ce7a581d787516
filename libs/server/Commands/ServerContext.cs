using Garnet.Aof.Shipping;
using Garnet.Common.Time;
using Garnet.Server.Backups;
using Garnet.Server.Base;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Expiry;
using Garnet.Server.Inspect;
using Garnet.Server.Persistence;
using Garnet.Server.PubSub;
using Garnet.Server.Replication;
using Garnet.Server.Scripting;
using Garnet.Server.Sessions;
using Garnet.Server.Tiering;
using Garnet.Server.Tracking;
using Garnet.Server.Transactions;
using Tsavorite;

namespace Garnet.Server.Commands;

/// <summary>
/// The server as commands see it: its machineries, each by its name, and what clients are let do. It has no threads, opens nothing and
/// neither starts nor stops: that is <see cref="RespServer"/>.
/// </summary>
internal sealed class ServerContext : IDisposable
{
    internal ServerContext(
        ServerCore core, CommandTable commands, ServerRights rights, DataKeeper? keeper, Backlog backlog, Func<ReplayTable> replay)
    {
        Core = core;
        (Settings, Log, Clock, Store) = (core.Settings, core.Log, core.Clock, core.Store);
        Bulk = new BulkSessions(core.Settings.Bulk, core.Log);
        Commands = commands;
        Rights = rights;
        ClientLimits = new ClientLimits(Settings, Rights.Users, core.Table, Workers.NudgeAll);
        Keeper = keeper;
        Replication = new ReplicationNode(core, keeper, backlog, replay);
        Backups = new BackupJob(core, keeper, Replication.ForCopies);
        Observers = new Observers(core);
        ScriptTurns = new ScriptTurns(() => Workers.Turns, () => Workers.HasBusyScript(Settings.Scripts, Clock));
        Func<bool> removes = () => Keeper is not { Loaded.IsCompleted: false } && !Replication.IsReplica;
        EntryReaper = new EntryReaper(Store, Settings.Memory, keeper is not null, removes, Observers.Changes, Observers.Tracker)
        {
            WakeWorker = Workers.NudgeFirst,
        };
        Replication.DataReplaced += Observers.Flushed;
        Replication.Deciding += EntryReaper.Wake;
        Monitoring = new Monitoring(core, commands.Specs.Count, () => Connections(), Replication.Traffic);
        Refusals = new WriteRefusals(Store, Settings, Log, keeper, Replication.Access, () => core.MemoryLimitBytes);
        Store.Namespaces.MayChange = () => Observers.ThreadsWorker is not { } worker || ScriptTurns.IsHeldBy(worker);
        TierLimits.Follow(Store, Settings.Tier, core.Table);
    }

    /// <summary>What was there before any machinery.</summary>
    internal ServerCore Core { get; }

    /// <summary>The settings in force.</summary>
    internal ServerSettings Settings { get; }

    internal ServerLog Log { get; }
    internal IClock Clock { get; }
    internal Store Store { get; }

    /// <summary>The memory limit in force, bytes.</summary>
    internal long MemoryLimitBytes => Core.MemoryLimitBytes;

    /// <summary>The threads that run commands.</summary>
    internal WorkerSet Workers => Core.Workers;

    /// <summary>Clients whose values go beside their connections.</summary>
    internal BulkSessions Bulk { get; }
    internal CommandTable Commands { get; }

    /// <summary>What keeps the data on disk; null without a data directory.</summary>
    internal DataKeeper? Keeper { get; }

    /// <summary>The place of this server among others.</summary>
    internal ReplicationNode Replication { get; }

    /// <summary>All data in a file, now and then.</summary>
    internal BackupJob Backups { get; }

    /// <summary>Replies may acknowledge changes up to this batch.</summary>
    internal ulong Kept => Keeper?.Kept ?? ulong.MaxValue;

    /// <summary>Who may do what.</summary>
    internal ServerRights Rights { get; }

    /// <summary>What clients may have.</summary>
    internal ClientLimits ClientLimits { get; }

    /// <summary>Who is told of changes.</summary>
    internal Observers Observers { get; }

    /// <summary>Who looks at the commands that run.</summary>
    internal Monitoring Monitoring { get; }
    internal ClientPause Pause { get; } = new();
    /// <summary>Why writes are refused, for operators.</summary>
    internal WriteRefusals Refusals { get; }
    internal ScriptCache Scripts { get; } = new();

    /// <summary>Turns of reactors and scripts.</summary>
    internal ScriptTurns ScriptTurns { get; }
    internal EntryReaper EntryReaper { get; }
    /// <summary>Writes the settings in force to the configuration file the server was started with; returns the reason if it cannot. Null without a file.</summary>
    internal Func<string?>? RewriteConfiguration { get; set; }

    /// <summary>The configuration file the server was started with; null without one.</summary>
    internal string? ConfigurationFile { get; set; }

    /// <summary>False if SHUTDOWN is refused.</summary>
    internal bool AllowsShutdown { get; set; } = true;

    /// <summary>Connections accepted and refused so far.</summary>
    internal Func<(long Received, long Rejected)> Connections { get; set; } = static () => default;

    /// <summary>Who else is asked before a command runs.</summary>
    internal AdmissionHooks Hooks { get; set; } = new();

    /// <summary>True if all commands are put to the rules of Admission: somebody is asked or watches, a pause is on, or every command is timed or measured.</summary>
    internal bool AsksRules =>
        Monitoring.WatchesAll | Pause.Active | Observers.PerCommand || Keeper is { Blocks: true } || Hooks.Any;

    /// <summary>True while something must be looked at every tick although no command arrives.</summary>
    internal bool NeedsTicks => Pause.Active || EntryReaper.IsActive;

    /// <summary>Takes a closing client out of everything shared; on its reactor's thread.</summary>
    internal void Forget(Connection client)
    {
        client.EndBegun();
        client.LeaveBulk("its connection has gone");
        Observers.Forget(client);
        Monitoring.Forget(client);
    }

    /// <summary>All clients of all reactors.</summary>
    internal List<Connection> Clients() => Workers.Clients(ClientLimits.ClientCount);

    /// <inheritdoc/>
    public void Dispose()
    {
        bool isAtRest = Bulk.TryClose();
        Monitoring.Dispose();
        Backups.Dispose();
        Refusals.Dispose();
        Replication.Dispose();
        Keeper?.Dispose();
        if (isAtRest)
            Store.Dispose(); // else a transfer that nothing could end may still come to its memory
        Commands.Dispose();
        ScriptTurns.Dispose();
    }
}

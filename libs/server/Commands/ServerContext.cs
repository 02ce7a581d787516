using System.Diagnostics.CodeAnalysis;
using Garnet.Aof.Shipping;
using Garnet.Server.Blocking;
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
internal sealed class ServerContext : ServerCore, IDisposable
{
    [SetsRequiredMembers]
    internal ServerContext(
        ServerCore core, CommandTable commands, ServerRights rights, DataKeeper? keeper, Backlog backlog, Func<ReplayTable> replay)
        : base(core)
    {
        Commands = commands;
        Rights = rights;
        ClientLimits = new ClientLimits(Settings, Rights.Users, Table, NudgeAll);
        Keeper = keeper;
        Replication = new ReplicationNode(this, keeper, backlog, replay);
        Observers = new Observers(this);
        ScriptTurns = new ScriptTurns(() => Workers.Select(static worker => worker.Turn), () => RunningScript() is { } running && IsBusyWith(running));
        Func<bool> removes = () => Keeper is not { Loaded.IsCompleted: false } && !Replication.IsReplica;
        EntryReaper = new EntryReaper(Store, Settings.Memory.Databases, keeper is not null, removes, Observers.Changes, Observers.Tracker)
        {
            WakeWorker = () => Workers[0].Nudge(),
        };
        Replication.DataReplaced += Observers.Flushed;
        Replication.Deciding += EntryReaper.Wake;
        Monitoring = new Monitoring(this, commands.Specs.Count, () => Connections(), Replication);
        Refusals = new WriteRefusals(this, keeper, Replication.Access);
        Observers.Changes.Listen();
        Store.Namespaces.MayChange = () => Observers.Changes.ThreadsWorker is not { } worker || ScriptTurns.IsHeldBy(worker);
        TierLimits.Follow(Store, Settings.Tier, Table);
    }

    internal CommandTable Commands { get; }

    /// <summary>What keeps the data on disk; null without a data directory.</summary>
    internal DataKeeper? Keeper { get; }

    /// <summary>The place of this server among others.</summary>
    internal ReplicationNode Replication { get; }

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
        Monitoring.WatchesAll | Pause.Active | Observers.Changes.PerCommand || Keeper is { Blocks: true } || Hooks.Any;

    /// <summary>True while something must be looked at every tick although no command arrives.</summary>
    internal bool NeedsTicks => Pause.Active || EntryReaper.IsActive;

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

    /// <summary>Takes a closing client out of everything shared; on its reactor's thread.</summary>
    internal void Forget(Connection client)
    {
        client.EndBegun();
        client.LeaveBulk("its connection has gone");
        Observers.Forget(client);
        Monitoring.Forget(client);
    }

    /// <summary>All clients of all reactors.</summary>
    internal List<Connection> Clients()
    {
        var clients = new List<Connection>(ClientLimits.ClientCount);
        foreach (Worker worker in Workers)
            worker.CopyClientsTo(clients);
        return clients;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        bool isAtRest = TryCloseBulk();
        Monitoring.Dispose();
        Refusals.Dispose();
        Replication.Dispose();
        Keeper?.Dispose();
        if (isAtRest)
            Store.Dispose(); // else a transfer that nothing could end may still come to its memory
        Commands.Dispose();
        ScriptTurns.Dispose();
    }
}

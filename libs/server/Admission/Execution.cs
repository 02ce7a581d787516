using System.Runtime.CompilerServices;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>
/// What stands around the run of a command that was admitted: who reads and changes what, one state on a replica, timing, MONITOR, the slow
/// log, and the one place where calls, failures and refusals are counted.
/// </summary>
internal static unsafe class Execution
{
    /// <summary>Runs the command for all who want to know what it reads and changes.</summary>
    internal static Reply Run(ref Call call, CommandEntry* entry)
    {
        ServerContext server = call.Server;
        if ((call.Client.Modes & ClientModes.Tracking) != 0)
            TrackedReads.BeforeRun(ref call, entry->Flags);
        if (!server.Observers.Changes.PerCommand)
            return RunPlaced(ref call, entry);
        CommandSpec spec = server.Commands.Specs[entry->Id];
        CommandEvents.BeforeRun(ref call, spec);
        Reply reply = RunPlaced(ref call, entry);
        CommandEvents.AfterRun(ref call, spec, reply == Reply.Failed);
        return reply;
    }

    /// <summary>Runs a short command that nobody wants to know about.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // DispatchBenchmark: on the path of every command
    internal static Reply RunPlain(ref Call call, CommandEntry* entry, int command)
    {
        Reply reply = entry->Run(ref call);
        CountCall(call.Worker, command);
        return reply;
    }

    /// <summary>Runs the command, timed, and shows it to MONITOR and the slow log.</summary>
    internal static Reply RunTimed(ref Call call, CommandEntry* entry)
    {
        ServerContext server = call.Server;
        long began = server.Clock.MonotonicUs, mark = call.Out.Mark;
        Reply reply = entry->Run(ref call);
        long took = server.Clock.MonotonicUs - began;
        if (server.Monitoring.HotKeys.Session is { IsActive: true } session && reply is not (Reply.Postponed or Reply.Parked))
            HotKeyCalls.Ran(ref call, entry->Id, session, took, Math.Max(0, call.Out.Mark - mark));
        if (server.Monitoring.Monitors.Any && reply != Reply.Postponed
            && (entry->Flags & (CommandFlags.SkipMonitor | CommandFlags.Admin)) == 0)
        {
            // After the run, as Redis does: SELECT shows its new database.
            server.Monitoring.Monitors.Feed(call.Client, call.Arguments, server.Clock.UnixUs);
        }

        if ((entry->Flags & CommandFlags.Admin) != 0)
            Audited.Ran(ref call, entry, reply);
        server.Monitoring.Latency.Consider(entry->Flags, took, call.NowMs);
        ReactorFigures figures = call.Worker.Figures;
        if (reply == Reply.Postponed)
        {
            figures.TimedUs[entry->Id] += took; // it runs again, and counts then
        }
        else
        {
            CountCall(call.Worker, entry->Id);
            figures.CountTimed(entry->Id, took);
        }

        if ((entry->Flags & CommandFlags.SkipSlowlog) == 0)
        {
            server.Monitoring.Slowlog.Consider(call.Client, call.Arguments, took);
            if (server.Monitoring.LargeRequests.Wants(long.MaxValue))
                server.Monitoring.LargeRequests.Consider(call.Client, call.Arguments, call.RequestBytes());
        }

        return reply;
    }

    /// <summary>Counts a run.</summary>
    internal static void CountCall(Executor worker, int command) => worker.Figures.Calls[command]++;

    /// <summary>Counts a command that has run and answered an error.</summary>
    internal static void CountFailure(Executor worker, int command) => worker.Figures.Failed[command]++;

    /// <summary>Counts a command that was not admitted.</summary>
    internal static void CountRefusal(Executor worker, int command) => worker.Figures.Rejected[command]++;

    // A read on a replica sees one state, a transaction or a script too.
    private static Reply RunPlaced(ref Call call, CommandEntry* entry) =>
        (entry->Flags & (CommandFlags.ReadOnly | CommandFlags.RunsQueue | CommandFlags.RunsScript)) != 0
            && call.Server.Replication.ReadsOneState
            ? ReplicaReads.RunConsistently(ref call, entry)
            : RunTimed(ref call, entry);
}

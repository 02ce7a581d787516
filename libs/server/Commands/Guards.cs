using Garnet.Server.Net;

namespace Garnet.Server.Commands;

/// <summary>
/// Everything that can stand between a command and its run, in the order Redis looks: arity, protected commands,
/// authentication, memory, subscribed state, pause. Not on the path of a plain command of a plain client.
/// </summary>
internal static unsafe class Guards
{
    /// <summary><see cref="Reply.Sent"/> if the command may run, else what was answered.</summary>
    internal static Reply Check(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        Server server = call.Server;
        if ((uint)(call.Count - entry->ArgsMin) > entry->ArgsSpan)
            return Refuse(ref call, entry, call.WrongArity());
        if ((entry->Flags & CommandFlags.Protected) != 0 && !server.AllowsProtected(client, call.Server.Commands.Specs[entry->Id], out string refusal))
            return Refuse(ref call, entry, call.FailText(refusal));
        if ((client.Gate & Gate.Unauthenticated) != 0 && (entry->Flags & CommandFlags.NoAuth) == 0)
            return Refuse(ref call, entry, call.Fail(Fault.NoAuth));
        if ((entry->Flags & CommandFlags.DenyOom) != 0 && server.Store.Tight && !call.Store.EnsureRoom(0))
            return Refuse(ref call, entry, call.Fail(Fault.OutOfMemory));
        if (server.Keeper is { Blocks: true } keeper && keeper.Refuses(ref call, entry->Flags, out Reply kept))
            return Refuse(ref call, entry, kept);
        if (server.Replication.Guards && server.Replication.Refuses(ref call, entry->Flags, out Reply placed))
            return Refuse(ref call, entry, placed);
        if ((client.Gate & Gate.Subscribed) != 0 && !client.Resp3 && (entry->Flags & CommandFlags.WhileSubscribed) == 0)
            return Refuse(ref call, entry, call.FailText(SubscribedText(ref call)));
        if (server.Pause.Holds(entry->Flags, call.NowMs))
        {
            call.Reactor.Park(client, new PausedCommand(server.Pause));
            return Reply.Postponed;
        }

        return Reply.Sent;
    }

    /// <summary>Runs the command; a read on a replica so that it sees one state.</summary>
    internal static Reply Run(ref Call call, CommandEntry* entry)
    {
        if ((entry->Flags & CommandFlags.ReadOnly) != 0 && call.Server.Replication.ChecksReads)
            return call.Server.Replication.RunConsistently(ref call, entry);
        return RunTimed(ref call, entry);
    }

    /// <summary>Runs the command, timed, and shows it to MONITOR and the slow log.</summary>
    internal static Reply RunTimed(ref Call call, CommandEntry* entry)
    {
        Server server = call.Server;
        long began = server.Clock.MonotonicUs;
        Reply reply = entry->Run(ref call);
        long took = server.Clock.MonotonicUs - began;
        if (server.Monitors.Any && reply != Reply.Postponed && (entry->Flags & (CommandFlags.SkipMonitor | CommandFlags.Admin)) == 0)
            server.Monitors.Feed(ref call); // after the run, as Redis does: SELECT shows its new database
        server.Latency.Consider(entry->Flags, took, call.NowMs);
        Inspect.ReactorFigures figures = call.Reactor.Figures;
        figures.Calls[entry->Id]++;
        figures.CountTimed(entry->Id, took);
        if ((entry->Flags & CommandFlags.SkipSlowlog) == 0)
        {
            server.Slowlog.Consider(ref call, took);
            if (server.LargeRequests.Wants(long.MaxValue))
                server.LargeRequests.Consider(ref call, call.RequestBytes());
        }

        return reply;
    }

    private static Reply Refuse(ref Call call, CommandEntry* entry, Reply reply)
    {
        if (reply != Reply.Postponed)
            call.Reactor.Figures.Rejected[entry->Id]++;
        return reply;
    }

    private static string SubscribedText(ref Call call)
    {
        string name = call.Server.Commands.Specs[call.Client.LastCommand].Name.ToLowerInvariant();
        return $"ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context";
    }
}

using Garnet.Common.Resp;
using Garnet.Server.Net;

namespace Garnet.Server.Commands;

/// <summary>
/// Everything that can stand between a command and its run, in the order Redis looks: arity, protected commands,
/// authentication, what may not be in a transaction, memory, subscribed state, pause. Not on the path of a plain command of a
/// plain client.
/// </summary>
internal static unsafe class Guards
{
    /// <summary>Runs the command, or keeps it for EXEC, unless something stands between.</summary>
    internal static Reply Run(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        nint before = (nint)(call.Out.Position - client.SegmentStart);
        Reply reply = Check(ref call, entry);
        bool transacts = (client.Gate & Gate.Transaction) != 0;
        if (reply == Reply.Failed && (transacts || (entry->Flags & CommandFlags.RunsQueue) != 0))
            return call.Reactor.Transactions.Refused(ref call, entry, client.SegmentStart + before);
        if (reply != Reply.Sent)
            return reply;
        if (transacts && (entry->Flags & CommandFlags.Immediate) == 0)
            return call.Reactor.Transactions.Enqueue(ref call, entry);
        reply = RunSeen(ref call, entry);
        if ((client.Gate & Gate.Tracking) != 0 && (client.Gate & Gate.Transaction) == 0) // CLIENT CACHING before a MULTI holds until its EXEC
            call.Server.Tracker.AfterRun(client);
        return reply;
    }

    /// <summary><see cref="Reply.Sent"/> if the command may run, else what was answered.</summary>
    private static Reply Check(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        Server server = call.Server;
        CommandFlags flags = FlagsOf(client, entry);
        bool queues = (client.Gate & Gate.Transaction) != 0 && (entry->Flags & CommandFlags.Immediate) == 0;
        if ((uint)(call.Count - entry->ArgsMin) > entry->ArgsSpan)
            return Refuse(ref call, entry, call.WrongArity());
        if ((entry->Flags & CommandFlags.Protected) != 0 && !server.AllowsProtected(client, call.Server.Commands.Specs[entry->Id], out string refusal))
            return Refuse(ref call, entry, call.FailText(refusal));
        if ((client.Gate & Gate.Unauthenticated) != 0 && (entry->Flags & CommandFlags.NoAuth) == 0)
            return Refuse(ref call, entry, call.Fail(Fault.NoAuth));
        if (queues && (flags & CommandFlags.NoMulti) != 0)
            return Refuse(ref call, entry, call.FailBytes("ERR Command not allowed inside a transaction"u8));
        if ((queues || (flags & CommandFlags.DenyOom) != 0) && server.Store.Tight && !call.Store.EnsureRoom(0))
            return Refuse(ref call, entry, call.FailBytes(server.Refusals.Noted(Inspect.RefusalCause.Memory)));
        if ((flags & CommandFlags.Write) != 0 && IsTooLongForLog(ref call, out long bytes))
            return Refuse(ref call, entry, call.FailText("ERR " + CommandFailures.TextOf(call.Store.TooLongStep(bytes))));
        if (server.Keeper is { Blocks: true } keeper && keeper.Refuses(ref call, flags, out Reply kept))
            return Refuse(ref call, entry, kept);
        if (server.Replication.Guards && server.Replication.Refuses(ref call, flags, out Reply placed))
            return Refuse(ref call, entry, placed);
        if ((client.Gate & Gate.Subscribed) != 0 && !client.Resp3 && (entry->Flags & CommandFlags.WhileSubscribed) == 0)
            return Refuse(ref call, entry, call.FailText(SubscribedText(ref call)));
        if (server.Pause.Holds(flags, call.NowMs))
        {
            call.Reactor.Park(client, new PausedCommand(server.Pause));
            return Reply.Postponed;
        }

        return Reply.Sent;
    }

    /// <summary>Runs the command for all who want to know what it reads and changes.</summary>
    internal static Reply RunSeen(ref Call call, CommandEntry* entry)
    {
        Server server = call.Server;
        if ((call.Client.Gate & Gate.Tracking) != 0)
            server.Tracker.BeforeRun(ref call, entry->Flags);
        if (!server.Changes.PerCommand)
            return RunPlaced(ref call, entry);
        CommandSpec spec = server.Commands.Specs[entry->Id];
        server.Changes.BeforeRun(ref call, spec);
        Reply reply = RunPlaced(ref call, entry);
        server.Changes.AfterRun(ref call, spec, reply == Reply.Failed);
        return reply;
    }

    // A read on a replica sees one state, a transaction or a script too.
    private static Reply RunPlaced(ref Call call, CommandEntry* entry) =>
        (entry->Flags & (CommandFlags.ReadOnly | CommandFlags.RunsQueue | CommandFlags.RunsScript)) != 0 && call.Server.Replication.ReadsOneState
            ? call.Server.Replication.RunConsistently(ref call, entry)
            : RunTimed(ref call, entry);

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

    // Commands of several keys change one after the other: what the log would not take as a whole is refused before the first. Short requests
    // are not counted.
    private static bool IsTooLongForLog(ref Call call, out long bytes)
    {
        bytes = 0;
        Arg* first = call.Args, last = first + call.Count - 1;
        return last->Bytes - first->Bytes > Reactor.PlainRequestBytesMax && (bytes = call.RequestBytes()) > call.Store.StepBytesMax;
    }

    // EXEC is as much a write, or as hungry for memory, as what it runs.
    private static CommandFlags FlagsOf(Connection client, CommandEntry* entry)
    {
        const CommandFlags Inherited = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.MayReplicate;
        bool runs = (entry->Flags & CommandFlags.RunsQueue) != 0;
        return entry->Flags | (runs && client.Transaction is { } transaction ? transaction.Queue.Flags & Inherited : CommandFlags.None);
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

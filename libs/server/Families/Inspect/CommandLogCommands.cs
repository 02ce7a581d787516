using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;

namespace Garnet.Server.Families.Inspect;

/// <summary>SLOWLOG, and COMMANDLOG (Valkey 8.1), which knows large requests and replies as well.</summary>
internal static class CommandLogCommands
{
    private const int EntriesByDefault = 10;

    internal static void Register(CommandTable table)
    {
        table.AddContainer(InspectCommands.Spec("SLOWLOG", "", "Looks at slow commands.", "2.2.12"));
        table.Add<SlowlogGet>();
        table.Add<SlowlogLen>();
        table.Add<SlowlogReset>();
        table.AddContainer(InspectCommands.Spec("COMMANDLOG", "", "Looks at slow commands, large requests and large replies.", "8.1.0"));
        table.Add<CommandLogGet>();
        table.Add<CommandLogLen>();
        table.Add<CommandLogReset>();
    }

    /// <summary>The log named by the argument; on false the error has been written.</summary>
    internal static bool TryLog(ref Call call, int index, out CommandLog log, out Reply failed)
    {
        failed = Reply.Sent;
        log = call.Server.Monitoring.Slowlog;
        if (call.Is(index, "LARGE-REQUEST"u8))
            log = call.Server.Monitoring.LargeRequests;
        else if (call.Is(index, "LARGE-REPLY"u8))
            log = call.Server.Monitoring.LargeReplies;
        else if (!call.Is(index, "SLOW"u8))
            failed = call.FailBytes("ERR type should be one of the following: slow, large-request, large-reply"u8);
        return failed == Reply.Sent;
    }

    /// <summary>Replies the newest entries; their number stands in the argument, if there is one.</summary>
    internal static Reply Show(ref Call call, CommandLog log, int countArg)
    {
        long count = EntriesByDefault;
        if (countArg < call.Count && (!call.TryInt64(countArg, out count) || count < -1))
            return call.FailBytes("ERR count should be greater than or equal to -1"u8);
        List<CommandLogEntry> entries = log.Newest(count);
        call.Out.Array(entries.Count);
        foreach (CommandLogEntry entry in entries)
        {
            call.Out.Array(6);
            call.Out.Int(entry.Id);
            call.Out.Int(entry.UnixSeconds);
            call.Out.Int(entry.Measure);
            call.Out.Array(entry.Arguments.Length);
            foreach (byte[] argument in entry.Arguments)
                call.Out.Bulk(argument);
            call.Out.Bulk(entry.Peer);
            call.Out.Bulk(entry.ClientName);
        }

        return Reply.Sent;
    }
}

internal readonly struct SlowlogGet : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("SLOWLOG|GET", "[count]", "Returns the newest entries of the slow log.", "2.2.12");

    public static Reply Run(ref Call call) =>
        call.Count > 3 ? call.WrongArity() : CommandLogCommands.Show(ref call, call.Server.Monitoring.Slowlog, 2);
}

internal readonly struct SlowlogLen : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("SLOWLOG|LEN", "", "Counts the entries of the slow log.", "2.2.12", 2);

    public static Reply Run(ref Call call) => call.Int(call.Server.Monitoring.Slowlog.Count);
}

internal readonly struct SlowlogReset : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("SLOWLOG|RESET", "", "Empties the slow log.", "2.2.12", 2);

    public static Reply Run(ref Call call)
    {
        call.Server.Monitoring.Slowlog.Clear();
        return call.Ok();
    }
}

internal readonly struct CommandLogGet : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("COMMANDLOG|GET", "count <SLOW | LARGE-REQUEST | LARGE-REPLY>", "Returns the newest entries of a command log.", "8.1.0", 4);

    public static Reply Run(ref Call call) =>
        CommandLogCommands.TryLog(ref call, 3, out CommandLog log, out Reply failed) ? CommandLogCommands.Show(ref call, log, 2) : failed;
}

internal readonly struct CommandLogLen : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("COMMANDLOG|LEN", "<SLOW | LARGE-REQUEST | LARGE-REPLY>", "Counts the entries of a command log.", "8.1.0", 3);

    public static Reply Run(ref Call call) =>
        CommandLogCommands.TryLog(ref call, 2, out CommandLog log, out Reply failed) ? call.Int(log.Count) : failed;
}

internal readonly struct CommandLogReset : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("COMMANDLOG|RESET", "<SLOW | LARGE-REQUEST | LARGE-REPLY>", "Empties a command log.", "8.1.0", 3);

    public static Reply Run(ref Call call)
    {
        if (!CommandLogCommands.TryLog(ref call, 2, out CommandLog log, out Reply failed))
            return failed;
        log.Clear();
        return call.Ok();
    }
}

using Garnet.Server.Commands;
using Garnet.Server.Net;

namespace Garnet.Server.Admin;

/// <summary>DEBUG: the harmless part, for tests; behind <c>enable-debug-command</c>.</summary>
internal static class DebugCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(Spec("DEBUG", -2, "", "Helps tests."));
        table.Add<DebugSleep>();
        table.Add<DebugCheck>();
        table.Add<DebugSetActiveExpire>();
        table.Add<DebugObject>();
    }

    internal static CommandSpec Spec(string name, int arity, string syntax, string summary) =>
        new(name, arity, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Protected) { Group = "server", Syntax = syntax, Summary = summary };
}

/// <summary>Holds this connection for a time; others go on, since nothing here may stop a reactor.</summary>
internal readonly struct DebugSleep : ICommand
{
    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|SLEEP", 3, "seconds", "Answers after a time.");

    public static Reply Run(ref Call call)
    {
        if (!Garnet.Common.Bytes.NumberText.TryDouble(call[2], out double seconds) || seconds is < 0 or > 86_400)
            return call.Fail(Fault.NotAFloat);
        if (!call.MayPark)
            return call.Ok();
        call.Reactor.Park(call.Client, new Sleep(call.NowMs + (long)(seconds * 1000)));
        return Reply.Parked;
    }

    private sealed class Sleep : Parking
    {
        internal Sleep(long untilMs) => DeadlineMs = untilMs;

        internal override bool Resume(Reactor reactor, Connection client)
        {
            reactor.Out.Ok();
            return true;
        }
    }
}

internal readonly struct DebugCheck : ICommand
{
    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|CHECK", 2, "", "Walks the store and returns the broken invariants: none.");

    public static Reply Run(ref Call call)
    {
        IReadOnlyList<string> broken = Tsavorite.StoreCheck.Run(call.Server.Store);
        call.Out.Array(broken.Count);
        foreach (string line in broken)
            call.Out.Bulk(line);
        return Reply.Sent;
    }
}

internal readonly struct DebugSetActiveExpire : ICommand
{
    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|SET-ACTIVE-EXPIRE", 3, "<0 | 1>", "Switches the removal of expired keys in the background.");

    public static Reply Run(ref Call call)
    {
        if (call.Server.Replication.Decides) // else nothing expires, whatever is asked for
            call.Reactor.Store.PauseExpiry(!call.TryInt64(2, out long on) || on == 0);
        return call.Ok();
    }
}

internal readonly struct DebugObject : ICommand
{
    public static CommandSpec Spec => DebugCommands.Spec("DEBUG|OBJECT", 3, "key", "Shows how a value is kept.");

    public static Reply Run(ref Call call)
    {
        if (!Inspect.InspectCommands.TryLook(ref call, 2, out Keys.FieldsLook look))
            return call.Fail(Fault.NoSuchKey);
        call.Out.Simple(System.Text.Encoding.ASCII.GetBytes($"Value at:0x0 refcount:1 encoding:raw serializedlength:{look.ValueBytes} lru:0 lru_seconds_idle:0"));
        return Reply.Sent;
    }
}

using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Telemetry;
using Garnet.Server.Families.Persistence;
using Garnet.Server.Persistence;

namespace Garnet.Server.Families.Admin;

/// <summary>The server as a whole: TIME, MONITOR, SHUTDOWN, ROLE and the like.</summary>
internal static class ServerCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Time>();
        table.Add<Monitor>();
        table.Add<Shutdown>();
        table.Add<Lolwut>();
        table.AddContainer(Spec("MODULE", -2, CommandFlags.Admin | CommandFlags.NoScript, "", "Looks at modules.", "4.0.0"));
        table.Add<ModuleList>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary, string since = "1.0.0") =>
        new(name, arity, flags) { Group = "server", Syntax = syntax, Summary = summary, Since = since };
}

internal readonly struct Time : ICommand
{
    public static CommandSpec Spec => ServerCommands.Spec("TIME", 1, CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast, "", "Returns the time of the server: seconds and microseconds.", "2.6.0");

    public static Reply Run(ref Call call)
    {
        long us = call.Server.Clock.UnixUs;
        call.Out.Array(2);
        call.Out.BulkInt(us / 1_000_000);
        call.Out.BulkInt(us % 1_000_000);
        return Reply.Sent;
    }
}

internal readonly struct Monitor : ICommand
{
    public static CommandSpec Spec => ServerCommands.Spec("MONITOR", 1, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale, "", "Shows every command the server runs, as it runs.");

    public static Reply Run(ref Call call)
    {
        if (!call.MayPark)
            return call.FailBytes("ERR MONITOR isn't allowed for DENY BLOCKING client"u8);
        call.Client.Modes |= ClientModes.Monitor;
        call.Server.Monitoring.Monitors.Add(call.Client);
        return call.Ok();
    }
}

internal readonly struct Shutdown : ICommand
{
    public static CommandSpec Spec => ServerCommands.Spec("SHUTDOWN", -1, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.NoMulti | CommandFlags.AllowBusy, "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]", "Stops the server.");

    public static Reply Run(ref Call call)
    {
        bool save = false, noSave = false, abort = false, force = false;
        for (int i = 1; i < call.Count; i++)
        {
            if (call.Is(i, "NOSAVE"u8))
                noSave = true;
            else if (call.Is(i, "SAVE"u8))
                save = true;
            else if (call.Is(i, "ABORT"u8))
                abort = true;
            else if (call.Is(i, "FORCE"u8))
                force = true;
            else if (!call.Is(i, "NOW"u8))
                return call.Fail(Fault.Syntax);
        }

        if ((save && noSave) || (abort && call.Count > 2))
            return call.Fail(Fault.Syntax);
        if (!call.Server.AllowsShutdown && !abort)
            return call.FailBytes("ERR SHUTDOWN is switched off: this server is a part of another process "u8 +
                "(GarnetServerOptions.AllowShutdown)"u8);
        if (abort)
            return call.FailBytes("ERR No shutdown in progress."u8);
        if (save && !SaveCommands.TrySaves(ref call, out _, out Reply unsaved))
            return unsaved;
        if (call.Server.Keeper?.Saves is { } saves && (save || (!noSave && MustSave(ref call, saves, force))))
            return SaveFirst(ref call, saves, force);
        if (noSave && call.Server.Keeper is { } keeper)
            keeper.SavesAtStop = false;
        call.Server.Log.ShutdownAsked();
        call.Server.Core.RequestStop();
        return Reply.Close;
    }

    private static bool MustSave(ref Call call, SaveJob saves, bool force) =>
        call.Server.Settings.Persistence.Save.Rules.Count > 0 || (!force && saves.IsTierLost);

    private static Reply SaveFirst(ref Call call, SaveJob saves, bool force)
    {
        call.Worker.Park(call.Client, new SaveWait(saves, saves.TryStart(), stops: call.Server, force));
        return Reply.Parked;
    }
}

internal readonly struct Lolwut : ICommand
{
    private const int Columns = 40, Rows = 8;

    public static CommandSpec Spec => ServerCommands.Spec("LOLWUT", -1, CommandFlags.ReadOnly | CommandFlags.Fast, "[VERSION version]", "Draws something, and tells the version.", "5.0.0");

    public static Reply Run(ref Call call)
    {
        // A cut stone: each row widens to the girdle and narrows to the point.
        var text = new StringBuilder();
        for (int row = 0; row < Rows; row++)
        {
            int width = row < 3 ? 14 + (row * 8) : Math.Max(2, 30 - ((row - 2) * 6));
            int indent = (Columns - width) / 2;
            text.Append(' ', indent).Append(row < 3 ? '/' : '\\').Append(row == 2 ? '_' : '.', width - 2).Append(row < 3 ? '\\' : '/')
                .Append('\n');
        }

        text.Append("\nGarnet ver. ").Append(ServerTelemetry.Version).Append('\n');
        call.Out.Verbatim(Encoding.ASCII.GetBytes(text.ToString()));
        return Reply.Sent;
    }
}

internal readonly struct ModuleList : ICommand
{
    public static CommandSpec Spec => ServerCommands.Spec("MODULE|LIST", 2, CommandFlags.Admin | CommandFlags.NoScript, "", "Lists the modules: there are none.", "4.0.0");

    public static Reply Run(ref Call call)
    {
        call.Out.Array(0);
        return Reply.Sent;
    }
}

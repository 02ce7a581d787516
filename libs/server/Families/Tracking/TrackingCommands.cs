using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Sessions;

namespace Garnet.Server.Families.Tracking;

/// <summary>Client-side caching: CLIENT TRACKING and its relatives.</summary>
internal static class TrackingCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<ClientTracking>();
        table.Add<ClientCaching>();
        table.Add<ClientGetRedir>();
        table.Add<ClientTrackingInfo>();
    }
}

internal readonly struct ClientTracking : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|TRACKING", -3, "<ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]", "Switches messages about changed keys on or off.", "6.0.0");

    public static Reply Run(ref Call call)
    {
        var options = new TrackingOptions();
        if (!options.TryParse(ref call, 3, out Reply failed))
            return failed;
        if (ClientCommands.OnOrOff(ref call, 2) is not { } on)
            return call.Fail(Fault.Syntax);
        if (!on)
        {
            call.Server.Observers.Tracker.Disable(call.Client);
            return call.Ok();
        }

        if (!options.Fits(ref call, call.Client.Tracking, out failed))
            return failed;
        call.Server.Observers.Tracker.Enable(call.Client, options.State(call.Client.Tracking), options.Added);
        return call.Ok();
    }
}

internal readonly struct ClientCaching : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|CACHING", 3, "<YES | NO>", "Says whether the keys of the next command are tracked.", "6.0.0");

    public static Reply Run(ref Call call)
    {
        if (call.Client.Tracking is not { } state)
            return call.FailBytes("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode "u8 +
                "enabled"u8);
        bool yes = call.Is(2, "YES"u8);
        if (!yes && !call.Is(2, "NO"u8))
            return call.Fail(Fault.Syntax);
        if (yes && (state.Modes & TrackingModes.OptIn) == 0)
            return call.FailBytes("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."u8);
        if (!yes && (state.Modes & TrackingModes.OptOut) == 0)
            return call.FailBytes("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."u8);
        state.Caching = true;
        return call.Ok();
    }
}

internal readonly struct ClientGetRedir : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|GETREDIR", 2, "", "Returns the id that invalidation messages are redirected to; 0 for none, -1 without tracking.", "6.0.0");

    public static Reply Run(ref Call call) => call.Int(call.Client.Tracking?.RedirectId ?? -1);
}

internal readonly struct ClientTrackingInfo : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|TRACKINGINFO", 2, "", "Tells how the connection tracks keys.", "6.2.0");

    public static Reply Run(ref Call call)
    {
        TrackingState? state = call.Client.Tracking;
        List<string> flags = Flags(state);
        call.Out.Map(3);
        call.Out.Bulk("flags"u8);
        call.Out.Set(flags.Count);
        foreach (string flag in flags)
            call.Out.Bulk(Encoding.ASCII.GetBytes(flag));
        call.Out.Bulk("redirect"u8);
        call.Out.Int(state?.RedirectId ?? -1);
        call.Out.Bulk("prefixes"u8);
        byte[][] prefixes = state?.Prefixes ?? [];
        call.Out.Array(prefixes.Length);
        foreach (byte[] prefix in prefixes)
            call.Out.Bulk(prefix);
        return Reply.Sent;
    }

    private static List<string> Flags(TrackingState? state)
    {
        if (state is null)
            return ["off"];
        var flags = new List<string> { "on" };
        void Add(bool holds, string name)
        {
            if (holds)
                flags.Add(name);
        }

        Add((state.Modes & TrackingModes.Broadcast) != 0, "bcast");
        Add((state.Modes & TrackingModes.OptIn) != 0, "optin");
        Add((state.Modes & TrackingModes.OptIn) != 0 && state.Caching, "caching-yes");
        Add((state.Modes & TrackingModes.OptOut) != 0, "optout");
        Add((state.Modes & TrackingModes.OptOut) != 0 && state.Caching, "caching-no");
        Add((state.Modes & TrackingModes.NoLoop) != 0, "noloop");
        Add(state.Broken, "broken_redirect");
        return flags;
    }
}

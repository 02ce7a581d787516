using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Families.Tracking;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Sessions;

/// <summary>CLIENT: who is connected, and what a connection may say about itself.</summary>
internal static class ClientCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(Spec("CLIENT", -2, "", "Looks at and steers connections."));
        table.Add<ClientId>();
        table.Add<ClientGetName>();
        table.Add<ClientSetName>();
        table.Add<ClientSetInfo>();
        table.Add<ClientList>();
        table.Add<ClientSelf>();
        table.Add<ClientKill>();
        table.Add<ClientPause>();
        table.Add<ClientUnpause>();
        table.Add<ClientReply>();
        table.Add<ClientNoEvict>();
        table.Add<ClientNoTouch>();
        table.Add<ClientUnblock>();
        table.Add<ClientCapa>();
        table.Add<ClientImportSource>();
        table.Add<ClientConsistency>();
        TrackingCommands.Register(table);
    }

    internal static CommandSpec Spec(
        string name, int arity, string syntax, string summary, string since = "2.4.0", CommandFlags more = CommandFlags.None) =>
        new(name, arity, CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Quick | more)
        {
            Group = "connection",
            Syntax = syntax,
            Summary = summary,
            Since = since,
        };

    /// <summary>Reads ON or OFF; null if it is neither.</summary>
    internal static bool? OnOrOff(ref Call call, int index) => call.Is(index, "ON"u8) ? true : call.Is(index, "OFF"u8) ? false : null;
}

internal readonly struct ClientId : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|ID", 2, "", "Returns the id of the connection.", "5.0.0");

    public static Reply Run(ref Call call) => call.Int(call.Client.Id);
}

internal readonly struct ClientGetName : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|GETNAME", 2, "", "Returns the name of the connection.", "2.6.9");

    public static Reply Run(ref Call call)
    {
        if (call.Client.Name.Length == 0)
            return call.Null();
        call.Out.Bulk(call.Client.Name);
        return Reply.Sent;
    }
}

internal readonly struct ClientSetName : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|SETNAME", 3, "connection-name", "Sets the name of the connection.", "2.6.9");

    public static Reply Run(ref Call call)
    {
        if (!ConnectionCommands.IsName(call[2]))
            return call.FailBytes(ConnectionCommands.NoName);
        ConnectionCommands.RefuseLong(call[2], "a client's name");
        call.Client.Name = call.Text(2);
        return call.Ok();
    }
}

internal readonly struct ClientSetInfo : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|SETINFO", 4, "<LIB-NAME libname | LIB-VER libver>", "Tells about the client library.", "7.2.0");

    public static Reply Run(ref Call call)
    {
        bool name = call.Is(2, "LIB-NAME"u8);
        if (!name && !call.Is(2, "LIB-VER"u8))
            return call.FailBytes([.. "ERR Unrecognized option '"u8, .. call.Shown(2), (byte)'\'']);
        if (!ConnectionCommands.IsName(call[3]))
            return call.FailBytes([.. "ERR "u8, .. call.Shown(2), .. " cannot contain spaces, newlines or special characters."u8]);
        ConnectionCommands.RefuseLong(call[3], "a library's name or version");
        if (name)
            call.Client.LibraryName = call.Text(3);
        else
            call.Client.LibraryVersion = call.Text(3);
        return call.Ok();
    }
}

internal readonly struct ClientList : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|LIST", -2, "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]", "Lists the connections.", "2.4.0", CommandFlags.Admin);

    public static Reply Run(ref Call call)
    {
        var filter = new ClientFilter();
        if (call.Count > 2 && !TryFilter(ref call, filter, out Reply failed))
            return failed;
        var text = new StringBuilder();
        foreach (Connection client in call.Server.Clients())
        {
            if (filter.Matches(client))
                text.Append(ClientLine.Of(client, call.Server)).Append('\n');
        }

        call.Out.Verbatim(Encoding.UTF8.GetBytes(text.ToString()));
        return Reply.Sent;
    }

    private static bool TryFilter(ref Call call, ClientFilter filter, out Reply failed)
    {
        failed = Reply.Sent;
        if (call.Is(2, "TYPE"u8) && call.Count == 4)
        {
            if (filter.TrySetType(call.Text(3)))
                return true;
            failed = ClientFilter.FailType(ref call, 3);
            return false;
        }

        if (call.Is(2, "ID"u8) && call.Count > 3)
        {
            for (int i = 3; i < call.Count; i++)
            {
                if (!call.TryInt64(i, out long id))
                {
                    failed = call.FailBytes("ERR Invalid client ID"u8);
                    return false;
                }

                filter.Ids.Add(id);
            }

            return true;
        }

        failed = call.Fail(Fault.Syntax);
        return false;
    }
}

internal readonly struct ClientSelf : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|INFO", 2, "", "Tells about the connection.", "6.2.0");

    public static Reply Run(ref Call call)
    {
        call.Out.Verbatim(Encoding.UTF8.GetBytes(ClientLine.Of(call.Client, call.Server) + "\n"));
        return Reply.Sent;
    }
}

internal readonly struct ClientKill : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|KILL", -3, "<ip:port | <[ID client-id] | [TYPE type] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME <YES | NO>] | [MAXAGE seconds] ...>>", "Closes connections.", "2.4.0", CommandFlags.Admin);

    public static Reply Run(ref Call call)
    {
        var filter = new ClientFilter { SkipSelf = call.Client };
        bool old = call.Count == 3;
        if (old)
        {
            filter.Address = call.Text(2);
            filter.SkipSelf = null;
        }
        else if (!filter.TryParse(ref call, 2, out Reply failed))
        {
            return failed;
        }

        int killed = 0;
        bool self = false;
        foreach (Connection client in call.Server.Clients())
        {
            if (client.Closed || !filter.Matches(client))
                continue;
            killed++;
            if (client == call.Client)
                self = true;
            else
                client.Worker.Post(static (owner, victim, _) => owner.Close(victim!), client);
        }

        if (old && killed == 0)
            return call.FailBytes("ERR No such client"u8);
        if (old)
            call.Out.Ok();
        else
            call.Out.Int(killed);
        return self ? Reply.Close : Reply.Sent;
    }
}

internal readonly struct ClientPause : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|PAUSE", -3, "timeout [WRITE | ALL]", "Holds commands back for a time.", "2.9.50", CommandFlags.Admin | CommandFlags.Alone);

    public static Reply Run(ref Call call)
    {
        bool writesOnly = false;
        if (call.Count > 4)
            return call.WrongArity();
        if (call.Count == 4)
        {
            writesOnly = call.Is(3, "WRITE"u8);
            if (!writesOnly && !call.Is(3, "ALL"u8))
                return call.FailBytes("ERR CLIENT PAUSE mode must be WRITE or ALL"u8);
        }

        if (!call.TryInt64(2, out long milliseconds))
            return call.Fail(Fault.TimeoutNotAnInteger);
        if (milliseconds < 0)
            return call.Fail(Fault.TimeoutNegative);
        if (milliseconds > long.MaxValue - call.NowMs)
            return call.Fail(Fault.TimeoutNotAnInteger);
        if (!call.Server.ScriptTurns.TryBegin(call.Worker, out ScriptTurns.AloneTurn turn))
            return ScriptHost.Of(call.Worker).Busy(ref call);
        using (turn)
            call.Server.Pause.Begin(call.NowMs + milliseconds, writesOnly);
        return call.Ok();
    }
}

internal readonly struct ClientUnpause : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|UNPAUSE", 2, "", "Ends the pause.", "6.2.0", CommandFlags.Admin);

    public static Reply Run(ref Call call)
    {
        call.Server.Pause.End();
        return call.Ok();
    }
}

internal readonly struct ClientReply : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|REPLY", 3, "<ON | OFF | SKIP>", "Switches replies on or off, or skips the next one.", "3.2.0");

    public static Reply Run(ref Call call)
    {
        if (call.Is(2, "ON"u8))
        {
            call.Client.Modes &= ~(ClientModes.ReplyOff | ClientModes.ReplySkip | ClientModes.ReplySkipped);
            return call.Ok();
        }

        if (call.Is(2, "OFF"u8))
            call.Client.Modes |= ClientModes.ReplyOff;
        else if (!call.Is(2, "SKIP"u8))
            return call.Fail(Fault.Syntax);
        else if ((call.Client.Modes & ClientModes.ReplyOff) == 0)
            call.Client.Modes |= ClientModes.ReplySkip;
        return Reply.Sent;
    }
}

internal readonly struct ClientNoEvict : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|NO-EVICT", 3, "<ON | OFF>", "Exempts the connection from being closed when clients take too much memory.", "7.0.0", CommandFlags.Admin);

    public static Reply Run(ref Call call)
    {
        if (ClientCommands.OnOrOff(ref call, 2) is not { } on)
            return call.Fail(Fault.Syntax);
        call.Client.NoEvict = on;
        return call.Ok();
    }
}

internal readonly struct ClientNoTouch : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|NO-TOUCH", 3, "<ON | OFF>", "Makes the connection's reads leave the access frequency of keys alone.", "7.2.0");

    public static Reply Run(ref Call call)
    {
        if (ClientCommands.OnOrOff(ref call, 2) is not { } on)
            return call.Fail(Fault.Syntax);
        call.Client.NoTouch = on;
        return call.Ok();
    }
}

internal readonly struct ClientUnblock : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|UNBLOCK", -3, "client-id [TIMEOUT | ERROR]", "Ends the wait of a blocked connection.", "5.0.0", CommandFlags.Admin);

    public static Reply Run(ref Call call)
    {
        if (call.Count > 4)
            return call.WrongArity();
        if (call.Count == 4 && !call.Is(3, "TIMEOUT"u8) && !call.Is(3, "ERROR"u8))
            return call.FailBytes("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"u8);
        if (!call.TryInt64(2, out long id))
            return call.Fail(Fault.NotAnInteger);
        WaitEnd how = call.Count == 4 && call.Is(3, "ERROR"u8) ? WaitEnd.Unblocked : WaitEnd.TimedOut;
        foreach (Connection client in call.Server.Clients())
        {
            if (client.Id != id || client.Waiting is not { IsBlocking: true } waiting || !waiting.TryEnd(how))
                continue;
            client.Worker.Post(static (owner, ended, _) => owner.TryResume(ended!), client);
            return call.Int(1);
        }

        return call.Int(0);
    }
}

/// <summary>What the client says it can do. All Valkey knows of is to follow a redirection to another primary, and none is sent here.</summary>
internal readonly struct ClientCapa : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|CAPA", -3, "capability [capability ...]", "Tells what the client can do; what is not known is ignored.", "8.0.0");

    public static Reply Run(ref Call call) => call.Ok();
}

/// <summary>Says that the client imports data as they are; there is no import mode, so it can only be denied.</summary>
internal readonly struct ClientImportSource : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|IMPORT-SOURCE", 3, "<ON | OFF>", "Marks the connection as one that imports data from elsewhere.", "8.1.0");

    public static Reply Run(ref Call call) => ClientCommands.OnOrOff(ref call, 2) switch
    {
        false => call.Ok(),
        true => call.FailBytes("ERR Server is not in import mode"u8),
        _ => call.Fail(Fault.Syntax),
    };
}

internal readonly struct ClientConsistency : ICommand
{
    public static CommandSpec Spec => ClientCommands.Spec("CLIENT|CONSISTENCY", 3, "<STRICT | ANY>", "Says whether reads on a replica see the state behind one batch, or whatever is there.", "0.1.0");

    public static Reply Run(ref Call call)
    {
        bool any = call.Is(2, "ANY"u8);
        if (!any && !call.Is(2, "STRICT"u8))
            return call.Fail(Fault.Syntax);
        call.Client.ReadsAnyState = any;
        return call.Ok();
    }
}

using Garnet.Aof;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;
using Garnet.Server.Tls;
using Garnet.Replication.Frames;

namespace Garnet.Server.Families.Replication;

/// <summary>REPL HELLO: a replica greets; if it is taken, the connection carries frames from then on.</summary>
internal readonly struct ReplHello : ICommand
{
    private const int IdBytes = 40;

    public static CommandSpec Spec => ReplicationCommands.Spec("REPL|HELLO", -7, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.NoMulti | CommandFlags.Stale, "version run-id port address position [earlier [copy]]", "Makes the connection the link of a replica.", "0.1.0");

    public static unsafe Reply Run(ref Call call)
    {
        if (call.Text(2) != FrameFormat.Protocol)
            return call.FailText($"ERR this server knows version {FrameFormat.Protocol} of the protocol, not '{call.Text(2)}'");
        CopyPlace? copy = null;
        if (call.Count > 9 || call[3].Length != IdBytes || !call.TryInt64(4, out long port) || port is < 0 or > 65535
            || !AnnouncedHost.IsHost(call.Text(5))
            || !LogPosition.TryParse(call.Text(6), out LogPosition position)
                || !LogPosition.TryParse(call.Text(Math.Min(call.Count - 1, 7)), out LogPosition earlier)
            || (call.Count == 9 && !CopyPlace.TryParse(call.Text(8), out copy)))
            return call.Fail(Fault.Syntax);
        ReplicationNode replication = call.Server.Replication;
        if (call.Text(3) == replication.RunId)
            return call.FailBytes("ERR a server cannot follow itself"u8);
        long words = replication.Role.Words;
        if (replication.Role.IsChanging)
            return call.FailBytes("NOMASTERLINK this server is changing its role"u8);
        if (replication.IsReplica && replication.Role.Following is not { IsUp: true })
            return call.FailBytes("NOMASTERLINK this server is a replica that has no link to its own primary"u8);
        // What follows the handshake is no RESP: nothing may be under way in either direction.
        if (!call.IsAlone || ReplicationCommands.Free(ref call) is not { } socket)
            return call.FailBytes("ERR REPL HELLO must stand alone: send it after the replies to all before it"u8);
        string address = call.Is(5, "-"u8) ? call.Client.Peer.RemoteHost : call.Text(5);
        var hello = new HelloFacts(call.Text(3), address, (int)port, position, earlier, copy);
        replication.Shipping.Accept(socket, hello, words);
        return Reply.Sent;
    }
}

/// <summary>REPL LEAD: the primary of this replica, which has stopped writing at the position, asks it to lead in its place.</summary>
internal readonly struct ReplLead : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("REPL|LEAD", -4, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.NoMulti | CommandFlags.Stale, "run-id position [FORCE]", "Makes a replica a primary in place of the primary that asks.", "0.1.0");

    public static Reply Run(ref Call call)
    {
        bool isForced = call.Count == 5 && call.Is(4, "FORCE"u8);
        if (call.Count > 5 || (call.Count == 5 && !isForced) || !LogPosition.TryParse(call.Text(3), out LogPosition end))
            return call.Fail(Fault.Syntax);
        string? refusal = call.Server.Replication.Handovers.TryTakeOver(call.Text(2), end, isForced);
        return refusal is null ? call.Ok() : call.FailText("ERR " + refusal);
    }
}

/// <summary>REPL TOKEN: names the moment. What the client has written or seen so far is in it.</summary>
internal readonly struct ReplToken : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("REPL|TOKEN", 2, CommandFlags.NoScript | CommandFlags.NoMulti | CommandFlags.Fast, "", "Returns a token for the moment, to be given to REPL WAIT on any server.", "0.1.0");

    public static Reply Run(ref Call call)
    {
        call.Out.Bulk(call.Server.Replication.Position.TokenText());
        return Reply.Sent;
    }
}

/// <summary>REPL WAIT: until this server shows all that a token covers.</summary>
internal readonly struct ReplWait : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("REPL|WAIT", 4, CommandFlags.Blocking | CommandFlags.NoScript, "token timeout", "Waits until what a token covers can be read here.", "0.1.0");

    public static Reply Run(ref Call call)
    {
        if (!Tokens.TryParse(call.Text(2), out uint term, out ulong batch, out uint owner))
            return call.FailBytes("ERR a token is what REPL TOKEN returns"u8);
        if (!call.TryInt64(3, out long timeout))
            return call.Fail(Fault.TimeoutNotAnInteger);
        if (timeout < 0)
            return call.Fail(Fault.TimeoutNegative);
        var wait = new BatchWait(call.Server.Replication.Position, (term, batch, owner), call.UntilMs(timeout));
        if (wait.Resume(call.Worker, call.Client))
            return Reply.Sent;
        call.Worker.Park(call.Client, wait);
        return Reply.Parked;
    }
}

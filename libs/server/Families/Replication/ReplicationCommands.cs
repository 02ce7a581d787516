using System.Net.Sockets;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;
using Garnet.Server.Rights;
using Garnet.Server.Tls;

namespace Garnet.Server.Families.Replication;

/// <summary>Whom this server follows, and who has what: REPLICAOF, SLAVEOF, ROLE, WAIT; what is this server's own stands under REPL.</summary>
internal static class ReplicationCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<ReplicaOf>();
        table.Add<SlaveOf>();
        table.Add<Role>();
        table.Add<Failover>();
        table.Add<Wait>();
        table.AddContainer(Spec("REPL", -2, CommandFlags.Loading | CommandFlags.Stale, "", "Replication beyond what Redis has.", "0.1.0"));
        table.Add<ReplHello>();
        table.Add<ReplLead>();
        table.Add<ReplToken>();
        table.Add<ReplWait>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary, string since) =>
        new(name, arity, flags) { Group = "server", Syntax = syntax, Summary = summary, Since = since };

    /// <summary>Takes the client's socket away from its reactor, to be served by another thread; null if it cannot be.</summary>
    internal static FreedSocket? Free(ref Call call)
    {
        User? user = call.Client.User;
        Socket? socket = call.Worker.Detach(call.Client);
        return socket is null ? null : new FreedSocket(socket, call.Client.Tls, () => user is { IsGone: true });
    }

    internal static Reply RunReplicaOf(ref Call call)
    {
        ReplicationNode replication = call.Server.Replication;
        if (call.Is(1, "NO"u8) && call.Is(2, "ONE"u8))
        {
            replication.Role.LeadAlone();
            return call.Ok();
        }

        if (!call.TryInt64(2, out long port) || port is < 0 or > 65535)
            return call.FailBytes("ERR Invalid master port"u8);
        string host = call.Text(1);
        if (!AnnouncedHost.IsHost(host))
            return call.FailBytes("ERR Invalid master host"u8);
        if (!replication.Role.Follow(new Peer(host, (int)port)))
        {
            call.Out.Simple("OK Already connected to specified master"u8);
            return Reply.Sent;
        }

        return call.Ok();
    }
}

internal readonly struct ReplicaOf : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("REPLICAOF", 3, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Stale, "<host port | NO ONE>", "Makes the server a replica of another one, or a primary.", "5.0.0");

    public static Reply Run(ref Call call) => ReplicationCommands.RunReplicaOf(ref call);
}

internal readonly struct SlaveOf : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("SLAVEOF", 3, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Stale, "<host port | NO ONE>", "The old name of REPLICAOF.", "1.0.0");

    public static Reply Run(ref Call call) => ReplicationCommands.RunReplicaOf(ref call);
}

internal readonly struct Role : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("ROLE", 1, CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast, "", "Returns the replication role.", "2.8.12") with { Categories = "admin dangerous" };

    public static Reply Run(ref Call call)
    {
        ReplicationNode replication = call.Server.Replication;
        if (replication.IsReplica)
            return TellReplica(ref call, replication);
        IReadOnlyList<ReplicaThreads> replicas = replication.Links.All;
        call.Out.Array(3);
        call.Out.Bulk("master"u8);
        call.Out.Int(replication.Position.Offset);
        call.Out.Array(replicas.Count);
        foreach (ReplicaThreads replica in replicas)
        {
            call.Out.Array(3);
            call.Out.Bulk(replica.Link.Hello.Address);
            call.Out.BulkInt(replica.Link.Hello.Port);
            call.Out.BulkInt(NodePosition.OffsetOf(replica.Link.Ack));
        }

        return Reply.Sent;
    }

    private static Reply TellReplica(ref Call call, ReplicationNode replication)
    {
        Peer primary = replication.Role.Primary;
        call.Out.Array(5);
        call.Out.Bulk("slave"u8);
        call.Out.Bulk(primary.Host);
        call.Out.Int(primary.Port);
        call.Out.Bulk(replication.Role.Following?.State ?? "connect");
        call.Out.Int(replication.Role.Following is { IsUp: true } ? replication.Position.Offset : -1);
        return Reply.Sent;
    }
}

internal readonly struct Wait : ICommand
{
    public static CommandSpec Spec => new("WAIT", 3, CommandFlags.Blocking | CommandFlags.NoScript) { Group = "generic", Syntax = "numreplicas timeout", Summary = "Waits until the client's changes are applied on replicas.", Since = "3.0.0", Categories = "connection -keyspace" };

    public static Reply Run(ref Call call)
    {
        ReplicationNode replication = call.Server.Replication;
        if (replication.IsReplica)
            return call.FailBytes("ERR WAIT cannot be used with replica instances. Please also note that writes to replicas are just "u8 +
                "local and are not propagated."u8);
        if (!call.TryInt64(1, out long replicas))
            return call.Fail(Fault.NotAnInteger);
        if (!call.TryInt64(2, out long timeout))
            return call.Fail(Fault.TimeoutNotAnInteger);
        if (timeout < 0)
            return call.Fail(Fault.TimeoutNegative);
        LogMark write = call.Client.LastWrite;
        replication.Position.Demand(write);
        var wait = new ReplicaWait(replication, write, (int)Math.Clamp(replicas, 0, int.MaxValue), call.UntilMs(timeout));
        if (wait.Resume(call.Worker, call.Client))
            return Reply.Sent;
        call.Worker.Park(call.Client, wait);
        return Reply.Parked;
    }
}

using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;

namespace Garnet.Server.Families.Replication;

/// <summary>How far a server is and what it holds: REPL BARRIER, REPL DIGEST.</summary>
internal static class StateCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<ReplBarrier>();
        table.Add<ReplDigest>();
    }
}

/// <summary>
/// REPL BARRIER: what is read here afterwards is not older than the moment it was sent. By role: what a server that is to lead has received and
/// not applied is in the history that it will go on with.
/// </summary>
internal readonly struct ReplBarrier : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("REPL|BARRIER", 3, CommandFlags.Blocking | CommandFlags.NoScript | CommandFlags.NoMulti | CommandFlags.ByRole, "timeout", "Waits until all that was written anywhere before can be read here; returns a token.", "0.1.0");

    public static Reply Run(ref Call call)
    {
        if (!call.TryInt64(2, out long timeout))
            return call.Fail(Fault.TimeoutNotAnInteger);
        if (timeout < 0)
            return call.Fail(Fault.TimeoutNegative);
        ReplicationNode replication = call.Server.Replication;
        if (!replication.IsReplica)
        {
            call.Out.Bulk(replication.Position.TokenText());
            return Reply.Sent;
        }

        var wait = new BarrierWait(replication.Position, call.UntilMs(timeout));
        replication.Barriers.Ask(wait);
        call.Worker.Park(call.Client, wait);
        return Reply.Parked;
    }
}

/// <summary>REPL DIGEST: what this server holds, in a few numbers that servers with the same data agree about.</summary>
internal readonly struct ReplDigest : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("REPL|DIGEST", 2, CommandFlags.Blocking | CommandFlags.NoScript | CommandFlags.NoMulti, "", "Returns a token and a digest of the data it names. Changes wait meanwhile.", "0.1.0") with { Complexity = "O(N)", Categories = "dangerous" };

    public static Reply Run(ref Call call)
    {
        var wait = new DigestWait(call.Server);
        call.Server.Replication.Shipping.Digests.Ask(wait);
        call.Worker.Park(call.Client, wait);
        return Reply.Parked;
    }
}

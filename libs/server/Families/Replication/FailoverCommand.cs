using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;

namespace Garnet.Server.Families.Replication;

/// <summary>FAILOVER: a primary gives its place to a replica, and follows it.</summary>
internal readonly struct Failover : ICommand
{
    public static CommandSpec Spec => ReplicationCommands.Spec("FAILOVER", -1, CommandFlags.Admin | CommandFlags.NoScript | CommandFlags.Stale, "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]", "Lets a replica be the primary in place of this server.", "6.2.0");

    public static Reply Run(ref Call call)
    {
        ReplicationNode replication = call.Server.Replication;
        if (call.Count == 2 && call.Is(1, "ABORT"u8))
            return replication.Handovers.TryAbort() ? call.Ok() : call.FailBytes("ERR No failover in progress."u8);
        Peer? target = null;
        long timeoutMs = 0;
        bool isForced = false;
        for (int i = 1; i < call.Count; i++)
        {
            if (call.Is(i, "TIMEOUT"u8) && i + 1 < call.Count && timeoutMs == 0)
            {
                if (!call.TryInt64(++i, out timeoutMs))
                    return call.Fail(Fault.NotAnInteger);
                if (timeoutMs <= 0)
                    return call.FailBytes("ERR FAILOVER timeout must be greater than 0"u8);
            }
            else if (call.Is(i, "TO"u8) && i + 2 < call.Count && target is null)
            {
                if (!call.TryInt64(i + 2, out long port))
                    return call.Fail(Fault.NotAnInteger);
                target = new Peer(call.Text(i + 1), (int)Math.Clamp(port, int.MinValue, int.MaxValue));
                i += 2;
            }
            else if (call.Is(i, "FORCE"u8) && !isForced)
            {
                isForced = true;
            }
            else
            {
                return call.Fail(Fault.Syntax);
            }
        }

        string? refusal = replication.Handovers.TryBegin(new HandoverOrder(target, timeoutMs, isForced));
        return refusal is null ? call.Ok() : call.FailText("ERR " + refusal);
    }
}

using Garnet.Aof.Shipping;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;

namespace Garnet.Server.Admission;

/// <summary>Runs what reads on a replica, so that it sees one state (replication.Z5), and by the time of that state (replication.Z6).</summary>
internal static class ReplicaReads
{
    private const int TriesMax = 3;

    /// <summary>
    /// A read of a plain client, a replica's most frequent command: if no batch is being applied when it begins, and none has begun when it
    /// is through, its keys need not be looked up.
    /// </summary>
    internal static unsafe Reply RunRead(ref Call call, CommandEntry* entry)
    {
        RoleAccess access = call.Server.Replication.Access;
        Connection client = call.Client;
        uint stamp = access.Applied.Stamp;
        if (!AppliedState.IsStill(stamp) || entry->FirstKey == 0 || client.ReadsAnyState || (entry->Flags & CommandFlags.RunsScript) != 0)
            return RunConsistently(ref call, entry);
        long before = call.Out.Mark;
        call.Session.NowMs = access.Applied.SealedUnixUs is > 0 and var sealedUs ? sealedUs / 1000 : call.NowMs; // replication.Z6
        Reply reply = entry->Run(ref call);
        call.Session.NowMs = call.NowMs;
        AppliedState.AfterReading();
        if (access.Applied.Stamp == stamp)
        {
            client.ReadUntilMs = 0;
            Execution.CountCall(call.Worker, entry->Id);
            return reply;
        }

        access.Reads.CountRetry();
        call.Out.TakeBackTo(before);
        return RunConsistently(ref call, entry);
    }

    /// <summary>Runs a read, or a transaction, so that it sees one state (replication.Z5).</summary>
    internal static unsafe Reply RunConsistently(ref Call call, CommandEntry* entry)
    {
        RoleAccess access = call.Server.Replication.Access;
        Connection client = call.Client;
        if (call.Client.HoldsState)
            return Run(ref call, entry);
        if (client.ReadsAnyState || !access.ChecksReads) // or what the disk had, before the primary was heard of
            return RunAsOf(ref call, entry);
        KeySpec keys = call.Server.Commands.Specs[entry->Id].Keys;
        if (keys.First == 0 || (entry->Flags & (CommandFlags.RunsScript | CommandFlags.OtherKeys)) != 0)
            return RunHeld(ref call, entry);
        if (!KeyPositions.TryOf(ref call, keys, out KeyPositions positions))
            return Run(ref call, entry);
        long before = call.Out.Mark;
        ReadPoint point = access.Applied.Point;
        for (int tries = 0; tries < TriesMax; tries++, point = access.Applied.Point)
        {
            if (!NamedKeys.AreSeen(ref call, entry, positions, point))
                break;
            Reply reply = RunAsOf(ref call, entry);
            AppliedState.AfterReading();
            if (NamedKeys.AreSeen(ref call, entry, positions, point))
            {
                client.ReadUntilMs = 0;
                return reply;
            }

            access.Reads.CountRetry();
            call.Out.TakeBackTo(before);
        }

        return Await(ref call, point);
    }

    // What may touch anything, or more than once: batches wait until it is through.
    private static unsafe Reply RunHeld(ref Call call, CommandEntry* entry)
    {
        RoleAccess access = call.Server.Replication.Access;
        ReadPoint point = access.Applied.Point;
        if (!access.Applied.TryHold())
        {
            long before = call.Out.Mark;
            Reply waits = Await(ref call, point);
            // to clients an error of EXEC is the end of the transaction
            bool ends = waits == Reply.Failed && (entry->Flags & CommandFlags.RunsQueue) != 0;
            return ends ? call.Worker.Transactions.Refused(ref call, entry, before) : waits;
        }

        call.Client.HoldsState = true;
        try
        {
            return RunAsOf(ref call, entry);
        }
        finally
        {
            call.Client.HoldsState = false;
            call.Client.ReadUntilMs = 0;
            access.Applied.Release();
        }
    }

    // The read begins anew when more has been applied; its time runs from the first try on.
    private static Reply Await(ref Call call, ReadPoint point)
    {
        RoleAccess access = call.Server.Replication.Access;
        Connection client = call.Client;
        if (client.ReadUntilMs == 0)
            client.ReadUntilMs = call.NowMs + access.ReadWaitMs;
        if (call.NowMs >= client.ReadUntilMs)
        {
            client.ReadUntilMs = 0;
            return TryAgain(ref call);
        }

        call.Worker.Park(client, access.Await(point, client.ReadUntilMs));
        return Reply.Postponed;
    }

    private static Reply TryAgain(ref Call call) =>
        call.FailBytes("TRYAGAIN This replica is applying a batch that touches the keys; retry."u8);

    // replication.Z6
    private static unsafe Reply RunAsOf(ref Call call, CommandEntry* entry)
    {
        long sealedMs = call.Server.Replication.Applied.SealedUnixUs / 1000;
        if (sealedMs == 0)
            return Run(ref call, entry);
        call.Session.NowMs = sealedMs;
        Reply reply = Run(ref call, entry);
        call.Session.NowMs = call.NowMs;
        return reply;
    }

    // As a primary runs it: what is short is not timed by itself.
    private static unsafe Reply Run(ref Call call, CommandEntry* entry) => call.Server.AsksRules || (entry->Flags & CommandFlags.Timed) != 0
        ? Execution.RunTimed(ref call, entry)
        : Execution.RunPlain(ref call, entry, entry->Id);
}

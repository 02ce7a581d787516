using Garnet.Aof.Shipping;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Replication;

/// <summary>
/// What the role lets clients do.
/// replication.Z5: a read on a replica sees the state behind one batch, all its keys alike: its keys are looked up in the announcements before and
/// after it ran, and if a batch came in between, its reply is taken back and it runs again; after a few times, or when a batch that
/// touches its keys is being applied, it waits for the end of that batch. What has no keys to look up (SCAN, KEYS, a transaction), or looks
/// at keys that it does not name (a script, SORT_RO: CommandFlags.OtherKeys), holds up the next batch while it runs.
/// replication.Z6: what has expired when that batch was closed on the primary is hidden, whatever this server's clock says: replicas agree.
/// </summary>
internal sealed partial class ReplicationNode
{
    private const int TriesMax = 3;

    /// <summary>True if the rule of roles has something to say of commands: they are put to it one by one.</summary>
    internal bool IsAsked => _isReplica | _changes | Settings.ReplicasToWrite > 0;

    /// <summary>True while a replica has no data to show because all of it is coming in.</summary>
    internal bool IsLoading => _follower is { IsTorn: true };

    /// <summary>True if reads are to be checked against what is being applied: also by a replica that is to lead, until it does.</summary>
    internal bool ChecksReads => _follower is { IsFed: true };

    /// <summary>True if what is read must be the state behind one batch (replication.Z5).</summary>
    internal bool ReadsOneState => _isReplica || ChecksReads;

    /// <summary>True if plain clients may read here, and what they read is to be checked against what is being applied.</summary>
    internal bool TakesReads => ChecksReads && !IsOutOfTouch;

    /// <summary>
    /// A read of a plain client, a replica's most frequent command: if no batch is being applied when it begins, and none has begun when it
    /// is through, its keys need not be looked up.
    /// </summary>
    internal unsafe Reply RunRead(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        uint stamp = Applied.Stamp;
        if (!AppliedState.IsStill(stamp) || entry->FirstKey == 0 || client.ReadsAnyState || (entry->Flags & CommandFlags.RunsScript) != 0)
            return RunConsistently(ref call, entry);
        long before = call.Out.Mark;
        call.Store.NowMs = Applied.SealedUnixUs is > 0 and var sealedUs ? sealedUs / 1000 : call.NowMs; // replication.Z6
        Reply reply = entry->Run(ref call);
        call.Store.NowMs = call.NowMs;
        AppliedState.AfterReading();
        if (Applied.Stamp == stamp)
        {
            client.ReadUntilMs = 0;
            Execution.CountCall(call.Worker, entry->Id);
            return reply;
        }

        Interlocked.Increment(ref _readRetries);
        call.Out.TakeBackTo(before);
        return RunConsistently(ref call, entry);
    }

    /// <summary>True while writes are refused because too few replicas are near.</summary>
    internal bool LacksReplicas => !_isReplica && Settings.ReplicasToWrite > 0 && Links.CountGood(Settings.LagSecondsMax) < Settings.ReplicasToWrite;

    /// <summary>True while a replica that is out of touch with its primary, and may not show old data, has none to show.</summary>
    internal bool IsStale => _isReplica && IsOutOfTouch;

    private bool IsOutOfTouch => !Settings.ServesStaleData && _following is not { IsUp: true };

    /// <summary>Runs a read, or a transaction, so that it sees one state (replication.Z5).</summary>
    internal unsafe Reply RunConsistently(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        if (call.Client.HoldsState)
            return Run(ref call, entry);
        if (client.ReadsAnyState || !ChecksReads) // or what the disk had, before the primary was heard of
            return RunAsOf(ref call, entry);
        KeySpec keys = call.Server.Commands.Specs[entry->Id].Keys;
        if (keys.First == 0 || (entry->Flags & (CommandFlags.RunsScript | CommandFlags.OtherKeys)) != 0)
            return RunHeld(ref call, entry);
        if (!KeyPositions.TryOf(ref call, keys, out KeyPositions positions))
            return Run(ref call, entry);
        long before = call.Out.Mark;
        ReadPoint point = Applied.Point;
        for (int tries = 0; tries < TriesMax; tries++, point = Applied.Point)
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

            Interlocked.Increment(ref _readRetries);
            call.Out.TakeBackTo(before);
        }

        return Await(ref call, point);
    }

    // What may touch anything, or more than once: batches wait until it is through.
    private unsafe Reply RunHeld(ref Call call, CommandEntry* entry)
    {
        ReadPoint point = Applied.Point;
        if (!Applied.TryHold())
        {
            long before = call.Out.Mark;
            Reply waits = Await(ref call, point);
            bool ends = waits == Reply.Failed && (entry->Flags & CommandFlags.RunsQueue) != 0; // to clients an error of EXEC is the end of the transaction
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
            Applied.Release();
        }
    }

    // The read begins anew when more has been applied; its time runs from the first try on.
    private Reply Await(ref Call call, ReadPoint point)
    {
        Connection client = call.Client;
        if (client.ReadUntilMs == 0)
            client.ReadUntilMs = call.NowMs + Settings.ReadWaitMs;
        if (call.NowMs >= client.ReadUntilMs)
        {
            client.ReadUntilMs = 0;
            return TryAgain(ref call);
        }

        Interlocked.Increment(ref _readWaits);
        CountWaitingRead(1);
        call.Worker.Park(client, new ReadWait(this, point, client.ReadUntilMs));
        return Reply.Postponed;
    }

    private static Reply TryAgain(ref Call call) =>
        call.FailBytes("TRYAGAIN This replica is applying a batch that touches the keys; retry."u8);

    // replication.Z6
    private unsafe Reply RunAsOf(ref Call call, CommandEntry* entry)
    {
        long sealedMs = Applied.SealedUnixUs / 1000;
        if (sealedMs == 0)
            return Run(ref call, entry);
        call.Store.NowMs = sealedMs;
        Reply reply = Run(ref call, entry);
        call.Store.NowMs = call.NowMs;
        return reply;
    }

    // As a primary runs it: what is short is not timed by itself.
    private unsafe Reply Run(ref Call call, CommandEntry* entry) => _server.AsksRules || (entry->Flags & CommandFlags.Timed) != 0
        ? Execution.RunTimed(ref call, entry)
        : Execution.RunPlain(ref call, entry, entry->Id);
}

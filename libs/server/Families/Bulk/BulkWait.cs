using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Bulk;

/// <summary>
/// What a PUT or GET that was put off waits for: its share of the budget, then its transfer. The command runs again when that is over,
/// and finds this.
/// </summary>
internal sealed class BulkWait(Worker worker, Connection client) : Parking
{
    // Beyond its own limit, for a transfer that nothing ends (a page of the client's that never comes).
    private const int GraceMs = 2000;

    /// <summary>Finds memory for the bytes of a transfer; null if there is none.</summary>
    internal delegate StagedBytes? MemoryFor(ref Call call, BulkSession session, int bytes);

    private volatile bool _isWoken;
    private BulkSession? _asked; // for room

    /// <summary>The transfer; null while there is no room for one.</summary>
    internal BulkTransfer? Transfer { get; private set; }

    /// <summary>How many bytes of each wanted range there are (BULK.GETV).</summary>
    internal int[] Counts { get; set; } = [];

    /// <summary>What was found under each of several keys, null for nothing (BULK.MGET).</summary>
    internal FoundValue?[] Found { get; set; } = [];

    /// <summary>Bytes of the whole value that a part was taken of.</summary>
    internal long Total { get; set; }

    /// <summary>The whole value's version, where the transfer has a part of it.</summary>
    internal ulong? Version { get; set; }

    /// <summary>What has been looked at, for a reply that waits for the log (<see cref="Tsavorite.StoreSession.LastSeen"/>).</summary>
    internal ulong LastSeen { get; set; }

    /// <summary>What the command has begun when it ran before; new if it has begun nothing.</summary>
    internal static BulkWait Of(ref Call call) => call.Client.Begun as BulkWait
        ?? new BulkWait(call.Worker, call.Client) { DeadlineMs = call.NowMs + call.Server.Settings.Bulk.WaitMs };

    /// <summary>Room for so many bytes, in the budget and in memory; false if there is none, with what is to be answered now.</summary>
    internal bool TryTake(ref Call call, BulkSession session, int bytes, MemoryFor stage, out StagedBytes staged, out Reply reply)
    {
        staged = null!;
        if (!TryShare(ref call, session, bytes, out reply))
            return false;
        StagedBytes? found = null;
        try
        {
            found = stage(ref call, session, bytes);
        }
        catch (OutOfMemoryException)
        {
            // The system has none: as if the limit were reached.
        }
        finally
        {
            if (found is null)
                session.Give(bytes); // also where it is put off until there is room, and asks again (store.U23)
        }

        if (found is not null)
        {
            staged = found;
            return true;
        }

        reply = Drop(call.Fail(Fault.OutOfMemory));
        return false;
    }

    /// <summary>A share of the budget for so many bytes; false if there is none, with what is to be answered now.</summary>
    internal bool TryShare(ref Call call, BulkSession session, int bytes, out Reply reply)
    {
        reply = Reply.Sent;
        bool mayWait = call.NowMs < DeadlineMs;
        _asked = session;
        if (session.TryTake(bytes, mayWait ? Wake : null))
            return true;
        reply = mayWait ? PutOff() : Drop(call.FailBytes("BULKBUSY too much is on its way: try again"u8));
        return false;
    }

    /// <summary>The transfer is this one, about to begin; <see cref="Wake"/> is to be called when it is over.</summary>
    internal Reply PutOffFor(ref Call call, BulkTransfer transfer)
    {
        Transfer = transfer;
        DeadlineMs = call.NowMs + call.Server.Settings.Bulk.TimeoutMs + GraceMs;
        return PutOff();
    }

    /// <summary>True if the transfer has come to a good end; else what is to be answered now.</summary>
    internal bool TryFinish(ref Call call, out Reply reply)
    {
        BulkTransfer transfer = Transfer!;
        reply = Reply.Sent;
        if (transfer.IsOver)
        {
            if (transfer.End == TransferEnd.Done)
                return true;
            reply = Drop(BulkCommands.FailEnd(ref call, transfer.End, transfer.Detail));
        }
        else if (call.NowMs < DeadlineMs)
        {
            reply = PutOff(); // it was woken by something else
        }
        else
        {
            call.Client.Bulk?.Close("a transfer of this session took too long");
            reply = Drop(BulkCommands.FailEnd(ref call, TransferEnd.Timeout, ""));
        }

        return false;
    }

    /// <summary>The command has its answer: nothing of what it had begun is left.</summary>
    internal Reply Drop(Reply reply)
    {
        Abandon(client);
        client.Begun = null;
        return reply;
    }

    internal void Wake()
    {
        _isWoken = true;
        worker.Post(static (owner, waiting, _) => owner.TryResume(waiting!), client);
    }

    internal override bool Resume(Worker worker, Connection client) => _isWoken || worker.NowMs >= DeadlineMs;

    internal override void Abandon(Connection client)
    {
        _asked?.Forget(Wake);
        Transfer?.GiveUp();
        Transfer = null;
    }

    private Reply PutOff()
    {
        _isWoken = false;
        client.Begun = this;
        worker.Park(client, this);
        return Reply.Postponed;
    }
}

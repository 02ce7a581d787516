using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Keys;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Scripting;
using Tsavorite;

namespace Garnet.Server.Families.Transactions;

/// <summary>
/// MULTI and EXEC for the connections of one reactor. Commands are copied into the connection's queue; EXEC gathers the keys
/// they declare, takes the locks of those partitions in ascending order (store.U6), runs them on the reactor's thread and gives the
/// locks back: nobody sees a part of it, and what it wrote is one batch of the log.
///
/// transactions.X4  A transaction in which some command may touch more than the keys it declares, in the connection's database, takes all
///     locks (<see cref="StoreSession.LockAll"/>); a command that belongs to connections or messages touches none.
/// transactions.X5  Nothing waits while the locks are held: commands that would park answer at once (<see cref="Call.MayPark"/>), room is made
///     before.
/// transactions.X6  What a connection has queued and watches is bounded by client-query-buffer-limit, the reply by client-output-buffer-limit;
///     who exceeds one is closed.
/// transactions.X7  Room for what the commands will take is found before the first of them runs, or none runs; none of them is refused memory then, unless
///     it takes far more than was thought (store.U20).
///
/// Others wait for the partitions of a transaction as long as it runs: about as long as the same commands take in a pipeline.
/// </summary>
internal sealed unsafe class TransactionRun : ITransactions, IDisposable
{
    private const int PlansMax = 3;

    private readonly Executor _worker;
    private readonly StoreSession _session;
    private readonly CommandFailures _failures;
    private readonly CommandEntry* _entries;
    private readonly Reach[] _reaches;
    private readonly int _select;
    private readonly ArgList _args = new();
    private long _leftOutBytes; // of the replies of the transaction that runs, when they are more than its client may get

    internal TransactionRun(Executor worker)
    {
        _worker = worker;
        _session = worker.Session;
        _failures = new CommandFailures(worker);
        CommandTable table = worker.Server.Commands;
        _entries = table.Entries;
        _reaches = [.. table.Specs.Select(ReachOf)];
        _select = table.FindByFullName("SELECT"u8);
    }

    /// <summary>What of the store a command may touch.</summary>
    private enum Reach : byte
    {
        Nothing,
        Keys,
        Everything,
    }

    /// <summary>Begins a transaction.</summary>
    internal static void Begin(Connection client)
    {
        client.Transaction ??= new Transaction();
        client.Modes |= ClientModes.Transaction;
    }

    /// <summary>Keeps a command for EXEC.</summary>
    public Reply Enqueue(ref Call call, CommandEntry* entry)
    {
        Transaction transaction = call.Client.Transaction!;
        if (transaction.CanRun) // else nothing will run: no memory for it
        {
            if (transaction.MemoryBytes + CommandQueue.BytesOf(call.Args, call.Count) > call.Server.QueryBufferLimit)
                return Overflow(ref call);
            transaction.Queue.Add(entry->Id, entry->Flags, call.KeyHash, call.Args, call.Count);
        }

        call.Out.Raw("+QUEUED\r\n"u8);
        return Reply.Sent;
    }

    /// <summary>A rule has refused a command while a transaction was open, or EXEC; the refusal stands behind the mark <paramref name="refusal"/>.</summary>
    public Reply Refused(ref Call call, CommandEntry* entry, long refusal)
    {
        if ((entry->Flags & CommandFlags.RunsQueue) == 0)
        {
            call.Client.Transaction!.Aborted = true;
            return Reply.Failed;
        }

        return Discard(ref call, refusal);
    }

    // EXEC is answered with the cause instead of running anything.
    private static Reply Discard(ref Call call, long refusal)
    {
        call.Server.Watches.EndTransaction(call.Client);
        ReadOnlySpan<byte> cause = call.Out.Since(refusal);
        cause = cause.Length < 3 ? [] : cause[1..^2]; // without the minus and the end of the line; nothing if it was too long for its client
        byte[] text = [.. "EXECABORT Transaction discarded because of: "u8, .. cause.StartsWith("ERR "u8) ? cause[4..] : cause];
        call.Out.TakeBackTo(refusal);
        return call.FailBytes(text);
    }

    /// <summary>What a rule says of the commands that are queued, each with the database it will find: the first thing that is not just allowed.</summary>
    public AdmissionResult AskQueued(ref Call exec, QueuedQuestion ask)
    {
        Connection client = exec.Client;
        if (client.Transaction is not { CanRun: true } transaction)
            return AdmissionResult.Allowed;
        int database = client.Database;
        QueuedCommand* command = transaction.Queue.First;
        for (int left = transaction.Queue.Count; left > 0; left--, command = QueuedCommand.Next(command))
        {
            QueuedCommand.Unpack(command, _args);
            var call = new Call(_worker, client, _args.Items, command->ArgCount, command->KeyHash);
            AdmissionResult result = ask(ref call, _entries + command->Command, database);
            if (!result.IsAllowed)
                return result;
            if (command->Command == _select)
                database = Selected(client, command, database);
        }

        return AdmissionResult.Allowed;
    }

    /// <summary>transactions.X6: closes a client that has queued or watches too much.</summary>
    internal static Reply Overflow(ref Call call)
    {
        call.Server.Log.QueryBufferExceeded(call.Client.Id, call.Client.Peer.Remote);
        return Reply.Close;
    }

    /// <summary>Runs what is queued, or refuses it; ends the transaction.</summary>
    internal Reply Exec(ref Call call)
    {
        Transaction transaction = call.Client.Transaction!;
        Reply reply;
        if (transaction.Aborted)
            reply = call.FailBytes("EXECABORT Transaction discarded because of previous errors."u8);
        else if (transaction.Touched)
            reply = Nothing(ref call);
        else
            reply = RunLocked(ref call, transaction);
        call.Server.Watches.EndTransaction(call.Client);
        return reply;
    }

    /// <inheritdoc/>
    public void Dispose() => _args.Dispose();

    private static Reach ReachOf(CommandSpec spec)
    {
        if ((spec.Flags & (CommandFlags.OtherDatabases | CommandFlags.RunsScript)) != 0 || ((spec.Flags & CommandFlags.MovableKeys) != 0 && spec.Keys.CountArg == 0))
            return Reach.Everything;
        if (spec.Keys.First > 0)
            return Reach.Keys;
        return spec.Group is "connection" or "pubsub" or "transactions" ? Reach.Nothing : Reach.Everything;
    }

    // That alone says that something has changed.
    private Reply Nothing(ref Call call)
    {
        _session.SeeAny();
        call.Out.NullArray();
        return Reply.Sent;
    }

    private Reply RunLocked(ref Call call, Transaction transaction)
    {
        bool alone = (transaction.Queue.Flags & (CommandFlags.RunsScript | CommandFlags.Alone)) != 0; // scripting.G4
        ScriptTurns.AloneTurn turn = default;
        if (alone && !_worker.Server.ScriptTurns.TryTake(_worker, out turn))
            return Busy(ref call);
        using (turn)
            return RunInTurn(ref call, transaction);
    }

    private Reply RunInTurn(ref Call call, Transaction transaction)
    {
        try
        {
            Lock(call.Client, transaction);
            return IsTouched(transaction) ? Nothing(ref call) : RunAll(ref call, transaction.Queue);
        }
        finally
        {
            _session.Unlock();
        }
    }

    private Reply Busy(ref Call call)
    {
        long before = call.Out.Mark;
        ScriptHost.Of(_worker).Busy(ref call);
        return Discard(ref call, before);
    }

    // Under the locks of all watched keys: whatever has not been told by now comes later.
    private bool IsTouched(Transaction transaction)
    {
        if (transaction.Watched is not { } watched)
            return false;
        foreach (Watch watch in watched.Watches)
        {
            if (watch.Existed && !_worker.Server.Watches.IsThere(watch, _session.NowMs))
                return true; // its time has come, though nobody has removed it yet
        }

        return watched.Touched;
    }

    /// <summary>
    /// About what the commands that the client has queued will take, bytes: what they bring, and what some make of little or of what is there (store.U20).
    /// </summary>
    public long RoomFor(Connection client)
    {
        CommandQueue queue = client.Transaction!.Queue;
        long bytes = queue.Bytes;
        QueuedCommand* command = queue.First;
        for (int left = queue.Count; left > 0; left--, command = QueuedCommand.Next(command))
        {
            if (_worker.Server.Commands.Specs[command->Command].Room is not { } room)
                continue;
            QueuedCommand.Unpack(command, _args);
            var call = new Call(_worker, client, _args.Items, command->ArgCount, command->KeyHash);
            if ((uint)(call.Count - _entries[command->Command].ArgsMin) <= _entries[command->Command].ArgsSpan)
                bytes += Math.Max(room(ref call), 0);
            if (bytes > _worker.Server.MemoryLimitBytes)
                break; // there cannot be room for it; and a large collection is not walked once per command
        }

        return bytes;
    }

    // There is room for what it takes (store.U20); a script in it may ask for any amount, and is refused what there is not.
    private void AssureRoom(Transaction transaction)
    {
        if ((transaction.Queue.Flags & CommandFlags.RunsScript) == 0)
            _session.TryAssureRoom();
    }

    // The partitions follow from what the databases stand for; if that changed before they were locked, once more.
    private void Lock(Connection client, Transaction transaction)
    {
        for (int plans = 0; plans < PlansMax; plans++)
        {
            long changes = _worker.Store.Namespaces.Changes;
            if (!TryPlan(client, transaction))
                break;
            AssureRoom(transaction);
            _session.LockWanted();
            if (_worker.Store.Namespaces.Changes == changes)
                return;
            _session.Unlock();
        }

        _session.ForgetWanted();
        AssureRoom(transaction);
        _session.LockAll();
    }

    private bool TryPlan(Connection client, Transaction transaction)
    {
        Store store = _worker.Store;
        foreach (Watch watch in transaction.Watched?.Watches ?? [])
        {
            fixed (byte* bytes = watch.Bytes)
                _session.Want(store.KeyFromHash(bytes, watch.Key.Length, store.Namespaces.Id(watch.Database), watch.Hash));
        }

        int database = client.Database;
        QueuedCommand* command = transaction.Queue.First;
        for (int left = transaction.Queue.Count; left > 0; left--, command = QueuedCommand.Next(command))
        {
            if (_reaches[command->Command] == Reach.Everything)
                return false;
            if (_reaches[command->Command] == Reach.Keys && !TryWantKeys(client, command, store.Namespaces.Id(database)))
                return false;
            if (command->Command == _select)
                database = Selected(client, command, database);
        }

        return true;
    }

    private bool TryWantKeys(Connection client, QueuedCommand* command, uint ns)
    {
        QueuedCommand.Unpack(command, _args);
        KeySpec keys = _worker.Server.Commands.Specs[command->Command].Keys;
        if (keys.CountArg == 0 && keys.Last == keys.First)
        {
            Arg key = _args.Items[keys.First];
            _session.Want(_worker.Store.KeyFromHash(key.Bytes, key.Length, ns, command->KeyHash));
            return true;
        }

        var call = new Call(_worker, client, _args.Items, command->ArgCount, command->KeyHash);
        if (!KeyPositions.TryOf(ref call, keys, out KeyPositions positions))
            return false;
        for (int i = 0; i < positions.Count; i++)
            _session.Want(call.KeyAt(positions[i], ns));
        return true;
    }

    // As SELECT will decide when it runs.
    private int Selected(Connection client, QueuedCommand* command, int database)
    {
        QueuedCommand.Unpack(command, _args);
        var call = new Call(_worker, client, _args.Items, command->ArgCount, 0);
        return KeyCommands.NamesDatabase(ref call, 1, out int named) ? named : database;
    }

    private Reply RunAll(ref Call exec, CommandQueue queue)
    {
        Connection client = exec.Client;
        int own = client.LastCommand;
        long before = exec.Out.Mark;
        Reply reply = Reply.Sent;
        _leftOutBytes = 0;
        if ((client.Modes & ClientModes.ReplyOff) == 0)
            exec.Out.Array(queue.Count);
        QueuedCommand* command = queue.First;
        for (int left = queue.Count; left > 0; left--, command = QueuedCommand.Next(command))
        {
            QueuedCommand.Unpack(command, _args);
            var call = new Call(_worker, client, _args.Items, command->ArgCount, command->KeyHash);
            client.LastCommand = command->Command;
            if (RunOne(ref call, _entries + command->Command) == Reply.Close)
                reply = Reply.Close;
        }

        client.LastCommand = own;
        _args.Clear();
        if (_leftOutBytes > 0)
        {
            long bytes = exec.Out.Mark - before + _leftOutBytes;
            exec.Out.TakeBackTo(before);
            _worker.RefuseLongReply(client, bytes);
        }

        return reply;
    }

    private Reply RunOne(ref Call call, CommandEntry* entry)
    {
        long before = call.Out.Mark;
        Reply reply = _failures.RunPart(ref call, entry);
        Garnet.Common.Faults.Check.That(reply is not (Reply.Parked or Reply.Postponed), "transactions.X5 nothing waits in a transaction");
        if (reply == Reply.Failed)
            Execution.CountFailure(_worker, entry->Id);
        if (call.Out.Mark > before && IsTooMuch(ref call))
            _leftOutBytes += call.Out.Mark - before;
        if (_leftOutBytes > 0)
            call.Out.TakeBackTo(before);
        return reply;
    }

    // Its errors alone may be too much. The reply leaves in one go, so it is judged while it grows; the commands run all the same.
    private bool IsTooMuch(ref Call call) => _leftOutBytes > 0 || _worker.IsLongReply(call.Client, call.Out.Mark);
}

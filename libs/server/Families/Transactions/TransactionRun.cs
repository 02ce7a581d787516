using Garnet.Common.Faults;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Scripting;
using Tsavorite;

namespace Garnet.Server.Families.Transactions;

/// <summary>
/// EXEC: takes the locks (<see cref="TransactionLocks"/>), runs what is queued on the reactor's thread and gives the locks back: nobody sees a part
/// of it, and what it wrote is one batch of the log.
///
/// transactions.X5  Nothing waits while the locks are held: commands that would park answer at once (<see cref="Call.MayPark"/>), room is made
///     before.
///
/// Others wait for the partitions of a transaction as long as it runs: about as long as the same commands take in a pipeline.
/// </summary>
internal sealed unsafe class TransactionRun
{
    private readonly Executor _worker;
    private readonly StoreSession _session;
    private readonly CommandFailures _failures;
    private readonly CommandEntry* _entries;
    private readonly QueuedCalls _calls;
    private readonly TransactionLocks _locks;
    private long _leftOutBytes; // of the replies of the transaction that runs, when they are more than its client may get

    internal TransactionRun(Executor worker, QueuedCalls calls)
    {
        (_worker, _session, _calls) = (worker, worker.Session, calls);
        _entries = worker.Server.Commands.Entries;
        _failures = new CommandFailures(worker, worker.Server.Observers, worker.Server.Commands, worker.Server.Log);
        _locks = new TransactionLocks(worker, calls);
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
        call.Server.Observers.Watches.EndTransaction(call.Client);
        return reply;
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
            _locks.Take(call.Client, transaction);
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
        return TransactionQueue.Discard(ref call, before);
    }

    // Under the locks of all watched keys: whatever has not been told by now comes later.
    private bool IsTouched(Transaction transaction)
    {
        if (transaction.Watched is not { } watched)
            return false;
        bool isTouched = watched.Touched;
        for (int i = 0; i < watched.Watches.Count && !isTouched; i++) isTouched = watched.Watches[i].IsDue(_session.NowMs);
        return isTouched;
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
            Call call = _calls.Of(client, command);
            client.LastCommand = command->Command;
            if (RunOne(ref call, _entries + command->Command) == Reply.Close)
                reply = Reply.Close;
        }

        client.LastCommand = own;
        _calls.Clear();
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
        Reply reply = AdmissionController.MayStillRun(ref call, entry) ? _failures.RunPart(ref call, entry) : Reply.Sent;
        Check.That(reply is not (Reply.Parked or Reply.Postponed), "transactions.X5 nothing waits in a transaction");
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

using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Transactions;

/// <summary>
/// MULTI for the connections of one reactor: commands are copied into the connection's queue, and what they are is asked about before
/// EXEC runs them (<see cref="TransactionRun"/>).
///
/// transactions.X6  What a connection has queued and watches is bounded by client-query-buffer-limit, the reply by client-output-buffer-limit;
///     who exceeds one is closed.
/// </summary>
internal sealed unsafe class TransactionQueue : ITransactions
{
    private readonly Executor _worker;
    private readonly CommandEntry* _entries;
    private readonly QueuedCalls _calls;
    private readonly TransactionRun _run;

    internal TransactionQueue(Executor worker)
    {
        _worker = worker;
        _entries = worker.Server.Commands.Entries;
        _calls = new QueuedCalls(worker);
        _run = new TransactionRun(worker, _calls);
    }

    /// <summary>Begins a transaction.</summary>
    internal static void Begin(Connection client)
    {
        client.Transaction ??= new Transaction();
        client.Modes |= ClientModes.Transaction;
    }

    /// <summary>Runs what is queued, or refuses it; ends the transaction.</summary>
    internal Reply Exec(ref Call call) => _run.Exec(ref call);

    /// <inheritdoc/>
    public Reply Enqueue(ref Call call, CommandEntry* entry)
    {
        Transaction transaction = call.Client.Transaction!;
        if (transaction.CanRun) // else nothing will run: no memory for it
        {
            if (transaction.MemoryBytes + CommandQueue.BytesOf(call.Args, call.Count) > call.Server.ClientLimits.QueryBufferLimit)
                return Overflow(ref call);
            transaction.Queue.Add(entry->Id, entry->Flags, call.KeyHash, call.Args, call.Count);
            transaction.Database = _calls.DatabaseAfter(ref call, entry->Id) ?? transaction.Database;
        }

        call.Out.Raw("+QUEUED\r\n"u8);
        return Reply.Sent;
    }

    /// <inheritdoc/>
    public Reply Refused(ref Call call, CommandEntry* entry, long refusal)
    {
        if ((entry->Flags & CommandFlags.RunsQueue) == 0)
        {
            call.Client.Transaction!.Aborted = true;
            return Reply.Failed;
        }

        return Discard(ref call, refusal);
    }

    /// <summary>EXEC is answered with the cause, which stands behind the mark <paramref name="refusal"/>, instead of running anything.</summary>
    internal static Reply Discard(ref Call call, long refusal)
    {
        call.Server.Observers.Watches.EndTransaction(call.Client);
        ReadOnlySpan<byte> cause = call.Out.Since(refusal);
        // Without the minus and the end of the line; nothing if it was too long for its client.
        cause = cause.Length < 3 ? [] : cause[1..^2];
        byte[] text = [.. "EXECABORT Transaction discarded because of: "u8, .. cause.StartsWith("ERR "u8) ? cause[4..] : cause];
        call.Out.TakeBackTo(refusal);
        return call.FailBytes(text);
    }

    /// <inheritdoc/>
    public AdmissionResult AskQueued(ref Call exec, QueuedQuestion ask)
    {
        Connection client = exec.Client;
        if (client.Transaction is not { CanRun: true } transaction)
            return AdmissionResult.Allowed;
        int database = client.Database;
        QueuedCommand* command = transaction.Queue.First;
        for (int left = transaction.Queue.Count; left > 0; left--, command = QueuedCommand.Next(command))
        {
            Call call = _calls.Of(client, command);
            AdmissionResult result = ask(ref call, _entries + command->Command, database);
            if (!result.IsAllowed)
                return result;
            database = _calls.DatabaseAfter(client, command, database);
        }

        return AdmissionResult.Allowed;
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
            Call call = _calls.Of(client, command);
            if (_entries[command->Command].Takes(call.Count))
                bytes += Math.Max(room(ref call), 0);
            if (bytes > _worker.Server.MemoryLimitBytes)
                break; // there cannot be room for it; and a large collection is not walked once per command
        }

        return bytes;
    }

    /// <summary>Closes a client that has queued or watches too much (transactions.X6).</summary>
    internal static Reply Overflow(ref Call call)
    {
        call.Server.Log.QueryBufferExceeded(call.Client.Id, call.Client.Peer.Remote);
        return Reply.Close;
    }

    /// <inheritdoc/>
    public void Dispose() => _calls.Dispose();
}

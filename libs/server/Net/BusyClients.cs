using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// While a script runs here for too long: its reactor looks, out of the script, for clients who want it to end: first at the rest of the
/// batch, then at what arrives. Other reactors answer what comes to them as busy (<see cref="BatchRunner"/>).
/// </summary>
internal sealed unsafe class BusyClients(
    Executor worker, BatchRunner runner, ReplyPath replies, RequestReceiver receiver, ITransport transport)
    : IDisposable
{
    private const int ReceiveBytes = 16 * 1024, PendingMax = 64 * 1024;

    private ReplyBuffer? _reply;
    private RespParser? _parser;
    private ArgList? _args;

    /// <summary>Answers clients out of a script that runs here.</summary>
    /// <param name="readMail">Runs what other threads have posted.</param>
    internal void Serve(Action readMail)
    {
        foreach (Connection client in replies.Touched)
        {
            if (client != worker.Running && !client.Closed)
                replies.Sender.SendSegment(client);
        }

        RespWriter own = worker.Out;
        int ready = transport.Wait(0);
        readMail();
        AnswerRest();
        for (int i = 0; i < ready; i++)
            Serve(transport[i], worker.Running);
        worker.Out = own;
    }

    // The batch that the script is a part of.
    private void AnswerRest()
    {
        for (int i = runner.At + 1; i < runner.Batch.Count; i++)
        {
            Frame* frame = runner.Batch.Frames + i;
            Connection client = runner.Batch.Clients[i];
            if (client == worker.Running || client.Stopped || frame->IsAnswered)
                continue;
            frame->IsAnswered = true;
            Begin(client);
            AnswerOne(client, runner.Batch.Args.Items + frame->FirstArg, frame->ArgCount);
            End(client);
        }
    }

    private void Begin(Connection client)
    {
        _reply ??= new ReplyBuffer();
        worker.Out = _reply.Begin(client.Resp3, replies.SlowReaders.ReplyBytesMax(client));
    }

    private void End(Connection client)
    {
        byte[] bytes = _reply!.Take();
        fixed (byte* reply = bytes)
            replies.Sender.SendBytes(client, reply, bytes.Length);
        if (client.CloseAfterReply && !client.HasUnsent)
            worker.Close(client);
    }

    private void Serve(ReadyEvent ready, Connection? running)
    {
        Connection? client = worker.Slots.Find(ready);
        if (client is null || client == running)
            return;
        if (ready.Writable)
            replies.Sender.SendPending(client);
        bool isFree = !client.Closed && !client.Stopped && !client.Carried && client.Big is null;
        if (!ready.Readable || client == receiver.Framing || !isFree || client.Pending.Count > PendingMax)
            return;
        byte* received = stackalloc byte[ReceiveBytes];
        int got = transport.Receive(client, received, ReceiveBytes);
        if (got <= 0)
        {
            receiver.ReceivedNothing(client, got);
            return;
        }

        receiver.CountReceived(client, got);
        client.Pending.Append(received, got);
        AnswerPending(client);
    }

    private void AnswerPending(Connection client)
    {
        _parser ??= new RespParser();
        _args ??= new ArgList();
        int count = client.Pending.Count;
        using var memory = new NativeArray<byte>((long)count + RespLimits.ReadableSlack);
        byte* at = memory.Items, end = at + count;
        Buffer.MemoryCopy(client.Pending.Head, at, count, count);
        client.Pending.Free();
        Begin(client);
        bool isRefused = false;
        while (at < end && !client.Stopped)
        {
            RespLimits limits = worker.Server.ClientLimits.Requests;
            limits.Unauthenticated = (client.Modes & ClientModes.Unauthenticated) != 0;
            _args.Clear();
            ParseResult result = _parser.Parse(at, end, _args, in limits);
            isRefused = result is not (ParseResult.Command or ParseResult.Nothing or ParseResult.Incomplete);
            if (isRefused || result == ParseResult.Incomplete)
                break;
            at = _parser.Position;
            if (result == ParseResult.Command)
                AnswerOne(client, _args.Items + _parser.FirstArg, _parser.ArgCount);
        }

        if (at < end)
            client.Keep(at, end);
        if (isRefused)
            receiver.Carry(client); // what is to be said of it is said behind the script
        End(client);
    }

    private void AnswerOne(Connection client, Arg* args, int count)
    {
        int command = worker.Server.Commands.Find(args, count);
        client.LastCommand = command;
        var call = new Call(worker, client, args, count, 0);
        client.Commands++;
        Reply reply = AdmissionController.RunBusy(ref call, worker.Server.Commands.Entries + command);
        if (reply == Reply.Failed)
            Execution.CountFailure(worker, command);
        client.CloseAfterReply |= reply == Reply.Close;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reply?.Dispose();
        _args?.Dispose();
    }
}

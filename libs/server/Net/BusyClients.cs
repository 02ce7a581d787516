using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// While a script runs for too long: other reactors answer what comes as busy, and the script's own reactor looks, out of the script,
/// for clients who want it to end: first at the rest of the batch, then at what arrives.
/// </summary>
internal sealed unsafe class BusyClients(Reactor reactor) : IDisposable
{
    private const int ReceiveBytes = 16 * 1024, PendingMax = 64 * 1024;

    private ReplyBuffer? _reply;
    private RespParser? _parser;
    private ArgList? _args;

    /// <summary>Answers clients out of a script that runs here.</summary>
    internal void Serve()
    {
        foreach (Connection client in reactor.Touched)
        {
            if (client != reactor.Running && !client.Closed)
                reactor.Sender.SendSegment(client);
        }

        RespWriter own = reactor.Out;
        int ready = reactor.Transport.Wait(0);
        reactor.DrainWhileBusy();
        AnswerRest();
        for (int i = 0; i < ready; i++)
            Serve(reactor.Transport[i], reactor.Running);
        reactor.ForgetReady();
        reactor.Out = own;
    }

    // The batch that the script is a part of.
    private void AnswerRest()
    {
        for (int i = reactor.FrameAt + 1; i < reactor.FrameCount; i++)
        {
            Frame* frame = reactor.Frames + i;
            Connection client = reactor.FrameClients[i];
            if (client == reactor.Running || client.Stopped || frame->IsAnswered)
                continue;
            frame->IsAnswered = true;
            Begin(client);
            AnswerOne(client, reactor.Args.Items + frame->FirstArg, frame->ArgCount);
            End(client);
        }
    }

    private void Begin(Connection client)
    {
        _reply ??= new ReplyBuffer();
        reactor.Out = _reply.Begin(client.Resp3, reactor.SlowReaders.ReplyBytesMax(client));
    }

    private void End(Connection client)
    {
        byte[] bytes = _reply!.Take();
        fixed (byte* reply = bytes)
            reactor.Sender.SendBytes(client, reply, bytes.Length);
        if (client.CloseAfterReply && client.Out.Count == 0)
            reactor.Close(client);
    }

    private void Serve(ReadyEvent ready, Connection? running)
    {
        Connection? client = reactor.Slots.Find(ready);
        if (client is null || client == running)
            return;
        if (ready.Writable)
            reactor.Sender.SendPending(client);
        if (!ready.Readable || client == reactor.Receiver.Framing || client.Closed || client.Stopped || client.Carried || client.Big is not null || client.Pending.Count > PendingMax)
            return;
        byte* received = stackalloc byte[ReceiveBytes];
        int got = reactor.Transport.Receive(client, received, ReceiveBytes);
        if (got <= 0)
        {
            reactor.Receiver.ReceivedNothing(client, got);
            return;
        }

        reactor.Receiver.CountReceived(client, got);
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
        while (at < end && !client.Stopped)
        {
            RespLimits limits = reactor.Server.Limits;
            limits.Unauthenticated = (client.Modes & ClientModes.Unauthenticated) != 0;
            _args.Clear();
            ParseResult result = _parser.Parse(at, end, _args, in limits);
            if (result is not (ParseResult.Command or ParseResult.Nothing))
                break; // incomplete, or for later to refuse
            at = _parser.Position;
            if (result == ParseResult.Command)
                AnswerOne(client, _args.Items + _parser.FirstArg, _parser.ArgCount);
        }

        if (at < end)
            client.Keep(at, end);
        End(client);
    }

    private void AnswerOne(Connection client, Arg* args, int count)
    {
        int command = reactor.Server.Commands.Find(args, count);
        client.LastCommand = command;
        var call = new Call(reactor, client, args, count, 0);
        client.CloseAfterReply |= AdmissionController.RunBusy(ref call, reactor.Server.Commands.Entries + command) == Reply.Close;
    }

    /// <summary>What is done with a command of a batch while a script of another reactor has run for too long.</summary>
    internal void Execute(Connection client, Frame* frame)
    {
        client.LastCommand = frame->Command;
        client.Commands++;
        var call = new Call(reactor, client, reactor.Args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        reactor.BeginReply();
        Reply reply = AdmissionController.RunBusy(ref call, reactor.Server.Commands.Entries + frame->Command);
        reactor.Replies.ReplacesLong(client);
        if (reply != Reply.Sent)
            reactor.AfterReply(client, frame, reply);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reply?.Dispose();
        _args?.Dispose();
    }
}

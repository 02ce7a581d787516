using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Blocking;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// While a script runs for too long: other reactors answer what comes as busy, and the script's own reactor looks, out of the script,
/// for clients who want it to end: first at the rest of the batch, then at what arrives.
/// </summary>
internal sealed unsafe partial class Reactor
{
    private const int BusyReceiveBytes = 16 * 1024, BusyPendingMax = 64 * 1024;

    /// <summary>1 while commands run here, 0 while none does or a script of another reactor is waited for (rule G2).</summary>
    internal int Runs;

    private ReplyBuffer? _busyReply;
    private RespParser? _busyParser;
    private ArgList? _busyArgs;
    private Connection? _framing; // what it has sent is being cut into frames: nobody else may read from it
    private int _frameAt; // of the running command
    private bool _resumesLater; // the replies of the running command stand at the end of the reply memory: nobody else's may
    private bool _mayRun; // the store may be touched: no script of another reactor runs

    /// <summary>True once the server is to stop.</summary>
    internal bool IsStopping => _stopping;

    /// <summary>A script could not begin because another one has run for too long: nothing else of the batch runs either.</summary>
    internal void GiveUpBatch() => _mayRun = false;

    /// <summary>Answers clients out of a script that runs here.</summary>
    internal void ServeWhileBusy()
    {
        foreach (Connection client in _touched)
        {
            if (client != _current && !client.Closed)
                SendSegment(client);
        }

        RespWriter own = Out;
        int ready = Transport.Wait(0);
        _resumesLater = true;
        _mailbox.Drain(this);
        _resumesLater = false;
        AnswerRest();
        for (int i = 0; i < ready; i++)
            ServeWhileBusy(Transport[i], _current);
        _readyCount = 0; // what the round still had to look at will be ready again
        Out = own;
    }

    // The batch that the script is a part of.
    private void AnswerRest()
    {
        for (int i = _frameAt + 1; i < _frameCount; i++)
        {
            Frame* frame = _frames + i;
            Connection client = _frameClients[i];
            if (client == _current || client.Stopped || frame->IsAnswered)
                continue;
            frame->IsAnswered = true;
            BeginBusy(client);
            AnswerOne(client, _args.Items + frame->FirstArg, frame->ArgCount);
            EndBusy(client);
        }
    }

    private void BeginBusy(Connection client)
    {
        _busyReply ??= new ReplyBuffer();
        Out = _busyReply.Begin(client.Resp3);
        client.SegmentStart = Out.Position;
    }

    private void EndBusy(Connection client)
    {
        client.SegmentStart = client.SegmentEnd = null;
        byte[] bytes = _busyReply!.Take();
        fixed (byte* reply = bytes)
            SendBytes(client, reply, bytes.Length);
        if (client.CloseAfterReply && client.Out.Count == 0)
            Close(client);
    }

    private void ServeWhileBusy(ReadyEvent ready, Connection? running)
    {
        Connection? client = (uint)ready.Slot < (uint)_slots.Length ? _slots[ready.Slot] : null;
        if (client is null || (int)client.Id != ready.Stamp || client == running)
            return;
        if (ready.Writable)
            SendPending(client);
        if (!ready.Readable || client == _framing || client.Closed || client.Stopped || client.Carried || client.Big is not null || client.Pending.Count > BusyPendingMax)
            return;
        byte* received = stackalloc byte[BusyReceiveBytes];
        int got = Transport.Receive(client, received, BusyReceiveBytes);
        if (got <= 0)
        {
            ReceivedNothing(client, got);
            return;
        }

        CountReceived(client, got);
        client.Pending.Append(received, got);
        AnswerPending(client);
    }

    private void AnswerPending(Connection client)
    {
        _busyParser ??= new RespParser();
        _busyArgs ??= new ArgList();
        int count = client.Pending.Count;
        byte* at = (byte*)NativeMemory.AllocZeroed((nuint)count + RespLimits.ReadableSlack), start = at, end = at + count;
        Buffer.MemoryCopy(client.Pending.Head, at, count, count);
        client.Pending.Free();
        BeginBusy(client);
        while (at < end && !client.Stopped)
        {
            RespLimits limits = Server.Limits;
            limits.Unauthenticated = (client.Gate & Gate.Unauthenticated) != 0;
            _busyArgs.Clear();
            ParseResult result = _busyParser.Parse(at, end, _busyArgs, in limits);
            if (result is not (ParseResult.Command or ParseResult.Nothing))
                break; // incomplete, or for later to refuse
            at = _busyParser.Position;
            if (result == ParseResult.Command)
                AnswerOne(client, _busyArgs.Items + _busyParser.FirstArg, _busyParser.ArgCount);
        }

        if (at < end)
            Keep(client, at, end);
        NativeMemory.Free(start);
        EndBusy(client);
    }

    private void AnswerOne(Connection client, Arg* args, int count)
    {
        int command = Server.Commands.Find(args, count);
        client.LastCommand = command;
        var call = new Call(this, client, args, count, 0);
        client.CloseAfterReply |= RunBusy(ref call, _entries + command) == Reply.Close;
    }

    // Instead of Execute.
    private void ExecuteBusy(Connection client, Frame* frame)
    {
        client.LastCommand = frame->Command;
        client.Commands++;
        var call = new Call(this, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        Reply reply = RunBusy(ref call, _entries + frame->Command);
        if (reply != Reply.Sent)
            AfterReply(client, frame, reply);
    }

    // What may run touches no key.
    private Reply RunBusy(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        bool isKnown = entry->Id != 0 && (uint)(call.Count - entry->ArgsMin) <= entry->ArgsSpan;
        if (isKnown && (client.Gate & Gate.Unauthenticated) != 0 && (entry->Flags & CommandFlags.NoAuth) == 0)
            return call.Fail(Fault.NoAuth);
        bool stops = entry->Id == Server.Commands.Shutdown;
        if (isKnown && entry->FirstKey == 0 && (entry->Flags & CommandFlags.AllowBusy) != 0 && (!stops || (call.Count > 1 && call.Is(1, "NOSAVE"u8))))
        {
            Figures.Calls[entry->Id]++;
            return entry->Run(ref call);
        }

        if (client.Transaction is { } transaction && (client.Gate & Gate.Transaction) != 0)
            transaction.Aborted = true;
        Figures.Rejected[entry->Id]++;
        return call.FailBytes(Server.RunningScript() is { IsFunction: true }
            ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."u8
            : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."u8);
    }

    private void DisposeBusy()
    {
        _busyReply?.Dispose();
        _busyArgs?.Dispose();
    }
}

using System.Runtime.CompilerServices;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>Running a batch of frames in order.</summary>
internal sealed unsafe partial class Reactor
{
    // Every command of the batch is put to the rules of Admission; the role restricts commands, or is being changed; a replica answers reads; no script of another reactor runs.
    private bool _asksRules, _placed, _reads, _mayRun;
    private bool _afterwards; // behind the running command: a message was sent to its own client, or its reply is longer than that may get
    private bool _resumesLater; // while a script answers other clients: waiting commands go on later, as their replies may not stand between those of the running one
    internal int FrameAt { get; private set; } // of the running command
    internal int FrameCount => _batch.Count;
    internal Frame* Frames => _frames;
    internal Connection[] FrameClients => _frameClients;
    internal ArgList Args => _args;
    internal List<Connection> Touched => _touched;
    /// <inheritdoc/>
    internal override void ServeBusy() => Busy.Serve();

    /// <inheritdoc/>
    internal override void GiveUpBatch() => _mayRun = false;

    /// <summary>The sockets that this round has not come to are left out: the transport reports them again.</summary>
    internal void ForgetReady() => _readyCount = 0;

    /// <summary>Runs what other threads have posted, while a command of this reactor is running.</summary>
    internal void DrainWhileBusy()
    {
        _resumesLater = true;
        _mailbox.Drain(this);
        _resumesLater = false;
    }

    /// <inheritdoc/>
    public void ExecuteBatch()
    {
        int count = _batch.Count;
        if (count == 0)
            return;
        if (count > 1)
            _prefetch.Run(count);
        _mayRun = Server.ScriptTurns.TryEnter(this);
        _asksRules = Server.AsksRules | Store.Tight | _batch.IsBig; // read after TryEnter: a script may have changed it (scripting.G4)
        _placed = Server.Replication.IsAsked;
        _reads = _placed && Server.Replication.TakesReads;
        long began = Server.Clock.MonotonicUs;
        for (int from = 0; from < count; from = FrameAt + 1)
            ExecuteFrames(from, count);
        if (_mayRun)
            Server.ScriptTurns.Leave(this);
        if (Notes.Count + Broadcasts.Count > 0)
            HandOnChanges();
        Figures.BusyUs += Server.Clock.MonotonicUs - began;
        _batch.Clear();
    }

    // net.R8: once per failure, not per command: a protected region in the loop would cost each command (DispatchBenchmark).
    private void ExecuteFrames(int from, int count)
    {
        try
        {
            RunFrames(from, count);
            FrameAt = count;
        }
        catch (Exception e)
        {
            Connection client = _frameClients[FrameAt];
            Frame* frame = _frames + FrameAt;
            bool isMiss = _fetching.IsMiss(e);
            if (!isMiss && !Failures.TryAnswer(e, client, frame->Command))
                throw;
            EndCommand(client, frame, isMiss ? _fetching.PutOff(client, frame) : client.CloseAfterReply ? Reply.Close : Reply.Failed);
        }
    }

    private void RunFrames(int from, int count)
    {
        for (int i = from; i < count; i++)
        {
            Connection client = _frameClients[i];
            if (client.Stopped || (_frames + i)->IsAnswered)
                continue;
            FrameAt = i;
            if (client != _current)
                SwitchTo(client);
            if (_mayRun)
                Execute(client, _frames + i);
            else
                Busy.Execute(client, _frames + i);
        }
    }

    private void HandOnChanges()
    {
        Server.Changes.HandOn(this);
        Server.Tracker.Broadcast(this);
        if (!_afterwards || _current is not { } client)
            return;
        _afterwards = false;
        TakePushes(client);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // DispatchBenchmark: one call site, on the path of every command
    private void Execute(Connection client, Frame* frame)
    {
        CommandEntry* entry = _entries + frame->Command;
        client.LastCommand = frame->Command;
        client.Commands++;
        var call = new Call(this, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        BeginReply();
        Reply reply;
        if (client.Modes == ClientModes.None && !_asksRules && !_placed && (entry->Flags & CommandFlags.Timed) == 0 && (uint)(frame->ArgCount - entry->ArgsMin) <= entry->ArgsSpan)
        {
            reply = Execution.RunPlain(ref call, entry, frame->Command);
        }
        else
        {
            bool reads = _reads && client.Modes == ClientModes.None && !_asksRules && (entry->Flags & (CommandFlags.ReadOnly | CommandFlags.Timed)) == CommandFlags.ReadOnly && (uint)(frame->ArgCount - entry->ArgsMin) <= entry->ArgsSpan;
            reply = reads ? ReplicaReads.RunRead(ref call, entry) : RunAsked(ref call, entry);
        }

        EndCommand(client, frame, reply);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // as its caller
    private void EndCommand(Connection client, Frame* frame, Reply reply)
    {
        if ((Session.LastBatch | Session.LastSeen) != 0)
            Held.Note(client);
        if (Ready.Count != 0)
            _fetching.ServeReady();
        if (reply != Reply.Sent)
            AfterReply(client, frame, reply);
        if (_afterwards)
            Finish(client, frame);
        if (Out.Mark > SendEarlyBytes)
            SendEarly(client, frame);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Finish(Connection client, Frame* frame)
    {
        _afterwards = false;
        Replies.ReplacesLong(client);
        TakePushes(client);
        if (Replies.IsInReserve)
            SendEarly(client, frame);
    }

    // Anything out of the ordinary: wrong arity, not authenticated, subscribed, replies off, MONITOR, pause, memory, timing.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Reply RunAsked(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        long before = Out.Mark;
        bool off = (client.Modes & ClientModes.ReplyOff) != 0;
        bool skip = (client.Modes & ClientModes.ReplySkip) != 0;
        client.Modes &= ~ClientModes.ReplySkip;
        _fetching.Skips = skip;
        Reply reply = AdmissionController.Run(ref call, entry);
        _asksRules |= Server.AsksRules; // a setting that the command has changed counts for the next command of the batch
        if (Server.MeasuresReplies && reply != Reply.Postponed && (entry->Flags & CommandFlags.SkipSlowlog) == 0)
            Server.LargeReplies.Consider(client, call.Arguments, Out.Mark - before);
        if (skip)
            client.SkipLater(reply);
        _fetching.Skips = false;
        if (skip || (off && (client.Modes & ClientModes.ReplyOff) != 0))
            Out.TakeBackTo(before);
        return reply;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void AfterReply(Connection client, Frame* frame, Reply reply)
    {
        if (reply == Reply.Failed)
        {
            Execution.CountFailure(this, frame->Command);
            return;
        }

        if (reply == Reply.Close)
        {
            client.CloseAfterReply = true;
            return;
        }

        client.KeepRest(reply == Reply.Postponed ? frame->Start : frame->End);
        Watch(client);
    }
}

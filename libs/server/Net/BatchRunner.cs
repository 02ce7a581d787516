using System.Runtime.CompilerServices;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Base;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>A reactor's batches: what has been framed runs in order, each command put to the rules that are in force.</summary>
internal sealed unsafe class BatchRunner : IDisposable
{
    private readonly Executor _worker;
    private readonly ServerContext _server;
    private readonly StoreSession _session;
    private readonly ReadyKeys _ready;
    private readonly ReplyPath _replies;
    private readonly HeldReplies _held;
    private readonly FrameBatch _batch;
    // The next ones are the batch's own, kept here too: the loop over the commands reads them without a detour.
    private readonly ArgList _args;
    private readonly Frame* _frames;
    private readonly Connection[] _clients;
    private readonly CommandEntry* _entries;
    private readonly BatchPrefetch _prefetch;
    private readonly Fetching _fetching;
    private readonly BatchSampling _sampling;
    // Every command of the batch is put to the rules of Admission; the role restricts commands, or is being changed; a replica answers
    // reads; no script of another reactor runs.
    private bool _asksRules, _placed, _reads, _mayRun;

    internal BatchRunner(Executor worker, ReplyPath replies)
    {
        _worker = worker;
        _server = worker.Server;
        _session = worker.Session;
        _ready = worker.Ready;
        _replies = replies;
        _held = replies.Held;
        _batch = new FrameBatch(worker.Store, worker.Server.Commands);
        _entries = _batch.Entries;
        _args = _batch.Args;
        _frames = _batch.Frames;
        _clients = _batch.Clients;
        _prefetch = new BatchPrefetch(worker.Store, _batch, _entries);
        Failures = new CommandFailures(worker, _server.Observers, _server.Commands, _server.Log);
        _fetching = new Fetching(worker, this);
        _sampling = new BatchSampling(worker.Server.Monitoring, worker, _batch);
    }

    /// <summary>What becomes of exceptions that leave commands.</summary>
    internal CommandFailures Failures { get; }

    /// <summary>Where the replies of its commands go.</summary>
    internal ReplyPath Replies => _replies;

    /// <summary>True while fetched values are kept, which are to be given up soon.</summary>
    internal bool KeepsFetched => _fetching.Keeps;

    /// <summary>Takes what has come from the tier, and lets those go on that waited for it.</summary>
    internal void Poll() => _fetching.Poll();

    /// <summary>What has been framed and not run yet.</summary>
    internal FrameBatch Batch => _batch;

    /// <summary>Which of the batch runs.</summary>
    internal int At { get; private set; }

    /// <summary>A script of another reactor has run for too long: nothing else of the batch runs.</summary>
    internal void GiveUp() => _mayRun = false;

    /// <summary>Runs what has been framed; afterwards the batch is empty.</summary>
    internal void Run()
    {
        int count = _batch.Count;
        if (count == 0)
            return;
        if (count > 1)
            _prefetch.Run(count);
        _sampling.Run(count);
        _mayRun = _server.ScriptTurns.TryEnter(_worker);
        if (_worker.HasOldRights)
            ClientRights.TakeOver(_worker); // read after TryEnter (commands.U1)
        // read after TryEnter: a script may have changed it (scripting.G4)
        _asksRules = _server.AsksRules | _worker.Store.Tight | _batch.IsBig | _fetching.HasLine;
        _placed = _server.Replication.IsAsked;
        _reads = _placed && _server.Replication.TakesReads;
        long began = _server.Clock.MonotonicUs;
        for (int from = 0; from < count; from = At + 1)
            RunFrom(from, count);
        if (_mayRun)
            _server.ScriptTurns.Leave(_worker);
        if (_worker.Notes.Count > 0 || _worker.HasBroadcasts)
        {
            _server.Observers.HandOn(_worker);
            _replies.FinishBatch();
        }

        _worker.Figures.BusyUs += _server.Clock.MonotonicUs - began;
        _batch.Clear();
        _fetching.EndBatch();
    }

    // net.R8: once per failure, not per command: a protected region in the loop would cost each command (DispatchBenchmark).
    private void RunFrom(int from, int count)
    {
        try
        {
            RunFrames(from, count);
            At = count;
        }
        catch (Exception e)
        {
            Connection client = _clients[At];
            Frame* frame = _frames + At;
            bool isSilent = (client.Modes & (ClientModes.ReplyOff | ClientModes.ReplySkipped)) != 0, isMiss = Unmet.IsForNow(e);
            if (!isMiss && !Failures.TryAnswer(e, client, frame->Command))
                throw;
            if (!isMiss && isSilent)
                _worker.TakeBackReply(); // an error is a reply
            Reply reply = isMiss ? _fetching.PutOff(client, frame, e) : client.CloseAfterReply ? Reply.Close : Reply.Failed;
            client.EndSkipped(reply);
            EndCommand(client, frame, reply);
            _asksRules |= _fetching.HasLine; // tiering.M1: it holds for what comes behind it
        }
    }

    private void RunFrames(int from, int count)
    {
        for (int i = from; i < count; i++)
        {
            Connection client = _clients[i];
            if ((_frames + i)->IsAnswered)
                continue;
            At = i;
            if (client != _worker.Running && !client.Stopped)
                _replies.SwitchTo(client); // which may send what it has: the client can be stopped, or gone, behind it
            if (client.Stopped)
            {
                client.KeepUnrun((_frames + i)->Start);
                continue;
            }

            if (_mayRun)
                Execute(client, _frames + i);
            else
                RunBusy(client, _frames + i);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // DispatchBenchmark: one call site, on the path of every command
    private void Execute(Connection client, Frame* frame)
    {
        CommandEntry* entry = _entries + frame->Command;
        client.LastCommand = frame->Command;
        client.Commands++;
        var call = new Call(_worker, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        _replies.BeginReply();
        Reply reply;
        if (client.Modes == ClientModes.None && !_asksRules && !_placed && (entry->Flags & CommandFlags.Timed) == 0
            && entry->Takes(frame->ArgCount))
        {
            reply = Execution.RunPlain(ref call, entry, frame->Command);
        }
        else
        {
            bool reads = _reads && client.Modes == ClientModes.None && !_asksRules
                && (entry->Flags & (CommandFlags.ReadOnly | CommandFlags.Timed)) == CommandFlags.ReadOnly
                && entry->Takes(frame->ArgCount);
            reply = reads ? ReplicaReads.RunRead(ref call, entry) : RunAsked(ref call, entry);
        }

        EndCommand(client, frame, reply);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // as its caller
    private void EndCommand(Connection client, Frame* frame, Reply reply)
    {
        if ((_session.LastBatch | _session.LastSeen) != 0)
            _held.Note(client);
        if (_ready.Count != 0)
            _worker.Ready.Serve();
        if (reply != Reply.Sent)
            AfterReply(client, frame, reply);
        if (_replies.IsToBeLookedAt | _worker.Out.Mark > Worker.SendEarlyBytes)
            Finish(client, frame);
    }

    // Behind the command: what there is to do, and whose replies are many already are sent now. If the socket is full, the rest of its commands waits.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Finish(Connection client, Frame* frame)
    {
        long headBytes = _worker.Out.ReplyBytes, sentBytes = _replies.SendInPlace(client);
        if (sentBytes > 0)
            NoteSent(client, frame, sentBytes, headBytes);
        bool isNow = _replies.IsToBeLookedAt && _replies.Finish(client);
        if (sentBytes > 0 && (client.Stalled | client.Held) && !client.Parked && !client.Closed)
            client.KeepRest(frame->End);
        if (client.Closed || !(isNow || _worker.Out.Mark > Worker.SendEarlyBytes))
            return;
        if (_replies.EndsLong(client))
            NoteLargeReply(client, frame, LastReply.Bytes(client.SegmentStart, client.SegmentEnd));
        _replies.SendEarly(client);
        if ((client.Stalled | client.Held) && !client.Parked)
            client.KeepRest(frame->End);
    }

    // The reply's header was counted where the command ran: here only the rest is.
    private void NoteSent(Connection client, Frame* frame, long bytes, long headBytes)
    {
        if (_server.Monitoring.WantsReply(bytes))
            NoteLargeReply(client, frame, bytes);
        var call = new Call(_worker, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        HotKeyCalls.Sent(ref call, frame->Command, bytes - headBytes);
    }

    private void NoteLargeReply(Connection client, Frame* frame, long bytes)
    {
        var call = new Call(_worker, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        if ((_entries[frame->Command].Flags & CommandFlags.SkipSlowlog) == 0)
            _server.Monitoring.ConsiderReply(client, call.Arguments, bytes);
    }

    // A script of another reactor has run for too long.
    private void RunBusy(Connection client, Frame* frame)
    {
        client.LastCommand = frame->Command;
        client.Commands++;
        var call = new Call(_worker, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        _replies.BeginReply();
        Reply reply = AdmissionController.RunBusy(ref call, _entries + frame->Command);
        _replies.ReplacesLong(client);
        if (reply != Reply.Sent)
            AfterReply(client, frame, reply);
    }

    // Anything out of the ordinary: wrong arity, not authenticated, subscribed, replies off, MONITOR, pause, memory, timing.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Reply RunAsked(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        long before = _worker.Out.Mark;
        Reply reply = AdmissionController.Run(ref call, entry);
        // What the command has changed (a setting, a pause) counts for the next command of the batch, whoever has sent that. Nothing is taken back: a rule that
        // has nothing to say any more allows.
        _asksRules |= _server.AsksRules | _worker.Store.Tight;
        _placed |= _server.Replication.IsAsked;
        if (_server.Monitoring.MeasuresReplies && reply != Reply.Postponed && (entry->Flags & CommandFlags.SkipSlowlog) == 0)
            _server.Monitoring.ConsiderReply(client, call.Arguments, _worker.Out.Mark - before);
        return reply;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AfterReply(Connection client, Frame* frame, Reply reply)
    {
        if (reply == Reply.Failed)
        {
            Execution.CountFailure(_worker, frame->Command);
            return;
        }

        if (reply == Reply.Close)
        {
            client.CloseAfterReply = true;
            return;
        }

        bool runsAgain = reply == Reply.Postponed;
        if (runsAgain)
            client.PutOff++; // framed again, it counts once more
        client.KeepRest(runsAgain ? frame->Start : frame->End);
        _replies.Watch(client);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _batch.Dispose();
        _prefetch.Dispose();
    }
}

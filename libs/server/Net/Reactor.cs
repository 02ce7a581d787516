using System.Net.Sockets;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Families.Transactions;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>
/// One thread, its connections, and the loop that serves them: collect what arrived, frame up to 64 commands across the
/// connections, prefetch what they will touch, run them in order, send each connection's replies at once. Nothing here
/// waits but the transport.
///
/// net.R1  A connection belongs to one reactor for life; its fields change on that thread only.
/// net.R2  Commands of a connection run in the order they arrived, replies leave in that order; out-of-band messages come after
///     the replies written before them and before the replies written after them.
/// net.R3  A connection gets at most <see cref="RequestReceiver.QuotaCommands"/> commands and one receive per round, then the others have their turn.
/// net.R4  What a stopped connection sent is kept, not run, until it goes on; a stopped connection is not read.
/// net.R5  Every pointer into the receive buffer dies with the batch; every pointer into the reply memory as soon as more is written (common.R1).
/// </summary>
internal sealed unsafe partial class Reactor : Executor, IBatchRunner, IScriptWorker, IDisposable
{
    private const int TickMs = 100;

    internal readonly ITransport Transport;
    private readonly Mailbox _mailbox;
    private readonly FrameBatch _batch;
    private readonly ArgList _args; // these three are the batch's own, kept here too: the loop over the commands reads them without a detour
    private readonly Frame* _frames;
    private readonly Connection[] _frameClients;
    private readonly CommandEntry* _entries;
    private readonly BatchPrefetch _prefetch;
    private readonly TransactionQueue _transactions;
    private int _readyCount;
    private readonly Fetching _fetching;
    private long _nextTickMs;
    private volatile bool _stopping;

    internal Reactor(ServerContext server, int index, ITransport transport) : base(server, index, WokenCommands.Instance, transport.ReaderWake)
    {
        Replies = new ReplyMemory(this);
        Out = new RespWriter(Replies);
        Held = new HeldReplies(this);
        Sender = new ReplySender(this);
        SlowReaders = new SlowReaders(this);
        ClientMemory = new ClientMemory(this);
        _transactions = new TransactionQueue(this);
        Scripts = new ScriptHost(this);
        Busy = new BusyClients(this);
        Failures = new CommandFailures(this);
        Waiting = new WaitingClients(this);
        _fetching = new Fetching(this);
        _entries = server.Commands.Entries;
        _batch = new FrameBatch(Store, server.Commands);
        _args = _batch.Args;
        _frames = _batch.Frames;
        _frameClients = _batch.Clients;
        _prefetch = new BatchPrefetch(Store, _batch, _entries);
        Transport = transport;
        Receiver = new RequestReceiver(this, this, server, transport, _batch);
        _mailbox = new Mailbox(transport);
        Replies.Reset(Out);
    }

    /// <summary>From sockets to commands.</summary>
    internal RequestReceiver Receiver { get; }

    /// <summary>Where replies stand until they are sent.</summary>
    internal ReplyMemory Replies { get; }

    /// <summary>Sends them.</summary>
    internal ReplySender Sender { get; }

    /// <summary>Limits on unsent replies.</summary>
    internal SlowReaders SlowReaders { get; }
    internal ClientMemory ClientMemory { get; }

    /// <summary>Replies and commands that wait for the log.</summary>
    internal HeldReplies Held { get; }

    /// <inheritdoc/>
    internal override ITransactions Transactions => _transactions;

    /// <inheritdoc/>
    public ScriptHost Scripts { get; }

    /// <summary>What becomes of exceptions that leave commands.</summary>
    internal CommandFailures Failures { get; }

    /// <summary>Parked connections.</summary>
    internal WaitingClients Waiting { get; }

    /// <summary>Clients while a script runs for too long.</summary>
    internal BusyClients Busy { get; }

    /// <inheritdoc/>
    internal override bool IsStopping => _stopping;

    /// <summary>Runs until <see cref="Stop"/>; the body of the reactor's thread.</summary>
    internal void Run()
    {
        Server.Changes.Claim(this);
        while (!_stopping)
            Round(); // the loop itself does nothing: the runtime never optimizes a method that does not return, only those that it calls
        Finish();
    }

    /// <summary>Makes the loop end after the current round. From any thread.</summary>
    internal void Stop()
    {
        _stopping = true;
        Transport.Wake();
    }

    /// <inheritdoc/>
    internal override void Nudge() => Transport.Wake();

    /// <inheritdoc/>
    internal override void Post(Action<Worker, Connection?, object?> action, Connection? client = null, object? content = null) => _mailbox.Post(action, client, content);

    /// <summary>Takes a new connection in; on the reactor's thread.</summary>
    internal void Adopt(Connection client)
    {
        Slots.Add(client);
        if (Server.PasswordRequired)
            client.Modes |= ClientModes.Unauthenticated;
        Transport.Add(client);
    }

    /// <inheritdoc/>
    internal override void Close(Connection client)
    {
        if (client.Closed)
            return;
        client.Closed = true;
        if (client.Waiting is { } waiting)
        {
            Waiting.Remove(client);
            waiting.Abandon(client);
        }

        Transport.Close(client);
        Leave(client);
    }

    /// <summary>Takes a connection whose socket is another's business now out of everything.</summary>
    internal void Leave(Connection client)
    {
        Server.Forget(client);
        Slots.Remove(client);
        client.FreeBuffers();
        Interlocked.Decrement(ref ConnectionCount);
        Server.ConnectionClosed();
    }

    /// <inheritdoc/>
    internal override void TryResume(Connection client)
    {
        if (client.Closed || client.Waiting is not { } waiting)
            return;
        if (_resumesLater)
        {
            Post(static (owner, resumed, _) => owner.TryResume(resumed!), client);
            return;
        }

        Waiting.GoOn(client, waiting);
    }

    /// <inheritdoc/>
    internal override void Park(Connection client, Parking waiting)
    {
        AwaitsLog |= waiting is LogWait;
        Waiting.Add(client, waiting);
    }

    /// <inheritdoc/>
    internal override bool ResumeWhere(Predicate<Parking> condition) => Waiting.Resume(condition);

    /// <inheritdoc/>
    internal override (LogMark Written, LogMark Seen) TakeMarks() => (Held.Mark(Held.TakeBatch()), Held.Mark(Held.TakeSeen()));

    /// <inheritdoc/>
    internal override Socket? Detach(Connection client)
    {
        if (client.Out.Count + client.Pending.Count + client.Pushes.Count > 0 || client.Big is not null || client.Subscriptions is { Count: > 0 })
            return null;
        Socket socket = Transport.Detach(client);
        client.Closed = true;
        Leave(client);
        return socket;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Session.Dispose(); // reads that finish wake the transport
        Transport.Dispose();
        Receiver.Dispose();
        _transactions.Dispose();
        Scripts.Dispose();
        Busy.Dispose();
        Ready.Dispose();
        Replies.Dispose();
        _batch.Dispose();
        _prefetch.Dispose();
    }

    /// <summary>Serves what is there once.</summary>
    internal void Round()
    {
        _readyCount = Transport.Wait(WaitMs());
        Session.NowMs = NowMs = Server.Clock.UnixMs;
        _mailbox.Drain(this);
        if (AwaitsLog)
            Held.Release();
        _fetching.Poll();
        for (int i = 0; i < _readyCount; i++)
            Serve(Transport[i]);
        Receiver.ServeCarried();
        ExecuteBatch();
        if (Ready.HasServed)
            Ready.Deliver();
        EndRound();
        Receiver.Reset();
        if (NowMs >= Math.Min(_nextTickMs, Waiting.NextDeadlineMs))
            Tick();
    }

    private int WaitMs()
    {
        if (Receiver.HasCarried || Held.MissedAdvance())
            return 0;
        if (Waiting.Count > 0 || Server.NeedsTicks || _fetching.Keeps)
            return (int)Math.Clamp(Waiting.NextDeadlineMs - NowMs, 0, TickMs);
        return (ConnectionCount > 0 && Server.HasIdleLimit) || SlowReaders.AnyOverSoftLimit ? 1000 : -1;
    }

    private void Serve(ReadyEvent ready)
    {
        if (Slots.Find(ready) is not { } client)
            return;
        if (ready.Writable)
            Sender.SendPending(client);
        if (ready.Readable && !client.Closed && !client.Stopped && !client.Carried && (client.Watched & 1) == 0)
            Receiver.Serve(client);
        else if (client.Held && (client.Watched & 1) == 0 && !ready.Broken)
            Watch(client); // it goes on sending while its replies wait for the log: not read until they have left
        else if (ready.Broken)
            Close(client);
    }

    private void Tick()
    {
        long now = NowMs;
        _nextTickMs = now + TickMs;
        Waiting.ResumeDue(now);
        if (Server.HasIdleLimit)
            CloseWhere(client => Server.IsOverdue(client, now), Close);
        ClientMemory.Bound();
        if (Index == 0 && Server.EntryReaper.IsActive && Server.ScriptTurns.TryEnter(this))
        {
            Server.EntryReaper.Tick(this);
            Server.ScriptTurns.Leave(this);
        }

        SlowReaders.CloseOverdue();
        EndRound();
    }

    internal void CloseWhere(Predicate<Connection> condition, Action<Connection> close) => Slots.ForEach(condition, close);

    private void Finish()
    {
        Held.Settle();
        Slots.ForEach(static _ => true, client =>
        {
            Sender.SendPending(client);
            Close(client);
        });
    }
}

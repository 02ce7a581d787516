using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
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
internal sealed class Reactor : Executor, IDisposable
{
    private const int TickMs = 100;

    private readonly ITransport _transport;
    private readonly Mailbox _mailbox;
    private readonly ReplyPath _replies;
    private readonly BatchRunner _runner;
    private readonly RequestReceiver _receiver;
    private readonly WaitingClients _waiting;
    private readonly BusyClients _busy;
    private readonly Upkeep _upkeep;
    private readonly IWorkerFamilies _families;
    // Made with the first script: until then their code is not loaded.
    private IScripts? _scripts;
    private int _readyCount;
    private long _nextTickMs;
    // While a script answers other clients: waiting commands go on later, as their replies may not stand between those of the running one.
    private bool _resumesLater;
    private volatile bool _stopping;

    internal Reactor(ServerContext server, int index, ITransport transport, IWorkerFamilies families)
        : base(server, index, WokenCommands.Instance, transport.ReaderWake)
    {
        _transport = transport;
        _mailbox = new Mailbox(transport);
        _replies = new ReplyPath(this, transport, client => _receiver!.Carry(client));
        Transactions = families.TransactionsOn(this);
        _families = families;
        _runner = new BatchRunner(this, _replies);
        _receiver = new RequestReceiver(this, _runner, transport, server.ClientLimits, server.Log, server.Clock);
        _waiting = new WaitingClients(this, _replies, _receiver);
        _busy = new BusyClients(this, _runner, _replies, _receiver, transport);
        var memory = new ClientMemory(this, server.Workers, server.Settings, server.Log, () => server.MemoryLimitBytes);
        _upkeep = new Upkeep(this, server.ClientLimits, server.EntryReaper, server.ScriptTurns, memory, _replies.SlowReaders);
    }

    /// <inheritdoc/>
    internal override ITransactions Transactions { get; }

    /// <inheritdoc/>
    internal override IScripts Scripts => _scripts ?? OpenScripts();

    /// <inheritdoc/>
    internal override bool HasScripts => Volatile.Read(ref _scripts) is not null;

    /// <summary>Its batches.</summary>
    internal BatchRunner Runner => _runner;

    /// <summary>Its replies.</summary>
    internal ReplyPath Replies => _replies;

    /// <inheritdoc/>
    internal override bool IsStopping => _stopping;

    /// <summary>Runs until <see cref="Stop"/>; the body of the reactor's thread.</summary>
    internal void Run()
    {
        Server.Observers.Claim(this);
        while (!_stopping)
            Round(); // the loop itself does nothing: the runtime never optimizes a method that does not return, only those that it calls
        Finish();
    }

    /// <summary>Makes the loop end after the current round. From any thread.</summary>
    internal void Stop()
    {
        _stopping = true;
        _transport.Wake();
    }

    /// <inheritdoc/>
    internal override void Nudge() => _transport.Wake();

    /// <inheritdoc/>
    internal override void Post(Action<Worker, Connection?, object?> action, Connection? client = null, object? content = null) =>
        _mailbox.Post(action, client, content);

    /// <summary>Takes a new connection in; on the reactor's thread.</summary>
    internal void Adopt(Connection client)
    {
        Slots.Add(client);
        ClientRights.BeDefault(Server, client);
        if (client.CertifiedName is { } name)
        {
            if (ClientRights.TryBeCertified(Server, client, name))
                Audited.Certified(Server, client);
            else
                Audited.NotCertified(Server, client, name);
        }

        _transport.Add(client);
    }

    /// <inheritdoc/>
    internal override void Close(Connection client)
    {
        if (client.Closed)
            return;
        if (client == Running && Script is not null)
        {
            // Its script, and the transaction around it, are in the middle of what it has sent: the end of the round closes it, whatever it has not read.
            client.Mute();
            return;
        }

        client.Closed = true;
        if (client.Waiting is { } waiting)
        {
            _waiting.Remove(client);
            waiting.Abandon(client);
        }

        _transport.Close(client);
        Leave(client);
    }

    /// <summary>Takes a connection whose socket is another's business now out of everything.</summary>
    internal void Leave(Connection client)
    {
        Server.Forget(client);
        client.LeaveLine();
        Slots.Remove(client);
        client.FreeBuffers();
        Interlocked.Decrement(ref ConnectionCount);
        Server.ClientLimits.ConnectionClosed();
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

        _waiting.GoOn(client, waiting);
    }

    /// <inheritdoc/>
    internal override void Park(Connection client, Parking waiting) => _waiting.Add(client, waiting);

    /// <inheritdoc/>
    internal override bool ResumeWhere(Predicate<Parking> condition) => _waiting.Resume(condition);

    /// <inheritdoc/>
    internal override (LogMark Written, LogMark Seen) TakeMarks() => _replies.TakeMarks();

    /// <inheritdoc/>
    internal override long ReplyBytesMax(Connection client) => _replies.BytesMax(client);

    /// <inheritdoc/>
    internal override bool IsLongReply(Connection client, long mark) => _replies.IsLong(client, mark);

    /// <inheritdoc/>
    internal override void RefuseLongReply(Connection client, long bytes) => _replies.Refuse(client, bytes);

    /// <inheritdoc/>
    internal override bool ReplacesLongReply(Connection client) => _replies.ReplacesLong(client);

    /// <inheritdoc/>
    internal override void Push(Connection client, ReadOnlySpan<byte> message) => _replies.Push(client, message);

    /// <inheritdoc/>
    internal override void GiveUpBatch() => _runner.GiveUp();

    /// <inheritdoc/>
    internal override void ServeBusy()
    {
        _busy.Serve(DrainWhileBusy);
        _readyCount = 0; // the sockets that this round has not come to are left out: the transport reports them again
    }

    /// <inheritdoc/>
    internal override System.Net.Sockets.Socket? Detach(Connection client)
    {
        if (!client.IsQuiet)
            return null;
        System.Net.Sockets.Socket socket = _transport.Detach(client);
        client.Closed = true;
        Leave(client);
        return socket;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Session.Dispose(); // reads that finish wake the transport
        _transport.Dispose();
        _receiver.Dispose();
        Transactions.Dispose();
        _scripts?.Dispose();
        _busy.Dispose();
        Ready.Dispose();
        _replies.Dispose();
        _runner.Dispose();
    }

    private IScripts OpenScripts()
    {
        lock (_families)
            return _scripts ??= _families.ScriptsOn(this);
    }

    /// <summary>Serves what is there once.</summary>
    internal void Round()
    {
        _readyCount = _transport.Wait(WaitMs());
        TakeTime();
        _mailbox.Drain(this);
        _replies.BeginRound();
        _runner.Poll();
        for (int i = 0; i < _readyCount; i++)
            Serve(_transport[i]);
        _receiver.ServeCarried();
        _runner.Run();
        if (Ready.HasServed)
            Ready.Deliver();
        _replies.EndRound();
        _receiver.Reset();
        if (NowMs >= Math.Min(_nextTickMs, _waiting.NextDeadlineMs))
            Tick();
    }

    private int WaitMs()
    {
        if (_receiver.HasCarried || _replies.MissedAdvance)
            return 0;
        if (_waiting.Count > 0 || Server.NeedsTicks || _runner.KeepsFetched || Ready.HasLater)
            return (int)Math.Clamp(_waiting.NextDeadlineMs - NowMs, 0, TickMs);
        return (ConnectionCount > 0 && Server.ClientLimits.HasIdleLimit) || _replies.NeedsTicks || LargeBlocks.KeptBytes > 0 ? 1000 : -1;
    }

    private void Serve(ReadyEvent ready)
    {
        if (Slots.Find(ready) is not { } client)
            return;
        if (ready.Writable)
            _replies.SendPending(client);
        if (ready.Readable && !client.Closed && !client.Stopped && !client.Carried && (client.Watched & WatchedFor.NotReadable) == 0)
            _receiver.Serve(client);
        else if (client.Held && (client.Watched & WatchedFor.NotReadable) == 0 && !ready.Broken)
            _replies.Watch(client); // it goes on sending while its replies wait for the log: not read until they have left
        else if (ready.Broken)
            Close(client);
    }

    private void Tick()
    {
        _nextTickMs = NowMs + TickMs;
        _waiting.ResumeDue(NowMs);
        Ready.ServeLater();
        if (Ready.HasServed)
            Ready.Deliver();
        _upkeep.Run();
        _replies.EndRound();
    }

    // Runs what other threads have posted, while a command is running here.
    private void DrainWhileBusy()
    {
        _resumesLater = true;
        _mailbox.Drain(this);
        _resumesLater = false;
    }

    private void Finish()
    {
        _mailbox.Drain(this); // connections that were accepted meanwhile are closed, too
        _replies.Settle();
        Slots.ForEach(static _ => true, client =>
        {
            _replies.SendPending(client);
            Close(client);
        });
    }
}

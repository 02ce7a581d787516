using System.Runtime.CompilerServices;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>
/// A reactor's replies: each connection's replies of a round stand back to back in the reply memory, behind what others push to it, and leave with
/// one send. What the socket does not take, or the log holds back, is the matter of <see cref="ReplySender"/>.
/// </summary>
internal sealed unsafe class ReplyPath : IDisposable
{
    private readonly Worker _worker;
    private readonly Monitoring _monitoring;
    private readonly ITransport _transport;
    private readonly List<Connection> _touched = [];
    private readonly ValueInPlace _inPlace;
    private long _round = 1;

    /// <param name="worker">Whose replies they are.</param>
    /// <param name="transport">Where they go.</param>
    /// <param name="carry">Told of clients who can go on.</param>
    internal ReplyPath(Executor worker, ITransport transport, Action<Connection> carry)
    {
        _worker = worker;
        _transport = transport;
        ServerContext server = worker.Server;
        _monitoring = server.Monitoring;
        SlowReaders = new SlowReaders(worker, server.ClientLimits, server.Log, Touch);
        Memory = new ReplyMemory(worker, () => worker.Scripts, SlowReaders, server.Log, LookAfterwards);
        Sender = new ReplySender(worker, this, transport, server.ClientLimits, carry);
        Held = new HeldReplies(worker, server.Keeper, server.Replication.History, server.Replication.Log, server.Replication.Moves, Sender);
        worker.Values = _inPlace = new ValueInPlace(worker, _monitoring, this);
        worker.Out = new RespWriter(Memory);
        Memory.Reset(worker.Out);
    }

    /// <summary>Where replies stand until they are sent.</summary>
    internal ReplyMemory Memory { get; }

    /// <summary>Sends them.</summary>
    internal ReplySender Sender { get; }

    /// <summary>True if the log advanced while nobody looked: the next round must not wait.</summary>
    internal bool MissedAdvance => Held.MissedAdvance();

    /// <summary>True while somebody is to be looked at although nothing happens: the time that it may be over a limit is running.</summary>
    internal bool NeedsTicks => SlowReaders.AnyOverSoftLimit;

    /// <summary>Limits on unsent replies.</summary>
    internal SlowReaders SlowReaders { get; }

    /// <summary>Replies and commands that wait for the log.</summary>
    internal HeldReplies Held { get; }

    /// <summary>Behind the running command: a message was sent to its own client, or its reply is longer than that may get.</summary>
    internal bool IsToBeLookedAt { get; private set; }

    /// <summary>Connections that the end of the round looks at.</summary>
    internal List<Connection> Touched => _touched;

    /// <summary>What is written from here on is the reply of a command that begins.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // on the path of every command
    internal void BeginReply()
    {
        _worker.Out.BeginReply();
        _worker.ChangesBefore = _worker.Session.Changes;
        _worker.ReadsBefore.Begin(_worker.Session);
    }

    /// <summary>There is something to do when the running command is through.</summary>
    internal void LookAfterwards() => IsToBeLookedAt = true;

    /// <summary>Adds an out-of-band message for a connection (net.R2).</summary>
    internal void Push(Connection client, ReadOnlySpan<byte> message)
    {
        if (client.Closed || client.CloseAfterReply)
            return;
        Touch(client);
        if (SlowReaders.IsOver(client, message.Length))
        {
            SlowReaders.Close(client, message.Length);
            return;
        }

        client.Pushes.Append(message);
        IsToBeLookedAt |= client == _worker.Running;
    }

    /// <summary>Makes the connection the one whose replies are written.</summary>
    internal void SwitchTo(Connection client)
    {
        if (_worker.Running == client)
            return;
        EndSegment();
        if (Memory.IsMuch)
            SendAll();
        if (client.Round != _round || client.SegmentStart == client.SegmentEnd)
        {
            Touch(client);
            client.SegmentStart = _worker.Out.Position;
        }
        else if (client.SegmentEnd != _worker.Out.Position)
        {
            Sender.SendSegment(client);
            client.SegmentStart = _worker.Out.Position;
        }

        client.SegmentEnd = null;
        _worker.Running = client;
        _worker.Out.StartAt(client.SegmentStart);
        _worker.Out.Resp3 = client.Resp3;
        TakePushes(client);
    }

    /// <summary>The end of the round is to look at the connection.</summary>
    internal void Touch(Connection client)
    {
        if (client.Round == _round)
            return;
        client.Round = _round;
        client.SegmentStart = client.SegmentEnd = null;
        _touched.Add(client);
    }

    private void EndSegment()
    {
        if (_worker.Running is { } last)
            last.SegmentEnd = _worker.Out.Position;
        _worker.Running = null;
    }

    private void TakePushes(Connection client)
    {
        int count = client.Pushes.Count;
        if (count == 0)
            return;
        if (_worker.Out.Mark + count > SlowReaders.ReplyBytesMax(client))
            SlowReaders.Close(client, _worker.Out.Mark); // with its replies they are more than it may get
        else
            _worker.Out.Raw(new ReadOnlySpan<byte>(client.Pushes.Head, count));
        client.Pushes.Free();
    }

    /// <summary>Lets go what the log has kept since the last round.</summary>
    internal void BeginRound()
    {
        if (_worker.AwaitsLog)
            Held.Release();
    }

    /// <summary>Sends what waits for a socket, as far as it takes it.</summary>
    internal void SendPending(Connection client) => Sender.SendPending(client);

    /// <summary>The server stops: what is held is synced first, or not answered (net.R6).</summary>
    internal void Settle() => Held.Settle();

    /// <summary>The marks of the last change and of what was looked at last, if a reply must wait for them.</summary>
    internal (LogMark Written, LogMark Seen) TakeMarks() => Held.TakeMarks();

    /// <summary>Bytes of a reply at most, by who gets it.</summary>
    internal long BytesMax(Connection client) => Memory.ReplyBytesMax(client);

    /// <summary>True if a reply that ends at a mark is longer than its client may get.</summary>
    internal bool IsLong(Connection client, long mark) => Memory.IsLong(client, mark);

    /// <summary>Writes the error that stands in for a reply of so many bytes (net.R9).</summary>
    internal void Refuse(Connection client, long bytes) => Memory.Refuse(client, bytes);

    /// <summary>True, and the reply is an error now, if the one of the command that has just run was too long (net.R9).</summary>
    internal bool ReplacesLong(Connection client) => Memory.ReplacesLong(client);

    /// <summary>Sends what the round has for everybody.</summary>
    internal void EndRound()
    {
        EndSegment();
        Held.TellLog();
        SendAll();
    }

    private void SendAll()
    {
        Sender.SendAll(_touched);
        _touched.Clear();
        _round++;
        Memory.Reset(_worker.Out);
    }

    /// <summary>The reply of the client whose command has run ends here: true if it is so long that it is to be noted.</summary>
    internal bool EndsLong(Connection client)
    {
        if (!client.CloseAfterReply)
            Memory.ReplacesLong(client);
        client.SegmentEnd = _worker.Out.Position;
        return !_monitoring.MeasuresReplies && _monitoring.WantsReply(client.SegmentEnd - client.SegmentStart);
    }

    /// <summary>The current connection has many replies already: sends them now, and goes on where there is room.</summary>
    internal void SendEarly(Connection client)
    {
        byte* start = client.SegmentStart;
        long before = Memory.ExtraBytes;
        Sender.SendSegment(client);
        _worker.Out.Position = client.SegmentStart = Memory.GoOn(start, before);
        _worker.Out.StartAt(_worker.Out.Position);
        client.SegmentEnd = null;
    }

    /// <summary>Behind the running command: sends a reply that is a value in the store, with those before it; its bytes, 0 if it is none.</summary>
    internal long SendInPlace(Connection client)
    {
        if (!_inPlace.TryTake(out PinnedValue value))
            return 0;
        long bytes = _worker.Out.ReplyBytes + value.Length;
        bytes += ReplySender.LineEnd.Length;
        byte* start = client.SegmentStart;
        client.SegmentEnd = _worker.Out.Position;
        Sender.SendSegment(client, value);
        _worker.Out.Position = client.SegmentStart = start;
        _worker.Out.StartAt(start);
        return bytes;
    }

    /// <summary>Behind the running command: its reply is made right, and what others sent its client stands behind it. True if all of it is to be sent now.</summary>
    internal bool Finish(Connection client)
    {
        IsToBeLookedAt = false;
        Memory.ReplacesLong(client);
        TakePushes(client);
        return Memory.IsInReserve;
    }

    /// <summary>Behind a batch: what it sent its last client.</summary>
    internal void FinishBatch()
    {
        if (!IsToBeLookedAt || _worker.Running is not { } client)
            return;
        IsToBeLookedAt = false;
        TakePushes(client);
    }

    /// <summary>Tells the transport what to look for, if that has changed.</summary>
    internal void Watch(Connection client)
    {
        WatchedFor wanted = (client.Stopped ? WatchedFor.NotReadable : WatchedFor.Readable)
            | (client.WriteBlocked ? WatchedFor.Writable : WatchedFor.Readable) | (client.Parked ? WatchedFor.Parked : WatchedFor.Readable);
        if (client.Closed || client.Watched == wanted)
            return;
        client.Watched = wanted;
        _transport.Watch(client, !client.Stopped, client.WriteBlocked);
    }

    /// <inheritdoc/>
    public void Dispose() => Memory.Dispose();
}

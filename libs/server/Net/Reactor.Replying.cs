using System.Runtime.CompilerServices;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// Replies: each connection's replies of a round stand back to back in the reply memory, behind what others push to it, and leave with one
/// send. What the socket does not take, or the log holds back, is the matter of <see cref="ReplySender"/>.
/// </summary>
internal sealed unsafe partial class Reactor
{
    private readonly List<Connection> _touched = [];
    private long _round = 1;

    /// <summary>What is written from here on is the reply of a command that begins.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // on the path of every command
    internal void BeginReply()
    {
        Out.BeginReply();
        ChangesBefore = Session.Changes;
    }

    /// <summary>There is something to do when the running command is through.</summary>
    internal void LookAfterwards() => _afterwards = true;

    /// <inheritdoc/>
    internal override long ReplyBytesMax(Connection client) => Replies.ReplyBytesMax(client);

    /// <inheritdoc/>
    internal override bool IsLongReply(Connection client, long mark) => Replies.IsLong(client, mark);

    /// <inheritdoc/>
    internal override void RefuseLongReply(Connection client, long bytes) => Replies.Refuse(client, bytes);

    /// <inheritdoc/>
    internal override bool ReplacesLongReply(Connection client) => Replies.ReplacesLong(client);

    /// <inheritdoc/>
    internal override void Push(Connection client, ReadOnlySpan<byte> message)
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
        _afterwards |= client == _current;
    }

    /// <inheritdoc/>
    public void SwitchTo(Connection client)
    {
        if (_current == client)
            return;
        EndSegment();
        if (Replies.IsMuch)
            SendAll();
        if (client.Round != _round || client.SegmentStart == client.SegmentEnd)
        {
            Touch(client);
            client.SegmentStart = Out.Position;
        }
        else if (client.SegmentEnd != Out.Position)
        {
            Sender.SendSegment(client);
            client.SegmentStart = Out.Position;
        }

        client.SegmentEnd = null;
        _current = client;
        Out.StartAt(client.SegmentStart);
        Out.Resp3 = client.Resp3;
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
        if (_current is { } last)
            last.SegmentEnd = Out.Position;
        _current = null;
    }

    private void TakePushes(Connection client)
    {
        int count = client.Pushes.Count;
        if (count == 0)
            return;
        if (Out.Mark + count > SlowReaders.ReplyBytesMax(client))
            SlowReaders.Close(client, Out.Mark); // with its replies they are more than it may get
        else
            Out.Raw(new ReadOnlySpan<byte>(client.Pushes.Head, count));
        client.Pushes.Free();
    }

    private void EndRound()
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
        Replies.Reset(Out);
    }

    // The current connection has many replies already: send them now; if the socket is full, the rest of its commands waits.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void SendEarly(Connection client, Frame* frame)
    {
        if (client.Closed)
            return;
        if (!client.CloseAfterReply)
            Replies.ReplacesLong(client);
        byte* start = client.SegmentStart;
        client.SegmentEnd = Out.Position;
        if (!Server.MeasuresReplies && Server.LargeReplies.Wants(client.SegmentEnd - start))
            NoteLargeReply(client, frame);
        long before = Replies.ExtraBytes;
        Sender.SendSegment(client);
        Out.Position = client.SegmentStart = Replies.GoOn(start, before);
        Out.StartAt(Out.Position);
        client.SegmentEnd = null;
        if ((client.Stalled | client.Held) && !client.Parked)
            client.KeepRest(frame->End);
    }

    private void NoteLargeReply(Connection client, Frame* frame)
    {
        var call = new Call(this, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        if ((_entries[frame->Command].Flags & CommandFlags.SkipSlowlog) == 0)
            Server.LargeReplies.Consider(client, call.Arguments, LastReply.Bytes(client.SegmentStart, client.SegmentEnd));
    }

    /// <inheritdoc/>
    public void Watch(Connection client)
    {
        int wanted = (client.Stopped ? 1 : 0) | (client.WriteBlocked ? 2 : 0) | (client.Parked ? 4 : 0);
        if (client.Closed || client.Watched == wanted)
            return;
        client.Watched = wanted;
        Transport.Watch(client, !client.Stopped, client.WriteBlocked);
    }
}

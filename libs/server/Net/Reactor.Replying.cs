using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// Replies: each connection's replies of a round stand back to back in the reply memory and leave with one send; what the
/// socket does not take is copied to the connection and goes out when it becomes writable.
/// </summary>
internal sealed unsafe partial class Reactor : IReplyRoom
{
    private const int ReplyBytes = 512 * 1024;
    internal const int SendEarlyBytes = 256 * 1024;

    private readonly List<Connection> _touched = [];
    private readonly ExtraReplies _extraReplies = new();
    private byte* _replies;
    private long _round = 1;
    private long _givenUpBytes; // written of a reply that became too long, and taken back

    /// <summary>Where the reply of the running command begins; it is taken back from there if the command fails.</summary>
    internal byte* ReplyStart { get; private set; }

    /// <summary><see cref="StoreSession.Changes"/> when the running command began.</summary>
    internal long ChangesBefore { get; private set; }

    /// <summary>What is written from here on is the reply of a command that begins.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // on the path of every command
    internal void BeginReply()
    {
        ReplyStart = Out.Position;
        ChangesBefore = Session.Changes;
    }

    /// <inheritdoc/>
    void IReplyRoom.MakeRoom(RespWriter writer, int bytes)
    {
        Connection? client = _current;
        byte* start = client is null ? writer.Position : client.SegmentStart;
        long kept = writer.Position - start, most = client is null ? long.MaxValue : SlowReaders.ReplyBytesMax(client);
        if (kept + bytes > most)
            kept = GiveUpReply(writer, start);
        long size = Math.Max(Math.Min((kept + bytes) * 2, most), Math.Max(kept + bytes, ReplyBytes));
        byte* memory = _extraReplies.Grow(start, kept, size);
        ReplyStart += memory - start;
        if (client is not null)
            client.SegmentStart = memory;
        writer.Position = memory + kept;
        writer.Limit = memory + size;
    }

    /// <summary>Takes back what the running command has written.</summary>
    internal void TakeBackReply() => Out.Position = ReplyStart;

    /// <summary>
    /// True, and the reply is an error now, if the reply of the command that has just run was longer than its client may get. Closing is for
    /// those whose class has a limit, as if they did not read.
    /// </summary>
    internal bool ReplacesLongReply(Connection client)
    {
        if (_givenUpBytes == 0)
            return false;
        long bytes = _givenUpBytes + (Out.Position - ReplyStart);
        _givenUpBytes = 0;
        TakeBackReply();
        byte[] text = Encoding.Latin1.GetBytes($"ERR the reply of {bytes} bytes is beyond the limit of {SlowReaders.ReplyBytesMax(client)}; the command has run");
        Out.Error(text);
        Figures.CountError(text);
        if (!SlowReaders.HasHardLimit(client))
            return true;
        Figures.OutputLimitCloses++;
        Server.Log.SlowReaderClosed(client.Id, client.Peer.Remote, bytes);
        client.CloseAfterReply = true;
        return true;
    }

    // The command runs on, and what it writes goes nowhere: it may be in the middle of a change, or hold a lock.
    private long GiveUpReply(RespWriter writer, byte* start)
    {
        _givenUpBytes += writer.Position - ReplyStart;
        _afterwards = true;
        return ReplyStart - start;
    }

    /// <summary>Adds an out-of-band message for a connection of this reactor (rule R2).</summary>
    internal void Push(Connection client, ReadOnlySpan<byte> message)
    {
        if (client.Closed || client.CloseAfterReply)
            return;
        Touch(client);
        if (SlowReaders.IsOver(client, message.Length))
        {
            CloseSlowReader(client);
            return;
        }

        client.Pushes.Append(message);
        _afterwards |= client == _current;
    }

    /// <summary>Makes the connection the one that <see cref="Out"/> writes to.</summary>
    internal void SwitchTo(Connection client)
    {
        if (_current == client)
            return;
        EndSegment();
        if (_extraReplies.Bytes > ExtraReplies.SharedBytesMax)
            SendAll();
        if (client.Round != _round || client.SegmentStart == client.SegmentEnd)
        {
            Touch(client);
            client.SegmentStart = Out.Position;
        }
        else if (client.SegmentEnd != Out.Position)
        {
            SendSegment(client);
            client.SegmentStart = Out.Position;
        }

        client.SegmentEnd = null;
        _current = client;
        Out.Resp3 = client.Resp3;
        TakePushes(client);
    }

    private void Touch(Connection client)
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
        for (int i = 0; i < _touched.Count; i++)
        {
            Connection client = _touched[i];
            if (client.Closed)
                continue;
            SendSegment(client);
            if (client.Pushes.Count > 0 && !client.Closed)
            {
                SendBytes(client, client.Pushes.Head, client.Pushes.Count);
                client.Pushes.Free();
            }

            if (client.CloseAfterReply && client.Out.Count == 0)
                Close(client);
        }

        _touched.Clear();
        _round++;
        _extraReplies.Free();
        ResetReplies();
    }

    internal void SendSegment(Connection client)
    {
        byte* from = client.SegmentStart;
        int count = checked((int)(client.SegmentEnd - from)); // SlowReaders.ReplyBytesMax
        client.SegmentStart = client.SegmentEnd = null;
        if (count > 0 && !client.Closed)
            SendBytes(client, from, count);
    }

    internal void SendBytes(Connection client, byte* from, int count)
    {
        if (client.Closed | client.Muted)
            return;
        client.BytesOut += count;
        Figures.BytesOut += count;
        if (Held.Holds(client))
        {
            Held.Hold(client);
        }
        else if (client.Out.Count == 0)
        {
            int sent = Transport.Send(client, from, count);
            if (sent == count)
                return;
            if (sent == ITransport.Broken)
            {
                Close(client);
                return;
            }

            sent = Math.Max(sent, 0);
            from += sent;
            count -= sent;
        }

        if (SlowReaders.IsOver(client, count))
        {
            CloseSlowReader(client);
            return;
        }

        if (client.Out.Count > 0 || !_extraReplies.TryGive(from, count, ref client.Out))
            client.Out.Append(from, count);
        if (client.Held)
            return;
        client.WriteBlocked = true;
        client.Stalled = client.Out.Count > Server.StallBytes;
        Watch(client);
    }

    // The current connection has many replies already: send them now; if the socket is full, the rest of its commands waits.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void SendEarly(Connection client, Frame* frame)
    {
        if (client.Closed)
            return;
        byte* start = client.SegmentStart;
        client.SegmentEnd = Out.Position;
        if (!Server.MeasuresReplies && Server.LargeReplies.Wants(client.SegmentEnd - start))
            NoteLargeReply(client, frame);
        long taken = _extraReplies.Bytes;
        SendSegment(client);
        if (_extraReplies.Bytes < taken)
        {
            start = _extraReplies.Grow(null, 0, ReplyBytes); // the client has the block
            Out.Limit = start + ReplyBytes;
        }

        Out.Position = start;
        client.SegmentStart = start;
        client.SegmentEnd = null;
        if ((client.Stalled | client.Held) && !client.Parked)
            client.KeepRest(frame->End);
    }

    private void NoteLargeReply(Connection client, Frame* frame)
    {
        var call = new Call(this, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        if ((_entries[frame->Command].Flags & CommandFlags.SkipSlowlog) == 0)
            Server.LargeReplies.Consider(ref call, LastReply.Bytes(client.SegmentStart, client.SegmentEnd));
    }

    /// <summary>Sends what was held back and goes on with what has arrived meanwhile.</summary>
    internal void SendKept(Connection client)
    {
        client.WriteBlocked = client.Out.Count > 0;
        SendPending(client);
        Carry(client);
    }

    internal void SendPending(Connection client)
    {
        int waiting = client.Out.Count;
        if (waiting > 0)
        {
            int sent = Transport.Send(client, client.Out.Head, waiting);
            if (sent == ITransport.Broken)
            {
                Close(client);
                return;
            }

            client.Out.Drop(Math.Max(sent, 0));
            if (client.Out.Count > 0)
            {
                if (client.Stalled && client.Out.Count < Server.StallBytes / 2)
                    Unstall(client);
                Watch(client);
                return;
            }
        }

        client.WriteBlocked = false;
        client.OverSoftLimitSinceMs = 0;
        if (client.CloseAfterReply)
        {
            Close(client);
            return;
        }

        if (client.Stalled)
            Unstall(client);
        Watch(client);
    }

    private void Unstall(Connection client)
    {
        client.Stalled = false;
        Carry(client);
        Watch(client);
    }

    // Tells the transport what to look for, if that has changed.
    private void Watch(Connection client)
    {
        int wanted = (client.Stopped ? 1 : 0) | (client.WriteBlocked ? 2 : 0) | (client.Parked ? 4 : 0);
        if (client.Closed || client.Watched == wanted)
            return;
        client.Watched = wanted;
        Transport.Watch(client, !client.Stopped, client.WriteBlocked);
    }

    private void CloseSlowReader(Connection client)
    {
        SlowReaders.Mute(client);
        Touch(client);
    }

    private void ResetReplies()
    {
        if (_replies == null)
            _replies = (byte*)NativeMemory.AlignedAlloc(ReplyBytes + Arena.Slack, 64);
        Out.Position = _replies;
        Out.Limit = _replies + ReplyBytes;
    }

    private void DisposeReplies()
    {
        _extraReplies.Free();
        NativeMemory.AlignedFree(_replies);
        _replies = null;
    }
}

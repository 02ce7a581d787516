using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
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
    private const int RoundReplyBytesMax = 4 * 1024 * 1024;

    private readonly List<Connection> _touched = [];
    private readonly List<nint> _extraReplies = new(0);
    private byte* _replies;
    private long _extraReplyBytes;
    private long _round = 1;
    private bool _someOverSoftLimit;

    /// <inheritdoc/>
    void IReplyRoom.MakeRoom(RespWriter writer, int bytes)
    {
        Connection? client = _current;
        byte* start = client is null ? writer.Position : client.SegmentStart;
        long kept = writer.Position - start;
        long size = Math.Max((kept + bytes) * 2, ReplyBytes);
        if (size > int.MaxValue)
            size = Math.Max(kept + bytes, int.MaxValue);
        byte* memory = (byte*)NativeMemory.Alloc((nuint)(size + Arena.Slack));
        _extraReplies.Add((nint)memory);
        _extraReplyBytes += size;
        Buffer.MemoryCopy(start, memory, size, kept);
        if (client is not null)
            client.SegmentStart = memory;
        writer.Position = memory + kept;
        writer.Limit = memory + size;
    }

    /// <summary>Adds an out-of-band message for a connection of this reactor (rule R2).</summary>
    internal void Push(Connection client, ReadOnlySpan<byte> message)
    {
        if (client.Closed || client.CloseAfterReply)
            return;
        Touch(client);
        if (IsOverOutputLimit(client, message.Length))
        {
            CloseSlowReader(client);
            return;
        }

        client.Pushes.Append(message);
        _pushed |= client == _current;
    }

    /// <summary>Makes the connection the one that <see cref="Out"/> writes to.</summary>
    internal void SwitchTo(Connection client)
    {
        if (_current == client)
            return;
        EndSegment();
        if (_extraReplyBytes > RoundReplyBytesMax)
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
        FreeExtraReplies();
        ResetReplies();
    }

    private void SendSegment(Connection client)
    {
        byte* from = client.SegmentStart;
        long count = client.SegmentEnd - from;
        client.SegmentStart = client.SegmentEnd = null;
        while (count > 0 && !client.Closed)
        {
            int part = (int)Math.Min(count, 1 << 30);
            SendBytes(client, from, part);
            from += part;
            count -= part;
        }
    }

    private void SendBytes(Connection client, byte* from, int count)
    {
        if (client.Closed | client.Muted)
            return;
        client.BytesOut += count;
        Figures.BytesOut += count;
        if (client.Out.Count == 0)
        {
            int sent = _transport.Send(client, from, count);
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

        if (IsOverOutputLimit(client, count))
        {
            CloseSlowReader(client);
            return;
        }

        client.Out.Append(from, count);
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
        SendSegment(client);
        Out.Position = start;
        client.SegmentStart = start;
        client.SegmentEnd = null;
        if (client.Stalled && !client.Parked)
            KeepRest(client, frame->End);
    }

    private void NoteLargeReply(Connection client, Frame* frame)
    {
        var call = new Call(this, client, _args.Items + frame->FirstArg, frame->ArgCount, frame->KeyHash);
        if ((_entries[frame->Command].Flags & CommandFlags.SkipSlowlog) == 0)
            Server.LargeReplies.Consider(ref call, LastReply.Bytes(client.SegmentStart, client.SegmentEnd));
    }

    private void SendPending(Connection client)
    {
        int waiting = client.Out.Count;
        if (waiting > 0)
        {
            int sent = _transport.Send(client, client.Out.Head, waiting);
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

    private void WatchReading(Connection client) => Watch(client);

    private void Watch(Connection client)
    {
        if (client.Closed)
            return;
        client.ReadPaused = client.Stopped;
        _transport.Watch(client, !client.ReadPaused, client.WriteBlocked);
    }

    private bool IsOverOutputLimit(Connection client, int more)
    {
        long waiting = client.Out.Count + (long)client.Pushes.Count + more;
        if (waiting > ByteQueue.BytesMax)
            return true;
        if ((client.Gate & Gate.Unauthenticated) != 0)
            return waiting > Server.UnauthenticatedOutputBytesMax;
        (long hard, long soft, long softMs) = Server.OutputLimit(client);
        if (hard > 0 && waiting > hard)
            return true;
        if (soft == 0 || waiting <= soft)
        {
            client.OverSoftLimitSinceMs = 0;
            return false;
        }

        _someOverSoftLimit = true;
        if (client.OverSoftLimitSinceMs == 0)
            client.OverSoftLimitSinceMs = Session.NowMs;
        return Session.NowMs - client.OverSoftLimitSinceMs > softMs;
    }

    // The time over the soft limit also ends while nothing more is sent.
    private void CloseOverSoftLimit()
    {
        _someOverSoftLimit = false;
        for (int i = 0; i < _slotCount; i++)
        {
            if (_slots[i] is { OverSoftLimitSinceMs: > 0 } client && IsOverOutputLimit(client, 0))
                CloseSlowReader(client);
        }
    }

    private void CloseSlowReader(Connection client)
    {
        Figures.OutputLimitCloses++;
        Server.Log.SlowReaderClosed(client.Id, client.Peer.Remote, client.Out.Count + (long)client.Pushes.Count);
        if (client == _current)
            client.CloseAfterReply = client.Muted = true; // closed when its segment ends: handlers still write to it
        else
            Close(client);
        client.Out.Free();
        client.Pushes.Free();
    }

    private void ResetReplies()
    {
        if (_replies == null)
            _replies = (byte*)NativeMemory.AlignedAlloc(ReplyBytes + Arena.Slack, 64);
        Out.Position = _replies;
        Out.Limit = _replies + ReplyBytes;
    }

    private void FreeExtraReplies()
    {
        if (_extraReplyBytes == 0)
            return;
        foreach (nint memory in _extraReplies)
            NativeMemory.Free((void*)memory);
        _extraReplies.Clear();
        _extraReplyBytes = 0;
    }

    private void DisposeReplies()
    {
        FreeExtraReplies();
        NativeMemory.AlignedFree(_replies);
        _replies = null;
    }
}

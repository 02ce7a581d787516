using Garnet.Common.Faults;
using Garnet.Common.Resp;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Tls;

namespace Garnet.Server.Net;

/// <summary>
/// From readable sockets to framed commands: receives for all connections of a reactor into one arena and has the batch run when it is full,
/// or before the buffer is used anew. What cannot be framed yet is kept with its connection (net.R4).
/// </summary>
internal sealed unsafe class RequestReceiver(
    Worker worker, BatchRunner runner, ITransport transport, ClientLimits limits, ServerLog log, IClock clock) : IDisposable
{
    internal const int QuotaCommands = 128;
    private const int BufferBytes = 1024 * 1024;

    private readonly FrameBatch _batch = runner.Batch;
    private readonly ReplyPath _replies = runner.Replies;
    private readonly ReceiveBuffer _buffer = new(BufferBytes);
    private readonly RespParser _parser = new();
    private readonly LinePace _pace = new(clock);
    private readonly List<Connection> _carried = [];
    private readonly List<Connection> _carriedNow = [];

    /// <summary>What it has sent is being cut into frames: nobody else may read from it.</summary>
    internal Connection? Framing { get; private set; }

    /// <summary>True if somebody has kept requests that can be framed in the next round.</summary>
    internal bool HasCarried => _carried.Count > 0;

    /// <summary>Takes what has arrived for the client.</summary>
    internal void Serve(Connection client)
    {
        Framing = client;
        Receive(client);
        Framing = null;
    }

    /// <summary>What the client has kept is framed in the next round, or at the end of this one.</summary>
    internal void Carry(Connection client)
    {
        if (client.Carried || client.Closed)
            return;
        client.Carried = true;
        _carried.Add(client);
    }

    /// <summary>Frames what was kept by those who can go on.</summary>
    internal void ServeCarried()
    {
        if (_carried.Count == 0)
            return;
        runner.Run(); // net.R4: what is framed of a connection lies in one piece up to its end
        _carriedNow.AddRange(_carried);
        _carried.Clear();
        foreach (Connection client in _carriedNow)
        {
            client.Carried = false;
            Framing = client;
            if (!client.Closed && !client.Stopped)
                ServeKept(client);
        }

        Framing = null;
        _carriedNow.Clear();
    }

    /// <summary>The round is over: what was received has been run, or is kept elsewhere.</summary>
    internal void Reset() => _buffer.Reset();

    /// <inheritdoc/>
    public void Dispose() => _buffer.Dispose();

    private void Receive(Connection client)
    {
        if (client.Big is { } big)
        {
            ReceiveBig(client, big);
            return;
        }

        int kept = client.Pending.Count;
        byte* start = ReceiveRoom(kept + Worker.ReceiveBytesMax);
        if (client.Closed)
            return; // what ran to make room has sent replies, and found its socket broken
        int got = transport.Receive(client, start + kept, Worker.ReceiveBytesMax);
        if (got <= 0)
        {
            ReceivedNothing(client, got);
            return;
        }

        if (kept > 0)
        {
            Buffer.MemoryCopy(client.Pending.Head, start, kept, kept);
            client.Pending.Free();
        }

        CountReceived(client, got);
        byte* end = start + kept + got;
        _buffer.Advance(end);
        FrameAll(client, start, end);
    }

    // A peer that only ended its own side still gets the replies the socket has not taken.
    internal void ReceivedNothing(Connection client, int got)
    {
        if (got == ITransport.Again)
            return;
        if (got == ITransport.Broken || client.Out.Count == 0)
        {
            if (client.Tls is { Fault.Length: > 0 } session)
                SayBroken(client, session);
            worker.Close(client);
            return;
        }

        client.CloseAfterReply = true;
        _replies.Watch(client);
    }

    // That a connection breaks is usual; who had to be cut off is worth a look.
    private void SayBroken(Connection client, TlsSession session)
    {
        if (!session.IsCutOff)
            log.TlsBroken(client.Id, client.Peer.Remote, session.Fault);
        else if (_pace.Allows(out long unsaid))
            log.TlsCutOff(client.Id, client.Peer.Remote, session.Fault, unsaid);
    }

    // What was kept because of the quota or a park, without receiving more.
    private void ServeKept(Connection client)
    {
        if (client.Big is { } big)
        {
            FrameBig(client, big);
            return;
        }

        int kept = client.Pending.Count;
        if (kept == 0)
            return;
        byte* start = ReceiveRoom(kept);
        if (client.Closed)
            return; // as above
        Buffer.MemoryCopy(client.Pending.Head, start, kept, kept);
        client.Pending.Free();
        _buffer.Advance(start + kept);
        FrameAll(client, start, start + kept);
    }

    private byte* ReceiveRoom(int bytes)
    {
        if (_buffer.Left < bytes + ReceiveBuffer.Slack)
        {
            runner.Run(); // net.R5: nothing framed points into the buffer any more
            _buffer.Reset();
            Check.That(_buffer.Left >= bytes, "net.R5 what is kept for the buffer fits into it");
        }

        return _buffer.Position;
    }

    internal void CountReceived(Connection client, int bytes)
    {
        client.ActiveMs = worker.NowMs;
        client.BytesIn += bytes;
        worker.Figures.BytesIn += bytes;
    }

    private void FrameAll(Connection client, byte* at, byte* end)
    {
        client.RoundEnd = end;
        client.IsRestKept = false;
        client.Quota = QuotaCommands;
        RespLimits requests = limits.Requests;
        while (at < end)
        {
            if (client.Quota == 0)
            {
                client.Keep(at, end);
                Carry(client);
                return;
            }

            requests.Unauthenticated = (client.Modes & ClientModes.Unauthenticated) != 0;
            ParseResult result = _parser.Parse(at, end, _batch.Args, in requests);
            if (result == ParseResult.Incomplete)
            {
                client.KeepPartial(at, end, _parser.BytesNeeded);
                return;
            }

            byte* start = at;
            at = _parser.Position;
            if (result == ParseResult.Command)
            {
                client.Quota--;
                _batch.Add(client, start, at, _parser);
            }
            else if (result != ParseResult.Nothing)
            {
                Refuse(client, result);
                return;
            }

            // While not authenticated the limits of the next command depend on the outcome of this one.
            if (_batch.IsFull || requests.Unauthenticated)
                runner.Run();
            if (client.Stopped)
            {
                client.KeepUnrun(at); // net.R4
                return;
            }
        }
    }

    private void ReceiveBig(Connection client, BigRequest big)
    {
        byte* to = big.Room(Worker.ReceiveBytesMax, out int room);
        int got = transport.Receive(client, to, room);
        if (got <= 0)
        {
            ReceivedNothing(client, got);
            return;
        }

        big.Arrived(got);
        CountReceived(client, got);
        if (big.Count + (client.Transaction?.MemoryBytes ?? 0) > limits.QueryBufferLimit)
        {
            log.QueryBufferExceeded(client.Id, client.Peer.Remote);
            worker.Close(client);
            return;
        }

        FrameBig(client, big);
    }

    private void FrameBig(Connection client, BigRequest big)
    {
        runner.Run();
        if (client.Closed)
            return;
        RespLimits requests = limits.Requests;
        requests.Unauthenticated = (client.Modes & ClientModes.Unauthenticated) != 0;
        ParseResult result = big.Parse(_parser, _batch.Args, in requests);
        if (result == ParseResult.Incomplete)
            return;
        if (result is ParseResult.ProtocolError or ParseResult.Foreign or ParseResult.Encrypted)
        {
            Refuse(client, result);
            return;
        }

        client.Big = null;
        client.Quota = QuotaCommands - 1;
        client.IsRestKept = false;
        client.RoundEnd = big.CommandEnd; // what follows is kept below, whatever the command does
        if (result == ParseResult.Command)
        {
            _batch.IsBig = true;
            _batch.Add(client, big.Start, big.CommandEnd, _parser);
            client.RunningBig = big;
            runner.Run();
            client.RunningBig = null;
        }

        if (client.Big == big)
        {
            Carry(client); // it is to run again
            return;
        }

        if (!client.Closed && big.End > big.CommandEnd)
        {
            if (client.Big is not null || big.End - big.CommandEnd > Worker.ReceiveBytesMax)
            {
                client.Big ??= new BigRequest(); // or the command itself, which is to run again first
                client.Big.Append(big.CommandEnd, (int)(big.End - big.CommandEnd));
            }
            else
            {
                client.Keep(big.CommandEnd, big.End);
            }

            Carry(client);
        }

        big.Dispose();
    }

    private void Refuse(Connection client, ParseResult result)
    {
        runner.Run();
        if (client.Closed)
            return;
        if (result == ParseResult.Foreign)
        {
            log.ForeignProtocol(client.Peer.Remote);
            worker.Close(client);
            return;
        }

        if (result == ParseResult.Encrypted && _pace.Allows(out long unsaid))
            log.SpokeTls(client.Peer.Remote, unsaid);
        _replies.SwitchTo(client);
        worker.Out.BeginReply();
        worker.Out.Error("ERR Protocol error: " + _parser.Error);
        worker.Figures.ProtocolErrors++;
        client.CloseAfterReply = true;
    }
}

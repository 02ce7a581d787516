using Garnet.Common.Resp;
using Garnet.Server.Clients;

namespace Garnet.Server.Net;

/// <summary>Collecting and framing: from readable sockets to a batch of frames.</summary>
internal sealed unsafe partial class Reactor
{
    private void Receive(Connection client)
    {
        if (client.Big is { } big)
        {
            ReceiveBig(client, big);
            return;
        }

        int kept = client.Pending.Count;
        byte* start = ReceiveRoom(kept + ReceiveBytesMax);
        int got = Transport.Receive(client, start + kept, ReceiveBytesMax);
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
        _receive.Advance(end);
        FrameAll(client, start, end);
    }

    // A peer that only ended its own side still gets the replies the socket has not taken.
    internal void ReceivedNothing(Connection client, int got)
    {
        if (got == ITransport.Again)
            return;
        if (got == ITransport.Broken || client.Out.Count == 0)
        {
            Close(client);
            return;
        }

        client.CloseAfterReply = true;
        Watch(client);
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
        Buffer.MemoryCopy(client.Pending.Head, start, kept, kept);
        client.Pending.Free();
        _receive.Advance(start + kept);
        FrameAll(client, start, start + kept);
    }

    private byte* ReceiveRoom(int bytes)
    {
        if (_receive.Left < bytes + Arena.Slack)
        {
            ExecuteBatch(); // net.R5: nothing framed points into the arena any more
            _receive.Reset();
            Garnet.Common.Faults.Check.That(_receive.Left >= bytes, "net.R5 what is kept for the arena fits into it");
        }

        return _receive.Position;
    }

    internal void CountReceived(Connection client, int bytes)
    {
        client.ActiveMs = NowMs;
        client.BytesIn += bytes;
        Figures.BytesIn += bytes;
    }

    private void FrameAll(Connection client, byte* at, byte* end)
    {
        client.RoundEnd = end;
        client.Quota = QuotaCommands;
        RespLimits limits = Server.Limits;
        while (at < end)
        {
            if (client.Quota == 0)
            {
                client.Keep(at, end);
                Carry(client);
                return;
            }

            limits.Unauthenticated = (client.Gate & Gate.Unauthenticated) != 0;
            ParseResult result = _parser.Parse(at, end, _args, in limits);
            if (result == ParseResult.Incomplete)
            {
                client.KeepPartial(at, end, _parser.BytesNeeded);
                return;
            }

            byte* start = at;
            at = _parser.Position;
            if (result == ParseResult.Command)
                AddFrame(client, start, at);
            else if (result != ParseResult.Nothing)
            {
                Refuse(client, result);
                return;
            }

            // While not authenticated the limits of the next command depend on the outcome of this one.
            if (_frameCount == FramesMax || limits.Unauthenticated)
                ExecuteBatch();
            if (client.Stopped)
                return; // net.R4: the batch kept what follows
        }
    }

    private void AddFrame(Connection client, byte* start, byte* end)
    {
        client.Quota--;
        int index = _frameCount++;
        Frame* frame = _frames + index;
        Arg* args = _args.Items + _parser.FirstArg;
        int command = Server.Commands.Find(args, _parser.ArgCount);
        frame->Start = start;
        frame->End = end;
        frame->FirstArg = _parser.FirstArg;
        frame->ArgCount = _parser.ArgCount;
        frame->Command = command;
        frame->IsAnswered = false;
        _frameClients[index] = client;
        int key = _entries[command].FirstKey;
        _prefetch.Note(_entries[command].Member);
        if (key == 0 || key >= _parser.ArgCount)
        {
            frame->KeyHash = 0;
            frame->Bucket = 0;
            return;
        }

        frame->KeyHash = Store.HashBytes(args[key].Bytes, args[key].Length);
        frame->Bucket = Store.Namespaces.TryId(client.Database, out uint ns) // while a script runs for long, framing must go on
            ? Store.PrefetchBucket(Store.KeyFromHash(args[key].Bytes, args[key].Length, ns, frame->KeyHash))
            : 0;
    }

    private void ReceiveBig(Connection client, BigRequest big)
    {
        byte* to = big.Room(ReceiveBytesMax, out int room);
        int got = Transport.Receive(client, to, room);
        if (got <= 0)
        {
            ReceivedNothing(client, got);
            return;
        }

        big.Arrived(got);
        CountReceived(client, got);
        if (big.Count + (client.Transaction?.MemoryBytes ?? 0) > Server.QueryBufferLimit)
        {
            Server.Log.QueryBufferExceeded(client.Id, client.Peer.Remote);
            Close(client);
            return;
        }

        FrameBig(client, big);
    }

    private void FrameBig(Connection client, BigRequest big)
    {
        ExecuteBatch();
        RespLimits limits = Server.Limits;
        limits.Unauthenticated = (client.Gate & Gate.Unauthenticated) != 0;
        ParseResult result = big.Parse(_parser, _args, in limits);
        if (result == ParseResult.Incomplete)
            return;
        if (result is ParseResult.ProtocolError or ParseResult.Foreign)
        {
            Refuse(client, result);
            return;
        }

        client.Big = null;
        client.Quota = QuotaCommands;
        client.RoundEnd = big.CommandEnd; // what follows is kept below, whatever the command does
        if (result == ParseResult.Command)
        {
            _bigFrame = true;
            AddFrame(client, big.Start, big.CommandEnd);
            ExecuteBatch();
        }

        if (!client.Closed && big.End > big.CommandEnd)
        {
            if (client.Big is not null || big.End - big.CommandEnd > ReceiveBytesMax)
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
        ExecuteBatch();
        if (client.Closed)
            return;
        if (result == ParseResult.Foreign)
        {
            Server.Log.ForeignProtocol(client.Peer.Remote);
            Close(client);
            return;
        }

        SwitchTo(client);
        Out.BeginReply();
        Out.Error("ERR Protocol error: " + _parser.Error);
        Figures.ProtocolErrors++;
        client.CloseAfterReply = true;
    }
}

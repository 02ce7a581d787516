using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>From replies to the socket: what it does not take, or what may not leave yet, waits in the connection's own memory.</summary>
internal sealed unsafe class ReplySender(Executor worker, ReplyPath replies, ITransport transport, Action<Connection> carry)
{
    /// <summary>Sends what the round has for these, replies and then messages, and closes those that are to go.</summary>
    internal void SendAll(List<Connection> clients)
    {
        for (int i = 0; i < clients.Count; i++)
        {
            Connection client = clients[i];
            if (client.Closed)
                continue;
            SendSegment(client);
            if (client.Pushes.Count > 0 && !client.Closed)
            {
                SendBytes(client, client.Pushes.Head, client.Pushes.Count);
                client.Pushes.Free();
            }

            if (client.CloseAfterReply && client.Out.Count == 0)
                worker.Close(client);
        }
    }

    /// <summary>Sends the client's replies of the round.</summary>
    internal void SendSegment(Connection client)
    {
        byte* from = client.SegmentStart;
        int count = checked((int)(client.SegmentEnd - from)); // no longer than SlowReaders.ReplyBytesMax
        client.SegmentStart = client.SegmentEnd = null;
        if (count > 0 && !client.Closed)
            SendBytes(client, from, count);
    }

    /// <summary>Sends bytes, or keeps what the socket does not take or the log holds back.</summary>
    internal void SendBytes(Connection client, byte* from, int count)
    {
        if (client.Closed | client.Muted)
            return;
        client.BytesOut += count;
        worker.Figures.BytesOut += count;
        if (replies.Held.Holds(client))
        {
            replies.Held.Hold(client);
        }
        else if (client.Out.Count == 0)
        {
            int sent = transport.Send(client, from, count);
            if (sent == count)
                return;
            if (sent == ITransport.Broken)
            {
                worker.Close(client);
                return;
            }

            sent = Math.Max(sent, 0);
            from += sent;
            count -= sent;
        }

        if (replies.SlowReaders.IsOver(client, count))
        {
            replies.SlowReaders.Close(client, count);
            return;
        }

        replies.Memory.Leave(client, from, count);
        if (client.Held)
            return;
        client.WriteBlocked = true;
        client.Stalled = client.Out.Count > worker.Server.ClientLimits.StallBytes;
        replies.Watch(client);
    }

    /// <summary>Sends what was held back and goes on with what has arrived meanwhile.</summary>
    internal void SendKept(Connection client)
    {
        client.WriteBlocked = client.Out.Count > 0;
        SendPending(client);
        carry(client);
    }

    /// <summary>Sends what waits, as far as the socket takes it.</summary>
    internal void SendPending(Connection client)
    {
        if (client.Held)
        {
            client.WriteBlocked = false; // what the log holds back stands behind what the socket did not take: all of it goes on when it is kept (net.R6)
            replies.Watch(client);
            return;
        }

        int waiting = client.Out.Count;
        if (waiting > 0)
        {
            int sent = transport.Send(client, client.Out.Head, waiting);
            if (sent == ITransport.Broken)
            {
                worker.Close(client);
                return;
            }

            client.Out.Drop(Math.Max(sent, 0));
            if (client.Out.Count > 0)
            {
                if (client.Stalled && client.Out.Count < worker.Server.ClientLimits.StallBytes / 2)
                    Unstall(client);
                replies.Watch(client);
                return;
            }
        }

        client.WriteBlocked = false;
        client.OverSoftLimitSinceMs = 0;
        if (client.CloseAfterReply)
        {
            worker.Close(client);
            return;
        }

        if (client.Stalled)
            Unstall(client);
        replies.Watch(client);
    }

    private void Unstall(Connection client)
    {
        client.Stalled = false;
        carry(client);
        replies.Watch(client);
    }
}

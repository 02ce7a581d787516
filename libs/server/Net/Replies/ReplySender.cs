using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>From replies to the socket: what it does not take, or what may not leave yet, waits in the connection's own memory.</summary>
internal sealed unsafe class ReplySender(
    Worker worker, ReplyPath replies, ITransport transport, ClientLimits limits, Action<Connection> carry)
{
    /// <summary>What stands behind a value.</summary>
    internal static ReadOnlySpan<byte> LineEnd => "\r\n"u8;

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

        if (IsTooMuch(client, count))
            return;
        replies.Memory.Leave(client, from, count);
        Wait(client);
    }

    /// <summary>
    /// Sends the client's replies of the round so far; the last one ends with a value that is sent from where it lies in the store. The value is released once
    /// it is sent, by the client's queue if the socket does not take all of it now.
    /// </summary>
    internal void SendSegment(Connection client, PinnedValue value)
    {
        byte* from = client.SegmentStart;
        int count = checked((int)(client.SegmentEnd - from)), sent = 0; // no longer than SlowReaders.ReplyBytesMax, with the value
        client.SegmentStart = client.SegmentEnd = null;
        if (client.Closed | client.Muted)
        {
            value.Release();
            return;
        }

        int total = checked(count + value.Length + LineEnd.Length);
        client.BytesOut += total;
        worker.Figures.BytesOut += total;
        fixed (byte* end = LineEnd)
        {
            if (replies.Held.Holds(client))
            {
                replies.Held.Hold(client);
            }
            else if (client.Out.Count == 0)
            {
                sent = transport.Send(client, [new(from, count), new(value.Bytes, value.Length), new(end, LineEnd.Length)]);
                if (sent == ITransport.Broken)
                    worker.Close(client);
                sent = Math.Max(sent, 0);
            }

            if (sent == total || client.Closed || IsTooMuch(client, total - sent))
            {
                value.Release();
                return;
            }

            int ofValue = Math.Clamp(sent - count, 0, value.Length), ofEnd = Math.Max(sent - count - value.Length, 0);
            client.Out.Append(from + sent, Math.Max(count - sent, 0));
            client.Out.Append(value, ofValue);
            client.Out.Append(end + ofEnd, LineEnd.Length - ofEnd);
        }

        Wait(client);
    }

    private bool IsTooMuch(Connection client, int count)
    {
        bool isOver = replies.SlowReaders.IsOver(client, count);
        if (isOver)
            replies.SlowReaders.Close(client, count);
        return isOver;
    }

    // For its socket, unless it waits for the log.
    private void Wait(Connection client)
    {
        if (client.Held)
            return;
        client.WriteBlocked = true;
        client.Stalled = client.Out.Count > limits.StallBytes;
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
            // what the log holds back stands behind what the socket did not take: all of it goes on when it is kept (net.R6)
            client.WriteBlocked = false;
            replies.Watch(client);
            return;
        }

        while (client.Out.Count > 0)
        {
            byte* front = client.Out.Front(out int waiting);
            int sent = transport.Send(client, front, waiting);
            if (sent == ITransport.Broken)
            {
                worker.Close(client);
                return;
            }

            client.Out.Drop(Math.Max(sent, 0));
            if (sent == waiting)
                continue;
            if (client.Stalled && client.Out.Count < limits.StallBytes / 2)
                Unstall(client);
            replies.Watch(client);
            return;
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

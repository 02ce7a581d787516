using Garnet.Common.Bytes;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>Clients that do not read their replies: who is over which limit of <c>client-output-buffer-limit</c>, and how they end.</summary>
internal sealed class SlowReaders(Worker worker, ClientLimits limits, ServerLog log, Action<Connection> touch)
{
    /// <summary>True if the time of some client over its soft limit is running.</summary>
    internal bool AnyOverSoftLimit;

    /// <summary>Bytes that the client's replies of a round can have, so that they can wait for the socket.</summary>
    internal long ReplyBytesMax(Connection client) =>
        HardLimit(client) is > 0 and var hard ? Math.Min(hard, ByteQueue.BytesMax) : ByteQueue.BytesMax;

    /// <summary>True if its class has a limit by setting.</summary>
    internal bool HasHardLimit(Connection client) => HardLimit(client) > 0;

    /// <summary>True if the client may not have <paramref name="more"/> bytes waiting besides what waits already.</summary>
    internal bool IsOver(Connection client, int more)
    {
        long waiting = client.Out.Count + (long)client.Pushes.Count + more;
        if (waiting > ByteQueue.BytesMax)
            return true;
        if ((client.Modes & ClientModes.Unauthenticated) != 0)
            return waiting > ClientLimits.UnauthenticatedOutputBytesMax;
        (long hard, long soft, long softMs) = limits.OutputLimit(client);
        if (hard > 0 && waiting > hard)
            return true;
        if (soft == 0 || waiting <= soft)
        {
            client.OverSoftLimitSinceMs = 0;
            return false;
        }

        AnyOverSoftLimit = true;
        if (client.OverSoftLimitSinceMs == 0)
            client.OverSoftLimitSinceMs = worker.NowMs;
        return worker.NowMs - client.OverSoftLimitSinceMs > softMs;
    }

    /// <summary>Closes those over their soft limit for too long: that time also ends while nothing more is sent.</summary>
    internal void CloseOverdue()
    {
        if (!AnyOverSoftLimit)
            return;
        AnyOverSoftLimit = false;
        worker.Slots.ForEach(client => client.OverSoftLimitSinceMs > 0 && IsOver(client, 0), client => Close(client, 0));
    }

    /// <summary>
    /// Gives up what the client has not read, and <paramref name="more"/> bytes that it was to get besides. It is not closed here: handlers may
    /// still write to it, and Channels may be walking the list that closing changes; the end of the round closes it.
    /// </summary>
    internal void Close(Connection client, long more)
    {
        worker.Figures.OutputLimitCloses++;
        log.SlowReaderClosed(client.Id, client.Peer.Remote, client.Out.Count + client.Pushes.Count + more);
        client.Mute();
        touch(client);
    }

    private long HardLimit(Connection client) =>
        (client.Modes & ClientModes.Unauthenticated) != 0
            ? ClientLimits.UnauthenticatedOutputBytesMax
            : limits.OutputLimit(client).Hard;
}

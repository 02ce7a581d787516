namespace Garnet.Server.Replication;

/// <summary>Bytes that this server has sent and received over links to other servers, of clients' nothing. From any thread.</summary>
internal sealed class LinkTraffic
{
    private long _sent, _received;

    /// <summary>Bytes given to sockets since the start.</summary>
    internal long Sent => Volatile.Read(ref _sent);

    /// <summary>Bytes received since the start.</summary>
    internal long Received => Volatile.Read(ref _received);

    internal void CountSent(int bytes) => Interlocked.Add(ref _sent, bytes);

    internal void CountReceived(int bytes) => Interlocked.Add(ref _received, bytes);
}

using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>Another process's endpoint, as one of ours knows it. Transfers with it are cancelled when it is dropped.</summary>
public sealed class BulkPeer : IDisposable
{
    private readonly TimeSpan _limit;

    internal BulkPeer(EndpointHandle endpoint, ulong peer, TimeSpan limit)
    {
        Handle = new PeerHandle(endpoint, peer);
        _limit = limit;
    }

    internal PeerHandle Handle { get; }

    /// <summary>Busy: transfers with it are not at rest yet.</summary>
    public BulkStatus Drop(TimeSpan limit) => Handle.Close(BulkNative.Nanoseconds(limit));

    public void Dispose() => Drop(_limit);
}

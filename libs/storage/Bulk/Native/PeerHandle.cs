namespace Garnet.Bulk.Native;

/// <summary>A peer of an endpoint.</summary>
internal sealed class PeerHandle(EndpointHandle endpoint, ulong peer) : OwnedHandle(endpoint, peer)
{
    protected override BulkStatus CloseNative(ulong limitNs) => BulkNative.bk_peer_drop(Endpoint, Value, limitNs);
}

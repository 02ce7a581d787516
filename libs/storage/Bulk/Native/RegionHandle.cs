using System.Buffers;

namespace Garnet.Bulk.Native;

/// <summary>A region of an endpoint, with the memory it pins (bulk.M2).</summary>
internal sealed class RegionHandle(EndpointHandle endpoint, ulong region, MemoryHandle pin) : OwnedHandle(endpoint, region)
{
    protected override BulkStatus CloseNative(ulong limitNs) => BulkNative.bk_region_close(Endpoint, Value, limitNs);

    protected override bool ReleaseHandle()
    {
        bool isGone = base.ReleaseHandle();
        if (isGone)
            pin.Dispose();
        return isGone;
    }
}

using System.Runtime.InteropServices;

namespace Garnet.Bulk.Native;

/// <summary>An endpoint of the native library. Regions and peers count themselves in (bulk.M3), so that it is freed last.</summary>
internal sealed class EndpointHandle : SafeHandle
{
    private const ulong FreeLimitNs = 10_000_000_000;

    public EndpointHandle(ulong endpoint) : base(0, ownsHandle: true) => SetHandle((nint)endpoint);

    public override bool IsInvalid => handle == 0;

    public ulong Value => (ulong)handle;

    // One whose memory does not come to rest is left as it is: its thread still has it.
    protected override bool ReleaseHandle() =>
        BulkNative.bk_endpoint_close(Value, FreeLimitNs) == BulkStatus.Ok && BulkNative.bk_endpoint_free(Value) == BulkStatus.Ok;
}

using System.Runtime.InteropServices;

namespace Garnet.Bulk.Native;

/// <summary>Something that belongs to an endpoint, which it holds until it is closed itself.</summary>
internal abstract class OwnedHandle : SafeHandle
{
    protected const ulong FinalLimitNs = 1_000_000_000;

    private readonly EndpointHandle _endpoint;

    protected OwnedHandle(EndpointHandle endpoint, ulong value) : base(0, ownsHandle: true)
    {
        bool isHeld = false;
        endpoint.DangerousAddRef(ref isHeld);
        _endpoint = endpoint;
        SetHandle((nint)value);
    }

    public override bool IsInvalid => handle == 0;

    public ulong Value => (ulong)handle;

    protected ulong Endpoint => _endpoint.Value;

    /// <summary>Closes it, for as long as the limit allows; nothing is left to do then.</summary>
    public BulkStatus Close(ulong limitNs)
    {
        if (IsClosed)
            return BulkStatus.Ok;
        BulkStatus status = CloseNative(limitNs);
        // Whoever closes an endpoint closes all that belongs to it.
        bool isGone = status is BulkStatus.Ok or BulkStatus.Closed or BulkStatus.Handle;
        if (!isGone)
            return status;
        WasClosed = true;
        Dispose();
        return BulkStatus.Ok;
    }

    protected bool WasClosed { get; private set; }

    protected abstract BulkStatus CloseNative(ulong limitNs);

    protected override bool ReleaseHandle()
    {
        bool isGone = WasClosed || CloseNative(FinalLimitNs) is BulkStatus.Ok or BulkStatus.Closed or BulkStatus.Handle;
        _endpoint.DangerousRelease();
        return isGone;
    }
}

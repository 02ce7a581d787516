using System.Runtime.InteropServices;

namespace Garnet.Bulk.Native;

/// <summary>Memory that the driver of a device is to know.</summary>
internal sealed class PinHandle : SafeHandle
{
    public PinHandle(ulong pin) : base(0, ownsHandle: true) => SetHandle((nint)pin);

    public override bool IsInvalid => handle == 0;

    /// <summary>Device: the driver does not let go of it.</summary>
    public BulkStatus Status { get; private set; }

    protected override bool ReleaseHandle() => (Status = BulkNative.bk_pin_drop((ulong)handle)) == BulkStatus.Ok;
}

using System.Runtime.InteropServices;

namespace Garnet.Bulk.Native;

/// <summary>A segment of the native library; whoever pins its memory counts himself in.</summary>
internal sealed class SegmentHandle : SafeHandle
{
    public SegmentHandle(ulong segment) : base(0, ownsHandle: true) => SetHandle((nint)segment);

    public override bool IsInvalid => handle == 0;

    protected override bool ReleaseHandle() => BulkNative.bk_segment_close((ulong)handle) == BulkStatus.Ok;
}

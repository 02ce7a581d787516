using System.Buffers;
using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>
/// Memory outside the managed heap that another process of the machine can map: what provider `local` carries to and from a region in it costs a copy within
/// that process, a third of what the kernel's copy between two costs. All its pages are there from the beginning, and hold zeros. It goes behind the
/// last region and transfer that has it.
/// </summary>
public sealed unsafe class BulkSegment : MemoryManager<byte>
{
    private readonly SegmentHandle _handle;
    private readonly byte* _first;
    private readonly int _bytes;

    private BulkSegment(ulong segment, void* first, int bytes)
    {
        _handle = new SegmentHandle(segment);
        _first = (byte*)first;
        _bytes = bytes;
    }

    public static BulkSegment Open(int bytes) => Open(bytes, isPinned: false);

    /// <summary>`isPinned`: the driver of a device is to know its memory, in the background and if it can (<see cref="BulkMemory"/>).</summary>
    public static BulkSegment Open(int bytes, bool isPinned)
    {
        BulkLibrary.Demand();
        ArgumentOutOfRangeException.ThrowIfLessThan(bytes, 1);
        ulong segment;
        void* first;
        var config = new NativeSegmentConfig
        {
            Size = (uint)sizeof(NativeSegmentConfig),
            Flags = isPinned ? BulkNative.SegmentPin : 0,
            Bytes = (ulong)bytes,
        };
        BulkException.ThrowUnlessOk(BulkNative.bk_segment_open(&config, &segment, &first));
        return new BulkSegment(segment, first, bytes);
    }

    public override Span<byte> GetSpan()
    {
        ObjectDisposedException.ThrowIf(_handle.IsClosed, this);
        return new Span<byte>(_first, _bytes);
    }

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)elementIndex, (uint)_bytes);
        bool isHeld = false;
        _handle.DangerousAddRef(ref isHeld);
        return new MemoryHandle(_first + elementIndex, pinnable: this);
    }

    public override void Unpin() => _handle.DangerousRelease();

    protected override void Dispose(bool disposing) => _handle.Dispose();
}

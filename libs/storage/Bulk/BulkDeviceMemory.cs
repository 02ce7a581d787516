using System.Buffers;

namespace Garnet.Bulk;

/// <summary>
/// A place in a device's memory as <see cref="Memory{T}"/>, for transfers whose options name the region it lies in. It has no span: nobody but the device's
/// driver may touch it. Its owner keeps it for as long as a transfer has it.
/// </summary>
public sealed unsafe class BulkDeviceMemory(void* at, int bytes) : MemoryManager<byte>
{
    private readonly byte* _first = (byte*)at;

    /// <summary>As much as it was said to be. (Its own property asks for the span.)</summary>
    public override Memory<byte> Memory => CreateMemory(bytes);

    public override Span<byte> GetSpan() =>
        throw new NotSupportedException("Memory of a device cannot be touched from here: BulkMemory.Copy.");

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)elementIndex, (uint)bytes);
        return new MemoryHandle(_first + elementIndex);
    }

    public override void Unpin()
    {
    }

    protected override void Dispose(bool disposing)
    {
    }
}

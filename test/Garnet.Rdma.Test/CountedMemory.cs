using System.Buffers;

namespace Garnet.Rdma.Test;

/// <summary>Memory that knows whether it is pinned.</summary>
internal sealed unsafe class CountedMemory(int bytes) : MemoryManager<byte>
{
    private readonly byte[] _held = GC.AllocateUninitializedArray<byte>(bytes, pinned: true);
    private int _pins;

    public int Pins => Volatile.Read(ref _pins);

    public override Span<byte> GetSpan() => _held;

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        Interlocked.Increment(ref _pins);
        fixed (byte* first = _held)
            return new MemoryHandle(first + elementIndex, pinnable: this);
    }

    public override void Unpin() => Interlocked.Decrement(ref _pins);

    protected override void Dispose(bool disposing) { }
}

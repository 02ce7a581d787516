using System.Buffers;
using Garnet.Common;
using Garnet.Common.Faults;
using Tsavorite;

namespace Garnet.Server.Bulk;

/// <summary>
/// Where the bytes of a transfer lie on this side, outside the managed heap: in what is to be a record, or in memory of their own. It stays until
/// it is disposed of and is no transfer's any more.
/// </summary>
internal sealed unsafe class StagedBytes : MemoryManager<byte>
{
    private readonly NativeBuffer _own = new();

    /// <summary>Memory of their own.</summary>
    internal StagedBytes(int length)
    {
        Length = length;
        _own.Grow(Math.Max(length, 1), keep: 0);
        Bytes = _own.Bytes;
    }

    /// <summary>In what is to be a record.</summary>
    internal StagedBytes(StagedValue value)
    {
        (Value, Length) = (value, value.Length);
        Bytes = value.Bytes;
    }

    /// <summary>What is to be a record; null if the bytes have memory of their own.</summary>
    internal StagedValue? Value { get; }

    /// <summary>How many there are.</summary>
    internal int Length { get; }

    /// <summary>The first one.</summary>
    internal byte* Bytes { get; }

    public override Span<byte> GetSpan() => new(Bytes, Length);

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        Check.That((uint)elementIndex <= (uint)Length, "bulk.S4 what is pinned lies in the memory");
        return new MemoryHandle(Bytes + elementIndex);
    }

    public override void Unpin()
    {
    }

    protected override void Dispose(bool disposing)
    {
        Value?.Dispose();
        _own.Dispose();
    }
}

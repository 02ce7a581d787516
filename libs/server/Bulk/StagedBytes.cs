using System.Buffers;
using Garnet.Common.Bytes;
using Garnet.Common.Faults;
using Tsavorite;

namespace Garnet.Server.Bulk;

/// <summary>
/// Where the bytes of a transfer lie on this side, outside the managed heap: in what is to be a record, in what is one and is pinned (store.P1), or in memory of their own. It is
/// counted by those who have it, whoever has made it and each transfer under way, and is free, and its share of the budget with it,
/// behind the last of them (bulk.S2).
/// </summary>
internal sealed unsafe class StagedBytes : MemoryManager<byte>
{
    private readonly byte* _own;
    private readonly long _ownBytes;
    private readonly PinnedValue _pinned;
    private readonly BulkSession _session;
    private readonly Store? _countedBy;
    private int _holders = 1;

    private StagedBytes(BulkSession session, Store? countedBy, int length)
    {
        (_session, _countedBy, Length) = (session, countedBy, length);
        Bytes = _own = LargeBlocks.Take(Math.Max(length, 1), out _ownBytes);
    }

    /// <summary>
    /// Memory of their own, for which the session has room; what is to become a value counts as memory of the store. Null if that has no room.
    /// </summary>
    internal static StagedBytes? TryOwn(BulkSession session, Store? countedBy, int length) =>
        countedBy?.TryTakeBeside(length) == false ? null : new StagedBytes(session, countedBy, length);

    /// <summary>In what is to be a record.</summary>
    internal StagedBytes(BulkSession session, StagedValue value)
    {
        (_session, Value, Length) = (session, value, value.Length);
        Bytes = value.Bytes;
    }

    /// <summary>A part of a value in the store, where it lies, to be read only; the pin is its own from now on.</summary>
    internal StagedBytes(BulkSession session, PinnedValue value, int start, int length)
    {
        (_session, _pinned, Length) = (session, value, length);
        Bytes = value.Bytes + start;
    }

    /// <summary>What is to be a record; null if the bytes have memory of their own.</summary>
    internal StagedValue? Value { get; }

    /// <summary>How many there are.</summary>
    internal int Length { get; }

    /// <summary>The first one.</summary>
    internal byte* Bytes { get; }

    /// <summary>One more has it.</summary>
    internal void Hold() => Interlocked.Increment(ref _holders);

    /// <summary>One who had it does not any more.</summary>
    internal void Release()
    {
        if (Interlocked.Decrement(ref _holders) > 0)
            return;
        ((IDisposable)this).Dispose();
        _session.Give(Length);
    }

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
        _pinned.Release();
        LargeBlocks.Free(_own, _ownBytes);
        _countedBy?.GiveBeside(Length);
    }
}

using Garnet.Common;
using Garnet.Common.Bytes;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Members of several collections, each once, while a command runs: gathered as operands, each with so many bytes of head, and found by
/// an open hash table in native memory. Whoever makes one disposes of it.
/// </summary>
public unsafe struct MemberTable(int headBytes, ulong seed) : IDisposable
{
    private const uint FirstSlots = 64;
    // Upper half: of the member's hash; lower half: one more than its place in Found, 0 = free. At most half of them are in use.
    private NativeArray<ulong> _slots;
    private uint _mask;

    /// <summary>The members in the order in which they came.</summary>
    public ByteQueue Found;

    public int Count { get; private set; }

    /// <summary>Where the head of a member lies, until the next call; added if it was not there. Behind the member lie 16 readable bytes.</summary>
    public byte* Put(byte* member, int bytes, out bool isNew)
    {
        if (Count * 2L >= _mask)
            Grow();
        ulong hash = RecordEdit.Hash(member, bytes, seed) & ~(ulong)uint.MaxValue;
        uint slot = (uint)(hash >> 32) & _mask;
        for (; _slots.Items[slot] != 0; slot = (slot + 1) & _mask)
        {
            ulong word = _slots.Items[slot];
            if ((word ^ hash) >> 32 != 0)
                continue;
            byte* head = HeadAt((uint)word - 1, out int length);
            isNew = !new ReadOnlySpan<byte>(head + headBytes, length - headBytes).SequenceEqual(new ReadOnlySpan<byte>(member, bytes));
            if (!isNew)
                return head;
        }

        int place = Found.Count;
        long none = 0;
        OperandText.Append(ref Found, new ReadOnlySpan<byte>(&none, headBytes), new ReadOnlySpan<byte>(member, bytes));
        _slots.Items[slot] = hash | ((uint)place + 1);
        Count++;
        isNew = true;
        return HeadAt((uint)place, out _);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _slots.Dispose();
        Found.Free();
        _slots = default;
    }

    private readonly byte* HeadAt(uint place, out int length)
    {
        byte* at = Found.Head + place;
        VarInt.TryRead(ref at, (byte*)nuint.MaxValue, out uint bytes);
        length = (int)bytes;
        return at;
    }

    private void Grow()
    {
        uint slots = _mask == 0 ? FirstSlots : (_mask + 1) * 2;
        var memory = new NativeArray<ulong>(slots);
        ulong* grown = memory.Items;
        for (uint i = 0; _mask != 0 && i <= _mask; i++)
        {
            if (_slots.Items[i] == 0)
                continue;
            uint slot = (uint)(_slots.Items[i] >> 32) & (slots - 1);
            while (grown[slot] != 0)
                slot = (slot + 1) & (slots - 1);
            grown[slot] = _slots.Items[i];
        }

        _slots.Dispose();
        _slots = memory;
        _mask = slots - 1;
    }
}

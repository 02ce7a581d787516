using System.Runtime.InteropServices;
using Garnet.Common.Faults;

namespace Garnet.Common.Bytes;

/// <summary>
/// Bytes waiting in native memory: taken from the front, added at the back, freed when empty. More than it can hold is refused by a
/// <see cref="TooLargeException"/>, and what is there is given back.
/// common.Q1  Whoever fills a queue frees it in a <c>finally</c>: what it was gathered for may be refused by an exception, again and again.
/// </summary>
public unsafe struct ByteQueue
{
    /// <summary>Most bytes a queue can hold.</summary>
    public const int BytesMax = 0x7FFF0000;
    private const int ReallocBytes = 1 << 20;

    private byte* _memory;
    private int _capacity;
    private int _head;
    private int _tail;

    /// <summary>Bytes waiting.</summary>
    public readonly int Count => _tail - _head;

    /// <summary>First waiting byte.</summary>
    public readonly byte* Head => _memory + _head;

    /// <summary>Memory taken, in bytes.</summary>
    public readonly int Capacity => _capacity;

    /// <summary>Adds bytes at the back.</summary>
    public void Append(byte* bytes, int count)
    {
        if (count <= 0)
            return;
        Buffer.MemoryCopy(bytes, Reserve(count), count, count);
        _tail += count;
    }

    /// <summary>Adds bytes at the back.</summary>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
            Append(start, bytes.Length);
    }

    /// <summary>Room for so many bytes at the back, valid until the next call; what of it is used is told by <see cref="Commit"/>.</summary>
    public byte* Reserve(int count)
    {
        if (_capacity - _tail >= count)
            return _memory + _tail;
        int waiting = Count;
        long needed = (long)waiting + count;
        if (needed > BytesMax)
            Refuse(needed);
        long wanted = Math.Min(Math.Max(needed * (waiting == 0 ? 1 : 2), 64), BytesMax);
        if (_head == 0 && waiting >= ReallocBytes)
        {
            // The system moves pages of this many bytes without a copy, and there is never one copy more.
            _memory = (byte*)NativeMemory.Realloc(_memory, (nuint)wanted);
            _capacity = (int)wanted;
            return _memory + _tail;
        }

        byte* memory = LargeBlocks.Take(wanted, out long bytes); // kept ones are far smaller than what a queue can hold
        Buffer.MemoryCopy(_memory + _head, memory, bytes, waiting);
        LargeBlocks.Free(_memory, _capacity);
        _memory = memory;
        _capacity = (int)bytes;
        _head = 0;
        _tail = waiting;
        return _memory + _tail;
    }

    /// <summary>So many bytes have been written to what <see cref="Reserve"/> gave.</summary>
    public void Commit(int count) => _tail += count;

    /// <summary>Takes over a block of the same allocator of so many bytes, of which those between the two places wait; it is empty before.</summary>
    public void Adopt(byte* memory, int bytes, int head, int tail)
    {
        Free();
        _memory = memory;
        _capacity = bytes;
        (_head, _tail) = (head, tail);
    }

    /// <summary>Drops bytes at the front; gives the memory back when none are left.</summary>
    public void Drop(int count)
    {
        _head += count;
        if (_head >= _tail)
            Free();
    }

    /// <summary>Gives everything back.</summary>
    public void Free()
    {
        LargeBlocks.Free(_memory, _capacity);
        _memory = null;
        _capacity = _head = _tail = 0;
    }

    // Whoever has come so far has nobody any more to give the bytes back.
    private void Refuse(long needed)
    {
        Free();
        throw new TooLargeException("an intermediate result", needed, BytesMax);
    }
}

using System.Numerics;
using System.Runtime.InteropServices;

namespace Garnet.Types.Bits;

/// <summary>Counting, finding, reading and writing bits; bit 0 is the highest of the first byte.</summary>
public static class Bitmap
{
    /// <summary>The set bits among so many from one on.</summary>
    public static long Count(ReadOnlySpan<byte> bytes, long from, long count)
    {
        if (count == 0)
            return 0;
        (int first, int last) = ((int)(from >> 3), (int)((from + count - 1) >> 3));
        long bits = CountBytes(bytes[first..(last + 1)]);
        bits -= BitOperations.PopCount((uint)(bytes[first] & ~HeadMask(from)));
        bits -= BitOperations.PopCount((uint)(bytes[last] & ~TailMask(from + count)));
        return bits;
    }

    /// <summary>The first bit of that value among so many from one on, -1 if there is none.</summary>
    public static long Find(ReadOnlySpan<byte> bytes, int bit, long from, long count)
    {
        (int first, int last) = ((int)(from >> 3), (int)((from + count - 1) >> 3));
        byte other = (byte)(bit == 1 ? 0 : 0xFF);
        for (int at = first; at <= last; at++)
        {
            if (at != first)
            {
                int skipped = bytes[at..(last + 1)].IndexOfAnyExcept(other);
                if (skipped < 0)
                    return -1;
                at += skipped;
            }

            int found = (bytes[at] ^ other) & (at == first ? HeadMask(from) : 0xFF) & (at == last ? TailMask(from + count) : 0xFF);
            if (found != 0)
                return ((long)at * 8) + BitOperations.LeadingZeroCount((uint)found << 24);
        }

        return -1;
    }

    /// <summary>Up to 64 bits as a number; what lies behind the end is clear.</summary>
    public static ulong Read(ReadOnlySpan<byte> bytes, long offset, int bits)
    {
        ulong value = 0;
        int left = bits;
        for (long at = offset; left > 0;)
        {
            int inByte = (int)(at & 7), taken = Math.Min(8 - inByte, left);
            int whole = at >> 3 < bytes.Length ? bytes[(int)(at >> 3)] : 0;
            value = (value << taken) | (uint)(whole >> (8 - inByte - taken) & ((1 << taken) - 1));
            at += taken;
            left -= taken;
        }

        return value;
    }

    /// <summary>Writes the low bits of a number; they lie inside the bytes.</summary>
    public static void Write(Span<byte> bytes, long offset, int bits, ulong value)
    {
        int left = bits;
        for (long at = offset; left > 0;)
        {
            int inByte = (int)(at & 7), taken = Math.Min(8 - inByte, left), shift = 8 - inByte - taken;
            int mask = ((1 << taken) - 1) << shift;
            ref byte whole = ref bytes[(int)(at >> 3)];
            whole = (byte)((whole & ~mask) | ((int)(value >> (left - taken)) << shift & mask));
            at += taken;
            left -= taken;
        }
    }

    private static long CountBytes(ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(bytes);
        long first = 0, second = 0;
        int i = 0;
        for (; i + 1 < words.Length; i += 2) // two sums, so that one count does not wait for the other
        {
            first += BitOperations.PopCount(words[i]);
            second += BitOperations.PopCount(words[i + 1]);
        }

        if (i < words.Length)
            first += BitOperations.PopCount(words[i]);
        foreach (byte one in bytes[(words.Length * sizeof(ulong))..])
            first += BitOperations.PopCount(one);
        return first + second;
    }

    // The bits of the byte from this one on, and those before it.
    private static int HeadMask(long from) => 0xFF >> (int)(from & 7);

    private static int TailMask(long end) => (end & 7) == 0 ? 0xFF : 0xFF << (8 - (int)(end & 7)) & 0xFF;
}

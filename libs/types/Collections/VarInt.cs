using System.Runtime.CompilerServices;

namespace Garnet.Types.Collections;

/// <summary>A length in one to five bytes: seven bits each, the lowest first, the top bit of a byte saying that more follow.</summary>
public static unsafe class VarInt
{
    public const int BytesMax = 5;

    public static int BytesOf(uint value) => value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : value < 1 << 28 ? 4 : 5;

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // CollectionCost: nearly all lengths are one byte
    public static byte* Write(byte* to, uint value)
    {
        for (; value >= 0x80; value >>= 7)
            *to++ = (byte)(value | 0x80);
        *to = (byte)value;
        return to + 1;
    }

    /// <summary>Reads and moves on; false if it is not whole before the end.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // CollectionCost: nearly all lengths are one byte
    public static bool TryRead(ref byte* at, byte* end, out uint value)
    {
        value = 0;
        if (at >= end)
            return false;
        value = *at++;
        if (value < 0x80)
            return true;
        byte* next = ReadLonger(at, end, value, out uint longer); // copies: so both may stay in registers
        at = next == null ? at : next;
        value = longer;
        return next != null;
    }

    /// <summary>Writes a number of up to 64 bits in one to ten bytes.</summary>
    public static byte* WriteLong(byte* to, ulong value)
    {
        for (; value >= 0x80; value >>= 7)
            *to++ = (byte)(value | 0x80);
        *to = (byte)value;
        return to + 1;
    }

    /// <summary>Reads what <see cref="WriteLong"/> wrote and moves on.</summary>
    public static ulong ReadLong(ref byte* at)
    {
        ulong value = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte next = *at++;
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
                return value;
        }
    }

    /// <summary>Passes over what <see cref="WriteLong"/> wrote; false if it is not whole before the end.</summary>
    public static bool TryReadLong(ref byte* at, byte* end, out ulong value)
    {
        value = 0;
        for (int shift = 0; at < end && shift < 70; shift += 7)
        {
            byte next = *at++;
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
                return true;
        }

        return false;
    }

    // The byte behind, null if it is not whole.
    private static byte* ReadLonger(byte* at, byte* end, uint first, out uint value)
    {
        value = first & 0x7F;
        for (int shift = 7; shift < 35; shift += 7)
        {
            if (at >= end)
                return null;
            uint next = *at++;
            value |= (next & 0x7F) << shift;
            if (next < 0x80)
                return at;
        }

        return null;
    }
}

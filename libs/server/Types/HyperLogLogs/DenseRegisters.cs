namespace Garnet.Server.Types.HyperLogLogs;

/// <summary>Registers of six bits, one behind the other, the first in the lowest bits of the first byte.</summary>
internal static class DenseRegisters
{
    internal static int Get(ReadOnlySpan<byte> bytes, int index)
    {
        int bit = index * HyperLogLog.RegisterBits, at = bit >> 3, shift = bit & 7;
        int word = bytes[at] | (at + 1 < bytes.Length ? bytes[at + 1] << 8 : 0);
        return word >> shift & HyperLogLog.RegisterMax;
    }

    internal static void Set(Span<byte> bytes, int index, int value)
    {
        int bit = index * HyperLogLog.RegisterBits, at = bit >> 3, shift = bit & 7;
        int mask = HyperLogLog.RegisterMax << shift, word = value << shift;
        bytes[at] = (byte)((bytes[at] & ~mask) | word);
        if (shift > 8 - HyperLogLog.RegisterBits)
            bytes[at + 1] = (byte)((bytes[at + 1] & ~(mask >> 8)) | (word >> 8));
    }

    /// <summary>Raises a register; false if it is as high.</summary>
    internal static bool TryRaise(Span<byte> bytes, int index, int value)
    {
        if (Get(bytes, index) >= value)
            return false;
        Set(bytes, index, value);
        return true;
    }
}

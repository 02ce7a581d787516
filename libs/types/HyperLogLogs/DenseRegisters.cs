namespace Garnet.Types.HyperLogLogs;

/// <summary>Registers of six bits, one behind the other, the first in the lowest bits of the first byte: four in three bytes.</summary>
public static class DenseRegisters
{
    private const int GroupRegisters = 4, GroupBytes = 3;

    public static int Get(ReadOnlySpan<byte> bytes, int index)
    {
        int bit = index * HyperLogLog.RegisterBits, at = bit >> 3, shift = bit & 7;
        int word = bytes[at] | (at + 1 < bytes.Length ? bytes[at + 1] << 8 : 0);
        return word >> shift & HyperLogLog.RegisterMax;
    }

    public static void Set(Span<byte> bytes, int index, int value)
    {
        int bit = index * HyperLogLog.RegisterBits, at = bit >> 3, shift = bit & 7;
        int mask = HyperLogLog.RegisterMax << shift, word = value << shift;
        bytes[at] = (byte)((bytes[at] & ~mask) | word);
        if (shift > 8 - HyperLogLog.RegisterBits)
            bytes[at + 1] = (byte)((bytes[at + 1] & ~(mask >> 8)) | (word >> 8));
    }

    /// <summary>Raises a register; false if it is as high.</summary>
    public static bool TryRaise(Span<byte> bytes, int index, int value)
    {
        if (Get(bytes, index) >= value)
            return false;
        Set(bytes, index, value);
        return true;
    }

    /// <summary>Raises each of so many bytes to its register.</summary>
    public static void Merge(ReadOnlySpan<byte> bytes, Span<byte> registers)
    {
        for (; registers.Length >= GroupRegisters; registers = registers[GroupRegisters..], bytes = bytes[GroupBytes..])
        {
            int group = bytes[0] | bytes[1] << 8 | bytes[2] << 16;
            registers[0] = Math.Max(registers[0], (byte)(group & HyperLogLog.RegisterMax));
            registers[1] = Math.Max(registers[1], (byte)(group >> 6 & HyperLogLog.RegisterMax));
            registers[2] = Math.Max(registers[2], (byte)(group >> 12 & HyperLogLog.RegisterMax));
            registers[3] = Math.Max(registers[3], (byte)(group >> 18));
        }
    }

    /// <summary>Sets all registers.</summary>
    public static void Write(ReadOnlySpan<byte> registers, Span<byte> bytes)
    {
        for (; registers.Length >= GroupRegisters; registers = registers[GroupRegisters..], bytes = bytes[GroupBytes..])
        {
            int group = registers[0] | registers[1] << 6 | registers[2] << 12 | registers[3] << 18;
            bytes[0] = (byte)group;
            bytes[1] = (byte)(group >> 8);
            bytes[2] = (byte)(group >> 16);
        }
    }
}

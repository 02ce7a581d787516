using System.Buffers.Binary;
using System.Numerics;

namespace Garnet.Aof.Format;

/// <summary>CRC-32C (Castagnoli, RFC 3720 B.4) over bytes; the checksum of everything on disk.</summary>
public static class Crc32C
{
    /// <summary>Checksum of the bytes; <paramref name="before"/> is the checksum of what lies before them, 0 at the start.</summary>
    public static uint Of(ReadOnlySpan<byte> bytes, uint before = 0)
    {
        uint crc = ~before;
        while (bytes.Length >= sizeof(ulong))
        {
            crc = BitOperations.Crc32C(crc, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            bytes = bytes[sizeof(ulong)..];
        }

        foreach (byte one in bytes)
            crc = BitOperations.Crc32C(crc, one);
        return ~crc;
    }
}

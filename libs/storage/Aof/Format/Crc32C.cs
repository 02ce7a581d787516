using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;

namespace Garnet.Aof.Format;

/// <summary>
/// CRC-32C (Castagnoli, RFC 3720 B.4) over bytes; the checksum of everything on disk. The processor's instruction answers
/// after three cycles but starts every cycle, so long inputs are cut into three streams whose checksums are joined by
/// tables: a checksum is linear, and "followed by n zero bytes" is a fixed matrix.
/// </summary>
public static class Crc32C
{
    private const uint Polynomial = 0x82F63B78;
    private const int LongStream = 4096, ShortStream = 256, Bytes = 4, Values = 256;
    private static readonly uint[] s_afterLong = ShiftTable(LongStream), s_afterShort = ShiftTable(ShortStream);

    /// <summary>Checksum of the bytes; <paramref name="before"/> is the checksum of what lies before them, 0 at the start.</summary>
    public static uint Of(ReadOnlySpan<byte> bytes, uint before = 0)
    {
        uint crc = ~before;
        if (bytes.Length >= 3 * ShortStream && BitConverter.IsLittleEndian)
        {
            crc = Streams(ref bytes, crc, LongStream, s_afterLong);
            crc = Streams(ref bytes, crc, ShortStream, s_afterShort);
        }
        return ~Plain(bytes, crc);
    }

    /// <summary>The same, one step after another: what <see cref="Of"/> is tested against.</summary>
    internal static uint OfSimply(ReadOnlySpan<byte> bytes, uint before = 0) => ~Plain(bytes, ~before);

    private static uint Plain(ReadOnlySpan<byte> bytes, uint crc)
    {
        while (bytes.Length >= sizeof(ulong))
        {
            crc = BitOperations.Crc32C(crc, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            bytes = bytes[sizeof(ulong)..];
        }

        foreach (byte one in bytes)
            crc = BitOperations.Crc32C(crc, one);
        return crc;
    }

    // Takes blocks of three streams off the front of the bytes while there are such.
    private static uint Streams(ref ReadOnlySpan<byte> bytes, uint crc, int streamBytes, uint[] after)
    {
        while (bytes.Length >= 3 * streamBytes)
        {
            ReadOnlySpan<ulong> first = MemoryMarshal.Cast<byte, ulong>(bytes[..streamBytes]);
            ReadOnlySpan<ulong> second = MemoryMarshal.Cast<byte, ulong>(bytes.Slice(streamBytes, streamBytes))[..first.Length];
            ReadOnlySpan<ulong> third = MemoryMarshal.Cast<byte, ulong>(bytes.Slice(2 * streamBytes, streamBytes))[..first.Length];
            uint middle = 0, last = 0;
            for (int i = 0; i < first.Length; i++)
            {
                crc = BitOperations.Crc32C(crc, first[i]);
                middle = BitOperations.Crc32C(middle, second[i]);
                last = BitOperations.Crc32C(last, third[i]);
            }
            crc = Shift(after, crc) ^ middle;
            crc = Shift(after, crc) ^ last;
            bytes = bytes[(3 * streamBytes)..];
        }
        return crc;
    }

    private static uint Shift(uint[] table, uint crc) => table[crc & 0xFF] ^ table[Values + (crc >> 8 & 0xFF)]
        ^ table[2 * Values + (crc >> 16 & 0xFF)] ^ table[3 * Values + (crc >> 24)];

    // What each byte of a checksum becomes when zeros follow; by definition, bit by bit for the 32 unit vectors.
    private static uint[] ShiftTable(int zeroBytes)
    {
        Span<uint> unit = stackalloc uint[Bytes * 8];
        for (int bit = 0; bit < unit.Length; bit++)
        {
            uint crc = 1u << bit;
            for (int i = 0; i < zeroBytes * 8; i++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? Polynomial : 0);
            unit[bit] = crc;
        }
        uint[] table = new uint[Bytes * Values];
        for (int i = 0; i < table.Length; i++)
        {
            for (int bit = 0; bit < 8; bit++)
            {
                if ((i >> bit & 1) != 0)
                    table[i] ^= unit[i / Values * 8 + bit];
            }
        }
        return table;
    }
}

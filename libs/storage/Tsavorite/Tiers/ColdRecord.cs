using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// A record as it lies in a cold segment: as in memory (<see cref="Record"/>), without slack and not an extent, its first four bytes the CRC32C
/// of its place and the others. So what the medium put elsewhere, or did not put there at all, is not taken for the record either.
/// </summary>
internal static unsafe class ColdRecord
{
    private const int CrcBytes = 4, KindAt = 4, FlagsAt = 5, SlackAt = 15;

    /// <summary>Bytes that the record takes there.</summary>
    public static long BytesOf(byte* record) =>
        (long)Record.KeyOffset(Record.Flags(record)) + Record.KeyBytes(record) + Record.ValueBytes(record);

    /// <summary>Copies a live record, whose partition is locked, into room of <see cref="BytesOf"/>.</summary>
    public static void Write(byte* to, byte* record, int bytes, uint place)
    {
        Unsafe.CopyBlockUnaligned(to, record, (uint)bytes);
        to[FlagsAt] &= unchecked((byte)~Record.ExtentFlag);
        to[SlackAt] = 0;
        *(uint*)to = Crc(to, bytes, place);
    }

    /// <summary>True if the bytes are a record that was written whole to that place, and are all of it.</summary>
    public static bool TryMeasure(byte* image, int room, uint place, out int bytes)
    {
        bytes = 0;
        if (room < Record.HeaderBytes || Record.ValueBytes(image) < 0)
            return false;
        long wanted = BytesOf(image);
        if (wanted > room || (Record.Flags(image) & Record.ExtentFlag) != 0 || image[SlackAt] != 0)
            return false;
        bytes = (int)wanted;
        return *(uint*)image == Crc(image, bytes, place);
    }

    /// <summary>What tells a place of the medium, and the use that is made of it, from all others.</summary>
    public static uint PlaceOf(ulong life, long offset) => BitOperations.Crc32C(BitOperations.Crc32C(~0u, life), (ulong)offset);

    /// <summary>True if the record in memory still is what the image was made from.</summary>
    public static bool IsSame(byte* record, byte* image, int bytes)
    {
        if (BytesOf(record) != bytes || record[KindAt] != image[KindAt])
            return false;
        if (((record[FlagsAt] ^ image[FlagsAt]) & ~Record.ExtentFlag) != 0 || Record.KeyBytes(record) != Record.KeyBytes(image))
            return false;
        if (Record.Namespace(record) != Record.Namespace(image))
            return false;
        int rest = bytes - Record.HeaderBytes;
        return new ReadOnlySpan<byte>(record + Record.HeaderBytes,
            rest).SequenceEqual(new ReadOnlySpan<byte>(image + Record.HeaderBytes, rest));
    }

    private static uint Crc(byte* image, int bytes, uint place)
    {
        uint crc = place;
        byte* next = image + CrcBytes, end = image + bytes;
        for (; end - next >= sizeof(ulong); next += sizeof(ulong)) crc = BitOperations.Crc32C(crc, *(ulong*)next);
        for (; next < end; next++) crc = BitOperations.Crc32C(crc, *next);
        return ~crc;
    }
}

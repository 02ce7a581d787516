using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// A record as it lies in a cold segment: as in memory (<see cref="Record"/>), without slack, not an extent and without the place of a copy, its first four bytes the CRC32C
/// of its place and the others. So what the medium put elsewhere, or did not put there at all, is not taken for the record either.
/// </summary>
internal static unsafe class ColdRecord
{
    /// <summary>Longest there is.</summary>
    public const long BytesMax = Record.HeaderBytes + (3L * Record.FieldBytes) + Store.KeyBytesMax + Record.ValueBytesMax;
    /// <summary>Bytes before those that the checksum is of.</summary>
    public const int CrcBytes = 4;

    private const int KindAt = 4, FlagsAt = 5, SlackAt = 15;
    /// <summary>Flags of what only memory has.</summary>
    private const int MemoryFlags = Record.ExtentFlag | Record.CopyFlag;

    /// <summary>Bytes that the record takes there.</summary>
    public static long BytesOf(byte* record) =>
        (long)KeyOffset(record) + Record.KeyBytes(record) + Record.ValueBytes(record);

    /// <summary>Bytes of it that say what it is: all before the value, and what the store has in that.</summary>
    public static long HeadBytes(byte* record) =>
        Math.Min(BytesOf(record), (long)KeyOffset(record) + Record.KeyBytes(record) + RootLimit.ValueBytesMin);

    private static int KeyOffset(byte* record) => Record.KeyOffset((byte)(Record.Flags(record) & ~Record.CopyFlag));

    /// <summary>Copies a live record, whose partition is locked, into room of <see cref="BytesOf"/>.</summary>
    public static void Write(byte* to, byte* record, int bytes, uint place)
    {
        int before = CleanCopy.FieldOffset(Record.Flags(record)), passed = CleanCopy.FieldBytes(record);
        Unsafe.CopyBlockUnaligned(to, record, (uint)before);
        Unsafe.CopyBlockUnaligned(to + before, record + before + passed, (uint)(bytes - before));
        BeCold(to);
        *(uint*)to = ~Add(place, to + CrcBytes, bytes - CrcBytes);
    }

    /// <summary>Takes what only memory has of it out of the header of a copy.</summary>
    public static void BeCold(byte* image)
    {
        image[FlagsAt] &= unchecked((byte)~MemoryFlags);
        image[SlackAt] = 0;
    }

    /// <summary>True if the bytes are a record that was written whole to that place, and are all of it.</summary>
    public static bool TryMeasure(byte* image, int room, uint place, out int bytes)
    {
        bytes = 0;
        if (room < Record.HeaderBytes || !IsPossible(image) || BytesOf(image) > room)
            return false;
        bytes = (int)BytesOf(image);
        return *(uint*)image == ~Add(place, image + CrcBytes, bytes - CrcBytes);
    }

    /// <summary>True if the header, which is there, is one that a record has on the tier.</summary>
    public static bool IsPossible(byte* image) =>
        Record.ValueBytes(image) >= 0 && (Record.Flags(image) & MemoryFlags) == 0 && image[SlackAt] == 0;

    /// <summary>The checksum, begun with the place (<see cref="PlaceOf"/>), goes on over what follows; it is told inverted.</summary>
    public static uint Add(uint crc, byte* from, long bytes)
    {
        byte* next = from, end = from + bytes;
        for (; end - next >= sizeof(ulong); next += sizeof(ulong)) crc = BitOperations.Crc32C(crc, *(ulong*)next);
        for (; next < end; next++) crc = BitOperations.Crc32C(crc, *next);
        return crc;
    }

    /// <summary>What tells a place of the medium, and the use that is made of it, from all others.</summary>
    public static uint PlaceOf(ulong life, long offset) => BitOperations.Crc32C(BitOperations.Crc32C(~0u, life), (ulong)offset);

    /// <summary>True if the record in memory still is what the image was made from.</summary>
    public static bool IsSame(byte* record, byte* image, int bytes)
    {
        if (BytesOf(record) != bytes || record[KindAt] != image[KindAt])
            return false;
        if (((record[FlagsAt] ^ image[FlagsAt]) & ~MemoryFlags) != 0 || Record.KeyBytes(record) != Record.KeyBytes(image))
            return false;
        if (Record.Namespace(record) != Record.Namespace(image))
            return false;
        int before = CleanCopy.FieldOffset(Record.Flags(record)), passed = CleanCopy.FieldBytes(record);
        int fields = before - Record.HeaderBytes, rest = bytes - before;
        byte* ours = record + Record.HeaderBytes, theirs = image + Record.HeaderBytes;
        return new ReadOnlySpan<byte>(ours, fields).SequenceEqual(new ReadOnlySpan<byte>(theirs, fields))
            && new ReadOnlySpan<byte>(record + before + passed, rest).SequenceEqual(new ReadOnlySpan<byte>(image + before, rest));
    }
}

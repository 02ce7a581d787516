using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// A record as it lies in a cold segment: as in memory (<see cref="Record"/>), without slack, not an extent and without the place of a copy, its first four bytes the checksum
/// of its place and the others (<see cref="ColdSum"/>). So what the medium put elsewhere, or did not put there at all, is not taken for the record either.
/// </summary>
internal static unsafe class ColdRecord
{
    /// <summary>Longest there is.</summary>
    public const long BytesMax = Record.HeaderBytes + (3L * Record.FieldBytes) + Store.KeyBytesMax + Record.ValueBytesMax;

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
    public static void Write(byte* to, byte* record, int bytes, in ColdPlace place)
    {
        int before = CleanCopy.FieldOffset(Record.Flags(record)), passed = CleanCopy.FieldBytes(record);
        Unsafe.CopyBlockUnaligned(to, record, (uint)before);
        Unsafe.CopyBlockUnaligned(to + before, record + before + passed, (uint)(bytes - before));
        BeCold(to);
        *(uint*)to = SumOf(to, bytes, place);
    }

    /// <summary>Takes what only memory has of it out of the header of a copy.</summary>
    public static void BeCold(byte* image)
    {
        image[FlagsAt] &= unchecked((byte)~MemoryFlags);
        image[SlackAt] = 0;
    }

    /// <summary>True if the bytes are a record that was written whole to that place, and are all of it.</summary>
    public static bool TryMeasure(byte* image, int room, in ColdPlace place, out int bytes)
    {
        bytes = 0;
        if (room < Record.HeaderBytes || !IsPossible(image) || BytesOf(image) > room)
            return false;
        bytes = (int)BytesOf(image);
        return *(uint*)image == SumOf(image, bytes, place);
    }

    /// <summary>False if the word says that the record is a piece of a collection and it is none: a string, which anybody can put there under a right checksum.</summary>
    public static bool IsOf(ulong word, byte* image) => (word & IndexWord.InternalBit) == 0 || Record.Kind(image) == RecordKind.Chunk;

    /// <summary>True if the header, which is there, is one that a record has on the tier.</summary>
    public static bool IsPossible(byte* image) =>
        Record.ValueBytes(image) >= 0 && (Record.Flags(image) & MemoryFlags) == 0 && image[SlackAt] == 0;

    /// <summary>The checksum of a whole record that lies there.</summary>
    public static uint SumOf(byte* image, int bytes, in ColdPlace place)
    {
        ColdSum sum = place.Begin(image);
        sum.AddFirst(image, bytes);
        return sum.Value;
    }

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

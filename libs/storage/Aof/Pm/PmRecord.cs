using System.Buffers.Binary;
using Garnet.Aof.Format;
using Garnet.Media;

namespace Garnet.Aof.Pm;

/// <summary>
/// The line in front of a record's bytes in a ring (website/docs/format/ring.md): all that must hold for the record to be one. Little endian.
/// </summary>
internal readonly record struct PmRecord
{
    /// <summary>Size: one line.</summary>
    public const int Bytes = IPmRange.LineBytes;
    private const uint Magic = 0x43_52_4E_47; // "GNRC"
    private const int CrcAt = 4, NumberAt = 8, LapAt = 16, LengthAt = 20, SequenceAt = 24, FileOffsetAt = 32;

    /// <summary>Which file.</summary>
    public required ulong Number { get; init; }
    /// <summary>How often the ring had been gone round before.</summary>
    public required uint Lap { get; init; }
    /// <summary>Which record of the file.</summary>
    public required ulong Sequence { get; init; }
    /// <summary>Where its bytes belong in the file.</summary>
    public required long FileOffset { get; init; }
    /// <summary>How many they are.</summary>
    public required int Length { get; init; }

    /// <summary>Lines that a record with so many bytes takes, its own among them, in bytes.</summary>
    public static int SpanOf(int length) => Bytes + ((length + Bytes - 1) & -Bytes);

    /// <summary>Writes the line of a record with those bytes.</summary>
    public void Write(Span<byte> to, ReadOnlySpan<byte> payload)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        BinaryPrimitives.WriteUInt64LittleEndian(to[NumberAt..], Number);
        BinaryPrimitives.WriteUInt32LittleEndian(to[LapAt..], Lap);
        BinaryPrimitives.WriteInt32LittleEndian(to[LengthAt..], Length);
        BinaryPrimitives.WriteUInt64LittleEndian(to[SequenceAt..], Sequence);
        BinaryPrimitives.WriteInt64LittleEndian(to[FileOffsetAt..], FileOffset);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcAt..], Sum(to, payload));
    }

    /// <summary>Reads the line, of whose checksum nothing is said yet; null if none stands there.</summary>
    public static PmRecord? TryRead(ReadOnlySpan<byte> line) => BinaryPrimitives.ReadUInt32LittleEndian(line) != Magic ? null : new PmRecord
    {
        Number = BinaryPrimitives.ReadUInt64LittleEndian(line[NumberAt..]),
        Lap = BinaryPrimitives.ReadUInt32LittleEndian(line[LapAt..]),
        Length = BinaryPrimitives.ReadInt32LittleEndian(line[LengthAt..]),
        Sequence = BinaryPrimitives.ReadUInt64LittleEndian(line[SequenceAt..]),
        FileOffset = BinaryPrimitives.ReadInt64LittleEndian(line[FileOffsetAt..]),
    };

    /// <summary>True if the checksum in the line is that of the line and the bytes.</summary>
    public static bool Holds(ReadOnlySpan<byte> line, ReadOnlySpan<byte> payload) =>
        BinaryPrimitives.ReadUInt32LittleEndian(line[CrcAt..]) == Sum(line[..Bytes], payload);

    private static uint Sum(ReadOnlySpan<byte> line, ReadOnlySpan<byte> payload) => Crc32C.Of(payload, Crc32C.Of(line[NumberAt..]));
}

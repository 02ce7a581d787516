using System.Buffers.Binary;

namespace Garnet.Aof.Format;

/// <summary>A row of the lane table: which lane, how many entries in how many bytes. 12 bytes.</summary>
public readonly record struct LaneRow(ushort Lane, uint Entries, uint EntryBytes)
{
    /// <summary>Size on disk.</summary>
    public const int Bytes = 12;

    /// <summary>Writes the row.</summary>
    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(to, Lane);
        BinaryPrimitives.WriteUInt16LittleEndian(to[2..], 0);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], Entries);
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], EntryBytes);
    }

    /// <summary>Reads a row.</summary>
    public static LaneRow Read(ReadOnlySpan<byte> from) => new(
        BinaryPrimitives.ReadUInt16LittleEndian(from),
        BinaryPrimitives.ReadUInt32LittleEndian(from[4..]),
        BinaryPrimitives.ReadUInt32LittleEndian(from[8..]));
}

using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Aof.Format;

/// <summary>
/// The 12 bytes in front of an entry, followed by the key and the operation's arguments: the whole entry's length (32 bits),
/// operation, a zero, length of the key (16 bits), database (32 bits).
/// </summary>
public readonly record struct EntryHeader(uint EntryBytes, byte Operation, ushort KeyBytes, int Database)
{
    /// <summary>Size on disk.</summary>
    public const int Bytes = IWriteLog.EntryHeadBytes;

    /// <summary>Writes the header.</summary>
    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, EntryBytes);
        to[4] = Operation;
        to[5] = 0;
        BinaryPrimitives.WriteUInt16LittleEndian(to[6..], KeyBytes);
        BinaryPrimitives.WriteInt32LittleEndian(to[8..], Database);
    }

    /// <summary>Reads the header in front of <paramref name="from"/>; false if it or its entry does not fit in.</summary>
    public static bool TryRead(ReadOnlySpan<byte> from, out EntryHeader header)
    {
        header = default;
        if (from.Length < Bytes)
            return false;
        header = new EntryHeader(
            BinaryPrimitives.ReadUInt32LittleEndian(from),
            from[4],
            BinaryPrimitives.ReadUInt16LittleEndian(from[6..]),
            BinaryPrimitives.ReadInt32LittleEndian(from[8..]));
        return header.EntryBytes <= from.Length && header.EntryBytes >= Bytes + header.KeyBytes;
    }
}

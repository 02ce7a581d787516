using System.Buffers.Binary;
using Garnet.Aof.Format;

namespace Garnet.Aof.Snapshots;

/// <summary>The 64 bytes behind the last block, with a tag in sealed files (16 bytes, as a Guid, as it is only compared); zeros follow up to a multiple of 4,096, where the file ends.</summary>
internal readonly record struct SnapshotFooter(ulong Blocks, ulong Records, ulong RecordBytes, ulong Batch, uint BlocksCrc,
    Guid Tag = default)
{
    public const int Bytes = 64;
    public const int FileMultiple = 4096;

    private const uint Magic = 0x45_53_4E_47; // "GNSE"
    private const int CrcOffset = 60, TagOffset = 44;

    public void Write(Span<byte> to)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], Blocks);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], Records);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], RecordBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(to[32..], Batch);
        BinaryPrimitives.WriteUInt32LittleEndian(to[40..], BlocksCrc);
        Tag.TryWriteBytes(to[TagOffset..]);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], Crc32C.Of(to[..CrcOffset]));
    }

    /// <summary>The same with its tag.</summary>
    public SnapshotFooter With(SnapshotSeal seal)
    {
        Span<byte> bytes = stackalloc byte[Bytes], tag = stackalloc byte[SnapshotSeal.TagBytes];
        Write(bytes);
        seal.Tag(SnapshotSeal.FooterPlace, 0, bytes[..TagOffset], tag);
        return this with { Tag = new Guid(tag) };
    }

    /// <summary>True if this server wrote it, for this file.</summary>
    public bool IsOwn(SnapshotSeal seal) => With(seal).Tag == Tag;

    /// <summary>False if there is no whole footer.</summary>
    public static bool TryRead(ReadOnlySpan<byte> from, out SnapshotFooter footer)
    {
        footer = default;
        if (from.Length < Bytes || BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic)
            return false;
        if (BinaryPrimitives.ReadUInt32LittleEndian(from[CrcOffset..]) != Crc32C.Of(from[..CrcOffset]))
            return false;
        if (from[4..8].ContainsAnyExcept((byte)0))
            return false;
        footer = new SnapshotFooter(
            BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[16..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[24..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[32..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[40..]),
            new Guid(from[TagOffset..CrcOffset]));
        return true;
    }

    /// <summary>The next checksum of all blocks' checksums in their order: a lost, doubled or moved block changes it.</summary>
    public static uint Chain(uint before, uint blockCrc)
    {
        Span<byte> bytes = stackalloc byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, blockCrc);
        return Crc32C.Of(bytes, before);
    }
}

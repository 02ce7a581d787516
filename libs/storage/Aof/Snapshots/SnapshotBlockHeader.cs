using System.Buffers.Binary;
using Garnet.Aof.Format;

namespace Garnet.Aof.Snapshots;

/// <summary>The 16 bytes in front of a block: magic, bytes of records, records, checksum of these 12 bytes, the records and the tag behind them.</summary>
internal readonly record struct SnapshotBlockHeader(
    uint RecordBytes, uint Records, uint Crc, SnapshotBlockKind Kind = SnapshotBlockKind.Records)
{
    public const int Bytes = 16;
    public const uint Magic = 0x42_53_4E_47; // "GNSB"
    private const uint ReferencesMagic = 0x52_53_4E_47, SegmentsMagic = 0x54_53_4E_47; // "GNSR", "GNST"
    private const int CrcOffset = 12;

    /// <summary>Writes the header of a block, which has a tag in sealed files; returns its checksum.</summary>
    public static uint Write(
        Span<byte> to, ReadOnlySpan<byte> block, int records, ReadOnlySpan<byte> tag = default,
        SnapshotBlockKind kind = SnapshotBlockKind.Records)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, kind switch
        {
            SnapshotBlockKind.References => ReferencesMagic,
            SnapshotBlockKind.Segments => SegmentsMagic,
            _ => Magic,
        });
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], (uint)block.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], (uint)records);
        uint crc = Crc32C.Of(tag, Crc32C.Of(block, Crc32C.Of(to[..CrcOffset])));
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], crc);
        return crc;
    }

    /// <summary>Reads a header; nothing of it may be believed before <see cref="Holds"/>, but that the magic is there.</summary>
    public static bool TryRead(ReadOnlySpan<byte> from, out SnapshotBlockHeader header)
    {
        header = default;
        if (from.Length < Bytes)
            return false;
        SnapshotBlockKind? kind = BinaryPrimitives.ReadUInt32LittleEndian(from) switch
        {
            Magic => SnapshotBlockKind.Records,
            ReferencesMagic => SnapshotBlockKind.References,
            SegmentsMagic => SnapshotBlockKind.Segments,
            _ => null,
        };
        if (kind is not { } known)
            return false;
        header = new SnapshotBlockHeader(
            BinaryPrimitives.ReadUInt32LittleEndian(from[4..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[8..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[CrcOffset..]),
            known);
        return true;
    }

    /// <summary>True if header and block are as they were written.</summary>
    public bool Holds(ReadOnlySpan<byte> block, ReadOnlySpan<byte> tag = default)
    {
        Span<byte> head = stackalloc byte[Bytes];
        return Write(head, block, (int)Records, tag, Kind) == Crc && block.Length == RecordBytes;
    }
}

using System.Buffers.Binary;
using Garnet.Aof.Format;
using Garnet.Media;

namespace Garnet.Aof.Pm;

/// <summary>
/// Where a ring's first record stands that the file may not have, and whose file it is: one line, in two copies written in turn
/// (website/docs/format/ring.md). Little endian.
/// </summary>
internal readonly record struct PmHead
{
    /// <summary>Size: one line, so that no other store shares it.</summary>
    public const int Bytes = IPmRange.LineBytes;
    private const uint Magic = 0x44_48_4E_47; // "GNHD"
    private const int CrcAt = 4, GenerationAt = 8, NumberAt = 16, PositionAt = 24, SequenceAt = 32, FileOffsetAt = 40;
    private const int FirstBatchAt = 48, SublogAt = 56;

    /// <summary>The copy with the higher one counts.</summary>
    public required ulong Generation { get; init; }
    /// <summary>Which file the ring serves: it stands in that file's header too; 0 = none.</summary>
    public required ulong Number { get; init; }
    /// <summary>The first record that the file may not have.</summary>
    public required PmPlace Place { get; init; }
    /// <summary>Sublog and first batch: the file's name.</summary>
    public int Sublog { get; init; }
    public ulong FirstBatch { get; init; }

    /// <summary>Writes the line.</summary>
    public void Write(Span<byte> to)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        BinaryPrimitives.WriteUInt64LittleEndian(to[GenerationAt..], Generation);
        BinaryPrimitives.WriteUInt64LittleEndian(to[NumberAt..], Number);
        BinaryPrimitives.WriteInt64LittleEndian(to[PositionAt..], Place.Position);
        BinaryPrimitives.WriteUInt64LittleEndian(to[SequenceAt..], Place.Sequence);
        BinaryPrimitives.WriteInt64LittleEndian(to[FileOffsetAt..], Place.FileOffset);
        BinaryPrimitives.WriteUInt64LittleEndian(to[FirstBatchAt..], FirstBatch);
        BinaryPrimitives.WriteInt32LittleEndian(to[SublogAt..], Sublog);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcAt..], Crc32C.Of(to[GenerationAt..]));
    }

    /// <summary>What the line was before a byte of it was damaged; null if it is blank, more is wrong with it, or it says what cannot be.</summary>
    public static PmHead? TryMend(ReadOnlySpan<byte> from)
    {
        Span<byte> magic = stackalloc byte[sizeof(uint)], mended = stackalloc byte[Bytes];
        BinaryPrimitives.WriteUInt32LittleEndian(magic, Magic);
        return PmLine.TryMend(from, magic, mended) ? TryRead(mended) : null;
    }

    /// <summary>What stands where a line, whole or not, has its generation.</summary>
    public static ulong GenerationIn(ReadOnlySpan<byte> line) => BinaryPrimitives.ReadUInt64LittleEndian(line[GenerationAt..]);

    /// <summary>Reads the line; null if it is not whole, or says what cannot be.</summary>
    public static PmHead? TryRead(ReadOnlySpan<byte> from, bool believes = false)
    {
        if (BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic)
            return null;
        if (!believes && BinaryPrimitives.ReadUInt32LittleEndian(from[CrcAt..]) != Crc32C.Of(from[GenerationAt..Bytes]))
            return null;
        var head = new PmHead
        {
            Generation = BinaryPrimitives.ReadUInt64LittleEndian(from[GenerationAt..]),
            Number = BinaryPrimitives.ReadUInt64LittleEndian(from[NumberAt..]),
            Place = new PmPlace(
                BinaryPrimitives.ReadInt64LittleEndian(from[PositionAt..]),
                BinaryPrimitives.ReadUInt64LittleEndian(from[SequenceAt..]),
                BinaryPrimitives.ReadInt64LittleEndian(from[FileOffsetAt..])),
            FirstBatch = BinaryPrimitives.ReadUInt64LittleEndian(from[FirstBatchAt..]),
            Sublog = BinaryPrimitives.ReadInt32LittleEndian(from[SublogAt..]),
        };
        return head.IsPossible ? head : null;
    }

    private bool IsPossible => Place.Position is >= 0 and <= PmPlace.Max && Place.Position % IPmRange.LineBytes == 0
        && Place.FileOffset is >= FileHeader.Bytes and <= PmPlace.Max && Sublog is >= 0 and < Manifest.SublogsMax;
}

using System.Buffers.Binary;

namespace Garnet.Aof.Format;

/// <summary>
/// The 64 bytes in front of a part of a batch (one part per sublog); website/docs/format/aof.md. Little endian.
/// </summary>
public readonly record struct BatchHeader
{
    /// <summary>Size on disk.</summary>
    public const int Bytes = 64;
    /// <summary>The version this code writes; another one is refused by name.</summary>
    public const byte CurrentVersion = 1;

    private const uint Magic = 0x42_4C_4E_47; // "GNLB"
    private const int CrcOffset = 60;

    public required BatchKind Kind { get; init; }
    /// <summary>Raised at every start that cut a log and at every promotion: two histories never share (term, batch).</summary>
    public required uint Term { get; init; }
    /// <summary>Number of the batch; consecutive, from 1.</summary>
    public required ulong Batch { get; init; }
    /// <summary>When the batch was closed, Unix microseconds; for people and staleness bounds only.</summary>
    public required ulong SealedUnixUs { get; init; }
    /// <summary>Which part this is, and of how many.</summary>
    public byte Part { get; init; }
    public required byte Parts { get; init; }
    /// <summary>Rows of the lane table behind the header.</summary>
    public ushort Lanes { get; init; }
    /// <summary>Bytes of lane table and entries.</summary>
    public uint BodyBytes { get; init; }
    /// <summary>Entries in all lanes of the part.</summary>
    public uint Entries { get; init; }
    /// <summary>Header checksum of the same part of the batch before, 0 for the first of a chain: a lost or foreign batch breaks the chain.</summary>
    public uint PreviousCrc { get; init; }
    /// <summary>Checksum of the body.</summary>
    public uint BodyCrc { get; init; }
    /// <summary>
    /// The last batch that was synced in every sublog when the header was made; 0 = none. It tells damage from an interrupted
    /// write: writes that were never synced survive a power cut in any order, so that a whole batch behind a broken one proves
    /// nothing, unless it says that the broken one had been safe.
    /// </summary>
    public ulong DurableBatch { get; init; }
    /// <summary>
    /// Who began the term, the first digits of that run's id; 0 = not known. Nobody grants terms: two that were promoted apart may have taken the same.
    /// </summary>
    public uint Owner { get; init; }

    /// <summary>Writes the header and returns its checksum, which the next one names.</summary>
    public uint Write(Span<byte> to)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        to[4] = CurrentVersion;
        to[5] = (byte)Kind;
        to[6] = Part;
        to[7] = Parts;
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], Batch);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], SealedUnixUs);
        BinaryPrimitives.WriteUInt32LittleEndian(to[24..], Term);
        BinaryPrimitives.WriteUInt32LittleEndian(to[28..], BodyBytes);
        BinaryPrimitives.WriteUInt32LittleEndian(to[32..], Entries);
        BinaryPrimitives.WriteUInt16LittleEndian(to[36..], Lanes);
        BinaryPrimitives.WriteUInt32LittleEndian(to[40..], PreviousCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(to[44..], BodyCrc);
        BinaryPrimitives.WriteUInt64LittleEndian(to[48..], DurableBatch);
        BinaryPrimitives.WriteUInt32LittleEndian(to[56..], Owner);
        uint crc = Crc32C.Of(to[..CrcOffset]);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], crc);
        return crc;
    }

    /// <summary>
    /// Reads a header. <see cref="HeaderState.None"/>: nothing like one is there; <see cref="HeaderState.Newer"/>: whole, but
    /// of a version this code does not know; <see cref="HeaderState.Damaged"/>: begins like one and is not whole.
    /// </summary>
    public static HeaderState TryRead(ReadOnlySpan<byte> from, out BatchHeader header, out uint crc)
    {
        header = default;
        crc = 0;
        if (from.Length < Bytes || BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic)
            return HeaderState.None;
        crc = BinaryPrimitives.ReadUInt32LittleEndian(from[CrcOffset..]);
        if (crc != Crc32C.Of(from[..CrcOffset]))
            return HeaderState.Damaged;
        if (from[4] != CurrentVersion)
            return HeaderState.Newer;
        header = new BatchHeader
        {
            Kind = (BatchKind)from[5],
            Part = from[6],
            Parts = from[7],
            Batch = BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            SealedUnixUs = BinaryPrimitives.ReadUInt64LittleEndian(from[16..]),
            Term = BinaryPrimitives.ReadUInt32LittleEndian(from[24..]),
            BodyBytes = BinaryPrimitives.ReadUInt32LittleEndian(from[28..]),
            Entries = BinaryPrimitives.ReadUInt32LittleEndian(from[32..]),
            Lanes = BinaryPrimitives.ReadUInt16LittleEndian(from[36..]),
            PreviousCrc = BinaryPrimitives.ReadUInt32LittleEndian(from[40..]),
            BodyCrc = BinaryPrimitives.ReadUInt32LittleEndian(from[44..]),
            DurableBatch = BinaryPrimitives.ReadUInt64LittleEndian(from[48..]),
            Owner = BinaryPrimitives.ReadUInt32LittleEndian(from[56..]),
        };
        return HeaderState.Whole;
    }
}

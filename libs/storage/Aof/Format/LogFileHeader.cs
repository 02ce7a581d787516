using System.Buffers.Binary;

namespace Garnet.Aof.Format;

/// <summary>The block in front of a sublog file; website/docs/format/aof.md. Little endian.</summary>
internal readonly record struct LogFileHeader
{
    /// <summary>Size on disk; the first batch follows.</summary>
    public const int Bytes = 4096;
    public const byte CurrentVersion = 1;

    private const uint Magic = 0x46_4C_4E_47; // "GNLF"
    private const int CrcOffset = 36;

    public byte Sublog { get; init; }
    public byte Sublogs { get; init; }
    public ulong FirstBatch { get; init; }
    public uint Term { get; init; }
    /// <summary>Lanes of the store that wrote the file; with the seed they say which key is in which lane.</summary>
    public uint Lanes { get; init; }
    public ulong HashSeed { get; init; }
    /// <summary>What the first batch names as the checksum of the header before it.</summary>
    public uint ChainStart { get; init; }

    public void Write(Span<byte> to)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        to[4] = CurrentVersion;
        to[5] = Sublog;
        to[6] = Sublogs;
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], FirstBatch);
        BinaryPrimitives.WriteUInt32LittleEndian(to[16..], Term);
        BinaryPrimitives.WriteUInt32LittleEndian(to[20..], Lanes);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], HashSeed);
        BinaryPrimitives.WriteUInt32LittleEndian(to[32..], ChainStart);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], Crc32C.Of(to[..CrcOffset]));
    }

    public static HeaderState TryRead(ReadOnlySpan<byte> from, out LogFileHeader header)
    {
        header = default;
        if (from.Length < CrcOffset + sizeof(uint) || BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic) return HeaderState.None;
        if (BinaryPrimitives.ReadUInt32LittleEndian(from[CrcOffset..]) != Crc32C.Of(from[..CrcOffset])) return HeaderState.Damaged;
        if (from[4] != CurrentVersion) return HeaderState.Newer;
        header = new LogFileHeader
        {
            Sublog = from[5],
            Sublogs = from[6],
            FirstBatch = BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            Term = BinaryPrimitives.ReadUInt32LittleEndian(from[16..]),
            Lanes = BinaryPrimitives.ReadUInt32LittleEndian(from[20..]),
            HashSeed = BinaryPrimitives.ReadUInt64LittleEndian(from[24..]),
            ChainStart = BinaryPrimitives.ReadUInt32LittleEndian(from[32..]),
        };
        return HeaderState.Whole;
    }
}

using System.Buffers.Binary;

namespace Garnet.Aof.Format;

/// <summary>
/// 64 bytes between the parts of a file of received batches: up to which batch this server's own disk had everything, in every sublog,
/// when they were written. What the batches themselves say of that is the primary's. Little endian; website/docs/format/aof.md.
/// </summary>
public readonly record struct DurableProof
{
    /// <summary>Size on disk.</summary>
    public const int Bytes = 64;
    /// <summary>The version this code writes; another one is no proof.</summary>
    public const byte CurrentVersion = 1;

    private const uint Magic = 0x50_4C_4E_47; // "GNLP"
    private const int CrcOffset = 60;

    /// <summary>Which sublog it stands in, and of how many.</summary>
    public required byte Sublog { get; init; }
    public required byte Sublogs { get; init; }
    /// <summary>The last batch that is durable.</summary>
    public required ulong Batch { get; init; }
    /// <summary>Term of the part before it.</summary>
    public required uint Term { get; init; }
    /// <summary>Header checksum of the part before it.</summary>
    public required uint PreviousCrc { get; init; }

    /// <summary>Writes it.</summary>
    public void Write(Span<byte> to)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        to[4] = CurrentVersion;
        to[5] = Sublog;
        to[6] = Sublogs;
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], Batch);
        BinaryPrimitives.WriteUInt32LittleEndian(to[16..], Term);
        BinaryPrimitives.WriteUInt32LittleEndian(to[20..], PreviousCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], Crc32C.Of(to[..CrcOffset]));
    }

    /// <summary>False if no whole proof of this version stands there.</summary>
    public static bool TryRead(ReadOnlySpan<byte> from, out DurableProof proof)
    {
        proof = default;
        if (from.Length < Bytes || BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic || from[4] != CurrentVersion
            || BinaryPrimitives.ReadUInt32LittleEndian(from[CrcOffset..]) != Crc32C.Of(from[..CrcOffset])) return false;
        proof = new DurableProof
        {
            Sublog = from[5],
            Sublogs = from[6],
            Batch = BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            Term = BinaryPrimitives.ReadUInt32LittleEndian(from[16..]),
            PreviousCrc = BinaryPrimitives.ReadUInt32LittleEndian(from[20..]),
        };
        return true;
    }
}

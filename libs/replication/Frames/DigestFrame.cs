using System.Buffers.Binary;

namespace Garnet.Replication.Frames;

/// <summary>What the primary's data were behind a batch, for replicas to compare with theirs.</summary>
public sealed record DigestFrame(uint Term, ulong Batch, long Keys, ulong[] Sums)
{
    /// <summary>Numbers in a digest: where two differ, so many times fewer keys are to be searched.</summary>
    public const int Shares = 16;

    public const int Bytes = 24 + (Shares * sizeof(ulong));

    public byte[] Encode()
    {
        byte[] bytes = new byte[Bytes];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Term);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(8), Batch);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), Keys);
        for (int i = 0; i < Shares; i++)
            BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(24 + (i * sizeof(ulong))), Sums[i]);
        return bytes;
    }

    /// <summary>Null if the bytes are no digest.</summary>
    public static DigestFrame? TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != Bytes || BinaryPrimitives.ReadUInt32LittleEndian(from[4..]) != 0)
            return null;
        ulong[] sums = new ulong[Shares];
        for (int i = 0; i < sums.Length; i++)
            sums[i] = BinaryPrimitives.ReadUInt64LittleEndian(from[(24 + (i * sizeof(ulong)))..]);
        return new DigestFrame(BinaryPrimitives.ReadUInt32LittleEndian(from), BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(from[16..]), sums);
    }

    /// <summary>True if somebody with so many keys and these sums holds the same data.</summary>
    public bool Agrees(long keys, IReadOnlyList<ulong> sums) => keys == Keys && sums.SequenceEqual(Sums);
}

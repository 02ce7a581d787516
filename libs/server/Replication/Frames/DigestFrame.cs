using System.Buffers.Binary;

namespace Garnet.Server.Replication.Frames;

/// <summary>What the primary's data were behind a batch, for replicas to compare with theirs.</summary>
internal sealed record DigestFrame(uint Term, ulong Batch, long Keys, ulong[] Sums)
{
    internal const int Bytes = 24 + (StoreDigest.Shares * sizeof(ulong));

    internal byte[] Encode()
    {
        byte[] bytes = new byte[Bytes];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Term);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(8), Batch);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), Keys);
        for (int i = 0; i < StoreDigest.Shares; i++)
            BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(24 + (i * sizeof(ulong))), Sums[i]);
        return bytes;
    }

    /// <summary>Null if the bytes are no digest.</summary>
    internal static DigestFrame? TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != Bytes || BinaryPrimitives.ReadUInt32LittleEndian(from[4..]) != 0)
            return null;
        ulong[] sums = new ulong[StoreDigest.Shares];
        for (int i = 0; i < sums.Length; i++)
            sums[i] = BinaryPrimitives.ReadUInt64LittleEndian(from[(24 + (i * sizeof(ulong)))..]);
        return new DigestFrame(BinaryPrimitives.ReadUInt32LittleEndian(from), BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(from[16..]), sums);
    }

    /// <summary>True if somebody with this digest holds the same data.</summary>
    internal bool Agrees(StoreDigest own) => own.Keys == Keys && own.Sums.SequenceEqual(Sums);
}

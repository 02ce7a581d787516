using System.Buffers.Binary;

namespace Garnet.Replication.Frames;

/// <summary>
/// How far a replica is: the last batches received whole, durable on its disk, applied and seen by its readers. It names the place up to
/// which it has received: term and mark of that batch, so that the numbers are of one history and no other. All zeros: nothing is here.
/// </summary>
public readonly record struct AckFrame(uint Term, uint Mark, ulong Received, ulong Durable, ulong Applied)
{
    public const int Bytes = 32;

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Term);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], Mark);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], Received);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], Durable);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], Applied);
    }

    /// <summary>False if the bytes are no acknowledgement, or one that cannot be.</summary>
    public static bool TryRead(ReadOnlySpan<byte> from, out AckFrame ack)
    {
        ack = default;
        if (from.Length != Bytes)
            return false;
        ack = new AckFrame(
            BinaryPrimitives.ReadUInt32LittleEndian(from),
            BinaryPrimitives.ReadUInt32LittleEndian(from[4..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[16..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[24..]));
        return ack.Applied <= ack.Received && ack.Durable <= ack.Received && (ack.Term != 0 || ack == default);
    }
}

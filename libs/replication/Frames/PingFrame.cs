using System.Buffers.Binary;

namespace Garnet.Replication.Frames;

/// <summary>A sign of life while there is nothing else to send: the sender's term, its last batch and its time.</summary>
public readonly record struct PingFrame(uint Term, ulong Batch, long UnixUs)
{
    public const int Bytes = 24;

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Term);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], 0);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], Batch);
        BinaryPrimitives.WriteInt64LittleEndian(to[16..], UnixUs);
    }

    public static bool TryRead(ReadOnlySpan<byte> from, out PingFrame ping)
    {
        ping = default;
        if (from.Length != Bytes || BinaryPrimitives.ReadUInt32LittleEndian(from[4..]) != 0)
            return false;
        ping = new PingFrame(
            BinaryPrimitives.ReadUInt32LittleEndian(from),
            BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(from[16..]));
        return true;
    }
}

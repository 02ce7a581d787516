using System.Buffers.Binary;
using Garnet.Types.Collections;

namespace Garnet.Types.Streams;

/// <summary>Entries of a group: its name and their ids, as two operations are told them.</summary>
public struct GroupIds
{
    public Operands Name;
    public StreamIds Ids;

    public readonly long EncodedBytes => (long)sizeof(int) + Name.EncodedBytes() + Ids.EncodedBytes;

    public readonly int Encode(Span<byte> to)
    {
        int bytes = Name.Encode(to[sizeof(int)..]);
        BinaryPrimitives.WriteInt32LittleEndian(to, bytes);
        return sizeof(int) + bytes + Ids.Encode(to[(sizeof(int) + bytes)..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < sizeof(int))
            return false;
        int bytes = BinaryPrimitives.ReadInt32LittleEndian(from);
        from = from[sizeof(int)..];
        return bytes >= 0 && bytes <= from.Length && Operands.TryDecode(from[..bytes], out Name) && Name.Count == 1
            && StreamIds.TryDecode(from[bytes..], out Ids);
    }
}

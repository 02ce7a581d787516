using System.Buffers.Binary;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>Keeps a range of elements (LTRIM).</summary>
public struct ListTrim : IEdit
{
    public long Start;
    public long Stop;
    public bool WrongKind;
    public bool Existed;

    public static byte OpId => 21;

    public readonly long EncodedBytesMax => 16;

    public unsafe bool Run(ref RecordEdit edit)
    {
        Existed = edit.Exists;
        WrongKind = edit.Exists && edit.Kind != RecordKind.List;
        if (!edit.Exists || WrongKind)
            return false;
        long count = Root.Count(edit.Value);
        (long start, long stop) = IndexRange.Of(Start, Stop, count);
        if (start > stop)
        {
            edit.Remove();
            return true;
        }

        if (stop < count - 1)
            ListForm.Remove(ref edit, stop + 1, count - 1 - stop);
        if (start > 0)
            ListForm.Remove(ref edit, 0, start);
        return start > 0 || stop < count - 1;
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, Start);
        BinaryPrimitives.WriteInt64LittleEndian(to[8..], Stop);
        return 16;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 16)
            return false;
        Start = BinaryPrimitives.ReadInt64LittleEndian(from);
        Stop = BinaryPrimitives.ReadInt64LittleEndian(from[8..]);
        return true;
    }
}

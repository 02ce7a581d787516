using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>Removes elements equal to a value, from the front or from behind, all or so many (LREM).</summary>
public unsafe struct ListRemove : IEdit
{
    public long Count;
    public byte* Value;
    public int ValueBytes;

    public long Removed;
    public bool WrongKind;

    public static byte OpId => 22;

    public readonly long EncodedBytesMax => 8 + ValueBytes;

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.List;
        if (!edit.Exists || WrongKind)
            return false;
        bool backwards = Count < 0;
        long wanted = Count == 0 || Count == long.MinValue ? long.MaxValue : Math.Abs(Count);
        long index = backwards ? Root.Count(edit.Value) : 0;
        while (Removed < wanted && edit.Exists && TryFind(ref edit, backwards, ref index))
        {
            ListForm.Remove(ref edit, index, 1);
            Removed++;
        }

        return Removed > 0;
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, Count);
        new ReadOnlySpan<byte>(Value, ValueBytes).CopyTo(to[8..]);
        return 8 + ValueBytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 8)
            return false;
        Count = BinaryPrimitives.ReadInt64LittleEndian(from);
        Value = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + 8;
        ValueBytes = from.Length - 8;
        return true;
    }

    // Goes on from the index: what was passed needs no second look.
    private readonly bool TryFind(ref RecordEdit edit, bool backwards, ref long index)
    {
        var value = new ReadOnlySpan<byte>(Value, ValueBytes);
        ListWalk walk = ListWalk.From(ref edit, index);
        while (backwards ? walk.Previous(ref edit) : walk.Next(ref edit))
        {
            index -= backwards ? 1 : 0;
            if (walk.Span.SequenceEqual(value))
                return true;
            index += backwards ? 0 : 1;
        }

        return false;
    }
}

using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>Sets the element with an index, or puts one before it (LSET, LINSERT).</summary>
public unsafe struct ListPlace : IEdit
{
    public long Index;
    public bool Replaces;
    public byte* Value;
    public int ValueBytes;
    /// <summary>LINSERT: the element to find, and the side of it; null if the index is known.</summary>
    public byte* Pivot;
    public int PivotBytes;
    public bool Behind;
    public ListLimits Limits;

    public bool Existed;
    public bool WrongKind;
    /// <summary>True if the index, or the pivot, is there.</summary>
    public bool Found;
    public long Length;
    private bool _converted;

    public static byte OpId => 20;

    public readonly long EncodedBytesMax => 9 + ValueBytes;

    public bool Run(ref RecordEdit edit)
    {
        Existed = edit.Exists;
        WrongKind = edit.Exists && edit.Kind != RecordKind.List;
        if (!Existed || WrongKind)
            return false;
        long count = Root.Count(edit.Value);
        Found = Pivot == null ? Resolve(count) : FindPivot(ref edit);
        var element = new ReadOnlySpan<byte>(Value, ValueBytes);
        // The new one first: there may be no memory for it.
        if (!Found || !ListForm.TryInsert(ref edit, Index, element, Limits))
            return false;
        if (Replaces)
            ListForm.Remove(ref edit, Index + 1, 1);
        _converted |= ListForm.IsLarge(ref edit, Limits);
        if (_converted)
            Root.Raise(ref edit, RootFlags.Converted);
        Length = Root.Count(edit.Value);
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)((Replaces ? 1 : 0) | (_converted ? 2 : 0));
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], Index);
        new ReadOnlySpan<byte>(Value, ValueBytes).CopyTo(to[9..]);
        return 9 + ValueBytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 9 || from[0] > 3)
            return false;
        Replaces = (from[0] & 1) != 0;
        _converted = (from[0] & 2) != 0;
        Index = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        Value = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + 9;
        ValueBytes = from.Length - 9;
        Limits = ListLimits.Replay;
        return true;
    }

    private bool Resolve(long count)
    {
        if (Index < 0)
            Index += count;
        return Index >= 0 && (Index < count || (Index == count && !Replaces));
    }

    private bool FindPivot(ref RecordEdit edit)
    {
        ListWalk walk = ListWalk.From(ref edit, 0);
        for (Index = 0; walk.Next(ref edit); Index++)
        {
            if (!walk.Span.SequenceEqual(new ReadOnlySpan<byte>(Pivot, PivotBytes)))
                continue;
            Index += Behind ? 1 : 0;
            return true;
        }

        return false;
    }
}

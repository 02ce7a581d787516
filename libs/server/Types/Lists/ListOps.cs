using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Lists;

/// <summary>Adds elements at an end (LPUSH, RPUSH and what moves elements).</summary>
internal struct ListPush : IEdit
{
    private const byte LogsLeft = 1, LogsLarge = 2;

    internal Operands Values;
    internal bool Left;
    internal bool OnlyIfThere;
    internal ListLimits Limits;
    /// <summary>The list counts as large from now on.</summary>
    internal bool Converted;

    /// <summary>Elements afterwards.</summary>
    internal long Length;
    internal bool WrongKind;

    public static byte OpId => 18;

    public readonly long EncodedBytesMax => 1 + Values.EncodedBytes();

    public unsafe bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.List;
        if (WrongKind || (OnlyIfThere && !edit.Exists))
            return false;
        int done = 0;
        for (Operands.Reader reader = Values.Read(); reader.Next(); done++)
        {
            long index = Left || !edit.Exists ? 0 : Root.Count(edit.Value);
            if (!ListForm.TryInsert(ref edit, index, reader.Span, Limits))
                break;
        }

        Values.Truncate(done);
        if (done == 0)
            return false;
        Converted |= ListForm.IsLarge(ref edit, Limits);
        if (Converted)
            Root.Raise(ref edit, RootFlags.Converted);
        Length = Root.Count(edit.Value);
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)((Left ? LogsLeft : 0) | (Converted ? LogsLarge : 0));
        return 1 + Values.Encode(to[1..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.IsEmpty || from[0] > (LogsLeft | LogsLarge))
            return false;
        Left = (from[0] & LogsLeft) != 0;
        Converted = (from[0] & LogsLarge) != 0;
        Limits = ListLimits.Replay;
        return Operands.TryDecode(from[1..], out Values) && Values.Count > 0;
    }
}

/// <summary>Removes elements at an end and replies them (LPOP, RPOP, LMPOP, the source of LMOVE).</summary>
internal struct ListPop : IEdit
{
    internal bool Left;
    internal long Count;
    /// <summary>Where the elements go, null for nowhere.</summary>
    internal RespWriter? To;
    /// <summary>The reply is an array.</summary>
    internal bool Many;
    /// <summary>LMPOP: the key's name stands before the elements.</summary>
    internal Arg Name;
    internal bool Named;

    internal bool WrongKind;
    internal bool Found;

    public static byte OpId => 19;

    public readonly long EncodedBytesMax => 9;

    public unsafe bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.List;
        Found = edit.Exists && !WrongKind;
        if (!Found)
            return false;
        long length = Root.Count(edit.Value);
        Count = Math.Min(Count, length);
        if (To != null)
            Show(ref edit, length);
        if (Count == 0)
            return false;
        ListForm.Remove(ref edit, Left ? 0 : length - Count, Count);
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)(Left ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], Count);
        return 9;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 9 || from[0] > 1)
            return false;
        Left = from[0] == 1;
        Count = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        return Count > 0;
    }

    private readonly void Show(ref RecordEdit edit, long length)
    {
        if (Named)
        {
            To!.Array(2);
            To.Bulk(Name.Span);
        }

        if (Many)
            To!.Array((int)Count);
        if (Count == 0)
            return;
        ListWalk walk = ListWalk.From(ref edit, Left ? 0 : length);
        for (long i = 0; i < Count && (Left ? walk.Next(ref edit) : walk.Previous(ref edit)); i++)
            To!.Bulk(walk.Span);
    }
}

/// <summary>Sets the element with an index, or puts one before it (LSET, LINSERT).</summary>
internal unsafe struct ListPlace : IEdit
{
    internal long Index;
    internal bool Replaces;
    internal byte* Value;
    internal int ValueBytes;
    /// <summary>LINSERT: the element to find, and the side of it; null if the index is known.</summary>
    internal byte* Pivot;
    internal int PivotBytes;
    internal bool Behind;
    internal ListLimits Limits;

    internal bool Existed;
    internal bool WrongKind;
    /// <summary>True if the index, or the pivot, is there.</summary>
    internal bool Found;
    internal long Length;
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

/// <summary>Keeps a range of elements (LTRIM).</summary>
internal struct ListTrim : IEdit
{
    internal long Start;
    internal long Stop;
    internal bool WrongKind;

    public static byte OpId => 21;

    public readonly long EncodedBytesMax => 16;

    public unsafe bool Run(ref RecordEdit edit)
    {
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

/// <summary>Removes elements equal to a value, from the front or from behind, all or so many (LREM).</summary>
internal unsafe struct ListRemove : IEdit
{
    internal long Count;
    internal byte* Value;
    internal int ValueBytes;

    internal long Removed;
    internal bool WrongKind;

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

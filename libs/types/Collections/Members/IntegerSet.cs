using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// A set whose members are all integers: 0 flags, 1 bytes per member (2, 4, 8), 2-5 number of members, then the members in ascending
/// order, as wide as the widest needs.
/// </summary>
public static unsafe class IntegerSet
{
    public const int HeaderBytes = 6;
    private const int BulkMax = 512;

    public static int Count(byte* value) => Unsafe.ReadUnaligned<int>(value + 2);

    /// <summary>The member at a place in the order.</summary>
    public static long At(byte* value, int index) => Read(value + HeaderBytes, value[1], index);

    /// <summary>Finds a member; otherwise the place it would have.</summary>
    public static bool Find(byte* value, long member, out int index)
    {
        int low = 0, high = Count(value);
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (At(value, middle) < member)
                low = middle + 1;
            else
                high = middle;
        }

        index = low;
        return low < Count(value) && At(value, low) == member;
    }

    public static PutResult Create(ref RecordEdit edit, long member)
    {
        int width = WidthOf(member);
        byte* value = edit.Create(RecordKind.Set, HeaderBytes + width);
        if (value == null)
            return PutResult.Failed;
        *value = (byte)RootFlags.Integers;
        value[1] = (byte)width;
        Unsafe.WriteUnaligned(value + 2, 1);
        Write(value + HeaderBytes, width, 0, member);
        edit.Close();
        return PutResult.Added;
    }

    /// <summary>Makes a set of many at once; false if one of them is no integer or they are too many: nothing has changed then.</summary>
    public static bool TryCreate(ref RecordEdit edit, in Operands members, long membersMax, out int added)
    {
        added = 0;
        if (edit.Exists || members.Count is < 2 or > BulkMax || members.Count > membersMax)
            return false;
        Span<long> sorted = stackalloc long[members.Count];
        int count = 0;
        for (Operands.Reader reader = members.Read(); reader.Next(); count++)
        {
            if (!TryParse(reader.Bytes, reader.Length, out sorted[count]))
                return false;
        }

        sorted.Sort();
        for (int i = 0; i < count; i++)
        {
            if (added == 0 || sorted[i] != sorted[added - 1])
                sorted[added++] = sorted[i];
        }

        int width = Math.Max(WidthOf(sorted[0]), WidthOf(sorted[added - 1]));
        byte* value = edit.Create(RecordKind.Set, HeaderBytes + (added * width));
        if (value == null)
            return false;
        *value = (byte)RootFlags.Integers;
        value[1] = (byte)width;
        Unsafe.WriteUnaligned(value + 2, added);
        for (int i = 0; i < added; i++)
            Write(value + HeaderBytes, width, i, sorted[i]);
        edit.Close();
        return true;
    }

    public static PutResult Add(ref RecordEdit edit, long member)
    {
        if (Find(edit.Value, member, out int index))
            return PutResult.Replaced;
        int count = Count(edit.Value), oldWidth = edit.Value[1], width = Math.Max(oldWidth, WidthOf(member));
        byte* value = edit.Write(HeaderBytes + ((count + 1) * width));
        if (value == null)
            return PutResult.Failed;
        byte* members = value + HeaderBytes;
        if (width == oldWidth)
            Buffer.MemoryCopy(members + (index * width), members + ((index + 1) * width), (count - index) * width, (count - index) * width);
        for (int i = count - 1; i >= 0 && width != oldWidth; i--) // from behind: the wider ones overwrite only what has moved
            Write(members, width, i < index ? i : i + 1, Read(members, oldWidth, i));
        value[1] = (byte)width;
        Unsafe.WriteUnaligned(value + 2, count + 1);
        Write(members, width, index, member);
        edit.Close();
        return PutResult.Added;
    }

    /// <summary>Removes a member; with the last one goes the record.</summary>
    public static bool Remove(ref RecordEdit edit, long member)
    {
        if (!Find(edit.Value, member, out int index))
            return false;
        int count = Count(edit.Value), width = edit.Value[1];
        if (count == 1)
        {
            edit.Remove();
            return true;
        }

        byte* value = edit.Write(edit.ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(value != null, "store.E4 a small record can be moved");
        byte* members = value + HeaderBytes;
        int tail = (count - index - 1) * width;
        Buffer.MemoryCopy(members + ((index + 1) * width), members + (index * width), tail, tail);
        Unsafe.WriteUnaligned(value + 2, count - 1);
        edit.Close();
        value = edit.Write(HeaderBytes + ((count - 1) * width), force: true);
        Garnet.Common.Faults.Check.That(value != null, "store.E4 a small record can be moved");
        edit.Close();
        return true;
    }

    /// <summary>Turns the members into entries of text: packed if they are few, else in chunks.</summary>
    public static bool Spell(ref RecordEdit edit)
    {
        int count = Count(edit.Value), width = edit.Value[1], bytes = 0;
        for (int i = 0; i < count; i++)
            bytes += 1 + NumberText.Length(At(edit.Value, i));
        if (count > CollectionLimits.PackedEntriesMax)
            return ChunkedMembers.UnpackIntegers(ref edit, bytes);
        byte* copy = stackalloc byte[CollectionLimits.PackedEntriesMax * sizeof(long)];
        Buffer.MemoryCopy(edit.Value + HeaderBytes, copy, count * width, count * width);
        byte* value = edit.Write(Root.PackedBytes + bytes, force: true);
        if (value == null)
            return false;
        *value = 0;
        Root.SetPackedCount(value, count);
        byte* to = value + Root.PackedBytes;
        for (int i = 0; i < count; i++)
        {
            byte* end = NumberText.Write(to + 1, Read(copy, width, i));
            *to = (byte)(end - to - 1);
            to = end;
        }

        edit.Close();
        return true;
    }

    /// <summary>The integer that text spells as Redis would, if it does.</summary>
    public static bool TryParse(byte* text, int bytes, out long member) =>
        NumberText.TryInt64(new ReadOnlySpan<byte>(text, bytes), out member);

    private static int WidthOf(long member) =>
        member is >= short.MinValue and <= short.MaxValue ? 2 : member is >= int.MinValue and <= int.MaxValue ? 4 : 8;

    private static long Read(byte* members, int width, int index) => width switch
    {
        2 => Unsafe.ReadUnaligned<short>(members + (index * 2L)),
        4 => Unsafe.ReadUnaligned<int>(members + (index * 4L)),
        _ => Unsafe.ReadUnaligned<long>(members + (index * 8L)),
    };

    private static void Write(byte* members, int width, int index, long member)
    {
        if (width == 2)
            Unsafe.WriteUnaligned(members + (index * 2L), (short)member);
        else if (width == 4)
            Unsafe.WriteUnaligned(members + (index * 4L), (int)member);
        else
            Unsafe.WriteUnaligned(members + (index * 8L), member);
    }
}

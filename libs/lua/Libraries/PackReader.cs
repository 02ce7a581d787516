using System.Text;

namespace Garnet.Lua.Libraries;

/// <summary>cmsgpack.unpack and its kin: MessagePack as values of a script. Lengths are believed only as far as there are bytes.</summary>
internal ref struct PackReader(LuaStack stack)
{
    private const int DepthMax = 1000, RoomPerLevel = 6, ItemsPerLook = 1024, ResultsMax = 7000;
    // Places that a table has from the beginning: not more, since a count may be a lie.
    private const int TableRoomMax = 64;

    private readonly ReadOnlySpan<byte> _from = stack.Bytes(1);
    private int _at;
    private int _depth;
    private int _items;
    private string _error = "";

    /// <summary>Pushes up to <paramref name="limit"/> values (0 for all) from an offset on; before them the next offset, if wanted.</summary>
    internal int Read(int limit, int offset, bool tellsOffset)
    {
        if (offset < 0 || limit < 0)
            return Fail($"Invalid request to unpack with offset of {offset} and limit of {_from.Length}.");
        if (offset > _from.Length)
            return Fail($"Start offset {offset} greater than input length {_from.Length}.");
        _at = offset;
        int before = stack.Count;
        if (tellsOffset)
            stack.PushNil(); // its place
        int values = 0;
        while (_at < _from.Length && (limit == 0 || values < limit))
        {
            if (values == ResultsMax || !stack.Reserve(RoomPerLevel))
                return Fail("too many results to unpack");
            if (!Value())
                return Fail(_error);
            values++;
        }

        if (!tellsOffset)
            return values;
        stack.Push((double)(_at == _from.Length ? -1 : _at));
        stack.Replace(before + 1);
        return values + 1;
    }

    private readonly int Fail(string error) => stack.Fail(Encoding.ASCII.GetBytes(error), isPlaced: true);

    private bool Missing()
    {
        _error = "Missing bytes in input.";
        return false;
    }

    private bool Bad()
    {
        _error = "Bad data format in input.";
        return false;
    }

    private bool Has(long bytes) => bytes <= _from.Length - _at;

    private ulong Take(int bytes)
    {
        ulong value = 0;
        for (int i = 0; i < bytes; i++)
            value = (value << 8) | _from[_at++];
        return value;
    }

    private bool Value()
    {
        if (!Has(1))
            return Missing();
        byte type = _from[_at++];
        switch (type)
        {
            case < 0x80:
                stack.Push((double)type);
                return true;
            case >= 0xE0:
                stack.Push((double)(sbyte)type);
                return true;
            case < 0x90:
                return Fields(type & 15);
            case < 0xA0:
                return Items(type & 15);
            case < 0xC0:
                return Text(type & 31);
            case 0xC0:
                stack.PushNil();
                return true;
            case 0xC2 or 0xC3:
                stack.Push(type == 0xC3);
                return true;
            default:
                return Sized(type);
        }
    }

    private bool Sized(byte type)
    {
        int bytes = type switch
        {
            0xC4 or 0xCC or 0xD0 or 0xD9 => 1,
            0xC5 or 0xCD or 0xD1 or 0xDA or 0xDC or 0xDE => 2,
            0xC6 or 0xCA or 0xCE or 0xD2 or 0xDB or 0xDD or 0xDF => 4,
            0xCB or 0xCF or 0xD3 => 8,
            _ => 0,
        };
        if (bytes == 0)
            return Bad();
        if (!Has(bytes))
            return Missing();
        ulong value = Take(bytes);
        switch (type)
        {
            case <= 0xC6 or (>= 0xD9 and <= 0xDB):
                return Text((long)value);
            case 0xDC or 0xDD:
                return Items((long)value);
            case 0xDE or 0xDF:
                return Fields((long)value);
            default:
                stack.Push(Number(type, value));
                return true;
        }
    }

    private static double Number(byte type, ulong value) => type switch
    {
        0xCA => BitConverter.UInt32BitsToSingle((uint)value),
        0xCB => BitConverter.UInt64BitsToDouble(value),
        0xD0 => (sbyte)value,
        0xD1 => (short)value,
        0xD2 => (int)value,
        0xD3 => (long)value,
        _ => value,
    };

    private bool Text(long length)
    {
        if (!Has(length))
            return Missing();
        stack.Push(_from.Slice(_at, (int)length));
        _at += (int)length;
        return true;
    }

    private bool Descend()
    {
        if (++_depth <= DepthMax && stack.Reserve(RoomPerLevel))
            return true;
        _error = "too many nested data structures";
        return false;
    }

    private bool IsFull()
    {
        if (++_items % ItemsPerLook != 0 || !(LuaState.Look(stack) || LuaState.IsFull(stack)))
            return false;
        _error = "not enough memory";
        return true;
    }

    private bool Items(long count)
    {
        if (!Descend())
            return false;
        stack.NewTable((int)Math.Min(count, TableRoomMax), 0);
        for (long i = 1; i <= count; i++)
        {
            if (IsFull() || !Value())
                return false;
            stack.SetItem(-2, i);
        }

        _depth--;
        return true;
    }

    private bool Fields(long count)
    {
        if (!Descend())
            return false;
        stack.NewTable(0, (int)Math.Min(count, TableRoomMax));
        for (long i = 0; i < count; i++)
        {
            if (IsFull() || !Value() || !Value())
                return false;
            bool isKey = stack.TypeAt(-2) != LuaType.Nil && !(stack.IsNumber(-2) && double.IsNaN(stack.Number(-2)));
            if (!isKey)
                return Bad(); // no key of a table
            stack.Set(-3);
        }

        _depth--;
        return true;
    }
}

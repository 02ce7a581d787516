using System.Buffers.Binary;

namespace Garnet.Lua.Libraries;

/// <summary>cmsgpack.pack: values of a script as MessagePack, each in its shortest form. Tables nested more than 16 deep become nil.</summary>
internal sealed class PackWriter(long bytesMax)
{
    private const int DepthMax = 16, RoomPerLevel = 6, ValuesPerLook = 256;

    private readonly GrowingText _to = new(bytesMax);
    private int _values;
    private bool _isGivenUp;

    /// <summary>Pushes all the values, packed.</summary>
    internal int Write(LuaStack stack)
    {
        int count = stack.Count;
        if (count == 0)
            return stack.Fail("bad argument #0 to 'pack' (MessagePack pack needs input.)"u8);
        _isGivenUp = false;
        for (int i = 1; i <= count && !_isGivenUp; i++)
        {
            stack.PushCopy(i);
            Value(stack, stack.TypeAt(-1), 0);
        }

        bool fits = !_isGivenUp && stack.TryPush(_to.Written);
        _to.Clear();
        return fits ? 1 : stack.Fail("not enough memory"u8, isPlaced: false);
    }

    // Takes the value on top.
    private void Value(LuaStack stack, int type, int depth)
    {
        _isGivenUp |= _to.IsTooLong || (++_values % ValuesPerLook == 0 && LuaState.Look(stack));
        switch (type)
        {
            case LuaType.String:
                Text(stack.Bytes(-1));
                break;
            case LuaType.Boolean:
                Byte(stack.Boolean(-1) ? (byte)0xC3 : (byte)0xC2);
                break;
            case LuaType.Number:
                Number(stack.Number(-1));
                break;
            case LuaType.Table when depth < DepthMax && stack.Reserve(RoomPerLevel) && !_isGivenUp:
                Table(stack, depth);
                break;
            default:
                Byte(0xC0);
                break;
        }

        stack.Drop(1);
    }

    private void Byte(byte value) => _to.Add(value);

    private void Sized(byte type, int bytes, ulong value)
    {
        Span<byte> head = _to.Room(1 + sizeof(ulong));
        head[0] = type;
        BinaryPrimitives.WriteUInt64BigEndian(head[1..], value << (64 - (bytes * 8)));
        _to.Take(1 + bytes);
    }

    private void Text(ReadOnlySpan<byte> text)
    {
        if (text.Length < 32)
            Byte((byte)(0xA0 | text.Length));
        else if (text.Length <= byte.MaxValue)
            Sized(0xD9, 1, (ulong)text.Length);
        else if (text.Length <= ushort.MaxValue)
            Sized(0xDA, 2, (ulong)text.Length);
        else
            Sized(0xDB, 4, (ulong)text.Length);
        _to.Add(text);
    }

    private void Number(double value)
    {
        if (value == Math.Floor(value) && value is >= -9.2233720368547758e18 and < 9.2233720368547758e18)
            Whole((long)value);
        else if ((double)(float)value == value)
            Sized(0xCA, 4, BitConverter.SingleToUInt32Bits((float)value));
        else
            Sized(0xCB, 8, BitConverter.DoubleToUInt64Bits(value));
    }

    private void Whole(long value)
    {
        switch (value)
        {
            case >= -32 and <= 127:
                Byte((byte)value);
                break;
            case >= 0:
                Unsigned((ulong)value);
                break;
            case >= sbyte.MinValue:
                Sized(0xD0, 1, (byte)value);
                break;
            case >= short.MinValue:
                Sized(0xD1, 2, (ushort)value);
                break;
            case >= int.MinValue:
                Sized(0xD2, 4, (uint)value);
                break;
            default:
                Sized(0xD3, 8, (ulong)value);
                break;
        }
    }

    private void Unsigned(ulong value)
    {
        if (value <= byte.MaxValue)
            Sized(0xCC, 1, value);
        else if (value <= ushort.MaxValue)
            Sized(0xCD, 2, value);
        else if (value <= uint.MaxValue)
            Sized(0xCE, 4, value);
        else
            Sized(0xCF, 8, value);
    }

    private void Table(LuaStack stack, int depth)
    {
        long pairs = 0;
        double most = 0;
        _isGivenUp |= LuaState.Look(stack); // it may be small and have a lot of room
        bool isArray = true;
        stack.PushNil();
        while (stack.Next(-2))
        {
            double key = stack.IsNumber(-2) ? stack.Number(-2) : 0;
            isArray &= key >= 1 && key == Math.Floor(key);
            most = Math.Max(most, key);
            pairs++;
            stack.Drop(1);
        }

        if (isArray && most == pairs)
            Items(stack, pairs, depth);
        else
            Fields(stack, pairs, depth);
    }

    private void Head(long count, byte few, byte type)
    {
        if (count <= 15)
            Byte((byte)(few | (int)count));
        else if (count <= ushort.MaxValue)
            Sized(type, 2, (ulong)count);
        else
            Sized((byte)(type + 1), 4, (ulong)count);
    }

    private void Items(LuaStack stack, long count, int depth)
    {
        Head(count, 0x90, 0xDC);
        for (long i = 1; i <= count && !_isGivenUp; i++)
        {
            Value(stack, stack.Item(-1, i), depth + 1);
        }
    }

    private void Fields(LuaStack stack, long count, int depth)
    {
        Head(count, 0x80, 0xDE);
        stack.PushNil();
        while (!_isGivenUp && stack.Next(-2))
        {
            stack.PushCopy(-2);
            Value(stack, stack.TypeAt(-1), depth + 1);
            Value(stack, stack.TypeAt(-1), depth + 1);
        }
    }
}

using System.Text;
using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Lua.Libraries;

/// <summary>The functions of struct: values of a script as bytes in a fixed form, and back.</summary>
internal static class StructFunctions
{
    private const int ResultsMax = 7000;

    private static ReadOnlySpan<byte> Zeros => new byte[32];

    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal static IEnumerable<KeyValuePair<string, Function>> All(long bytesMax)
    {
        var to = new GrowingText(bytesMax);
        return
        [
            new("struct_pack", stack => Pack(stack, to)),
            new("struct_unpack", Unpack),
            new("struct_size", Size),
        ];
    }

    private static int Fail(LuaStack stack, string text) => stack.Fail(Encoding.Latin1.GetBytes(text), isPlaced: true);

    private static int Pack(LuaStack stack, GrowingText to)
    {
        if (stack.Count == 0 || !stack.IsString(1))
            return Fail(stack, "bad argument #1 to 'pack' (string expected)");
        var format = new StructFormat(stack.Bytes(1));
        to.Clear();
        int argument = 2;
        while (format.Next())
        {
            if (to.IsTooLong)
                return Fail(stack, "not enough memory");
            to.Add(Zeros[..format.Padding(to.Count)]);
            if (format.Option == 'x')
                to.Add((byte)0);
            else if (PackOne(stack, ref format, to, argument++) is { } error)
                return Fail(stack, error);
        }

        if (format.Error.Length > 0)
            return Fail(stack, format.Error);
        return !to.IsTooLong && stack.TryPush(to.Written) ? 1 : Fail(stack, "not enough memory");
    }

    // Null, or what is wrong.
    private static string? PackOne(LuaStack stack, ref StructFormat format, GrowingText to, int argument)
    {
        if (format.Option is 's' or 'c')
            return PackText(stack, ref format, to, argument);
        if (argument > stack.Count || !stack.TryNumber(argument, out double value))
        {
            string got = argument > stack.Count ? "no value" : stack.IsString(argument) ? "string" : "table";
            return $"bad argument #{argument} to 'pack' (number expected, got {got})";
        }

        Span<byte> bytes = stackalloc byte[(int)format.Size];
        if (format.Option == 'f')
            Spread(BitConverter.SingleToUInt32Bits((float)value), bytes, format.IsLittle);
        else if (format.Option == 'd')
            Spread(BitConverter.DoubleToUInt64Bits(value), bytes, format.IsLittle);
        else
            Spread(value < 0 ? (ulong)LuaStack.Whole(value) : value < 1.8446744073709552e19 ? (ulong)value : 0, bytes, format.IsLittle);
        to.Add(bytes);
        return null;
    }

    private static string? PackText(LuaStack stack, ref StructFormat format, GrowingText to, int argument)
    {
        bool isNumber = argument <= stack.Count && stack.IsNumber(argument);
        if (!isNumber && (argument > stack.Count || !stack.IsString(argument)))
            return $"bad argument #{argument} to 'pack' (string expected)";
        ReadOnlySpan<byte> text = isNumber ? Spelt(stack.Number(argument)) : stack.Bytes(argument);
        long size = format.Option == 'c' && format.Size > 0 ? format.Size : text.Length;
        if (text.Length < size)
            return $"bad argument #{argument + 1} to 'pack' (string too short)";
        to.Add(text[..(int)size]);
        if (format.Option == 's')
            to.Add((byte)0);
        return null;
    }

    private static byte[] Spelt(double value)
    {
        Span<byte> spelt = stackalloc byte[NumberSpelling.BytesMax];
        return double.IsNaN(value) && double.IsNegative(value)
            ? "-nan"u8.ToArray()
            : spelt[..NumberSpelling.Write(value, JsonSettings.PrecisionMost, spelt)].ToArray();
    }

    private static void Spread(ulong value, Span<byte> to, bool isLittle)
    {
        for (int i = 0; i < to.Length; i++)
        {
            byte part = i < 8 ? (byte)(value >> (i * 8)) : (byte)0; // as redis has it, of a negative number too
            to[isLittle ? i : to.Length - 1 - i] = part;
        }
    }

    private static int Size(LuaStack stack)
    {
        if (stack.Count == 0 || !stack.IsString(1))
            return Fail(stack, "bad argument #1 to 'size' (string expected)");
        var format = new StructFormat(stack.Bytes(1));
        long size = 0;
        while (format.Next())
        {
            if (format.Option == 's' || (format.Option == 'c' && format.Size == 0))
                return Fail(stack, format.Option == 's'
                    ? "bad argument #1 to 'size' (variable-size format in 'size')"
                    : "bad argument #1 to 'size' (variable-length format)");
            size += format.Padding(size) + format.Size;
        }

        if (format.Error.Length > 0)
            return Fail(stack, format.Error);
        stack.Push((double)size);
        return 1;
    }

    private static int Unpack(LuaStack stack)
    {
        if (stack.Count < 2 || !stack.IsString(1) || !stack.IsString(2))
            return Fail(stack, $"bad argument #{(stack.Count > 0 && stack.IsString(1) ? 2 : 1)} to 'unpack' (string expected)");
        double from = 1;
        if (stack.Count > 2 && (!stack.TryNumber(3, out from) || (from > -1 && from < 1)))
            return Fail(stack, "bad argument #3 to 'unpack' (offset must be 1 or greater)");
        if (!(from >= 1 && from <= int.MaxValue))
            return Fail(stack, "bad argument #2 to 'unpack' (data string too short)");
        var format = new StructFormat(stack.Bytes(1));
        ReadOnlySpan<byte> bytes = stack.Bytes(2);
        long at = (long)from - 1;
        int results = 0;
        while (format.Next())
        {
            at += format.Padding(at);
            if (results >= ResultsMax || !stack.Reserve(4))
                return Fail(stack, "too many results");
            if (at > bytes.Length || format.Size > bytes.Length - at)
                return Fail(stack, "bad argument #2 to 'unpack' (data string too short)");
            if (UnpackOne(stack, ref format, bytes, ref at, ref results) is { } error)
                return Fail(stack, error);
        }

        if (format.Error.Length > 0)
            return Fail(stack, format.Error);
        stack.Push((double)(at + 1));
        return results + 1;
    }

    private static string? UnpackOne(LuaStack stack, ref StructFormat format, ReadOnlySpan<byte> bytes, ref long at, ref int results)
    {
        ReadOnlySpan<byte> rest = bytes[(int)at..];
        long size = format.Size;
        switch (format.Option)
        {
            case 'x':
                break;
            case 's':
                int end = rest.IndexOf((byte)0);
                if (end < 0)
                    return "unfinished string in data";
                stack.Push(rest[..end]);
                size = end + 1;
                results++;
                break;
            case 'c':
                if (size == 0 && !TryTakeSize(stack, rest.Length, ref size, ref results, out string? error))
                    return error;
                stack.Push(rest[..(int)size]);
                results++;
                break;
            default:
                stack.Push(Value(ref format, rest[..(int)size]));
                results++;
                break;
        }

        at += size;
        return null;
    }

    // c0: the value before says how long the text is, and goes.
    private static bool TryTakeSize(LuaStack stack, int left, ref long size, ref int results, out string? error)
    {
        error = null;
        if (results == 0 || !stack.IsNumber(-1))
            error = "format 'c0' needs a previous size";
        else if (stack.Number(-1) is var wanted && !(wanted >= 0 && wanted <= left))
            error = "bad argument #2 to 'unpack' (data string too short)";
        if (error is not null)
            return false;
        size = (long)stack.Number(-1);
        stack.Drop(1);
        results--;
        return true;
    }

    private static double Value(ref StructFormat format, ReadOnlySpan<byte> bytes)
    {
        ulong value = 0;
        for (int i = 0; i < Math.Min(bytes.Length, 8); i++)
            value |= (ulong)bytes[format.IsLittle ? i : bytes.Length - 1 - i] << (i * 8);
        if (format.Option == 'f')
            return BitConverter.UInt32BitsToSingle((uint)value);
        if (format.Option == 'd')
            return BitConverter.UInt64BitsToDouble(value);
        if (!char.IsAsciiLetterLower(format.Option))
            return value;
        int unused = 64 - (Math.Min(bytes.Length, 8) * 8);
        return bytes.Length == 0 ? 0 : (long)(value << unused) >> unused;
    }
}

using System.Buffers;
using System.Globalization;
using System.Text;
using Garnet.Server.Scripting.Lua;

namespace Garnet.Server.Scripting.Libraries;

/// <summary>cjson.encode: a value of a script as JSON, as lua-cjson spells it. Depth and length are bounded.</summary>
internal sealed class JsonWriter(JsonSettings settings, long bytesMax)
{
    private const int RoomPerLevel = 6;

    private readonly ArrayBufferWriter<byte> _to = new(256);
    private string _error = "";

    /// <summary>Pushes the JSON of the first value, or fails.</summary>
    internal int Write(LuaStack stack)
    {
        stack.PushCopy(1);
        if (!Value(stack, 0))
            return stack.Fail(Encoding.Latin1.GetBytes(_error), isPlaced: true);
        stack.Push(_to.WrittenSpan);
        return 1;
    }

    private bool Fail(string error)
    {
        _error = error;
        return false;
    }

    // Takes the value on top.
    private bool Value(LuaStack stack, int depth)
    {
        if (_to.WrittenCount > bytesMax)
            return Fail("not enough memory");
        bool written = true;
        int type = stack.TypeAt(-1);
        if (type == LuaApi.String)
            Text(stack.Bytes(-1));
        else if (type == LuaApi.Number)
            written = Number(stack.Number(-1));
        else if (type == LuaApi.Boolean)
            _to.Write(stack.Boolean(-1) ? "true"u8 : "false"u8);
        else if (type == LuaApi.Nil || IsNull(stack))
            _to.Write("null"u8);
        else if (type == LuaApi.Table)
            written = Table(stack, depth + 1);
        else
            return Fail($"Cannot serialise {NameOf(type)}: type not supported");
        stack.Drop(1);
        return written;
    }

    private static unsafe bool IsNull(LuaStack stack) => stack.TypeAt(-1) == LuaApi.Pointer && LuaApi.ToUserdata(stack.Thread, -1) == 0;

    private static string NameOf(int type) => type switch { LuaApi.Boolean => "boolean", LuaApi.Table => "table", LuaApi.Function => "function", 8 => "thread", _ => "userdata" };

    private void Text(ReadOnlySpan<byte> text)
    {
        _to.Write("\""u8);
        while (true)
        {
            int at = text.IndexOfAny(Escaped);
            if (at < 0)
                break;
            _to.Write(text[..at]);
            Escape(text[at]);
            text = text[(at + 1)..];
        }

        _to.Write(text);
        _to.Write("\""u8);
    }

    private static readonly SearchValues<byte> Escaped = SearchValues.Create([.. Enumerable.Range(0, 32).Select(static code => (byte)code), (byte)'"', (byte)'\\', (byte)'/', 127]);

    private void Escape(byte code)
    {
        int letter = "\"\\/\b\f\n\r\t"u8.IndexOf(code);
        if (letter >= 0)
            _to.Write([(byte)'\\', "\"\\/bfnrt"u8[letter]]);
        else
            _to.Write(Encoding.ASCII.GetBytes($"\\u{code:x4}"));
    }

    private bool Number(double value)
    {
        if (!double.IsFinite(value) && !settings.EncodesInvalid)
        {
            if (!settings.EncodesInvalidAsNull)
                return Fail("Cannot serialise number: must not be NaN or Inf");
            _to.Write("null"u8);
            return true;
        }

        _to.Write(Encoding.ASCII.GetBytes(Spell(value, settings.Precision)));
        return true;
    }

    /// <summary>As C spells it with %.14g.</summary>
    internal static string Spell(double value, int precision)
    {
        if (!double.IsFinite(value))
            return double.IsNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
        if (value == 0)
            return double.IsNegative(value) ? "-0" : "0";
        string text = value.ToString("E" + (precision - 1), CultureInfo.InvariantCulture);
        int mark = text.IndexOf('E');
        int exponent = int.Parse(text.AsSpan(mark + 1), CultureInfo.InvariantCulture);
        if (exponent >= -4 && exponent < precision)
            return Trim(value.ToString("F" + (precision - 1 - exponent), CultureInfo.InvariantCulture));
        return $"{Trim(text[..mark])}e{(exponent < 0 ? '-' : '+')}{Math.Abs(exponent):00}";
    }

    private static string Trim(string digits) => digits.Contains('.') ? digits.TrimEnd('0').TrimEnd('.') : digits;

    private bool Table(LuaStack stack, int depth)
    {
        if (depth > settings.EncodeDepth || !stack.Reserve(RoomPerLevel))
            return Fail($"Cannot serialise, excessive nesting ({depth})");
        long length = Length(stack);
        if (length == 0 && ArrayMark.Is(stack))
            return Items(stack, stack.Length(-1), depth);
        if (length < 0)
            return false;
        return length > 0 ? Items(stack, length, depth) : Fields(stack, depth);
    }

    // Items of an array; 0 for an object, -1 for an error.
    private long Length(LuaStack stack)
    {
        double most = 0;
        long items = 0;
        stack.PushNil();
        while (stack.Next(-2))
        {
            double key = stack.IsNumber(-2) ? stack.Number(-2) : 0;
            if (key < 1 || key != Math.Floor(key))
            {
                stack.Drop(2);
                return 0;
            }

            most = Math.Max(most, key);
            items++;
            stack.Drop(1);
        }

        if (settings.SparseRatio <= 0 || most <= items * settings.SparseRatio || most <= settings.SparseSafe)
            return (long)most;
        if (settings.ConvertsSparse)
            return 0;
        Fail("Cannot serialise table: excessively sparse array");
        return -1;
    }

    private bool Items(LuaStack stack, long length, int depth)
    {
        _to.Write("["u8);
        for (long i = 1; i <= length; i++)
        {
            if (i > 1)
                _to.Write(","u8);
            stack.Item(-1, i);
            if (!Value(stack, depth))
                return false;
        }

        _to.Write("]"u8);
        return true;
    }

    private bool Fields(LuaStack stack, int depth)
    {
        _to.Write("{"u8);
        bool first = true;
        stack.PushNil();
        while (stack.Next(-2))
        {
            if (!first)
                _to.Write(","u8);
            first = false;
            if (stack.IsNumber(-2))
                _to.Write(Encoding.ASCII.GetBytes($"\"{Spell(stack.Number(-2), settings.Precision)}\":"));
            else if (stack.IsString(-2))
                Name(stack.Bytes(-2));
            else
                return Fail($"Cannot serialise {NameOf(stack.TypeAt(-2))}: table key must be a number or string");
            if (!Value(stack, depth))
                return false;
        }

        _to.Write("}"u8);
        return true;
    }

    private void Name(ReadOnlySpan<byte> name)
    {
        Text(name);
        _to.Write(":"u8);
    }
}

using System.Buffers;
using System.Text;

namespace Garnet.Lua.Libraries;

/// <summary>cjson.encode: a value of a script as JSON, as lua-cjson spells it. Depth and length are bounded.</summary>
internal sealed class JsonWriter(long bytesMax)
{
    private const int RoomPerLevel = 6, ValuesPerLook = 256;

    private readonly GrowingText _to = new(bytesMax);
    private JsonSettings _settings = new();
    private int _values;
    private string _error = "";

    /// <summary>Pushes the JSON of the first value, or fails.</summary>
    internal int Write(LuaStack stack, JsonSettings settings)
    {
        _settings = settings;
        stack.PushCopy(1);
        bool isWritten = Value(stack, stack.TypeAt(-1), 0) && ((!_to.IsTooLong && stack.TryPush(_to.Written)) || Fail("not enough memory"));
        _to.Clear();
        return isWritten ? 1 : stack.Fail(Encoding.Latin1.GetBytes(_error), isPlaced: true);
    }

    private bool Fail(string error)
    {
        _error = error;
        return false;
    }

    // Takes the value on top.
    private bool Value(LuaStack stack, int type, int depth)
    {
        if (_to.IsTooLong)
            return Fail("not enough memory");
        if (++_values % ValuesPerLook == 0 && LuaState.Look(stack))
            return Fail("");
        bool written = true;
        if (type == LuaType.String)
            Text(stack.Bytes(-1));
        else if (type == LuaType.Number)
            written = Number(stack.Number(-1));
        else if (type == LuaType.Boolean)
            _to.Add(stack.Boolean(-1) ? "true"u8 : "false"u8);
        else if (type == LuaType.Nil || IsNull(stack))
            _to.Add("null"u8);
        else if (type == LuaType.Table)
            written = Table(stack, depth + 1);
        else
            return Fail($"Cannot serialise {NameOf(type)}: type not supported");
        stack.Drop(1);
        return written;
    }

    private static unsafe bool IsNull(LuaStack stack) => stack.TypeAt(-1) == LuaType.Pointer && LuaApi.ToUserdata(stack.Thread, -1) == 0;

    private static string NameOf(int type) =>
        type switch
        {
            LuaType.Boolean => "boolean",
            LuaType.Table => "table",
            LuaType.Function => "function",
            8 => "thread",
            _ => "userdata",
        };

    private void Text(ReadOnlySpan<byte> text)
    {
        _to.Add((byte)'"');
        for (int at = text.IndexOfAny(Escaped); at >= 0 && !_to.IsTooLong; at = text.IndexOfAny(Escaped))
        {
            _to.Add(text[..at]);
            Escape(text[at]);
            text = text[(at + 1)..];
        }

        _to.Add(text);
        _to.Add((byte)'"');
    }

    private static readonly SearchValues<byte> Escaped =
        SearchValues.Create([.. Enumerable.Range(0, 32).Select(static code => (byte)code), (byte)'"', (byte)'\\', (byte)'/', 127]);

    private void Escape(byte code)
    {
        int letter = "\"\\/\b\f\n\r\t"u8.IndexOf(code);
        if (letter >= 0)
            _to.Add([(byte)'\\', "\"\\/bfnrt"u8[letter]]);
        else
            _to.Add(Encoding.ASCII.GetBytes($"\\u{code:x4}"));
    }

    private bool Number(double value)
    {
        if (!double.IsFinite(value) && !_settings.EncodesInvalid)
        {
            if (!_settings.EncodesInvalidAsNull)
                return Fail("Cannot serialise number: must not be NaN or Inf");
            _to.Add("null"u8);
            return true;
        }

        Spell(value);
        return true;
    }

    private void Spell(double value) => _to.Take(NumberSpelling.Write(value, _settings.Precision, _to.Room(NumberSpelling.BytesMax)));

    private bool Table(LuaStack stack, int depth)
    {
        if (depth > _settings.EncodeDepth || !stack.Reserve(RoomPerLevel))
            return Fail($"Cannot serialise, excessive nesting ({depth})");
        if (LuaState.Look(stack)) // it may be small and have a lot of room
            return Fail("");
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

        if (_settings.SparseRatio <= 0 || most <= items * _settings.SparseRatio || most <= _settings.SparseSafe)
            return (long)most;
        if (_settings.ConvertsSparse)
            return 0;
        Fail("Cannot serialise table: excessively sparse array");
        return -1;
    }

    private bool Items(LuaStack stack, long length, int depth)
    {
        _to.Add((byte)'[');
        for (long i = 1; i <= length; i++)
        {
            if (i > 1)
                _to.Add((byte)',');
            if (!Value(stack, stack.Item(-1, i), depth))
                return false;
        }

        _to.Add((byte)']');
        return true;
    }

    private bool Fields(LuaStack stack, int depth)
    {
        _to.Add((byte)'{');
        bool first = true;
        stack.PushNil();
        while (stack.Next(-2))
        {
            if (!first)
                _to.Add((byte)',');
            first = false;
            int type = stack.TypeAt(-2);
            if (type == LuaType.Number)
                Name(stack.Number(-2));
            else if (type == LuaType.String)
                Text(stack.Bytes(-2));
            else
                return Fail($"Cannot serialise {NameOf(type)}: table key must be a number or string");
            _to.Add((byte)':');
            if (!Value(stack, stack.TypeAt(-1), depth))
                return false;
        }

        _to.Add((byte)'}');
        return true;
    }

    private void Name(double name)
    {
        _to.Add((byte)'"');
        Spell(name);
        _to.Add((byte)'"');
    }
}

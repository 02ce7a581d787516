using System.Text;
using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Lua.Libraries;

/// <summary>The functions of cjson.</summary>
internal sealed class JsonFunctions(long bytesMax)
{
    private readonly JsonWriter _writer = new(bytesMax);
    private readonly GrowingText _escaped = new(bytesMax);
    private JsonSettings _settings = new();
    private bool _isChanged;

    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal IEnumerable<KeyValuePair<string, Function>> All() =>
    [
        new("cjson_encode", stack => stack.Count == 1
            ? _writer.Write(stack, _settings)
            : stack.Fail("bad argument #1 to 'encode' (expected 1 argument)"u8)),
        new("cjson_decode", Decode),
        new("cjson_encode_sparse_array", Sparse),
        new("cjson_encode_max_depth", stack =>
            Number(stack, "encode_max_depth", int.MaxValue, () => _settings.EncodeDepth, value => _settings.EncodeDepth = value)),
        new("cjson_decode_max_depth", stack =>
            Number(stack, "decode_max_depth", int.MaxValue, () => _settings.DecodeDepth, value => _settings.DecodeDepth = value)),
        new("cjson_encode_number_precision", stack => Number(
            stack, "encode_number_precision", JsonSettings.PrecisionMost, () => _settings.Precision, value => _settings.Precision = value)),
        new("cjson_encode_keep_buffer", stack => Switch(stack, () => _settings.KeepsBuffer, value => _settings.KeepsBuffer = value)),
        new("cjson_decode_invalid_numbers",
            stack => Switch(stack, () => _settings.DecodesInvalid, value => _settings.DecodesInvalid = value)),
        new("cjson_encode_invalid_numbers", Invalid),
        new("cjson_decode_array_with_array_mt",
            stack => Switch(stack, () => _settings.MarksArrays, value => _settings.MarksArrays = value)),
    ];

    /// <summary>Forgets what a script has set.</summary>
    internal void Reset()
    {
        if (!_isChanged)
            return;
        _settings = new JsonSettings();
        _isChanged = false;
    }

    private int Decode(LuaStack stack)
    {
        if (stack.Count != 1)
            return stack.Fail("bad argument #1 to 'decode' (expected 1 argument)"u8);
        if (stack.IsNumber(1))
        {
            stack.Push(stack.Number(1)); // its spelling is JSON
            return 1;
        }

        return stack.IsString(1)
            ? new JsonReader(_settings, stack, _escaped).Read()
            : stack.Fail("bad argument #1 to 'decode' (string expected)"u8);
    }

    private int Number(LuaStack stack, string name, int most, Func<int> get, Action<int> set)
    {
        if (stack.Count > 1)
            return stack.Fail("bad argument #2 (found too many arguments)"u8);
        if (stack.Count == 1 && stack.TypeAt(1) != LuaType.Nil)
        {
            bool isNumber = stack.TryNumber(1, out double given);
            int value = unchecked((int)LuaStack.Whole(given)); // as C makes an int of it
            if (!isNumber || value < 1 || value > most)
                return stack.Fail(Encoding.ASCII.GetBytes($"bad argument #1 to '{name}' (expected integer between 1 and {most})"));
            set(value);
            _isChanged = true;
        }

        stack.Push((double)get());
        return 1;
    }

    private int Switch(LuaStack stack, Func<bool> get, Action<bool> set)
    {
        if (stack.Count > 0 && stack.TypeAt(1) != LuaType.Nil)
        {
            set(stack.IsString(1) ? stack.Bytes(1).SequenceEqual("on"u8) : stack.Boolean(1));
            _isChanged = true;
        }

        stack.Push(get());
        return 1;
    }

    private int Invalid(LuaStack stack)
    {
        if (stack.Count > 0 && stack.TypeAt(1) != LuaType.Nil)
        {
            _settings.EncodesInvalidAsNull = stack.IsString(1) && stack.Bytes(1).SequenceEqual("null"u8);
            _settings.EncodesInvalid = stack.IsString(1) ? stack.Bytes(1).SequenceEqual("on"u8) : stack.Boolean(1);
            _isChanged = true;
        }

        if (_settings.EncodesInvalidAsNull)
            stack.Push("null"u8);
        else
            stack.Push(_settings.EncodesInvalid);
        return 1;
    }

    private static double Whole(double value) => value > 0 ? Math.Truncate(value) : 0; // NaN is none

    private int Sparse(LuaStack stack)
    {
        if (stack.Count > 0 && stack.TypeAt(1) != LuaType.Nil)
            _settings.ConvertsSparse = stack.Boolean(1);
        if (stack.Count > 1 && stack.TryNumber(2, out double ratio))
            _settings.SparseRatio = Whole(ratio);
        if (stack.Count > 2 && stack.TryNumber(3, out double safe))
            _settings.SparseSafe = Whole(safe);
        _isChanged |= stack.Count > 0;
        stack.Push(_settings.ConvertsSparse);
        stack.Push(_settings.SparseRatio);
        stack.Push(_settings.SparseSafe);
        return 3;
    }
}

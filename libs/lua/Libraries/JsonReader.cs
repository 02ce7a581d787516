using System.Buffers;
using System.Globalization;
using System.Text;

namespace Garnet.Lua.Libraries;

/// <summary>cjson.decode: JSON as values of a script. Depth is bounded; what is not JSON ends in an error that says where.</summary>
internal ref struct JsonReader(JsonSettings settings, LuaStack stack, GrowingText escaped)
{
    private const int RoomPerLevel = 6, ItemsPerLook = 1024;
    // Places in a table that is not empty: of most documents' tables none is moved while it fills.
    private const int TableRoom = 4;
    private const int ExactDigits = 15;

    private static readonly double[] Powers = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    private static readonly SearchValues<byte> Special =
        SearchValues.Create([.. Enumerable.Range(0, 32).Select(static code => (byte)code), (byte)'"', (byte)'\\']);

    private readonly ReadOnlySpan<byte> _text = stack.Bytes(1);
    private int _at;
    private int _token;
    private int _depth;
    private int _items;
    private string _error = "";

    /// <summary>Pushes what the first value says, or fails.</summary>
    internal int Read()
    {
        if (_text.Length >= 2 && (_text[0] == 0 || _text[1] == 0))
            return stack.Fail("JSON parser does not support UTF-16 or UTF-32"u8, isPlaced: true);
        SkipBlanks();
        if (!Value())
            return stack.Fail(Encoding.Latin1.GetBytes(_error), isPlaced: true);
        SkipBlanks();
        return _at < _text.Length ? Unexpected("the end") ? 1 : stack.Fail(Encoding.Latin1.GetBytes(_error), isPlaced: true) : 1;
    }

    private void SkipBlanks()
    {
        while (_at < _text.Length && _text[_at] is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n')
            _at++;
        _token = _at;
    }

    private readonly byte Peek() => _at < _text.Length ? _text[_at] : (byte)0;

    private bool Fail(string error)
    {
        if (_error.Length == 0)
            _error = error;
        return false;
    }

    // What stands here instead, as lua-cjson names it.
    private bool Unexpected(string expected)
    {
        string found = _at >= _text.Length ? "T_END" : (char)_text[_at] switch
        {
            '{' => "T_OBJ_BEGIN",
            '}' => "T_OBJ_END",
            '[' => "T_ARR_BEGIN",
            ']' => "T_ARR_END",
            ':' => "T_COLON",
            ',' => "T_COMMA",
            '"' => "T_STRING",
            >= '0' and <= '9' or '-' => "T_NUMBER",
            't' when _text[_at..].StartsWith("true"u8) => "T_BOOLEAN",
            'f' when _text[_at..].StartsWith("false"u8) => "T_BOOLEAN",
            'n' when _text[_at..].StartsWith("null"u8) => "T_NULL",
            _ => "invalid token",
        };
        return Fail($"Expected {expected} but found {found} at character {_at + 1}");
    }

    private bool Value()
    {
        switch ((char)Peek())
        {
            case '{':
                return Object();
            case '[':
                return Array();
            case '"':
                return Text();
            case (>= '0' and <= '9') or '-':
                return Number() || Unexpected("value");
            default:
                return Word() || (_error.Length == 0 && (Number() || Unexpected("value")));
        }
    }

    private bool Word()
    {
        ReadOnlySpan<byte> rest = _text[Math.Min(_at, _text.Length)..];
        if (rest.StartsWith("null"u8))
        {
            PushNull();
            _at += 4;
            return true;
        }

        bool isTrue = rest.StartsWith("true"u8);
        if (!isTrue && !rest.StartsWith("false"u8))
            return false;
        stack.Push(isTrue);
        _at += isTrue ? 4 : 5;
        return true;
    }

    private readonly unsafe void PushNull() => LuaApi.PushPointer(stack.Thread, 0);

    private bool Number()
    {
        if (TryShort())
            return true;
        int start = _at, end = _at;
        while (end < _text.Length && (char.IsAsciiLetterOrDigit((char)_text[end]) || _text[end] is (byte)'+' or (byte)'-' or (byte)'.'))
            end++;
        ReadOnlySpan<byte> word = _text[start..end];
        bool negative = word.StartsWith("-"u8);
        ReadOnlySpan<byte> digits = negative || word.StartsWith("+"u8) ? word[1..] : word;
        if (digits.IsEmpty)
            return false;
        bool isPlain = char.IsAsciiDigit((char)digits[0])
            && !(digits.Length > 1 && digits[0] == '0' && (char.IsAsciiDigit((char)digits[1]) || (digits[1] | 0x20) == 'x'))
            && word[0] != '+';
        if (!isPlain && !settings.DecodesInvalid)
            return Fail($"Expected value but found invalid number at character {start + 1}");
        if (!TryRead(digits, out double value, out int taken))
            return false;
        stack.Push(negative ? -value : value);
        _at = start + taken + (word.Length - digits.Length);
        return true;
    }

    // So few digits that they and their power of ten are exact: one division rounds as it should.
    private bool TryShort()
    {
        bool negative = Peek() == '-';
        int first = negative ? _at + 1 : _at, at = first, point = -1;
        long digits = 0;
        for (; at < _text.Length && at - first <= ExactDigits; at++)
        {
            int digit = _text[at] - '0';
            if ((uint)digit <= 9)
                digits = (digits * 10) + digit;
            else if (_text[at] == '.' && point < 0 && at > first)
                point = at;
            else
                break;
        }

        bool isWhole = at > first && at - first <= ExactDigits && point != at - 1
            && !(_text[first] == '0' && at - first > 1 && point != first + 1);
        if (!isWhole || (at < _text.Length && (char.IsAsciiLetter((char)_text[at]) || _text[at] is (byte)'.' or (byte)'+' or (byte)'-')))
            return false;
        double value = point < 0 ? digits : digits / Powers[at - point - 1];
        stack.Push(negative ? -value : value);
        _at = at;
        return true;
    }

    // As strtod reads it: hexadecimal, infinity and nan too.
    private static bool TryRead(ReadOnlySpan<byte> digits, out double value, out int taken)
    {
        string word = Encoding.ASCII.GetString(digits).ToLowerInvariant();
        taken = digits.Length;
        value = double.NaN;
        if (word.StartsWith("0x", StringComparison.Ordinal))
        {
            bool isHex = ulong.TryParse(word.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong whole);
            value = whole;
            return isHex;
        }

        if (word is "inf" or "infinity")
        {
            value = double.PositiveInfinity;
            return true;
        }

        if (word == "nan")
            return true;
        const NumberStyles Styles = NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent;
        while (taken > 0 && !(char.IsAsciiDigit(word[0]) || word[0] == '.')
            | !double.TryParse(word.AsSpan(0, taken), Styles, CultureInfo.InvariantCulture, out value))
            taken--;
        return taken > 0;
    }

    private bool Text()
    {
        int start = ++_at;
        int length = _text[start..].IndexOfAny(Special);
        _at = length < 0 ? _text.Length : start + length;
        if (_at < _text.Length && _text[_at] == '"')
        {
            stack.Push(_text[start.._at++]);
            return true;
        }

        escaped.Clear();
        escaped.Add(_text[start.._at]);
        return Rest();
    }

    private bool Rest()
    {
        while (_at < _text.Length && _text[_at] != '"')
        {
            if (_text[_at] < 32)
                return Fail($"Expected value but found invalid token at character {_at + 1}");
            if (_text[_at] == '\\')
            {
                if (!Escape())
                    return false;
                _at++;
            }

            int length = _text[_at..].IndexOfAny(Special);
            length = length < 0 ? _text.Length - _at : length;
            escaped.Add(_text.Slice(_at, length));
            _at += length;
        }

        if (_at >= _text.Length)
            return Fail($"Expected value but found unexpected end of string at character {_at + 1}");
        _at++;
        stack.Push(escaped.Written);
        return true;
    }

    private bool Escape()
    {
        _at++;
        int letter = "\"\\/bfnrt"u8.IndexOf(Peek());
        if (letter >= 0 && _at < _text.Length)
        {
            escaped.Add("\"\\/\b\f\n\r\t"u8[letter]);
            return true;
        }

        if (Peek() != 'u')
            return Fail($"Expected value but found invalid escape code at character {_at}");
        int start = _at;
        if (!TryUnit(_at + 1, out int code))
            return Fail($"Expected value but found invalid unicode escape code at character {start}");
        _at += 4;
        if (code is >= 0xD800 and < 0xE000)
        {
            bool pairs = code < 0xDC00 && _at + 2 < _text.Length && _text[_at + 1] == '\\' && _text[_at + 2] == 'u'
                && TryUnit(_at + 3, out int low) && low is >= 0xDC00 and < 0xE000
                && (code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)) > 0;
            if (!pairs)
                return Fail($"Expected value but found invalid unicode escape code at character {start}");
            _at += 6;
        }

        Span<byte> utf8 = stackalloc byte[4];
        escaped.Add(utf8[..new Rune(code).EncodeToUtf8(utf8)]);
        return true;
    }

    private readonly bool TryUnit(int at, out int code)
    {
        code = 0;
        return at + 4 <= _text.Length
            && int.TryParse(_text.Slice(at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code);
    }

    private bool Descend()
    {
        if (++_depth > settings.DecodeDepth || !stack.Reserve(RoomPerLevel))
            return Fail($"Found too many nested data structures ({_depth}) at character {_at + 1}");
        _at++;
        SkipBlanks();
        return true;
    }

    private bool IsFull() => ++_items % ItemsPerLook == 0 && (LuaState.Look(stack) || LuaState.IsFull(stack)) && !Fail("not enough memory");

    private bool Array()
    {
        if (!Descend())
            return false;
        stack.NewTable(Peek() == ']' ? 0 : TableRoom, 0);
        if (settings.MarksArrays)
            ArrayMark.Put(stack);
        for (int index = 1; Peek() != ']' || index > 1; index++)
        {
            if (IsFull() || !Value())
                return false;
            stack.SetItem(-2, index);
            SkipBlanks();
            if (Peek() == ']')
                break;
            if (Peek() != ',')
                return Unexpected("comma or array end");
            _at++;
            SkipBlanks();
        }

        _at++;
        _depth--;
        return true;
    }

    private bool Object()
    {
        if (!Descend())
            return false;
        stack.NewTable(0, Peek() == '}' ? 0 : TableRoom);
        for (bool first = true; Peek() != '}' || !first; first = false)
        {
            if (Peek() != '"')
                return Unexpected("object key string");
            if (IsFull() || !Text() || !Colon() || !Value())
                return false;
            stack.Set(-3);
            SkipBlanks();
            if (Peek() == '}')
                break;
            if (Peek() != ',')
                return Unexpected("comma or object end");
            _at++;
            SkipBlanks();
        }

        _at++;
        _depth--;
        return true;
    }

    private bool Colon()
    {
        SkipBlanks();
        if (Peek() != ':')
            return Unexpected("colon");
        _at++;
        SkipBlanks();
        return true;
    }
}

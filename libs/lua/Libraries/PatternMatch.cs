using System.Runtime.CompilerServices;

namespace Garnet.Lua.Libraries;

/// <summary>
/// Patterns of Lua 5.1, matched as its own library does, step by step: a pattern may take longer than anybody waits, so every so many
/// steps somebody may end it (lua.L7), and it may nest as deeply as the stack goes. The native library does neither.
/// </summary>
internal ref struct PatternMatch
{
    internal const int CapturesMax = 32;
    private const int None = -1, Unfinished = -1, Position = -2;
    private const int StepsPerLook = 20_000;
    private const byte Escape = (byte)'%', End = 0;

    private readonly ReadOnlySpan<byte> _text;
    private readonly ReadOnlySpan<byte> _pattern;
    private readonly LuaStack _stack;
    private readonly Span<(int Start, int Length)> _captures;
    private int _level;
    private int _steps;

    internal PatternMatch(ReadOnlySpan<byte> text, ReadOnlySpan<byte> pattern, LuaStack stack, Span<(int Start, int Length)> captures)
    {
        _text = text;
        int zero = pattern.IndexOf(End); // there it ends for 5.1
        _pattern = zero < 0 ? pattern : pattern[..zero];
        _stack = stack;
        _captures = captures;
        _steps = StepsPerLook;
    }

    /// <summary>What is wrong with the pattern; null if nothing has been found yet.</summary>
    internal string? Error { get; private set; }

    /// <summary>There will be no match: the pattern is wrong, or the script is to end.</summary>
    internal bool IsOver { get; private set; }

    /// <summary>Captures of the last match; of one without any the match itself is one.</summary>
    internal readonly int Captures => _level;

    /// <summary>True if the pattern has to begin where the search does.</summary>
    internal readonly bool IsAnchored => _pattern.Length > 0 && _pattern[0] == '^';

    /// <summary>Where a match from <paramref name="start"/> on ends, or a negative number.</summary>
    internal int At(int start, int patternStart)
    {
        _level = 0;
        return Match(start, patternStart);
    }

    /// <summary>The first match at or behind <paramref name="start"/>: where it begins and ends.</summary>
    internal bool TryFind(int start, bool isAnchored, out int first, out int last)
    {
        int skip = isAnchored ? 1 : 0;
        for (first = start; first <= _text.Length && !IsOver; first++)
        {
            last = At(first, skip);
            if (last >= 0 && !IsOver)
                return true;
            if (isAnchored)
                break;
        }

        last = None;
        return false;
    }

    /// <summary>A capture as a part of the text; a place in it has a length below 0.</summary>
    internal bool TryCapture(int index, int first, int last, out int start, out int length)
    {
        (start, length) = (first, last - first);
        if (index >= _level)
            return index == 0 || !Fail("invalid capture index");
        (start, length) = _captures[index];
        return length != Unfinished || !Fail("unfinished capture");
    }

    private bool Fail(string error)
    {
        Error ??= error;
        return IsOver = true;
    }

    private readonly byte Pattern(int at) => at < _pattern.Length ? _pattern[at] : End;

    private readonly byte Text(int at) => at < _text.Length ? _text[at] : End;

    private bool Spend(int steps)
    {
        _steps -= steps;
        if (_steps > 0)
            return true;
        _steps = StepsPerLook;
        IsOver |= LuaState.Look(_stack);
        return !IsOver;
    }

    private int Match(int at, int p)
    {
        if (!RuntimeHelpers.TryEnsureSufficientExecutionStack())
            Fail("pattern too complex");
        while (!IsOver && Spend(1))
        {
            switch (Pattern(p))
            {
                case (byte)'(':
                    return Pattern(p + 1) == ')' ? Open(at, p + 2, Position) : Open(at, p + 1, Unfinished);
                case (byte)')':
                    return Close(at, p + 1);
                case End:
                    return at;
                case (byte)'$' when p + 1 == _pattern.Length:
                    return at == _text.Length ? at : None;
                case Escape when Pattern(p + 1) is (byte)'b' or (byte)'f' || char.IsAsciiDigit((char)Pattern(p + 1)):
                    if (!TrySpecial(ref at, ref p))
                        return None;
                    continue;
            }

            int end = ClassEnd(p);
            if (IsOver)
                return None;
            byte how = Pattern(end);
            if (how is (byte)'*' or (byte)'+' or (byte)'-')
                return how == '-' ? Shortest(at, p, end) : Longest(at, p, end, how == '+' ? 1 : 0);
            bool fits = Fits(at, p, end);
            if (how == '?')
            {
                int result = fits ? Match(at + 1, end + 1) : None;
                if (result >= 0)
                    return result;
                p = end + 1;
                continue;
            }

            if (!fits)
                return None;
            at++;
            p = end;
        }

        return None;
    }

    // %bxy, %f[set], %1: from there to what follows.
    private bool TrySpecial(ref int at, ref int p)
    {
        switch (Pattern(p + 1))
        {
            case (byte)'b':
                at = Balance(at, p + 2);
                p += 4;
                return at >= 0;
            case (byte)'f':
                p += 2;
                if (Pattern(p) != '[' && Fail("missing '[' after '%f' in pattern"))
                    return false;
                int start = p;
                p = ClassEnd(start);
                return !IsOver && !IsInSet(at == 0 ? End : _text[at - 1], start, p - 1) && IsInSet(Text(at), start, p - 1);
            default:
                at = Again(at, Pattern(p + 1) - '1');
                p += 2;
                return at >= 0;
        }
    }

    private int ClassEnd(int p)
    {
        byte first = Pattern(p++);
        if (first == Escape)
            return p < _pattern.Length || !Fail("malformed pattern (ends with '%')") ? p + 1 : p;
        if (first != '[')
            return p;
        if (Pattern(p) == '^')
            p++;
        int from = p;
        do
        {
            if (p >= _pattern.Length && Fail("malformed pattern (missing ']')"))
                return p;
            if (_pattern[p++] == Escape && p < _pattern.Length)
                p++;
        }
        while (Pattern(p) != ']');
        Spend((p - from) / 8);
        return p + 1;
    }

    private bool Fits(int at, int p, int end)
    {
        if (at >= _text.Length)
            return false;
        return _pattern[p] switch
        {
            (byte)'.' => true,
            Escape => IsOfClass(_text[at], _pattern[p + 1]),
            (byte)'[' => IsInSet(_text[at], p, end - 1),
            var plain => plain == _text[at],
        };
    }

    private bool IsInSet(byte value, int p, int end)
    {
        Spend((end - p) / 8);
        bool found = Pattern(p + 1) != '^';
        if (!found)
            p++;
        while (++p < end)
        {
            if (_pattern[p] == Escape)
            {
                p++;
                if (IsOfClass(value, Pattern(p)))
                    return found;
            }
            else if (Pattern(p + 1) == '-' && p + 2 < end)
            {
                p += 2;
                if (_pattern[p - 2] <= value && value <= _pattern[p])
                    return found;
            }
            else if (_pattern[p] == value)
            {
                return found;
            }
        }

        return !found;
    }

    private static bool IsOfClass(byte value, byte name)
    {
        char at = (char)value;
        bool? isIn = (char)(name | 0x20) switch
        {
            'a' => char.IsAsciiLetter(at),
            'c' => value is < 32 or 127,
            'd' => char.IsAsciiDigit(at),
            'l' => char.IsAsciiLetterLower(at),
            'p' => value is > 32 and < 127 && !char.IsAsciiLetterOrDigit(at),
            's' => value is 32 or (>= 9 and <= 13),
            'u' => char.IsAsciiLetterUpper(at),
            'w' => char.IsAsciiLetterOrDigit(at),
            'x' => char.IsAsciiHexDigit(at),
            'z' => value == 0,
            _ => null,
        };
        if (isIn is not { } known || !char.IsAsciiLetter((char)name))
            return name == value;
        return known != char.IsAsciiLetterUpper((char)name);
    }

    private int Longest(int at, int p, int end, int least)
    {
        int count = 0;
        while (Fits(at + count, p, end))
        {
            if (++count % StepsPerLook == 0 && !Spend(StepsPerLook))
                return None;
        }

        for (; count >= least && !IsOver; count--)
        {
            int result = Match(at + count, end + 1);
            if (result >= 0)
                return result;
        }

        return None;
    }

    private int Shortest(int at, int p, int end)
    {
        while (!IsOver)
        {
            int result = Match(at, end + 1);
            if (result >= 0)
                return result;
            if (!Fits(at, p, end))
                return None;
            at++;
        }

        return None;
    }

    private int Open(int at, int p, int what)
    {
        if (_level >= CapturesMax && Fail("too many captures"))
            return None;
        _captures[_level++] = (at, what);
        int result = Match(at, p);
        if (result < 0)
            _level--;
        return result;
    }

    private int Close(int at, int p)
    {
        int open = _level - 1;
        while (open >= 0 && _captures[open].Length != Unfinished)
            open--;
        if (open < 0 && Fail("invalid pattern capture"))
            return None;
        _captures[open].Length = at - _captures[open].Start;
        int result = Match(at, p);
        if (result < 0)
            _captures[open].Length = Unfinished;
        return result;
    }

    private int Balance(int at, int p)
    {
        if (p + 1 >= _pattern.Length && Fail("unbalanced pattern"))
            return None;
        if (at >= _text.Length || _text[at] != _pattern[p])
            return None;
        (byte begin, byte end, int depth) = (_pattern[p], _pattern[p + 1], 1);
        for (int i = at + 1; i < _text.Length && Spend(1); i++)
        {
            if (_text[i] == end)
            {
                if (--depth == 0)
                    return i + 1;
            }
            else if (_text[i] == begin)
            {
                depth++;
            }
        }

        return None;
    }

    private int Again(int at, int capture)
    {
        if ((capture < 0 || capture >= _level || _captures[capture].Length == Unfinished) && Fail("invalid capture index"))
            return None;
        (int start, int length) = _captures[capture];
        if (length < 0 || !Spend(length / 16) || length > _text.Length - at)
            return None;
        return _text.Slice(start, length).SequenceEqual(_text.Slice(at, length)) ? at + length : None;
    }
}

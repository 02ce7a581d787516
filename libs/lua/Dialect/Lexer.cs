namespace Garnet.Lua.Dialect;

/// <summary>Lua 5.1 source as tokens. What it cannot read ends the list early: the compiler will say what is wrong with it.</summary>
internal ref struct Lexer(ReadOnlySpan<byte> source)
{
    private static readonly HashSet<string> Words =
    [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or", "repeat",
        "return", "then", "true", "until", "while",
    ];

    private readonly ReadOnlySpan<byte> _source = source;
    private int _at;

    /// <summary>All tokens, the end among them; null if some cannot be read.</summary>
    internal List<Token>? Read()
    {
        var tokens = new List<Token>();
        if (_source.StartsWith("#"u8))
            SkipLine();
        while (true)
        {
            if (!SkipBlanks())
                return null;
            if (_at >= _source.Length)
                break;
            int start = _at;
            TokenKind kind = ReadOne();
            if (kind == TokenKind.End)
                return null;
            tokens.Add(new Token(kind, start, _at));
        }

        tokens.Add(new Token(TokenKind.End, _at, _at));
        return tokens;
    }

    private readonly byte Peek(int ahead = 0) => _at + ahead < _source.Length ? _source[_at + ahead] : (byte)0;

    private void SkipLine()
    {
        while (_at < _source.Length && _source[_at] != '\n')
            _at++;
    }

    private bool SkipBlanks()
    {
        while (_at < _source.Length)
        {
            if (_source[_at] is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n' or 11 or 12)
            {
                _at++;
                continue;
            }

            if (Peek() != '-' || Peek(1) != '-')
                return true;
            _at += 2;
            int level = Peek() == '[' ? BracketLevel() : -1;
            if (level < 0)
                SkipLine();
            else if (!SkipLong(level))
                return false;
        }

        return true;
    }

    private TokenKind ReadOne()
    {
        byte first = Peek();
        if (IsLetter(first))
            return ReadName();
        if (IsDigit(first) || (first == '.' && IsDigit(Peek(1))))
            return ReadNumber();
        if (first is (byte)'"' or (byte)'\'')
            return ReadQuoted(first);
        if (first == '[' && BracketLevel() is >= 0 and var level)
            return SkipLong(level) ? TokenKind.Text : TokenKind.End;
        if (first == '.' && Peek(1) == '.')
            _at += Peek(2) == '.' ? 3 : 2;
        else if (first is (byte)'=' or (byte)'<' or (byte)'>' or (byte)'~' && Peek(1) == '=')
            _at += 2;
        else
            _at++;
        return TokenKind.Sign;
    }

    private TokenKind ReadName()
    {
        int start = _at;
        while (IsLetter(Peek()) || IsDigit(Peek()))
            _at++;
        return Words.Contains(System.Text.Encoding.Latin1.GetString(_source[start.._at])) ? TokenKind.Word : TokenKind.Name;
    }

    private TokenKind ReadNumber()
    {
        bool hex = Peek() == '0' && (Peek(1) | 0x20) == 'x';
        _at += hex ? 2 : 1;
        while (true)
        {
            byte next = Peek();
            bool exponent = !hex && (next | 0x20) == 'e';
            if (exponent && Peek(1) is (byte)'+' or (byte)'-')
                _at += 2;
            else if (IsDigit(next) || IsLetter(next) || next == '.')
                _at++;
            else
                return TokenKind.Number;
        }
    }

    private TokenKind ReadQuoted(byte quote)
    {
        for (_at++; _at < _source.Length; _at++)
        {
            byte next = _source[_at];
            if (next == quote)
            {
                _at++;
                return TokenKind.Text;
            }

            if (next == '\n')
                return TokenKind.End;
            if (next == '\\')
                _at++;
        }

        return TokenKind.End;
    }

    // Number of signs between the brackets that begin a long text; -1 if none begins here.
    private readonly int BracketLevel()
    {
        int level = 0;
        while (Peek(1 + level) == '=')
            level++;
        return Peek(1 + level) == '[' ? level : -1;
    }

    private bool SkipLong(int level)
    {
        for (_at += level + 2; _at < _source.Length; _at++)
        {
            if (_source[_at] != ']')
                continue;
            int signs = 0;
            while (Peek(1 + signs) == '=')
                signs++;
            if (signs != level || Peek(1 + signs) != ']')
                continue;
            _at += level + 2;
            return true;
        }

        return false;
    }

    private static bool IsDigit(byte at) => at is >= (byte)'0' and <= (byte)'9';

    private static bool IsLetter(byte at) => at is (>= (byte)'a' and <= (byte)'z') or (>= (byte)'A' and <= (byte)'Z') or (byte)'_';
}

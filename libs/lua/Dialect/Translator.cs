using System.Buffers;
using System.Globalization;
using System.Text;

namespace Garnet.Lua.Dialect;

/// <summary>
/// Makes Lua 5.1 source mean the same to Lua 5.4, line by line: whole numbers become floats, so that all arithmetic is done in
/// doubles, operands of <c>..</c> go through a call, so that a float is spelt as 5.1 spells it, and <c>a % b</c> becomes one, since 5.1 rounds it in another way. What 5.1 takes for any other
/// sign behind a backslash loses that. Source that does not parse is left as it is: the compiler will say what is wrong with it, or, where
/// that is of a later kind, whoever compiles.
///
/// lua.X1  Depth is bounded as the compiler's is: source nested more deeply is left as it is, and refused there.
/// </summary>
public sealed class Translator
{
    private static readonly SearchValues<char> Hexadecimal = SearchValues.Create("0123456789abcdefABCDEF");
    private static readonly SearchValues<byte> Escapable = SearchValues.Create("abfnrtv\\\"'\n\r0123456789"u8);

    private const int DepthMax = 190, UnaryPriority = 8, ConcatPriority = 5;

    private readonly byte[] _source;
    private readonly List<Token> _tokens;
    private readonly SortedDictionary<(int At, int Order), string> _inserts = [];
    private readonly Dictionary<int, string> _replaced = [];
    private int _at;
    private int _depth;
    private int _functions;
    private int _order;
    private bool _isAmbiguous;

    private Translator(byte[] source, List<Token> tokens)
    {
        _source = source;
        _tokens = tokens;
    }

    /// <summary>The source for the compiler.</summary>
    public static Translation Translate(ReadOnlySpan<byte> source)
    {
        byte[] bytes = source.ToArray();
        if (bytes.AsSpan().StartsWith("#"u8))
            bytes.AsSpan(0, Math.Max(bytes.AsSpan().IndexOf((byte)'\n'), 0)).Fill((byte)' '); // a first line for the system, or a shebang
        if (new Lexer(bytes).Read() is not { } tokens)
            return new Translation(bytes, ":1: unfinished string or comment");
        var translator = new Translator(bytes, tokens);
        if (!translator.Block() || translator.Current.Kind != TokenKind.End)
            return new Translation(bytes, translator.Wrong());
        translator.Unescape();
        return new Translation(translator.Write(), "");
    }

    private string Wrong()
    {
        Token token = Current;
        int line = _source.AsSpan(0, token.Start).Count((byte)'\n') + 1;
        string text = token.Kind == TokenKind.End ? "<eof>" : Encoding.Latin1.GetString(_source, token.Start, token.End - token.Start);
        return $":{line}: {(_isAmbiguous ? "ambiguous syntax (function call x new statement)" : "unexpected symbol")} near '{text}'";
    }

    private Token Current => _tokens[_at];

    private bool Is(string text)
    {
        Token token = Current;
        if (token.Kind is not (TokenKind.Word or TokenKind.Sign) || token.End - token.Start != text.Length)
            return false;
        for (int i = 0; i < text.Length; i++)
        {
            if (_source[token.Start + i] != text[i])
                return false;
        }

        return true;
    }

    private bool Take(string text)
    {
        if (!Is(text))
            return false;
        _at++;
        return true;
    }

    private bool TakeKind(TokenKind kind)
    {
        if (Current.Kind != kind)
            return false;
        _at++;
        return true;
    }

    private bool Block()
    {
        if (++_depth > DepthMax)
            return false;
        while (!IsBlockEnd())
        {
            bool isLast = Is("return") || Is("break");
            if (!Statement())
                return false;
            Take(";");
            if (isLast && !IsBlockEnd())
                return false;
        }

        _depth--;
        return true;
    }

    private bool IsBlockEnd() => Current.Kind == TokenKind.End || Is("end") || Is("else") || Is("elseif") || Is("until");

    private bool Statement()
    {
        if (Take("if"))
            return If();
        if (Take("while"))
            return Expression() && Take("do") && Block() && Take("end");
        if (Take("do"))
            return Block() && Take("end");
        if (Take("for"))
            return For();
        if (Take("repeat"))
            return Block() && Take("until") && Expression();
        if (Take("function"))
            return FunctionName() && Body();
        if (Take("local"))
            return Take("function") ? TakeKind(TokenKind.Name) && Body() : Names() && (!Take("=") || Expressions());
        if (Take("return"))
            return Is(";") || IsBlockEnd() || Results();
        return Take("break") || AssignmentOrCall();
    }

    // Nobody looks at a second result of a script: in brackets its call is none in the tail position, and the place of an error in it
    // stays known. Inside functions the same is done for calls of the server, by the detour of a function that returns what it gets.
    private bool Results()
    {
        int start = _at;
        bool isServer = Current.Kind == TokenKind.Name && _source.AsSpan(Current.Start, Current.End - Current.Start) is var name
            && (name.SequenceEqual("redis"u8) || name.SequenceEqual("server"u8) || name.SequenceEqual("error"u8));
        if (!Expression())
            return false;
        if (Is(","))
            return Take(",") && Expressions();
        if (_functions > 0 && !isServer)
            return true;
        InsertBefore(start, _functions == 0 ? "(" : "__same(");
        _inserts[(_tokens[_at - 1].End, ++_order)] = ")";
        return true;
    }

    private bool If()
    {
        do
        {
            if (!Expression() || !Take("then") || !Block())
                return false;
        }
        while (Take("elseif"));
        return (!Take("else") || Block()) && Take("end");
    }

    private bool For()
    {
        if (!Names())
            return false;
        if (Take("="))
            return Expressions() && Take("do") && Block() && Take("end");
        int start = _at + 1;
        if (!Take("in") || !Expressions())
            return false;
        if (!IsCallOfPairs(start))
        {
            InsertBefore(start, "__three("); // 5.4 would close a fourth value
            _inserts[(_tokens[_at - 1].End, ++_order)] = ")";
        }

        return Take("do") && Block() && Take("end");
    }

    private bool IsCallOfPairs(int start)
    {
        ReadOnlySpan<byte> name = _source.AsSpan(_tokens[start].Start, _tokens[start].End - _tokens[start].Start);
        return (name.SequenceEqual("pairs"u8) || name.SequenceEqual("ipairs"u8)) && _source[_tokens[start + 1].Start] == '(';
    }

    private bool Names()
    {
        do
        {
            if (!TakeKind(TokenKind.Name))
                return false;
        }
        while (Take(","));
        return true;
    }

    private bool FunctionName()
    {
        do
        {
            if (!TakeKind(TokenKind.Name))
                return false;
        }
        while (Take(".") || Take(":"));
        return true;
    }

    private bool Body()
    {
        if (!Take("("))
            return false;
        while (!Take(")"))
        {
            if (!TakeKind(TokenKind.Name) && !Take("..."))
                return false;
            if (!Is(")") && !Take(","))
                return false;
        }

        _functions++;
        bool isWhole = Block() && Take("end");
        _functions--;
        return isWhole;
    }

    private bool AssignmentOrCall()
    {
        if (!Suffixed())
            return false;
        while (Take(","))
        {
            if (!Suffixed())
                return false;
        }

        return !Take("=") || Expressions();
    }

    private bool Expressions()
    {
        do
        {
            if (!Expression())
                return false;
        }
        while (Take(","));
        return true;
    }

    private bool Expression(int limit = 0)
    {
        if (++_depth > DepthMax)
            return false;
        int start = _at;
        if (Take("not") || Take("-") || Take("#") ? !Expression(UnaryPriority) : !Simple())
            return false;
        while (Priority() is var (left, right) && left > limit)
        {
            bool isTaken = left == ConcatPriority ? Concat(start) : Is("%") ? Modulo(start, right) : TakeOperator(right);
            if (!isTaken)
                return false;
        }

        _depth--;
        return true;
    }

    private bool TakeOperator(int right)
    {
        _at++;
        return Expression(right);
    }

    private bool Modulo(int start, int right)
    {
        _replaced[_at] = ",";
        InsertBefore(start, "(__mod(");
        if (!TakeOperator(right))
            return false;
        _inserts[(_tokens[_at - 1].End, ++_order)] = "))";
        return true;
    }

    // The whole chain: it binds to the right, and its operands bind more tightly.
    private bool Concat(int start)
    {
        int operand = start;
        while (true)
        {
            Spell(operand);
            if (!Take(".."))
                return true;
            operand = _at;
            if (!Expression(ConcatPriority))
                return false;
        }
    }

    // The operand that ends here, as 5.1 spells it if it is a number; what stands in quotes is none.
    private void Spell(int operand)
    {
        if (_at == operand + 1 && _tokens[operand].Kind == TokenKind.Text)
            return;
        InsertBefore(operand, "__text(");
        _inserts[(_tokens[_at - 1].End, ++_order)] = ")";
    }

    // What begins further out comes later here, and must stand further to the left.
    private void InsertBefore(int token, string text) => _inserts[(_tokens[token].Start, -++_order)] = text;

    private (int Left, int Right) Priority()
    {
        if (Current.Kind == TokenKind.Word)
            return Is("or") ? (1, 1) : Is("and") ? (2, 2) : (0, 0);
        if (Current.Kind != TokenKind.Sign)
            return (0, 0);
        if (Current.End - Current.Start == 2)
            return Is("..") ? (ConcatPriority, 4) : (3, 3);
        return (char)_source[Current.Start] switch
        {
            '<' or '>' => (3, 3),
            '+' or '-' => (6, 6),
            '*' or '/' or '%' => (7, 7),
            '^' => (10, 9),
            _ => (0, 0),
        };
    }

    private bool Simple()
    {
        if (Current.Kind == TokenKind.Number)
            return Number();
        if (TakeKind(TokenKind.Text) || Take("nil") || Take("true") || Take("false") || Take("..."))
            return true;
        if (Is("{"))
            return Table();
        return Take("function") ? Body() : Suffixed();
    }

    private bool Number()
    {
        string text = Encoding.Latin1.GetString(_source, Current.Start, Current.End - Current.Start);
        bool isIndex = _at > 0 && _source[_tokens[_at - 1].Start] == '[' && _source.Length > Current.End && _source[Current.End] == ']';
        if (text.StartsWith("0x", StringComparison.OrdinalIgnoreCase))
        {
            if (text.AsSpan(2).IndexOfAnyExcept(Hexadecimal) < 0)
                _replaced[_at] = text.Length > 2 ? text + "p0" : text; // or it would be an integer of 64 bits
        }
        else if (!isIndex && !text.Contains('.') && !text.Contains('e', StringComparison.OrdinalIgnoreCase))
        {
            _replaced[_at] = text + ".0";
        }

        _at++;
        return true;
    }

    private bool Table()
    {
        if (++_depth > DepthMax || !Take("{"))
            return false;
        while (!Take("}"))
        {
            if (Take("["))
            {
                if (!Expression() || !Take("]") || !Take("=") || !Expression())
                    return false;
            }
            else if (!Field())
            {
                return false;
            }

            if (!Is("}") && !Take(",") && !Take(";"))
                return false;
        }

        _depth--;
        return true;
    }

    private bool Field()
    {
        bool named = Current.Kind == TokenKind.Name && _tokens[_at + 1] is { Kind: TokenKind.Sign } sign && sign.End - sign.Start == 1
            && _source[sign.Start] == '=';
        if (named)
            _at += 2;
        return Expression();
    }

    private bool Suffixed()
    {
        if (Take("("))
        {
            if (!Expression() || !Take(")"))
                return false;
        }
        else if (!TakeKind(TokenKind.Name))
        {
            return false;
        }

        while (true)
        {
            bool? more = Suffix();
            if (more != true)
                return more is null;
        }
    }

    // True after a suffix, null if there is none, false if it is broken.
    private bool? Suffix()
    {
        if (Take("."))
            return TakeKind(TokenKind.Name);
        if (Take("["))
            return Expression() && Take("]");
        if (Take(":"))
            return TakeKind(TokenKind.Name) && Arguments();
        _isAmbiguous = Is("(") && _source.AsSpan(_tokens[_at - 1].End, Current.Start - _tokens[_at - 1].End).Contains((byte)'\n');
        if (_isAmbiguous)
            return false;
        return Is("(") || Is("{") || Current.Kind == TokenKind.Text ? Arguments() : null;
    }

    private bool Arguments()
    {
        if (TakeKind(TokenKind.Text))
            return true;
        if (Is("{"))
            return Table();
        return Take("(") && (Take(")") || (Expressions() && Take(")")));
    }

    // In texts between quotes.
    private void Unescape()
    {
        for (int i = 0; i < _tokens.Count; i++)
        {
            (TokenKind kind, int start, int end) = _tokens[i];
            if (kind != TokenKind.Text || _source[start] == '[' || !_source.AsSpan(start, end - start).Contains((byte)'\\'))
                continue;
            var text = new StringBuilder();
            for (int at = start; at < end; at++)
            {
                bool isEscape = _source[at] == '\\';
                if (isEscape && Escapable.Contains(_source[at + 1]))
                    text.Append('\\');
                at += isEscape ? 1 : 0;
                text.Append((char)_source[at]);
            }

            _replaced[i] = text.ToString();
        }
    }

    private byte[] Write()
    {
        if (_inserts.Count + _replaced.Count == 0)
            return _source;
        var edits = new List<(int At, int Order, int Length, string Text)>();
        foreach (((int at, int order), string text) in _inserts)
            edits.Add((at, order, 0, text));
        foreach ((int token, string text) in _replaced)
            edits.Add((_tokens[token].Start, 0, _tokens[token].End - _tokens[token].Start, text));
        edits.Sort(static (one, other) => one.At != other.At ? one.At.CompareTo(other.At) : one.Order.CompareTo(other.Order));
        using var result = new MemoryStream(_source.Length + (edits.Count * 8));
        int from = 0;
        foreach ((int at, _, int length, string text) in edits)
        {
            result.Write(_source, from, at - from);
            result.Write(Encoding.Latin1.GetBytes(text));
            from = at + length;
        }

        result.Write(_source, from, _source.Length - from);
        return result.ToArray();
    }
}

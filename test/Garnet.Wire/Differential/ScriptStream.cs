using System.Globalization;

namespace Garnet.Wire.Differential;

/// <summary>
/// Random scripts by a seed: commands run by a script in several ways, and expressions over numbers, texts and tables whose value 5.1 and
/// the server must spell alike. Left out is what has no order (the fields of a table) or depends on the moment.
/// </summary>
internal sealed class ScriptStream(int seed)
{
    private static readonly string[] Forms =
    [
        "return redis.call(unpack(ARGV))",
        "return redis.pcall(unpack(ARGV))",
        "return {redis.pcall(unpack(ARGV)), 'then'}",
        "redis.setresp(3) return redis.pcall(unpack(ARGV))",
        "local r = redis.pcall(unpack(ARGV)) return {type(r), r}",
        "local ok, r = pcall(redis.call, unpack(ARGV)) return {tostring(ok), type(r), r}",
        "redis.call('SET', 'first', 'x') return redis.call(unpack(ARGV))",
        "redis.pcall(unpack(ARGV)) redis.call('INCR', 'count') error('after')",
    ];

    // That an expression fails is compared, not the text: 5.4 names operands and functions in other words.
    private const string Try = "local function try(f) local ok, value = pcall(f) return ok and value or 'failed' end ";

    // Replies without an order, or that tell of the server and the moment.
    private static readonly HashSet<string> LeftOut = new(StringComparer.OrdinalIgnoreCase)
    {
        "KEYS", "SCAN", "RANDOMKEY", "HELLO", "AUTH", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "DBSIZE", "OBJECT", "CONFIG", "CLIENT", "COMMAND", "INFO", "TIME", "MEMORY", "QUIT", "RESET",
        "SUBSCRIBE", "PUBSUB", "LOLWUT", "DEBUG",
    };

    private static readonly string[] Numbers = ["0", "1", "-1", "3", "7", "10", "2.5", "-0.25", "1e15", "123456789012", "1e100", "0.1", "2^53", "1/3", "0x10", "'12'", "' 3 '", "'0x1F'", "'1e3'", "1/0", "#'abc'", "tonumber('8')"];
    private static readonly string[] Texts = ["''", "'a'", "'abc'", "'hello world'", "'12'", "\"q'q\"", "[[long]]", "'\\0\\r\\n'", "('x'):rep(3)", "tostring(nil)", "tostring(true)", "string.format('%5.2f', 2.5)"];
    private static readonly string[] Operators = ["+", "-", "*", "/", "%", "^"];
    private static readonly string[] Functions = ["math.floor", "math.ceil", "math.abs", "math.sqrt", "tostring", "tonumber", "-", "bit.tobit", "bit.bnot"];

    private readonly Random _random = new(seed);
    private readonly CommandStream _commands = new(seed);

    public string[] Next()
    {
        if (_random.Next(3) == 0) return ["EVAL", Try + "return {" + string.Join(", ", Enumerable.Range(0, _random.Next(1, 5)).Select(_ => $"try(function() return tostring({Value(3)}) end)")) + "}", "0"];
        while (true)
        {
            string[] words = _commands.Next();
            if (LeftOut.Contains(words[0])) continue;
            string form = Pick(Forms);
            bool isMap = words[0].Equals("LCS", StringComparison.OrdinalIgnoreCase) && form.Contains("setresp", StringComparison.Ordinal); // its fields have no order in Lua
            if (!isMap) return [_random.Next(6) == 0 ? "EVAL_RO" : "EVAL", form, "0", .. words];
        }
    }

    private string Value(int depth) => _random.Next(depth > 0 ? 10 : 4) switch
    {
        < 2 => Pick(Numbers),
        < 4 => Pick(Texts),
        < 6 => $"({Value(depth - 1)} {Pick(Operators)} {Value(depth - 1)})",
        6 => $"({Pick(Numbers)} .. {Pick(Texts)} .. {Pick(Numbers)} .. {Pick(Texts)})",
        7 => $"{Pick(Functions)}({Value(depth - 1)})",
        8 => $"({Value(depth - 1)} {Pick("<", "==", "~=", "and", "or")} {Value(depth - 1)})",
        _ => Library(depth - 1),
    };

    private string Library(int depth) => _random.Next(17) switch
    {
        0 => $"cjson.encode({{{Pick(Numbers.AsSpan(0, 12).ToArray())}, {Pick(Texts)}, true, {{}}}})",
        1 => $"cjson.decode('[{_random.Next(-5, 5).ToString(CultureInfo.InvariantCulture)}, 2.50, \"x\\\\u00e9\", null]')[{_random.Next(1, 5)}]",
        2 => $"cmsgpack.pack({Pick(Numbers)}, {Pick(Texts)})",
        3 => $"cmsgpack.unpack(cmsgpack.pack({Pick(Numbers.AsSpan(0, 12).ToArray())}))",
        4 => $"struct.pack('{Pick("", ">", "<", "!4")}{Pick("b", "H", "i4", "I8", "d", "s", "h")}', {Value(0)})",
        5 => $"bit.band({Value(depth)}, {Pick(Numbers)})",
        6 => $"string.sub({Value(depth)}, {Pick("1", "-2", "2", "0")}, {Pick("1", "-1", "3", "100")})",
        7 => $"string.format('{Pick("%d", "%s", "%5.1f", "%x", "%g", "%q", "%5s", "%%", "%u", "%-6d|", "%c", "%.2s", "%o", "%+i", "%#X", "%e")}', {Value(depth)})",
        8 => $"bit.{Pick("lshift", "rshift", "arshift", "rol", "ror", "bor", "bxor")}({Value(depth)}, {Pick(Numbers)})",
        9 => $"bit.{Pick("bswap", "tohex", "tobit")}({Value(depth)})",
        10 => $"math.{Pick("max", "min", "fmod", "pow")}({Value(depth)}, {Value(depth)})",
        11 => $"math.{Pick("log10", "exp", "deg", "modf", "frexp")}({Value(depth)})",
        12 => $"table.concat({{{Value(depth)}, {Pick(Numbers)}, {Pick(Texts)}}}, {Pick("','", "1", "''")}, {Pick("1", "2", "'1'")})",
        13 => $"string.{Pick("rep(" + Pick(Texts) + ", " + Pick("0", "2", "'3'", "-1") + ")", "byte('abc', " + Pick("1", "-1", "'2'") + ")", "char(65, '66')", "upper(" + Value(depth) + ")", "len(" + Value(depth) + ")", "reverse(" + Value(depth) + ")")}",
        14 => $"string.gsub({Value(depth)}, {Pick("'%d'", "'[a-l]'", "'%s+'", "'.'", "''")}, {Pick("'<%0>'", "''", "1", "string.upper", "{a = 'b'}")})",
        15 => $"string.find({Value(depth)}, {Pick("'l'", "'%d+'", "'o w'", "'(.)(.)'", "1")}, {Pick("1", "2", "-3")})",
        _ => $"select({Pick("1", "2", "'#'", "-1")}, {Value(depth)}, {Value(depth)})",
    };

    private string Pick(params string[] from) => from[_random.Next(from.Length)];
}

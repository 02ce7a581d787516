using System.Globalization;
using System.Text;

namespace Garnet.Wire.Differential;

/// <summary>
/// Random programs by a seed: loops, closures, tables, texts, patterns, coroutines and errors, whose course 5.1 and the server must spell
/// alike; texts stay short. What fails is compared, not how it is said; what has no order or no end is left out,
/// and tables with holes, whose length is anybody's guess.
/// </summary>
internal sealed class ProgramStream(int seed)
{
    private const string Before = "local out, steps, deep = {}, 0, 0 "
        + "local function spell(v) local k = type(v) if k == 'table' then return 'table' .. #v elseif k == 'function' or k == 'thread' then return k end return tostring(v) end "
        + "local function say(...) for i = 1, select('#', ...) do out[#out + 1] = spell((select(i, ...))) end end "
        + "local function try(f, ...) steps = steps + 1 if steps > 2000 then return 'enough' end local ok, v = pcall(f, ...) if ok then return v end return 'failed' end "
        + "local function cut(v) if type(v) == 'string' then return string.sub(v, 1, 200) end return v end "
        + "local a, b, s, t, u = 3, 0.5, 'hello world', {5, 'x', 2.5, 1}, {k = 1, [2] = 'two'} local function f(x) return x end ";

    private static readonly string[] Numbers = ["0", "1", "2", "3", "-1", "7", "10", "0.5", "2.5", "-0.25", "1e3", "2^31", "2^53", "1/3", "1/0", "-1/0", "0/0", "0x1F", "1e15", "123456789", "2^63", "-2^63", "1e300", "5e-324"];
    private static readonly string[] Texts = ["''", "'a'", "'abc'", "'hello world'", "'12'", "'0x10'", "' 7 '", "'1e2'", "'\\q\\065\\0z'", "[[x\ny]]", "'a.b-c%d'", "('ab'):rep(5)", "'THE (quick) fox'"];
    private static readonly string[] Patterns = ["'.'", "'%a+'", "'%d*'", "'(%w)(%w*)'", "'^h'", "'d$'", "'l+'", "'.-o'", "'[^aeiou ]'", "'%s'", "'()'", "'(.)%1'", "'%b()'", "'%f[%w]%w+'", "''", "'[a-f%d]'", "'x?y?'", "'%'", "'('", "'[a'", "'%z'", "'(h)(e)(l)'", "'[]]'", "'[^]]'", "'a*b*'"];
    private static readonly string[] Small = ["1", "2", "3", "-1", "-2", "0", "1.9", "-1.5", "'2'", "10", "2^32+1", "nil"];
    private static readonly string[] Names = ["a", "b", "s", "t", "u", "i"];

    private readonly Random _random = new(seed);

    public string[] Next()
    {
        var program = new StringBuilder(Before).Append("local i = 1 ");
        for (int statements = _random.Next(3, 9); statements > 0; statements--) program.Append(Statement(2)).Append(' ');
        return ["EVAL", program.Append("say(a, b, s, #t, t[1], t[2], u.k) return out").ToString(), "0"];
    }

    private string Statement(int depth) => _random.Next(depth > 0 ? 18 : 9) switch
    {
        0 => $"a = cut({Try(Expression(2))})",
        1 => $"b = cut({Try(Expression(2))})",
        2 => $"s = cut({Try(Text(2))})",
        3 => $"try(function() t[{Pick("#t", "-1", "0", "'k'", "0.5", "nil")}] = {Expression(1)} or 1 end)",
        4 => $"try(function() t[#t + 1] = {Expression(1)} or 2 end)",
        5 => $"say(try(function() {Change()} end), #t)",
        6 or 7 => $"say({Try(Expression(3))})",
        8 => $"say(try(function() return {Library()} end))",
        9 => $"for i = {Pick("1", "3", "0.5", "-1", "'2'", "#t")}, {Pick("3", "1", "2.6", "-2", "#t")}{Pick("", ", 1", ", -1", ", 0.5", ", 1e3", ", -2")} do {Count()} {Statement(depth - 1)} say(i) end",
        10 => $"if {Try(Expression(2))} then {Statement(depth - 1)} else {Statement(depth - 1)} end",
        11 => $"for i, v in ipairs(t) do {Count()} say(i, v) {Statement(depth - 1)} end",
        12 => $"local n = 0 while n < 3 do n = n + 1 {Statement(depth - 1)} if {Try(Expression(1))} then break end end",
        13 => $"do local a = {Try(Expression(2))} f = function(x, ...) deep = deep + 1 if deep > 20 then return x end {Statement(depth - 1)} say(a, x, select('#', ...)) return {Expression(1)} end end",
        14 => $"say(try(function() return f({Expression(1)}, {Pick(Small)}) end))",
        15 => $"say(try(function() for w, x in string.gmatch({Text(1)}, {Pick(Patterns)}) do {Count()} say(w, x) end end))",
        16 => $"do local co = coroutine.wrap(function(x) {Statement(depth - 1)} local y = coroutine.yield(x, {Number()}) say(y) return {Expression(1)} end) say(try(co, {Number()})) say(try(co, 'more')) say(try(co)) end",
        _ => $"repeat local i = {Number()} {Statement(depth - 1)} say(i) until true",
    };

    private static string Count() => "steps = steps + 1 if steps > 200 then break end";

    private string Change() => _random.Next(7) switch
    {
        0 => $"table.insert(t, {Expression(1)} or 3)",
        1 => $"table.insert(t, {Pick("1", "#t", "#t + 1", "1.7", "'1'")}, {Number()})",
        2 => $"return table.remove(t{Pick("", ", 1", ", 2", ", 0", ", 1.5", ", 100", ", -1")})",
        3 => "local c = {} for i = 1, #t do c[i] = spell(t[i]) end table.sort(c) return table.concat(c, ' ')",
        4 => $"local c = {{{Number()}, {Number()}, {Number()}, 4, 2}} table.sort(c, function(x, y) return x > y end) return table.concat(c, ' ', 1, 2)",
        5 => $"return table.concat({{{Number()}, {Text(0)}, 3}}, {Pick("','", "''", "1", "nil")}, {Pick(Small)}, {Pick("3", "2", "1", "nil", "2.5")})",
        _ => $"setmetatable(u, {{__index = function(_, k) return k end, __call = function(_, x) return x end}}) return u[{Number()}]",
    };

    private string Library() => _random.Next(12) switch
    {
        0 => $"{{string.gsub({Text(1)}, {Pick(Patterns)}, {Pick("'<%0>'", "'%1'", "''", "'%%'", "string.upper", "{a = 'A', l = 1, o = false}", "function(x, y) return y end", "function() end", "'%2'", "3")}{Pick("", ", 1", ", 0", ", 2.9", ", -1")})}}",
        1 => $"string.gsub({Text(1)}, {Pick(Patterns)}, {Pick("'<%0>'", "'%1'", "function(x) return '[' .. x .. ']' end", "{h = 'H', e = 3.5}")}{Pick("", ", 1", ", 2")})",
        2 => $"string.find({Text(1)}, {Pick(Patterns)}, {Pick(Small)}{Pick("", ", true", ", false")})",
        3 => $"string.match({Text(1)}, {Pick(Patterns)}, {Pick(Small)})",
        4 => $"string.format('{Pick("%d", "%s", "%5.1f", "%x", "%g", "%q", "%5s", "%%", "%u", "%-6d|", "%c", "%.2s", "%o", "%+i", "%e", "%5%", "%y", "%10.3s|")}', {Expression(1)})",
        5 => $"unpack({Pick("t", "{1, 2, 3}", "u")}, {Pick(Small)}, {Pick(Small)})",
        6 => $"select({Pick("1", "2", "'#'", "-1", "1.5", "2^32+1")}, {Expression(1)}, {Expression(1)}, 3)",
        7 => $"tonumber({Expression(1)}{Pick("", ", 10", ", 16", ", 2", ", 36", ", 16.5")})",
        8 => $"math.{Pick("ldexp", "fmod", "pow", "max", "min")}({Number()}, {Number()})",
        9 => $"loadstring('local x = ... return {_random.Next(9).ToString(CultureInfo.InvariantCulture)} {Pick("+", "-", "*", "//", "..", "&", "%")} x')({Number()})",
        10 => $"string.{Pick("byte", "sub", "rep")}({Text(1)}, {Pick("1", "2", "-1", "1.9", "'2'", "0", "nil")}{Pick("", ", 3", ", -1")})",
        _ => $"next({Pick("{}", "{7}", "{k = 1}")})",
    };

    private string Expression(int depth) => _random.Next(depth > 0 ? 12 : 5) switch
    {
        < 2 => Number(),
        2 => Text(0),
        3 or 4 => Pick(Names),
        5 or 6 => $"({Expression(depth - 1)} {Pick("+", "-", "*", "/", "%", "^")} {Expression(depth - 1)})",
        7 => $"({Expression(depth - 1)} {Pick("==", "~=", "<", "<=", ">", ">=", "and", "or")} {Expression(depth - 1)})",
        8 => $"({Pick("not ", "#")}{Expression(depth - 1)} == -{Pick(Names)})",
        9 => Text(depth - 1),
        10 => $"{Pick("math.floor", "math.ceil", "math.abs", "spell", "tonumber", "type", "string.len", "string.upper", "string.reverse", "bit.tobit", "math.modf")}({Expression(depth - 1)})",
        _ => $"({Expression(depth - 1)} .. {Text(depth - 1)})",
    };

    private string Text(int depth) => _random.Next(depth > 0 ? 5 : 3) switch
    {
        < 2 => Pick(Texts),
        2 => "s",
        3 => $"({Text(depth - 1)} .. {Number()})",
        _ => $"spell({Expression(depth - 1)})",
    };

    private string Number() => Pick(Numbers);

    private static string Try(string expression) => $"try(function() return {expression} end)";

    private string Pick(params string[] from) => from[_random.Next(from.Length)];
}

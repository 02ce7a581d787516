using System.Globalization;

namespace Garnet.Wire.Differential;

/// <summary>Random commands on streams and groups from a seed: small ids, so that they meet, values of every shape, options chosen to hurt.</summary>
internal sealed class StreamStream(Random random)
{
    private static readonly string[] OddIds = ["0-0", "0", "abc", "-", "18446744073709551615-18446744073709551615", "5-", "-5", "99999999999999999999", "(5", "7-99999999999999999999", "", "007-3", "+3"];
    private static readonly string[] Values = ["a", "", "1", "-17", "hello", "12:30:01", "deadbeef", "0.5", "user:1234", "A_b-C9xyz", "\0\xff\r\n", "9223372036854775807", "00012", "the quick, brown fox; jumps!", new('x', 70), new('f', 300), new('1', 31)];
    private int _ms = 1;

    public string[] Next() => random.Next(100) switch
    {
        < 40 => Add(),
        < 58 => Entries(),
        < 66 => Group(),
        < 78 => ReadGroup(),
        < 93 => Pending(),
        < 97 => ["XINFO", Pick("STREAM", "GROUPS"), Key()],
        < 99 => [Pick("RENAME", "COPY"), Key(), Key()],
        _ => [.. (string[])(random.Next(2) == 0 ? ["OBJECT", "ENCODING"] : ["TYPE"]), Key()],
    };

    /// <summary>What must be there before; the ids begin anew.</summary>
    public void Reset() => _ms = 1;

    private string[] Add()
    {
        if (random.Next(25) == 0) _ms++;
        string id = random.Next(20) == 0 ? Id() : Text(_ms) + "-*";
        return ["XADD", Key(), .. random.Next(8) == 0 ? (string[])["NOMKSTREAM"] : [], .. random.Next(7) == 0 ? Trim() : [], id, .. Fields(), .. random.Next(60) == 0 ? (string[])["odd"] : []];
    }

    private string[] Entries() => random.Next(18) switch
    {
        < 4 => ["XRANGE", Key(), Bound(), Bound(), .. Count()],
        < 8 => ["XREVRANGE", Key(), Bound(), Bound(), .. Count()],
        < 9 => ["XLEN", Key()],
        < 12 => ["XDEL", Key(), .. Ids(5)],
        < 14 => ["XTRIM", Key(), .. Trim()],
        < 17 => ["XREAD", .. Count(), "STREAMS", Key(), Key(), Pick("$", "0", Id(), Id()), .. random.Next(20) == 0 ? (string[])[] : [Pick("$", "0", Id())]],
        _ => ["XSETID", Key(), Id(), .. random.Next(2) == 0 ? (string[])["ENTRIESADDED", Number(-1, 500)] : [], .. random.Next(2) == 0 ? (string[])["MAXDELETEDID", Id()] : []],
    };

    private string[] Group() => random.Next(8) switch
    {
        < 3 => ["XGROUP", "CREATE", Key(), Name(), Pick("0", "$", Id()), .. random.Next(2) == 0 ? (string[])["MKSTREAM"] : [], .. Known()],
        3 => ["XGROUP", "SETID", Key(), Name(), Pick("0", "$", Id()), .. Known()],
        4 => random.Next(3) == 0 ? ["XGROUP", Pick("DESTROY", "DESTROY", "NOSUCH"), Key(), Name()] : ["XLEN", Key()],
        5 => ["XGROUP", "DELCONSUMER", Key(), Name(), Consumer()],
        _ => ["XINFO", "GROUPS", Key()],
    };

    private string[] ReadGroup() => ["XREADGROUP", "GROUP", Name(), Consumer(), .. Count(), .. random.Next(9) == 0 ? (string[])["NOACK"] : [], "STREAMS", Key(), Pick(">", ">", ">", "0", Id(), "$")];

    private string[] Pending() => random.Next(15) switch
    {
        < 4 => ["XACK", Key(), Name(), .. Ids(6)],
        < 6 => ["XPENDING", Key(), Name()],
        < 9 => ["XPENDING", Key(), Name(), .. random.Next(4) == 0 ? (string[])["IDLE", "0"] : [], Bound(), Bound(), Pick("10", "2", "0", "-1", "x"), .. random.Next(2) == 0 ? (string[])[Consumer()] : []],
        < 12 => ["XCLAIM", Key(), Name(), Consumer(), Idle(), .. Ids(4), .. ClaimOptions()],
        _ => ["XAUTOCLAIM", Key(), Name(), Consumer(), Idle(), Pick("-", "0", Bound(), Id()), .. random.Next(2) == 0 ? (string[])["COUNT", Pick("1", "3", "100", "0")] : [], .. random.Next(3) == 0 ? (string[])["JUSTID"] : []],
    };

    private string[] ClaimOptions() =>
    [
        .. random.Next(3) == 0 ? (string[])["FORCE"] : [],
        .. random.Next(3) == 0 ? (string[])["JUSTID"] : [],
        .. random.Next(4) == 0 ? (string[])["RETRYCOUNT", Number(0, 9)] : [],
        .. random.Next(6) == 0 ? (string[])["LASTID", Id()] : [],
        .. random.Next(30) == 0 ? (string[])["bogus"] : [],
    ];

    private string[] Trim() =>
    [
        Pick("MAXLEN", "MAXLEN", "MINID"), .. random.Next(2) == 0 ? (string[])[Pick("=", "~", "~")] : [], Pick(Number(0, 30), Number(0, 300), Id()),
        .. random.Next(5) == 0 ? (string[])["LIMIT", Pick("0", "10", "1000", "-1", "x")] : [],
    ];

    private string[] Fields() => random.Next(6) switch
    {
        0 => [Value(), Value()],
        1 => ["f1", Value(), "f2", Value(), "f3", Value()],
        2 => [.. Enumerable.Range(0, random.Next(1, 4)).SelectMany(_ => (string[])["f1", Value()])],
        _ => ["f1", Value(), "f2", Pick("same", "same", Value())],
    };

    private string[] Count() => random.Next(2) == 0 ? [] : ["COUNT", Pick("0", "1", "5", "200", "-1", "x")];

    private string[] Known() => random.Next(4) == 0 ? ["ENTRIESREAD", Number(-2, 50)] : [];

    private string[] Ids(int max) => [.. Enumerable.Range(0, random.Next(1, max)).Select(_ => Id())];

    private string Idle() => Pick("0", "0", "100000", "x", "-5");

    private string Bound() => Pick("-", "+", "-", "+", Id(), Id(), "(" + Id(), Id());

    private string Id() => random.Next(30) switch { 0 => Pick(OddIds), < 4 => Number(1, 12), _ => Number(1, 12) + "-" + Number(0, 12) };

    private string Value() => random.Next(8) == 0 ? random.NextInt64(10_000_000_000).ToString(CultureInfo.InvariantCulture) : Pick(Values);

    private string Name() => random.Next(10) == 0 ? Pick("g1", "g2", "nosuch") : Pick("g1", "g2");

    private string Consumer() => Pick("c1", "c2", "c3");

    private string Key() => random.Next(12) == 0 ? Pick("x1", "x2", "x3", "str", "nosuch") : Pick("x1", "x2");

    private string Number(int from, int to) => Text(random.Next(from, to));

    private string Pick(params string[] choices) => choices[random.Next(choices.Length)];

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

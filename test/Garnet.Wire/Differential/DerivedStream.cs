using System.Globalization;

namespace Garnet.Wire.Differential;

/// <summary>Random commands on what lies in strings and sorted sets but means more: HyperLogLogs and places; what two texts have in common; and SORT over all that can be sorted.</summary>
internal sealed class DerivedStream(Random random)
{
    private static readonly string[] Units = ["m", "km", "ft", "mi", "KM", "bogus"];

    public string[] LogLog()
    {
        string key = Key("p", 4);
        return random.Next(20) switch
        {
            < 8 => ["PFADD", key, .. Elements()],
            < 11 => ["PFCOUNT", key],
            11 => ["PFCOUNT", key, Key("p", 4), Key("p", 4)],
            < 15 => ["PFMERGE", key, Key("p", 4), .. random.Next(2) == 0 ? (string[])[Key("p", 4)] : []],
            15 => ["PFDEBUG", Pick("ENCODING", "DECODE", "TODENSE", "bogus"), key],
            16 => Pick("SET", "DEL", "DEL", "LPUSH") is "SET" ? ["SET", key, "HYLL"] : ["DEL", key],
            17 => ["SETRANGE", key, Number(0, 16), Pick("\0", "x", "\x80")],
            _ => ["GET", key],
        };
    }

    public string[] Geo()
    {
        string key = Key("g", 3);
        return random.Next(20) switch
        {
            < 6 => ["GEOADD", key, .. Some("NX", "XX", "CH"), .. Enumerable.Range(0, random.Next(1, 6)).SelectMany(_ => (string[])[Longitude("181", "x"), Latitude("86", "x"), Place()])],
            6 => ["GEOPOS", key, Place(), Place()],
            7 => ["GEOHASH", key, Place(), Place()],
            8 => ["GEODIST", key, Place(), Place(), .. random.Next(2) == 0 ? (string[])[Pick(Units)] : []],
            9 => [Pick("GEORADIUS", "GEORADIUS_RO"), key, Longitude(), Latitude(), Size(), Pick(Units), .. Options()],
            10 => [Pick("GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER_RO"), key, Place(), Size(), Pick(Units), .. Options()],
            < 16 => ["GEOSEARCH", key, .. From(), .. By(), .. Options()],
            // What is stored is not searched: equal distances leave the order open.
            16 => ["GEOSEARCHSTORE", "d", key, .. From(), .. By(), .. random.Next(2) == 0 ? (string[])["STOREDIST"] : []],
            17 => ["GEORADIUS", key, Longitude(), Latitude(), Size(), Pick(Units), Pick("STORE", "STOREDIST"), "d"],
            18 => ["ZRANGE", Pick("d", key), "0", "-1"],
            _ => random.Next(5) == 0 ? ["DEL", key] : ["ZCARD", key],
        };
    }

    public string[] Sort()
    {
        string key = Pick("l1", "l2", "s1", "z1", "h1", "nosuch");
        return random.Next(16) switch
        {
            0 => ["RPUSH", Pick("l1", "l2"), .. Enumerable.Range(0, random.Next(1, 8)).Select(_ => Item())],
            1 => ["SADD", "s1", Number(0, 30), Number(0, 30), Item()],
            2 => ["ZADD", "z1", Number(0, 9), Number(0, 30), Number(0, 9), Item()],
            3 => ["SET", "w_" + Number(0, 30), Number(-5, 5)],
            4 => ["HSET", "h_" + Number(0, 30), "f", Number(-5, 5)],
            5 => ["DEL", Pick("l1", "l2", "s1", "z1")],
            6 => ["LRANGE", "d", "0", "-1"],
            7 => [Pick("SORT", "SORT_RO"), key, "ALPHA", .. Rest()],
            // Equal texts to sort by leave the order open, and so does a set that is not sorted: neither is asked for.
            _ => [Pick("SORT", "SORT", "SORT_RO"), key, .. random.Next(3) == 0 ? (string[])["BY", Pick("w_*", "h_*->f", key == "s1" ? "w_*" : "nosort", "h_*->")] : [], .. Rest()],
        };
    }

    /// <summary>Few different letters, so that there are many ways of equal length: which of them is taken is what is compared.</summary>
    public string[] Common()
    {
        string key = Key("t", 3);
        return random.Next(4) switch
        {
            0 => ["SET", key, Letters(random.Next(random.Next(3) == 0 ? 300 : 12), random.Next(1, 5))],
            1 => ["SET", key, Letters((64 * random.Next(1, 4)) + random.Next(-1, 2), random.Next(2, 30))],
            _ => ["LCS", key, Key("t", 3), .. Pick("", "LEN", "IDX", "IDX WITHMATCHLEN", "IDX WITHMATCHLEN MINMATCHLEN 2").Split(' ', StringSplitOptions.RemoveEmptyEntries)],
        };
    }

    private string Letters(int length, int kinds) => string.Concat(Enumerable.Range(0, length).Select(_ => (char)('a' + random.Next(kinds))));

    private string[] Rest() =>
    [
        .. random.Next(3) == 0 ? (string[])["LIMIT", Number(-2, 8), Number(-2, 8)] : [],
        .. random.Next(4) == 0 ? (string[])["GET", Pick("#", "w_*", "h_*->f", "nostar")] : [],
        .. random.Next(4) == 0 ? (string[])["GET", "#"] : [],
        .. random.Next(3) == 0 ? (string[])[Pick("ASC", "DESC", "DESC", "bogus")] : [],
        .. random.Next(5) == 0 ? (string[])["STORE", "d"] : [],
    ];

    private string Item() => random.Next(40) == 0 ? Pick("abc", "", "1.5", "1e2", " 3", "nan", "inf") : Number(0, 30);

    private string[] Elements() => random.Next(6) switch
    {
        0 => [],
        1 => [.. Enumerable.Range(0, random.Next(600)).Select(_ => Number(0, 100_000))],
        _ => [.. Enumerable.Range(0, random.Next(1, 5)).Select(_ => Number(0, 5000))],
    };

    private string[] From() => random.Next(3) == 0 ? ["FROMMEMBER", Place()] : ["FROMLONLAT", Longitude(), Latitude()];

    private string[] By() => random.Next(2) == 0 ? ["BYRADIUS", Size(), Pick(Units)] : ["BYBOX", Size(), Size(), Pick(Units)];

    private string[] Options() =>
    [
        .. Some("WITHCOORD", "WITHDIST", "WITHHASH", "ASC", "DESC"),
        .. random.Next(3) == 0 ? (string[])["COUNT", Pick("1", "3", "100", "0", "x")] : [],
        .. random.Next(8) == 0 ? (string[])["ANY"] : [],
    ];

    private string Size() => random.Next(20) == 0 ? Pick("-1", "x", "0") : Math.Round(Math.Pow(10, random.NextDouble() * 7), 2).ToString(CultureInfo.InvariantCulture);

    private string Longitude(params string[] edges) => random.Next(30) == 0 ? Pick(edges.Length > 0 ? edges : ["181", "x", "-180", "180"]) : Degrees(random.Next(3) switch { 0 => 0, 1 => 170, _ => -170 }, random.Next(2) == 0 ? 10 : 1);

    private string Latitude(params string[] edges) => random.Next(30) == 0 ? Pick(edges.Length > 0 ? edges : ["86", "x", "85.05112878", "-85.05112878"]) : Degrees(random.Next(3) switch { 0 => 0, 1 => 40, _ => -70 }, random.Next(2) == 0 ? 10 : 1);

    private string Degrees(double around, double width) => Math.Round(around + ((random.NextDouble() - 0.5) * 2 * width), 8).ToString(CultureInfo.InvariantCulture);

    private string Place() => Key("m", 60);

    private string Key(string name, int count) => name + Number(0, count);

    private string Number(int from, int to) => random.Next(from, to).ToString(CultureInfo.InvariantCulture);

    private string[] Some(params string[] choices)
    {
        List<string> chosen = [];
        while (random.Next(5) < 2) chosen.Add(Pick(choices));
        return [.. chosen];
    }

    private string Pick(params string[] choices) => choices[random.Next(choices.Length)];
}

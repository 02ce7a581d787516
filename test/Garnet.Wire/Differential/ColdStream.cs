using System.Globalization;

namespace Garnet.Wire.Differential;

/// <summary>
/// Random commands on collections of all types from a seed, alone, in transactions and in scripts: small ones, large ones of many pieces, and what
/// makes one of the other. Between them it says which keys are to go to the tier, and which to come back.
/// </summary>
internal sealed class ColdStream(Random random)
{
    private const int TogetherMax = 5, LargeMin = 300, LargeMax = 2500, EntriesAtFirst = 250, Additions = 4;

    /// <summary>All names that its commands know.</summary>
    public static readonly string[] Names = ["h1", "h2", "s1", "s2", "s3", "l1", "l2", "z1", "z2", "zlex", "single", "x1", "x2", "x3", "g0", "g1", "g2", "d", "p0", "p1", "n1", "n2", "str"];

    /// <summary>A change of one piece of each, once they are on the tier.</summary>
    public static readonly string[][] OneEach =
    [
        ["HSET", "h1", "f700", "1"], ["HSET", "h2", "f700", "1"], ["SADD", "s1", "other"], ["SADD", "s2", "other"], ["SADD", "s3", "other"],
        ["ZADD", "z1", "3", "f700"], ["ZADD", "z2", "3", "f700"], ["LSET", "l1", "3", "other"], ["LSET", "l2", "3", "other"], ["XADD", "x1", "1-1", "f", "v"],
    ];

    // One of one element, one of scores that are all alike, and numbers to sort: nothing else is to get these names.
    private static readonly string[] s_special = ["single", "zlex", "n1", "n2"];

    private static readonly string[] s_any = [.. Names.Except(s_special)];

    // How a sorted set is called that was large before is redis-server's own affair.
    private static readonly HashSet<string> s_leftOut = ["OBJECT"];

    // Pages of a walk are each server's own, and within a transaction nobody walks on.
    private static readonly HashSet<string> s_leftOutTogether = [.. s_leftOut, "SCAN", "HSCAN", "SSCAN", "ZSCAN"];

    private readonly CollectionStream _collections = new(random);
    private readonly StreamStream _streams = new(random);
    private readonly DerivedStream _derived = new(random);

    /// <summary>Commands of one step: one alone, or several that are to run together.</summary>
    public (ColdStep Kind, string[][] Commands) Next() => random.Next(8) switch
    {
        0 => (ColdStep.Transaction, Together()),
        1 => (ColdStep.Script, Together()),
        2 => (ColdStep.ScriptOfUnnamedKeys, Together()),
        _ => (ColdStep.Alone, [Command(s_leftOut)]),
    };

    /// <summary>A large collection of each type, of empty databases; the ids of streams begin anew.</summary>
    public IEnumerable<string[]> Begin()
    {
        _streams.Reset();
        for (int type = 0; type < Additions; type++) yield return Large(type);
        for (int entry = 0; entry < EntriesAtFirst; entry++) yield return ["XADD", "x1", "0-" + Text(entry + 1), "field", Text(random.Next(1000))];
    }

    /// <summary>What is to be done to the tier before the next step; most often a few keys go there.</summary>
    public string[][] Moves() => random.Next(12) switch
    {
        < 4 => [],
        4 => [.. Names.Select(static name => (string[])["TIER.DEMOTE", name])],
        5 => [["TIER.PROMOTE", Pick(Names)]],
        _ => [.. Enumerable.Range(0, random.Next(1, 5)).Select(_ => (string[])["TIER.DEMOTE", Pick(Names)])],
    };

    private string[][] Together() => [.. Enumerable.Range(0, random.Next(2, TogetherMax + 1)).Select(_ => Command(s_leftOutTogether))];

    private string[] Command(HashSet<string> leftOut)
    {
        while (true)
        {
            string[] words = Command();
            if (!leftOut.Contains(words[0])) return words;
        }
    }

    private string[] Command() => random.Next(40) switch
    {
        < 22 => _collections.Next(),
        < 31 => _streams.Next(),
        < 33 => Sort(),
        33 => _derived.Geo(),
        34 => _derived.LogLog(),
        35 => Large(random.Next(2 * Additions)),
        < 38 => Of(Pick("h", "s", "l", "z")),
        _ => Several(),
    };

    // Of texts that leave no order open; numbers in the order of numbers are refused by redis-server after an overflow anywhere before.
    private string[] Sort() => random.Next(4) switch
    {
        0 => ["RPUSH", "n1", .. Enumerable.Range(0, random.Next(1, 200)).Select(_ => Text(random.Next(1000)))],
        1 => ["SADD", "n2", .. Enumerable.Range(0, random.Next(1, 200)).Select(_ => Text(random.Next(1000)))],
        _ =>
        [
            "SORT", Pick("n1", "n2"), "ALPHA", Pick("ASC", "DESC"), "LIMIT", Text(random.Next(50)), Text(random.Next(300)),
            .. random.Next(2) == 0 ? (string[])["STORE", "d"] : [],
        ],
    };

    // Some dozens of pieces, or a few, or all that there were of them taken away again.
    private string[] Large(int what)
    {
        IEnumerable<int> all = Enumerable.Range(random.Next(600), random.Next(LargeMin, LargeMax));
        return what switch
        {
            0 => ["HSET", Pick("h1", "h2"), .. all.SelectMany(static i => (string[])["f" + Text(i), "value of " + Text(i)])],
            1 => ["SADD", Pick("s1", "s2", "s3"), .. all.Select(static i => "f" + Text(i))],
            2 => ["ZADD", Pick("z1", "z2"), .. all.SelectMany(i => (string[])[Text(random.Next(50)), "f" + Text(i)])],
            3 => [Pick("LPUSH", "RPUSH"), Pick("l1", "l2"), .. all.Select(static i => "f" + Text(i))],
            4 => ["HDEL", Pick("h1", "h2"), .. all.Select(static i => "f" + Text(i))],
            5 => ["SREM", Pick("s1", "s2", "s3"), .. all.Select(static i => "f" + Text(i))],
            6 => ["ZREM", Pick("z1", "z2"), .. all.Select(static i => "f" + Text(i))],
            _ => ["LTRIM", Pick("l1", "l2"), Text(random.Next(100)), Text(random.Next(-300, -100))],
        };
    }

    // One element in the middle, so that of many pieces few come back.
    private string[] Of(string type)
    {
        string field = "f" + Text(random.Next(1200));
        return type switch
        {
            "h" => random.Next(3) switch
            {
                0 => ["HGET", Pick("h1", "h2"), field],
                1 => ["HSET", Pick("h1", "h2"), field, Text(random.Next(1000))],
                _ => ["HDEL", Pick("h1", "h2"), field],
            },
            "s" => [Pick("SISMEMBER", "SADD", "SREM"), Pick("s1", "s2", "s3"), field],
            "l" => random.Next(2) == 0 ? ["LINDEX", Pick("l1", "l2"), Text(random.Next(1200))] : ["LSET", Pick("l1", "l2"), Text(random.Next(1200)), field],
            _ => random.Next(3) switch
            {
                0 => [Pick("ZSCORE", "ZRANK", "ZREM"), Pick("z1", "z2"), field],
                1 => ["ZADD", Pick("z1", "z2"), Text(random.Next(50)), field],
                _ => ["ZCOUNT", Pick("z1", "z2"), Text(random.Next(25)), Text(random.Next(25, 50))],
            },
        };
    }

    // Two or more keys, of which each may lie elsewhere.
    private string[] Several() => random.Next(9) switch
    {
        0 => [Pick("SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"), Pick("s1", "s2", "s3"), "s1", "s2", "s3"],
        1 => [Pick("ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE"), Pick("z1", "z2"), "2", "z1", Pick("z2", "s1")],
        2 => ["SMOVE", Pick("s1", "s2"), Pick("s2", "s3"), "f" + Text(random.Next(1200))],
        3 => ["LMOVE", Pick("l1", "l2"), Pick("l1", "l2"), Pick("LEFT", "RIGHT"), Pick("LEFT", "RIGHT")],
        4 => ["COPY", Pick(s_any), Pick(s_any), "REPLACE"],
        5 => [Pick("RENAME", "RENAMENX"), Pick(s_any), Pick(s_any)],
        6 => [Pick("EXISTS", "TOUCH"), Pick(s_any), Pick(s_any), Pick(s_any)],
        7 => ["ZRANGESTORE", Pick("z1", "z2"), Pick("z1", "z2"), Text(random.Next(50)), Text(random.Next(50, 2000))],
        _ => [Pick("DEL", "UNLINK"), Pick(s_any), Pick(s_any)],
    };

    private string Pick(params string[] choices) => choices[random.Next(choices.Length)];

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

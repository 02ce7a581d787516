namespace Garnet.Wire.Differential;

/// <summary>
/// Random commands from a seed, family by family, with arguments chosen to hurt: 64-bit edges, numbers that are nearly numbers,
/// empty and binary keys, wrong arity, options that do not go together. Few keys, so that commands meet each other's results.
/// </summary>
internal sealed class CommandStream(int seed)
{
    private static readonly string[] Keys = ["a", "b", "c", "n1", "n2", "f", "k:1", "k:2", "", "\0bin\r\n", "long-key-0123456789012345678901234567890123456789"];

    private static readonly string[] Integers =
    [
        "0", "1", "-1", "5", "10", "100", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
        "4294967296", "2147483647", "-2147483648", " 1", "1 ", "+1", "-0", "00", "01", "0x10", "1.5", "1e3", "1e400", "abc", "", "-", "99999999999999999999",
    ];

    private static readonly string[] Floats = ["0", "1", "-1", "1.5", "-0.25", "0.1", "3.0e3", "5e-1", "1e17", "-0", "inf", "-inf", "nan", " 1", "1 ", "abc", "", "0x1p3", "1e400", "+2.5", ".5", "5."];

    private static readonly string[] Values =
        ["v", "", "hello world", "12", "-7", "1.5", "9223372036854775807", "-9223372036854775808", "007", " 3", "\0\r\n\xff", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "3.0e3"];

    private static readonly string[] ExpireSeconds = ["100", "1000", "100000", "0", "-1", "9223372036854775807", "9223372036854775", "abc", "", "1.5", " 5"];
    private static readonly string[] ExpireMs = ["100000", "1000000", "0", "-5", "9223372036854775807", "abc"]; // or past: nothing expires between the two servers
    private static readonly string[] ExpireAt = ["4102444800", "4102448400", "4102444800000", "4102448400000", "1", "0", "-1", "9223372036854775807", "abc"];
    private static readonly string[] Databases = ["0", "1", "0", "1", "2", "15", "16", "-1", "abc", ""];
    private static readonly string[] SetOptions = ["NX", "XX", "GET", "KEEPTTL", "get", "nx", "bogus", "PERSIST"];
    private static readonly string[] Conditions = ["NX", "XX", "GT", "LT", "gt", "bogus"];
    private static readonly string[] Patterns = ["*", "k:*", "?", "[ab]", "[^ab]", "n[0-9]", "\\a", "", "*bin*", "k:[", "**1"];

    private static readonly string[] Settings = ["maxmemory", "maxmemory-policy", "appendonly", "save", "timeout", "databases", "nosuch", "slowlog-max-len", "proto-max-bulk-len"];

    private readonly Random _random = new(seed);

    public string[] Next()
    {
        string[] words = _random.Next(20) switch
        {
            < 5 => Write(),
            < 8 => Number(),
            < 11 => Read(),
            < 15 => Expiry(),
            < 18 => Space(),
            _ => Session(),
        };
        return Damage(words);
    }

    private string Key() => Pick(Keys);

    private string Value() => Pick(Values);

    private string[] Write() => _random.Next(12) switch
    {
        0 or 1 => ["SET", Key(), Value()],
        2 or 3 => ["SET", Key(), Value(), .. Options()],
        4 => ["SETNX", Key(), Value()],
        5 => ["GETSET", Key(), Value()],
        6 => ["APPEND", Key(), Value()],
        7 => ["SETRANGE", Key(), Pick("0", "1", "5", "100", "-1", "536870912", "abc", "9223372036854775807"), Value()],
        8 => ["MSET", Key(), Value(), Key(), Value()],
        9 => ["MSETNX", Key(), Value(), Key(), Value()],
        10 => _random.Next(2) == 0 ? ["SETEX", Key(), Pick(ExpireSeconds), Value()] : ["PSETEX", Key(), Pick(ExpireMs), Value()],
        _ => ["GETDEL", Key()],
    };

    private string[] Options()
    {
        List<string> options = [];
        for (int i = _random.Next(1, 4); i > 0; i--)
        {
            if (_random.Next(2) == 0) options.Add(Pick(SetOptions));
            else options.AddRange(_random.Next(4) switch
            {
                0 => ["EX", Pick(ExpireSeconds)],
                1 => ["PX", Pick("100000", "1000000", "0", "abc")],
                2 => ["EXAT", Pick(ExpireAt)],
                _ => ["PXAT", Pick(ExpireAt)],
            });
        }
        return [.. options];
    }

    private string[] Number() => _random.Next(6) switch
    {
        0 => ["INCR", Key()],
        1 => ["DECR", Key()],
        2 => ["INCRBY", Key(), Pick(Integers)],
        3 => ["DECRBY", Key(), Pick(Integers)],
        4 => ["INCRBYFLOAT", Key(), Pick(Floats)],
        _ => ["SET", Key(), Pick(Integers)],
    };

    private string[] Read() => _random.Next(10) switch
    {
        0 or 1 => ["GET", Key()],
        2 => ["MGET", Key(), Key(), Key()],
        3 => ["STRLEN", Key()],
        4 or 5 => [Pick("GETRANGE", "SUBSTR"), Key(), Pick(Integers), Pick(Integers)],
        6 => ["GETEX", Key(), .. _random.Next(3) == 0 ? (string[])["PERSIST"] : Options()],
        7 or 8 => ["LCS", Key(), Key(), .. Some("IDX", "LEN", "WITHMATCHLEN", "bogus"), .. _random.Next(3) == 0 ? (string[])["MINMATCHLEN", Pick(Integers)] : []],
        _ => ["OBJECT", Pick("ENCODING", "REFCOUNT", "FREQ"), Key()],
    };

    private string[] Expiry() => _random.Next(8) switch
    {
        0 or 1 => ["EXPIRE", Key(), Pick(ExpireSeconds), .. Some(Conditions)],
        2 => ["PEXPIRE", Key(), Pick(ExpireMs), .. Some(Conditions)],
        3 => ["EXPIREAT", Key(), Pick(ExpireAt), .. Some(Conditions)],
        4 => ["PEXPIREAT", Key(), Pick(ExpireAt), .. Some(Conditions)],
        5 => ["PERSIST", Key()],
        6 => [Pick("EXPIRETIME", "PEXPIRETIME"), Key()],
        _ => [Pick("TTL", "PTTL"), Key()],
    };

    private string[] Space() => _random.Next(16) switch
    {
        0 => ["DEL", Key(), Key()],
        1 => ["UNLINK", Key()],
        2 => ["EXISTS", Key(), Key(), Key()],
        3 => ["TOUCH", Key(), Key()],
        4 => ["TYPE", Key()],
        5 => ["RENAME", Key(), Key()],
        6 => ["RENAMENX", Key(), Key()],
        7 => ["COPY", Key(), Key(), .. Some("REPLACE", "bogus"), .. _random.Next(2) == 0 ? (string[])["DB", Pick(Databases)] : []],
        8 => ["MOVE", Key(), Pick(Databases)],
        9 => ["SWAPDB", Pick(Databases), Pick(Databases)],
        10 or 11 => ["SELECT", Pick("0", "0", "0", "1", Pick(Databases))],
        12 => ["KEYS", Pick(Patterns)],
        13 => ["DBSIZE"],
        14 => ["SCAN", "0", "COUNT", "1000", .. _random.Next(2) == 0 ? (string[])["MATCH", Pick(Patterns)] : [], .. Some("TYPE", "bogus")],
        _ => _random.Next(20) == 0 ? [Pick("FLUSHDB", "FLUSHALL"), .. Some("ASYNC", "SYNC", "bogus")] : ["EXISTS", Key()],
    };

    private string[] Session() => _random.Next(12) switch
    {
        0 => ["PING", .. Some("hi")],
        1 => ["ECHO", Value()],
        2 => ["CLIENT", "SETNAME", Pick("me", "", "two words", "x\n")],
        3 => ["CLIENT", "GETNAME"],
        4 => ["CONFIG", "GET", Pick(Settings)],
        5 => ["PUBLISH", Pick("ch", "other"), Value()],
        6 => ["PUBSUB", Pick("NUMSUB", "CHANNELS", "NUMPAT", "bogus"), .. Some("ch")],
        7 => ["COMMAND", "GETKEYS", .. Write()],
        8 => ["HELLO", Pick("1", "4", "abc", "")],
        9 => ["CLIENT", Pick("NO-EVICT", "REPLY", "UNPAUSE", "GETREDIR", "TRACKINGINFO", "bogus"), .. Some("ON")],
        10 => ["AUTH", Pick("x", "y"), Pick("x", "y")],
        _ => [Pick("NOSUCH", "get", "", "Set"), .. Some("a", "b")],
    };

    /// <summary>Now and then an argument too few, too many, or a name in another case.</summary>
    private string[] Damage(string[] words) => _random.Next(40) switch
    {
        0 when words.Length > 1 => words[..^1],
        1 => [.. words, Value()],
        2 => [words[0].ToLowerInvariant(), .. words[1..]],
        _ => words,
    };

    private string[] Some(params string[] choices)
    {
        List<string> chosen = [];
        while (_random.Next(5) < 2) chosen.Add(Pick(choices));
        return [.. chosen];
    }

    private string Pick(params string[] choices) => choices[_random.Next(choices.Length)];
}

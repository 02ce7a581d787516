using System.Globalization;

namespace Garnet.Wire.Differential;

/// <summary>
/// Random commands on collections from a seed: few keys and fields, so that they meet; now and then many at once, so that the forms
/// change; numbers and options chosen to hurt.
/// </summary>
internal sealed class CollectionStream(Random random)
{
    private static readonly string[] Keys = ["h1", "h2", "s1", "s2", "s3", "l1", "l2", "z1", "z2", "str"];
    private static readonly string[] Members = ["a", "b", "c", "", "1", "2", "-3", "10", "99999999999999999999", "007", "member", "\0\r\n\xff", "long-member-0123456789012345678901234567890123456789012345678901234567890123456789"];
    private static readonly string[] Integers = ["0", "1", "-1", "2", "-2", "5", "100", "-100", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "abc", "", "1.5", " 1"];
    private static readonly string[] Floats = ["0", "1", "-1.5", "3.25", "1e5", "inf", "-inf", "nan", "abc", "", "1e400", " 1", "0.1", "5.0e-3"];

    public string[] Next() => random.Next(20) switch
    {
        < 4 => Hash(),
        < 7 => Set(),
        < 11 => List(),
        < 16 => SortedSet(),
        < 17 => Any(),
        _ => Space(),
    };

    private string[] Hash()
    {
        string key = Key('h');
        return random.Next(26) switch
        {
            < 5 => [Pick("HSET", "HSET", "HMSET"), key, Member(), Value(), .. random.Next(3) == 0 ? (string[])[Member(), Value()] : []],
            5 => ["HSET", key, .. Many(2)],
            6 => ["HSETNX", key, Member(), Value()],
            7 or 8 => ["HGET", key, Member()],
            9 => ["HMGET", key, Member(), Member(), "nosuch"],
            10 => ["HGETALL", key],
            11 => [Pick("HKEYS", "HVALS"), key],
            12 => ["HLEN", key],
            13 => [Pick("HEXISTS", "HSTRLEN"), key, Member()],
            14 or 15 => ["HDEL", key, Member(), .. random.Next(2) == 0 ? (string[])[Member(), Member()] : []],
            16 => ["HDEL", key, .. Many(1)],
            17 or 18 => ["HINCRBY", key, Member(), Pick(Integers)],
            19 => ["HINCRBYFLOAT", key, Member(), Pick(Floats)],
            20 => ["HRANDFIELD", key, .. random.Next(2) == 0 ? (string[])[Pick("0", "2", "-3", "1000", "abc", "-9223372036854775808"), .. Some("WITHVALUES", "bogus")] : []],
            21 => ["HSCAN", key, Pick("0", "0", "0", "abc"), .. Scan()],
            22 => ["OBJECT", "ENCODING", key],
            23 => ["HSET", key, Member()],
            _ => ["HSET", key, Number(), Value()],
        };
    }

    private string[] Set()
    {
        string key = Key('s');
        return random.Next(30) switch
        {
            < 4 => ["SADD", key, Member(), .. random.Next(2) == 0 ? (string[])[Member(), Number()] : []],
            4 or 5 => ["SADD", key, Number(), Number(), Number()],
            6 => ["SADD", key, .. Many(1)],
            7 => ["SADD", key, .. Enumerable.Range(random.Next(-300, 300), random.Next(1, 700)).Select(i => Text(i * 7))],
            8 or 9 => ["SREM", key, Member(), .. random.Next(2) == 0 ? (string[])[Number(), Member()] : []],
            10 => ["SREM", key, .. Many(1)],
            11 => ["SISMEMBER", key, Member()],
            12 => ["SMISMEMBER", key, Member(), Number(), "1"],
            13 => ["SCARD", key],
            14 or 15 => ["SMEMBERS", key],
            16 => ["SPOP", "single", .. random.Next(2) == 0 ? (string[])[Pick("0", "1", "-1", "abc", "9223372036854775807")] : []],
            17 => ["SADD", "single", "1"],
            18 => ["SRANDMEMBER", key, .. random.Next(2) == 0 ? (string[])[Pick("0", "2", "-3", "1000", "abc", "-9223372036854775808")] : []],
            19 => ["SMOVE", key, Key('s'), Member()],
            20 => ["SMOVE", key, Key('s'), Number()],
            21 => ["SSCAN", key, Pick("0", "0", "abc"), .. Scan()],
            22 => [Pick("SINTER", "SUNION", "SDIFF"), key, Key('s'), .. random.Next(2) == 0 ? (string[])[Key('s')] : []],
            23 => [Pick("SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"), Key('s'), key, .. random.Next(2) == 0 ? (string[])[Key('s')] : []],
            24 => ["SINTERCARD", Pick("1", "2", "3", "0", "abc"), key, Key('s'), .. random.Next(2) == 0 ? (string[])["LIMIT", Pick("0", "1", "5", "-1", "abc")] : []],
            25 => ["OBJECT", "ENCODING", key],
            26 => ["SADD", key],
            _ => ["SADD", key, Value()],
        };
    }

    private string[] List()
    {
        string key = Key('l');
        return random.Next(34) switch
        {
            < 4 => [Pick("LPUSH", "RPUSH", "LPUSHX", "RPUSHX"), key, Value(), .. random.Next(2) == 0 ? (string[])[Member(), Number()] : []],
            4 or 5 => [Pick("LPUSH", "RPUSH"), key, .. Many(1)],
            6 => ["RPUSH", key, .. Enumerable.Repeat(Member(), random.Next(1, 40)), Number(), .. Enumerable.Repeat("x", 20)],
            7 or 8 => [Pick("LPOP", "RPOP"), key],
            9 => [Pick("LPOP", "RPOP"), key, Pick("0", "1", "3", "50", "-1", "abc", "9223372036854775807")],
            10 => ["LLEN", key],
            11 or 12 => ["LINDEX", key, random.Next(2) == 0 ? Pick(Integers) : Text(random.Next(-300, 300))],
            13 or 14 or 15 => ["LRANGE", key, random.Next(3) == 0 ? Pick(Integers) : Text(random.Next(-300, 300)), random.Next(3) == 0 ? Pick(Integers) : Text(random.Next(-300, 300))],
            16 => ["LRANGE", key, "0", "-1"],
            17 or 18 => ["LSET", key, random.Next(3) == 0 ? Pick(Integers) : Text(random.Next(-300, 300)), Value()],
            19 or 20 => ["LINSERT", key, Pick("BEFORE", "AFTER", "before", "bogus"), Member(), Value()],
            21 or 22 => ["LREM", key, Pick("0", "1", "-1", "2", "-2", "abc", "-9223372036854775808"), Pick(Member(), "x")],
            23 => ["LTRIM", key, Text(random.Next(-100, 100)), Text(random.Next(-20, 300))],
            24 => ["LTRIM", key, Pick(Integers), Pick(Integers)],
            25 or 26 => ["LPOS", key, Pick(Member(), "x"), .. random.Next(2) == 0 ? (string[])["RANK", Pick("1", "-1", "2", "-3", "0", "abc")] : [], .. random.Next(2) == 0 ? (string[])["COUNT", Pick("0", "1", "2", "-1", "abc")] : [], .. random.Next(3) == 0 ? (string[])["MAXLEN", Pick("0", "1", "50", "-1")] : []],
            27 => ["LMOVE", key, Key('l'), Pick("LEFT", "RIGHT", "bogus"), Pick("LEFT", "RIGHT")],
            28 => ["RPOPLPUSH", key, Key('l')],
            29 => ["LMPOP", Pick("1", "2", "0", "abc", "3"), key, Key('l'), Pick("LEFT", "RIGHT"), .. random.Next(2) == 0 ? (string[])["COUNT", Pick("1", "5", "0", "-1", "abc")] : []],
            30 => ["OBJECT", "ENCODING", key],
            31 => [Pick("BLPOP", "BRPOP"), key, Key('l'), Timeout()],
            32 => Pick("BLMOVE", "BRPOPLPUSH", "BLMPOP") switch
            {
                "BLMOVE" => ["BLMOVE", key, Key('l'), Pick("LEFT", "RIGHT", "bogus"), Pick("LEFT", "RIGHT"), Timeout()],
                "BLMPOP" => ["BLMPOP", Timeout(), Pick("1", "2", "0", "abc"), key, Key('l'), Pick("LEFT", "RIGHT"), .. random.Next(2) == 0 ? (string[])["COUNT", Pick("1", "5", "0")] : []],
                string move => [move, key, Key('l'), Timeout()],
            },
            _ => ["RPUSH", key, Member()],
        };
    }

    private string[] SortedSet()
    {
        string key = Key('z');
        return random.Next(45) switch
        {
            40 or 41 => [Pick("ZUNION", "ZINTER", "ZDIFF"), .. Sources(), .. Some("WITHSCORES", "bogus")],
            42 => [Pick("ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE"), Key('z'), .. Sources()],
            43 => ["ZINTERCARD", Pick("1", "2", "0", "abc"), key, Key('z'), .. random.Next(2) == 0 ? (string[])["LIMIT", Pick("0", "1", "5", "-1")] : []],
            44 => ["ZRANGESTORE", Key('z'), key, Bound(), Bound(), "BYSCORE", .. Some("REV"), .. Limit()],
            < 5 => ["ZADD", key, Score(), Member(), .. random.Next(2) == 0 ? (string[])[Score(), Member()] : []],
            5 or 6 => ["ZADD", key, .. Some("NX", "XX", "GT", "LT", "CH", "INCR", "ch"), Score(), Member()],
            7 or 8 => ["ZADD", key, .. Enumerable.Range(random.Next(600), random.Next(10, 200)).SelectMany(i => (string[])[Text(random.Next(50)), "f" + Text(i)])],
            9 => ["ZADD", key, .. Enumerable.Range(random.Next(600), random.Next(1, 60)).SelectMany(i => (string[])["0", "f" + Text(i)])],
            10 or 11 => ["ZINCRBY", key, Score(), Member()],
            12 or 13 => ["ZREM", key, Member(), .. random.Next(2) == 0 ? (string[])[Member(), Member()] : []],
            14 => ["ZREM", key, .. Many(1)],
            15 => ["ZSCORE", key, Member()],
            16 => ["ZMSCORE", key, Member(), Member(), "nosuch"],
            17 => ["ZCARD", key],
            18 or 19 => [Pick("ZRANK", "ZREVRANK"), key, Member()],
            20 or 21 => [Pick("ZRANGE", "ZREVRANGE"), key, Text(random.Next(-300, 300)), Pick("-1", "10", "200", Text(random.Next(-300, 300)), "abc"), .. Some("WITHSCORES", "withscores")],
            22 => ["ZRANGE", key, Bound(), Bound(), "BYSCORE", .. Some("REV"), .. Limit(), .. Some("WITHSCORES")],
            23 => ["ZRANGE", "zlex", Lex(), Lex(), "BYLEX", .. Some("REV"), .. Limit(), .. Some("WITHSCORES")],
            24 => ["ZRANGE", key, Pick(Integers), Pick(Integers), .. Some("REV", "bogus"), .. Limit()],
            25 or 26 => [Pick("ZRANGEBYSCORE", "ZREVRANGEBYSCORE"), key, Bound(), Bound(), .. Some("WITHSCORES"), .. Limit()],
            27 => [Pick("ZRANGEBYLEX", "ZREVRANGEBYLEX"), "zlex", Lex(), Lex(), .. Limit()],
            28 => ["ZCOUNT", key, Bound(), Bound()],
            29 => ["ZLEXCOUNT", "zlex", Lex(), Lex()],
            30 => ["ZREMRANGEBYRANK", key, Text(random.Next(-100, 100)), Text(random.Next(-100, 100))],
            31 => ["ZREMRANGEBYSCORE", key, Bound(), Bound()],
            32 => ["ZREMRANGEBYLEX", "zlex", Lex(), Lex()],
            33 => ["ZADD", "zlex", .. Enumerable.Range(random.Next(600), random.Next(1, 60)).SelectMany(i => (string[])["0", "f" + Text(i)])],
            34 => [Pick("ZPOPMIN", "ZPOPMAX"), key, .. random.Next(2) == 0 ? (string[])[Pick("0", "1", "3", "50", "-1", "abc")] : []],
            35 => ["ZMPOP", Pick("1", "2", "0", "abc", "3"), key, Key('z'), Pick("MIN", "MAX"), .. random.Next(2) == 0 ? (string[])["COUNT", Pick("1", "5", "0", "-1", "abc")] : []],
            36 => ["ZRANDMEMBER", key, .. random.Next(2) == 0 ? (string[])[Pick("0", "2", "-3", "1000", "abc"), .. Some("WITHSCORES", "bogus")] : []],
            37 => ["ZSCAN", key, Pick("0", "0", "abc"), .. Scan()],
            38 => ["OBJECT", "ENCODING", key],
            39 => random.Next(2) == 0 ? [Pick("BZPOPMIN", "BZPOPMAX"), key, Key('z'), Timeout()] : ["BZMPOP", Timeout(), Pick("1", "2", "0", "abc"), key, Key('z'), Pick("MIN", "MAX"), .. random.Next(2) == 0 ? (string[])["COUNT", Pick("1", "5", "0")] : []],
            _ => ["ZRANGE", key, "0", "-1", "WITHSCORES"],
        };
    }

    private string[] Sources() =>
    [
        Pick("2", "2", "2", "1", "0", "abc"), Key('z'), random.Next(3) == 0 ? Key('s') : Key('z'),
        .. random.Next(3) == 0 ? (string[])["WEIGHTS", Pick("2", "0.5", "abc"), Pick("1", "-1")] : [],
        .. random.Next(3) == 0 ? (string[])["AGGREGATE", Pick("SUM", "MIN", "MAX", "bogus")] : [],
    ];

    private string Timeout() => Pick("0.001", "0.001", "0.001", "0.001", "-1", "abc", "1e30");

    private string Score() => random.Next(4) switch { 0 => Pick("0", "1", "-1.5", "3.25", "1e5", "inf", "-inf", "nan", "abc", "", "+inf"), 1 => Text(random.Next(-5, 5)), _ => Text(random.Next(50)) };

    private string Bound() => random.Next(4) switch { 0 => Pick("-inf", "+inf", "(3", "(-1.5", "abc", "nan", "(inf", "("), 1 => "(" + Text(random.Next(50)), _ => Text(random.Next(-5, 50)) };

    private string Lex() => random.Next(4) switch { 0 => Pick("-", "+", "abc", "", "(", "[", "++"), 1 => "(f" + Text(random.Next(600)), _ => "[f" + Text(random.Next(600)) };

    private string[] Limit() => random.Next(3) != 0 ? [] : ["LIMIT", Pick("0", "1", "10", "-1", "abc"), Pick("1", "5", "-1", "0", "100", "abc")];

    private string[] Any() => random.Next(3) switch
    {
        0 => ["SET", Pick(Keys), "text"],
        1 => ["GET", Pick(Keys)],
        _ => ["APPEND", Pick(Keys), "x"],
    };

    private string[] Space() => random.Next(12) switch
    {
        0 => ["DEL", Pick(Keys)],
        1 => ["UNLINK", Pick(Keys)],
        2 => ["RENAME", Pick(Keys), Pick(Keys)],
        3 => ["COPY", Pick(Keys), Pick(Keys), .. Some("REPLACE")],
        4 => ["TYPE", Pick(Keys)],
        5 => ["EXPIRE", Pick(Keys), Pick("100", "1000", "0", "-1")],
        6 => ["PERSIST", Pick(Keys)],
        7 => ["TTL", Pick(Keys)],
        8 => ["EXISTS", Pick(Keys), Pick(Keys)],
        9 => ["SCAN", "0", "COUNT", "1000", "TYPE", Pick("hash", "set", "list", "zset", "string", "bogus")],
        10 => ["MOVE", Pick(Keys), "1"],
        _ => random.Next(40) == 0 ? ["FLUSHDB"] : ["DBSIZE"],
    };

    private string[] Scan() => [.. random.Next(2) == 0 ? (string[])["MATCH", Pick("*", "a*", "[ab]", "1?", "")] : [], .. random.Next(2) == 0 ? (string[])["COUNT", Pick("1", "10", "1000", "0", "abc")] : [], .. Some("bogus")];

    // Two hundred or so: past the thresholds of small forms and several chunks large.
    private string[] Many(int width)
    {
        int from = random.Next(600), count = random.Next(10, 250);
        return [.. Enumerable.Range(from, count).SelectMany(i => width == 2 ? (string[])["f" + Text(i), Value()] : ["f" + Text(i)])];
    }

    private string Key(char type) => random.Next(12) == 0 ? Pick(Keys) : type + Text(random.Next(1, type == 's' ? 4 : 3));

    private string Member() => random.Next(3) == 0 ? "f" + Text(random.Next(600)) : Pick(Members);

    private string Number() => Text(random.Next(-20, 20));

    private string Value() => random.Next(12) switch
    {
        0 => new string('v', random.Next(60, 70)),
        1 => new string('w', random.Next(2000)),
        2 => Pick(Integers),
        3 => Pick(Floats),
        _ => Text(random.Next(1000)),
    };

    private string[] Some(params string[] choices)
    {
        List<string> chosen = [];
        while (random.Next(5) < 2) chosen.Add(Pick(choices));
        return [.. chosen];
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private string Pick(params string[] choices) => choices[random.Next(choices.Length)];
}

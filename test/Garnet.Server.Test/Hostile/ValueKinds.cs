using System.Globalization;

namespace Garnet.Server.Test.Hostile;

/// <summary>Values of every kind and form, and commands that read and change all of one.</summary>
internal static class ValueKinds
{
    private const int Many = 300;

    /// <summary>Commands that make them; a key's name begins with the letter of its kind.</summary>
    internal static IEnumerable<string[]> Makers() => [.. Hashes(), .. Sets(), .. Lists(), .. SortedSets(), .. Streams(), .. Strings()];

    private static IEnumerable<string[]> Hashes()
    {
        yield return ["HSET", "h:packed", .. Numbers(9).SelectMany(static i => (string[])["f" + i, new string('v', i)])];
        yield return ["HSET", "h:timed", .. Numbers(9).SelectMany(static i => (string[])["f" + i, "v"])];
        yield return ["HEXPIRE", "h:timed", "1000", "FIELDS", "2", "f1", "f2"];
        foreach (string key in (string[])["h:chunks", "h:changed"])
            yield return ["HSET", key, .. Numbers(Many).SelectMany(static i => (string[])["f" + i, "value " + i])];
        yield return ["HDEL", "h:changed", .. Numbers(Many).Where(static i => i % 3 == 1).Select(static i => "f" + i)];
        yield return ["HSET", "h:changed", .. Numbers(Many).Where(static i => i % 5 == 0).SelectMany(static i => (string[])["f" + i, new string('x', i)])];
        yield return ["HEXPIRE", "h:changed", "1000", "FIELDS", "2", "f0", "f5"];
        yield return ["HSET", "h:long", "f1", new string('y', 70_000), "f2", new string('z', 3000)];
        yield return ["RENAME", "h:packed", "h:moved"];
        yield return ["COPY", "h:chunks", "h:copied"];
    }

    private static IEnumerable<string[]> Sets()
    {
        yield return ["SADD", "s:short", .. Numbers(40).Select(Text)];
        yield return ["SADD", "s:wide", "-5", "70000", "5000000000"];
        yield return ["SADD", "s:packed", "m1", "m2", "m3", "4"];
        yield return ["SADD", "s:chunks", .. Numbers(Many).Select(static i => "member " + i)];
        yield return ["COPY", "s:short", "s:copied"];
    }

    private static IEnumerable<string[]> Lists()
    {
        yield return ["RPUSH", "l:packed", .. Numbers(20).Select(static i => new string('e', i))];
        yield return ["RPUSH", "l:pages", .. Numbers(Many * 2).Select(static i => "element " + i)];
        yield return ["LPUSH", "l:pages", .. Numbers(Many).Select(static i => "front " + i)];
        yield return ["LREM", "l:pages", "0", "element 7"];
        yield return ["LTRIM", "l:pages", "100", "-5"];
        yield return ["RPUSH", "l:long", "e", new string('y', 70_000), new string('z', 130), ""];
        yield return ["COPY", "l:packed", "l:copied"];
        yield return ["COPY", "l:pages", "l:pages copied"];
    }

    private static IEnumerable<string[]> SortedSets()
    {
        yield return ["ZADD", "z:packed", .. Numbers(12).SelectMany(static i => (string[])[Text(i / 2), "m" + i])];
        foreach (string key in (string[])["z:chunks", "z:timed"])
            yield return ["ZADD", key, .. Numbers(Many).SelectMany(static i => (string[])[Text(i % 50), "m" + i])];
        yield return ["ZREM", "z:chunks", .. Numbers(Many).Where(static i => i % 7 == 1).Select(static i => "m" + i)];
        yield return ["ZADD", "z:chunks", "inf", "m2", "-inf", "m3", "1.5", "m4"];
        yield return ["ZEXPIRE", "z:timed", "1000", "MEMBERS", "40", .. Numbers(40).Select(static i => "m" + i)];
        yield return ["ZEXPIRE", "z:packed", "1000", "MEMBERS", "2", "m1", "m2"];
        yield return ["COPY", "z:packed", "z:copied"];
        yield return ["COPY", "z:timed", "z:timed too"];
        yield return ["ZRANGESTORE", "z:stored", "z:chunks", "0", "-1"];
    }

    private static IEnumerable<string[]> Streams()
    {
        foreach (string key in (string[])["x:groups", "x:plain"])
        {
            foreach (int i in Numbers(Many)) yield return ["XADD", key, $"{5 + (i / 9)}-{1 + (i % 9)}", "name", "user " + i, "n", Text(i), "id", i.ToString("x8", CultureInfo.InvariantCulture)];
            yield return ["XADD", key, "500-1", "other", new string('v', 200), "", ""];
        }

        yield return ["XDEL", "x:groups", "6-1", "7-2", "5-1"];
        foreach (string group in (string[])["g", "g2"]) yield return ["XGROUP", "CREATE", "x:groups", group, "0"];
        foreach (string consumer in (string[])["c", "d"]) yield return ["XREADGROUP", "GROUP", "g", consumer, "COUNT", "90", "STREAMS", "x:groups", ">"];
        yield return ["XREADGROUP", "GROUP", "g2", "e", "COUNT", "5", "STREAMS", "x:groups", ">"];
        yield return ["XNACK", "x:groups", "g", "FAIL", "IDS", "2", "8-1", "8-2"];
        foreach (int i in Numbers(60)) yield return ["XADD", "x:sent", "IDMP", "p" + (i % 4), "name" + i, "*", "a", Text(i)];
        yield return ["COPY", "x:groups", "x:copied"];
        yield return ["COPY", "x:sent", "x:sent too"];
    }

    private static IEnumerable<string[]> Strings()
    {
        yield return ["PFADD", "p:sparse", "a", "b", "c"];
        yield return ["PFADD", "p:dense", .. Numbers(3000).Select(Text)];
        yield return ["SET", "p:text", "12345"];
        yield return ["COPY", "p:sparse", "p:copied"];
    }

    /// <summary>Commands that look at all of a value.</summary>
    internal static IEnumerable<string> Reads(string key) => (key.Length == 0 ? 'h' : key[0]) switch
    {
        'h' => ["HGETALL K", "HSCAN K 0 COUNT 1000", "HLEN K", "HGET K f1", "HGET K f299", "HRANDFIELD K 5 WITHVALUES", "HRANDFIELD K -500", "HPTTL K FIELDS 3 f0 f1 f2", "HSTRLEN K f7"],
        's' => ["SMEMBERS K", "SSCAN K 0 COUNT 1000", "SCARD K", "SISMEMBER K m1", "SISMEMBER K 7", "SRANDMEMBER K 5", "SRANDMEMBER K -500", "SUNION K K", "SINTERCARD 1 K"],
        'l' => ["LRANGE K 0 -1", "LRANGE K -50 -1", "LINDEX K 5", "LINDEX K -5", "LLEN K", "LPOS K nothing", "LPOS K nothing RANK -1"],
        'z' => ["ZRANGE K 0 -1 WITHSCORES", "ZREVRANGE K 0 -1", "ZRANK K m5", "ZREVRANK K m299 WITHSCORE", "ZSCORE K m2", "ZCOUNT K 3 7", "ZRANGE K (3 inf BYSCORE", "ZLEXCOUNT K - +", "ZSCAN K 0 COUNT 1000", "ZRANDMEMBER K 5 WITHSCORES", "ZPTTL K MEMBERS 2 m1 m2", "ZINTERCARD 1 K"],
        'x' => ["XRANGE K - +", "XREVRANGE K + -", "XLEN K", "XINFO STREAM K FULL COUNT 0", "XINFO GROUPS K", "XINFO CONSUMERS K g", "XPENDING K g", "XPENDING K g - + 1000", "XPENDING K g - + 1000 c", "XREAD STREAMS K 7-1"],
        _ => ["PFCOUNT K", "GET K", "BITCOUNT K", "STRLEN K"],
    };

    /// <summary>What every kind answers.</summary>
    internal static readonly string[] ReadsOfAny = ["TYPE K", "OBJECT ENCODING K", "DUMP K", "MEMORY USAGE K", "COPY K copy REPLACE", "DEL copy"];

    /// <summary>Commands that change a value at many places.</summary>
    internal static IEnumerable<string> Writes(string key) => (key.Length == 0 ? 'h' : key[0]) switch
    {
        'h' => ["HSET K f1 changed f9999 new", "HDEL K f2 f3 f298", "HINCRBY K count 5", "HEXPIRE K 2000 FIELDS 2 f0 f4", "HPERSIST K FIELDS 1 f1", "HGETDEL K FIELDS 2 f5 f6", .. Spread("HSET K", static i => $"g{i} w{i}"), .. Spread("HDEL K", static i => "f" + i)],
        's' => ["SADD K m1 new 77 70001", "SREM K m2 5 70000", "SPOP K 3", "SMOVE K copy m1", "SADD K word", .. Spread("SADD K", static i => "n" + i), .. Spread("SREM K", static i => $"n{i}")],
        'l' => ["LPUSH K a b c", "RPUSH K d e f", "LSET K 0 first", "LSET K -1 last", "LINSERT K BEFORE d x", "LREM K 1 e", "LPOP K 3", "RPOP K 3", "LTRIM K 1 -2", .. Spread("RPUSH K", static i => "n" + i), "LPOP K 90"],
        'z' => ["ZADD K 5 m5 6.5 m6 7 new", "ZINCRBY K 3 m7", "ZREM K m8 m9 m200", "ZPOPMIN K 2", "ZPOPMAX K 2", "ZEXPIRE K 2000 MEMBERS 2 m10 m11", "ZPERSIST K MEMBERS 1 m12", "ZREMRANGEBYRANK K 1 3", .. Spread("ZADD K", static i => $"{i % 40} n{i}"), "ZREMRANGEBYSCORE K 3 9", .. Spread("ZREM K", static i => "m" + i)],
        'x' => ["XADD K * name u n 1 id 2", "XADD K * f v", "XDEL K 8-3 9-1", "XACK K g 8-4 8-5", "XREADGROUP GROUP g new COUNT 20 STREAMS K >", "XCLAIM K g c 0 9-2 9-3", "XAUTOCLAIM K g d 0 0 COUNT 20", "XNACK K g FAIL IDS 1 9-4", "XGROUP CREATECONSUMER K g more", "XGROUP DELCONSUMER K g c", "XGROUP CREATE K g3 0", "XREADGROUP GROUP g3 c COUNT 5 STREAMS K >", "XGROUP DESTROY K g2", "XADD K IDMP p1 fresh * a b", "XTRIM K MAXLEN 100", "XTRIM K MAXLEN = 5", "XADD K * f v"],
        _ => ["PFADD K x y z", "SETBIT K 70000 1", "APPEND K more", "PFCOUNT K"],
    };

    private static IEnumerable<string> Spread(string command, Func<int, string> operand) => Enumerable.Range(0, 3).Select(part => command + " " + string.Join(' ', Enumerable.Range(part * 40, 40).Select(operand)));

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static IEnumerable<int> Numbers(int count) => Enumerable.Range(0, count);
}

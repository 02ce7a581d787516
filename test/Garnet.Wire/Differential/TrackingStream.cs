using System.Globalization;

namespace Garnet.Wire.Differential;

/// <summary>
/// Random commands of several clients around client-side caching: every way of tracking, reads and writes of few keys in a few databases,
/// transactions, scripts, clients that go. Nothing whose moment is a server's own affair: no time that comes by itself, no group of consumers;
/// and no SWAPDB, of which Redis tells nobody.
/// </summary>
internal sealed class TrackingStream(int seed)
{
    /// <summary>The client that always tracks, as a client does that has said no more than ON, and the one that never does.</summary>
    public const int Anchor = 0, Writer = 1, Clients = 6;

    /// <summary>The word that stands for the id of a client: the letter and its number.</summary>
    public const char IdMark = '@';

    private static readonly string[] Keys = ["a:1", "a:2", "ab", "b:1", "b:2", "c", ""];
    private static readonly string[] Prefixes = ["a", "a:", "ab", "b:", "c", "", "a:1", "x"];
    private static readonly string[] Scripts =
    [
        "return redis.call('GET', KEYS[1])", "return redis.call('SET', KEYS[1], 's')", "redis.call('SET', KEYS[1], 's') return redis.call('GET', KEYS[1])",
        "local v = redis.call('GET', KEYS[1]) redis.call('SET', KEYS[1], 't') return v", "redis.call('DEL', KEYS[1]) redis.call('FLUSHDB') return 1", "return 1",
    ];

    private readonly Random _random = new(seed);
    private readonly bool[] _isQuiet = new bool[Clients]; // who wants no messages of its own changes: those of scripts it gets from Redis all the same, if by prefix
    private int _entry;

    /// <summary>Who sends what. KILL and a number stand for the end of that client, whose place a new one takes.</summary>
    public (int Client, string[] Words) Next()
    {
        int client = _random.Next(Clients);
        return _random.Next(100) switch
        {
            < 30 => (client, Read()),
            < 60 => (_random.Next(3) == 0 ? client : Writer, Write()),
            < 70 => (_random.Next(2) == 0 ? client : Writer, Collection()),
            < 74 => (client, ["EVAL", _isQuiet[client] ? Scripts[0] : Pick(Scripts), "1", Key()]),
            < 88 when client > Writer => (client, Tracking(client)),
            < 95 when client > Anchor => (client, Session(client)),
            _ => (client, Step()),
        };
    }

    private string Key() => Pick(Keys);

    private string[] Read() => _random.Next(10) switch
    {
        < 4 => ["GET", Key()],
        4 => ["MGET", Key(), Key(), Key()],
        5 => ["EXISTS", Key(), Key()],
        6 => _random.Next(4) == 0 ? ["OBJECT", "ENCODING", "nothing"] : ["STRLEN", Key()],
        7 => [Pick("LLEN", "SCARD", "HLEN", "ZCARD", "XLEN", "TYPE"), Key()],
        8 => [Pick("SINTERCARD", "ZINTERCARD"), "2", Key(), Key()],
        _ => _random.Next(3) switch { 0 => ["LRANGE", Key(), "0", "-1"], 1 => ["SUNION", "nothing", "none"], _ => [Pick("BITCOUNT", "TOUCH"), Key()] },
    };

    private string[] Write() => _random.Next(24) switch
    {
        < 6 => ["SET", Key(), Value()],
        6 => ["SET", Key(), Value(), Pick("NX", "XX", "GET", "KEEPTTL")],
        7 => ["SET", Key(), Value(), "EX", "1000"],
        8 => ["MSET", Key(), Value(), Key(), Value()],
        9 => ["DEL", Key(), Key()],
        10 => ["UNLINK", Key()],
        11 => ["APPEND", Key(), Pick("", "x")],
        12 => ["GETDEL", Key()],
        13 => ["GETEX", Key(), .. Pick("PERSIST", "EX", "PXAT") switch { "PERSIST" => (string[])["PERSIST"], "EX" => ["EX", "1000"], _ => ["PXAT", "1"] }],
        14 => ["EXPIRE", Key(), Pick("1000", "0", "-1")],
        15 => ["PEXPIREAT", Key(), Pick("1", "4102444800000")],
        16 => ["PERSIST", Key()],
        17 => [Pick("RENAME", "RENAMENX"), Key(), Key()],
        18 => ["COPY", Key(), Key(), .. _random.Next(2) == 0 ? (string[])["REPLACE"] : ["DB", Pick("0", "1")]],
        19 => ["MOVE", Key(), Pick("0", "1", "2")],
        20 => ["SETRANGE", Key(), "0", Pick("", "z")],
        21 => ["SETBIT", Key(), "3", Pick("0", "1")],
        22 => ["GETSET", Key(), Value()],
        _ => _random.Next(4) switch { 0 => [Pick("FLUSHDB", "FLUSHALL")], 1 => ["APPEND", Key(), "x"], _ => ["INCR", Key()] },
    };

    private string[] Collection() => _random.Next(14) switch
    {
        0 => [Pick("LPUSH", "RPUSH", "LPUSHX"), Key(), Value()],
        1 => [Pick("LPOP", "RPOP"), Key()],
        2 => ["RPOPLPUSH", Key(), Key()],
        3 => ["LMOVE", Key(), Key(), Pick("LEFT", "RIGHT"), Pick("LEFT", "RIGHT")],
        4 => ["LTRIM", Key(), "0", Pick("0", "-1")],
        5 => [Pick("SADD", "SREM"), Key(), Value()],
        6 => ["SMOVE", Key(), Key(), Value()],
        7 => [Pick("SUNIONSTORE", "SINTERSTORE", "SDIFFSTORE"), Key(), Key(), Key()],
        8 => ["HSET", Key(), Value(), Value()],
        9 => ["HDEL", Key(), Value()],
        10 => ["ZADD", Key(), Pick("1", "2"), Value()],
        11 => ["ZREM", Key(), Value()],
        12 => ["XADD", Key(), (++_entry).ToString(CultureInfo.InvariantCulture) + "-1", "f", "v"],
        _ => ["SORT", Key(), "ALPHA", "STORE", Key()],
    };

    private string[] Tracking(int client) => _random.Next(10) switch
    {
        < 5 => ["CLIENT", "TRACKING", "ON", .. Options(client)],
        5 => ["CLIENT", "TRACKING", "OFF"],
        6 or 7 => ["CLIENT", "CACHING", Pick("YES", "NO")],
        8 => ["CLIENT", "TRACKINGINFO"],
        _ => ["CLIENT", "GETREDIR"],
    };

    private List<string> Options(int client)
    {
        List<string> options = [];
        while (_random.Next(3) > 0)
        {
            options.AddRange(_random.Next(8) switch
            {
                0 or 1 => ["BCAST"],
                2 => ["OPTIN"],
                3 => ["OPTOUT"],
                4 => ["NOLOOP"],
                5 => (string[])["REDIRECT", IdMark + _random.Next(Clients).ToString(CultureInfo.InvariantCulture)],
                _ when !options.Contains("PREFIX") => ["BCAST", "PREFIX", Pick(Prefixes)], // of a second one that overlaps Redis says so and goes on
                _ => ["BCAST"],
            });
        }
        _isQuiet[client] |= options.Contains("NOLOOP");
        return options;
    }

    private string[] Session(int client) => _random.Next(12) switch
    {
        < 3 => ["HELLO", Pick("2", "3")],
        3 => ["RESET"],
        4 when client > Writer => ["KILL", client.ToString(CultureInfo.InvariantCulture)],
        5 or 6 => ["SUBSCRIBE", "__redis__:invalidate"],
        7 => ["UNSUBSCRIBE"],
        8 => ["CLIENT", "TRACKINGINFO"],
        _ => ["SELECT", Pick("0", "0", "1", "2")],
    };

    private string[] Step() => _random.Next(6) switch
    {
        0 or 1 => ["MULTI"],
        2 or 3 => ["EXEC"],
        4 => ["DISCARD"],
        _ => ["WATCH", Key()],
    };

    private string Value() => Pick("1", "2", "v");

    private string Pick(params string[] choices) => choices[_random.Next(choices.Length)];
}

using System.Globalization;
using System.Text.RegularExpressions;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>What is said about a key, and what is done with it as a whole, is the same wherever it lies: in memory, on the tier, or some of it here and some there.</summary>
internal sealed partial class ColdAnswerTests
{
    private const int Small = 5, Large = 2000;
    private const string Key = "key", Other = "other";

    private static readonly string[] s_kinds = ["string", "number", "hash", "set", "integers", "sorted", "list", "stream"];
    private string _path = "";

    [SetUp]
    public void Make() => _path = Directory.CreateTempSubdirectory("garnet-cold").FullName;

    [TearDown]
    public void Remove() => Directory.Delete(_path, recursive: true);

    /// <summary>Where a key lies when it is asked about.</summary>
    public enum Place
    {
        Tier,

        /// <summary>All of it was on the tier, and one element was written again as it was.</summary>
        Half,
    }

    [Test]
    public void A_key_is_spoken_of_as_in_memory([ValueSource(nameof(s_kinds))] string kind, [Values(Small, Large)] int entries, [Values] Place place)
    {
        using EmbeddedServer server = Server();
        using var client = new TestClient(server.Server.Port);
        Fill(client, kind, entries);
        foreach (string[] ask in Questions(kind))
        {
            Assert.That(client.Call("TIER.PROMOTE", Key), Is.EqualTo("OK"));
            string hot = Ask(client, ask);
            Cool(client, kind, place);
            string cold = Ask(client, ask), what = string.Join(' ', ask);
            // What a value has room for beyond its length, and where it lies alone, is not kept.
            if (ask[0] == "MEMORY") Assert.That(Number(cold), Is.InRange(Number(hot) - Slack(hot), Number(hot) + Slack(hot)), what);
            else Assert.That(cold, Is.EqualTo(hot), what);
        }
    }

    /// <summary>Changes of the key as a whole, and of an element: the reply, and what is left under this name and the other.</summary>
    [Test]
    public void A_key_is_moved_copied_timed_and_sorted_as_in_memory([ValueSource(nameof(s_kinds))] string kind, [Values(Small, Large)] int entries, [Values] Place place)
    {
        using EmbeddedServer server = Server();
        using var client = new TestClient(server.Server.Port);
        foreach (string[] act in Acts(kind))
        {
            Fill(client, kind, entries);
            string hot = Ask(client, act), left = Left(server);
            client.Call("FLUSHALL");
            Fill(client, kind, entries);
            Cool(client, kind, place);
            string what = string.Join(' ', act);
            Assert.That(Ask(client, act), Is.EqualTo(hot), what);
            Assert.That(Left(server), Is.EqualTo(left), what);
            client.Call("FLUSHALL");
        }

        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void A_dump_of_it_is_restored_to_the_same([ValueSource(nameof(s_kinds))] string kind, [Values(Small, Large)] int entries, [Values] Place place)
    {
        using EmbeddedServer server = Server();
        using var client = new TestClient(server.Server.Port);
        Fill(client, kind, entries);
        Cool(client, kind, place);
        Assert.That(client.Call("RESTORE", Other, "0", client.Call("DUMP", Key)), Is.EqualTo("OK"));
        SortedDictionary<string, string> content = StoreContent.Of(server.Server.Store, server.Server.Store.Namespaces.Id(0));
        Assert.That(content[Other], Is.EqualTo(content[Key]));
    }

    [Test]
    public void Being_asked_about_is_no_use_of_it([ValueSource(nameof(s_kinds))] string kind, [Values("allkeys-lru", "allkeys-lfu")] string policy)
    {
        const int Times = 5;
        using EmbeddedServer server = Server();
        using var client = new TestClient(server.Server.Port);
        client.Call("CONFIG", "SET", "maxmemory-policy", policy);
        Fill(client, kind, Large);
        string[] frequency = ["OBJECT", "FREQ", "*"], idle = ["OBJECT", "IDLETIME", "*"];
        (string[] known, string[] unknown) = policy == "allkeys-lfu" ? (frequency, idle) : (idle, frequency);
        string hot = Ask(client, known), refused = Ask(client, unknown);
        Assert.That(client.Call("TIER.DEMOTE", Key), Does.Match("^[1-9]"));
        for (int i = 0; i < Times; i++)
        {
            string cold = Ask(client, known);
            Assert.That(Number(cold), policy == "allkeys-lfu" ? Is.LessThanOrEqualTo(Number(hot)) : Is.GreaterThanOrEqualTo(Number(hot)), "it is not fresher than before");
            Assert.That((Ask(client, unknown), refused[..3]), Is.EqualTo((refused, "ERR")));
        }

        Assert.That(client.Call("TIER.WHERE", Key), Does.StartWith("[where tier"));
    }

    private EmbeddedServer Server() => new(adjust: settings =>
    {
        settings.Memory.MaxMemoryBytes = 64 << 20;
        (settings.Tier.Path, settings.Tier.SizeBytes) = (_path, 64 << 20);
    });

    private static string[][] Questions(string kind) =>
    [
        ["TYPE", "*"], ["OBJECT", "ENCODING", "*"], ["OBJECT", "REFCOUNT", "*"], ["MEMORY", "USAGE", "*"], ["MEMORY", "USAGE", "*", "SAMPLES", "0"], ["EXISTS", "*"], ["TOUCH", "*"], ["TTL", "*"], ["EXPIRETIME", "*"],
        ["DUMP", "*"], ["DEBUG", "OBJECT", "*"],
        .. kind switch
        {
            "string" => (string[][])[["STRLEN", "*"], ["GETRANGE", "*", "3", "9"], ["BITCOUNT", "*"], ["GETBIT", "*", "17"]],
            "number" => [["GET", "*"], ["STRLEN", "*"]],
            "hash" => [["HLEN", "*"], ["HGETALL", "*"], ["HKEYS", "*"], ["HVALS", "*"], ["HSTRLEN", "*", "name 3"], ["HEXISTS", "*", "none"], ["HTTL", "*", "FIELDS", "1", "name 2"]],
            "set" or "integers" => [["SCARD", "*"], ["SMEMBERS", "*"], ["SORT", "*", "ALPHA", "LIMIT", "0", "50"], ["SINTERCARD", "2", "*", "*"]],
            "sorted" => [["ZCARD", "*"], ["ZRANGE", "*", "0", "-1", "WITHSCORES"], ["ZRANK", "*", "name 3"], ["ZCOUNT", "*", "1", "3"], ["SORT", "*", "ALPHA", "DESC"]],
            "list" => [["LLEN", "*"], ["LRANGE", "*", "0", "-1"], ["LPOS", "*", "element 3"], ["SORT", "*", "ALPHA"]],
            _ => [["XLEN", "*"], ["XRANGE", "*", "-", "+"], ["XINFO", "STREAM", "*"], ["XINFO", "STREAM", "*", "FULL"], ["XPENDING", "*", "group"]],
        },
    ];

    private static string[][] Acts(string kind) =>
    [
        ["EXPIREAT", "*", "4102444800"], ["PERSIST", "*"], ["EXPIRE", "*", "0"], ["EXPIREAT", "*", "4102444800", "GT"], ["RENAME", "*", Other], ["RENAMENX", "*", Other], ["COPY", "*", Other],
        ["COPY", "*", Other, "DB", "1"], ["MOVE", "*", "1"], ["DEL", "*"], ["UNLINK", "*"],
        .. kind switch
        {
            "string" => (string[][])[["APPEND", "*", "x"], ["SETRANGE", "*", "2", "yy"], ["GETDEL", "*"], ["GETEX", "*", "EXAT", "4102444800"], ["SET", "*", "v", "KEEPTTL", "GET"], ["BITOP", "NOT", Other, "*"]],
            "number" => [["INCRBY", "*", "7"], ["GETSET", "*", "3"]],
            "hash" => [["HDEL", "*", "name 1", "name 4"], ["HINCRBY", "*", "count", "3"], ["HPEXPIREAT", "*", "4102444800000", "FIELDS", "1", "name 1"]],
            "set" or "integers" => [["SUNIONSTORE", Other, "*"], ["SORT", "*", "ALPHA", "STORE", Other], ["SMOVE", "*", Other, "3"], ["SREM", "*", "name 1", "2"]],
            "sorted" => [["ZUNIONSTORE", Other, "1", "*"], ["SORT", "*", "ALPHA", "STORE", Other], ["ZPOPMAX", "*", "3"], ["ZREMRANGEBYRANK", "*", "1", "-2"], ["ZRANGESTORE", Other, "*", "0", "-2"]],
            "list" => [["SORT", "*", "ALPHA", "STORE", Other], ["LMOVE", "*", Other, "LEFT", "RIGHT"], ["LTRIM", "*", "1", "-2"], ["LINSERT", "*", "BEFORE", "element 2", "x"], ["LREM", "*", "0", "element 1"]],
            _ => [["XADD", "*", "9999-1", "f", "v"], ["XDEL", "*", "2-0"], ["XTRIM", "*", "MAXLEN", "2"], ["XREADGROUP", "GROUP", "group", "me", "COUNT", "2", "STREAMS", "*", ">"], ["XSETID", "*", "9999-5"]],
        },
    ];

    // Without times of day: the second key was made later.
    private static string Ask(TestClient client, string[] words)
    {
        string reply = client.Call([.. words.Select(static word => word.Replace("*", Key, StringComparison.Ordinal))]);
        return words[0] is "DEBUG" or "XINFO" ? Times().Replace(reply, "#") : reply;
    }

    private static string Left(EmbeddedServer server)
    {
        Store store = server.Server.Store;
        return Times().Replace(string.Join('\n', ((int[])[0, 1]).Select(database => string.Join('\n', StoreContent.Of(store, store.Namespaces.Id(database))))), "#");
    }

    private static long Number(string reply) => long.Parse(reply, CultureInfo.InvariantCulture);

    private static long Slack(string reply) => (Number(reply) / 8) + 128;

    private static void Cool(TestClient client, string kind, Place place)
    {
        client.Call("TIER.DEMOTE", Key);
        if (place == Place.Half)
        {
            client.Call(kind switch
            {
                "hash" => ["HSET", Key, "name 0", "value 0"],
                "set" => ["SADD", Key, "name 0"],
                "integers" => ["SADD", Key, "0"],
                "sorted" => ["ZINCRBY", Key, "0", "name 0"],
                "list" => ["LSET", Key, "0", "element 0"],
                "stream" => ["XDEL", Key, "77-77"],
                _ => ["TIER.PROMOTE", Key],
            });
        }
        else Assert.That(client.Call("TIER.WHERE", Key), Does.StartWith("[where tier").And.Contain("chunks_memory 0"));
    }

    private static void Fill(TestClient client, string kind, int entries)
    {
        IEnumerable<int> all = Enumerable.Range(0, entries);
        string[][] puts = kind switch
        {
            "string" => [["SET", Key, string.Concat(all.Select(static i => $"part {i} "))]],
            "number" => [["SET", Key, Text(entries)]],
            "hash" => [["HSET", Key, .. all.SelectMany(static i => (string[])[$"name {i}", $"value {i}"])]],
            "set" => [["SADD", Key, .. all.Select(static i => $"name {i}")]],
            "integers" => [["SADD", Key, .. all.Select(Text)]],
            "sorted" => [["ZADD", Key, .. all.SelectMany(static i => (string[])[Text(i * 7919 % 1000), $"name {i}"])]],
            "list" => [["RPUSH", Key, .. all.Select(static i => $"element {i}")]],
            _ => [.. all.Select(i => (string[])["XADD", Key, $"{i + 1}-0", "field", $"value {i}"]), ["XGROUP", "CREATE", Key, "group", "0"]],
        };
        client.Pipeline(1, puts);
    }

    [GeneratedRegex(@"\b[12]\d{12}\b|lru:\d+|lru_seconds_idle:\d+|\b(inactive|idle|seen-time|active-time) \d+")]
    private static partial Regex Times();

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

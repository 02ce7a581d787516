using System.Globalization;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>What COPY and the …STORE commands make is a value of its own, whole and sound, wherever its source lies.</summary>
internal sealed class CollectionCopyTests
{
    [Test]
    public void A_copy_of_a_large_sorted_set_takes_little_more_on_the_way_than_it_leaves()
    {
        const int LimitBytes = 32 << 20, Members = 190_000, AtOnce = 1000;
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = LimitBytes);
        using var client = new TestClient(server.Server.Port);
        foreach (int[] some in Enumerable.Range(0, Members).Chunk(AtOnce))
            client.Call(["ZADD", "from", .. some.SelectMany(static i => (string[])[$"{i % 997}", $"m{i}"])]);
        Assert.That(client.Call("COPY", "from", "to"), Is.EqualTo("1"));
        Assert.That(client.Call("ZCARD", "to"), Is.EqualTo($"{Members}"));
        Assert.That(server.Server.Store.Figures().PeakBytes, Is.LessThan(LimitBytes + (LimitBytes / 4)));
    }

    private const int Many = 9_000, ManyPages = 2_300;
    private static readonly string[] Kinds = ["list", "hash", "set", "sorted", "timed", "lex"];

    private string _path = "";

    [SetUp]
    public void Make() => _path = Directory.CreateTempSubdirectory("garnet-copy").FullName;

    [TearDown]
    public void Remove() => Directory.Delete(_path, recursive: true);

    [Test]
    public void A_copy_is_whole_and_stays_so_without_its_source([ValueSource(nameof(Kinds))] string kind, [Values(2, 129, 600, Many)] int entries, [Values] bool isCold)
    {
        using EmbeddedServer server = Server(isCold);
        using var client = new TestClient(server.Server.Port);
        Fill(client, kind, "source", entries);
        Fill(client, kind, "same", entries);
        client.Call("SET", "copy", "before");
        if (isCold)
            HalfCold(client, kind);
        Assert.That(client.Call("COPY", "source", "copy", "REPLACE"), Is.EqualTo("1"));
        AssertSame(server, "copy", "same");
        client.Call("DEL", "source");
        foreach (string key in (string[])["copy", "same"]) Change(client, kind, key);
        AssertSame(server, "copy", "same");
    }

    [Test]
    public void What_a_command_stores_is_what_was_found([Values("ZUNIONSTORE", "ZINTERSTORE", "ZRANGESTORE")] string command, [Values(1, 2, 128, 129, 600, Many)] int entries, [Values] bool isCold)
    {
        using EmbeddedServer server = Server(isCold);
        using var client = new TestClient(server.Server.Port);
        Fill(client, "sorted", "source", entries);
        Fill(client, "sorted", "same", entries);
        if (isCold)
            HalfCold(client, "sorted");
        string[] words = command == "ZRANGESTORE" ? [command, "copy", "source", "0", "-1"] : [command, "copy", "2", "source", "source", "AGGREGATE", "MAX"];
        Assert.That(client.Call(words), Is.EqualTo($"{entries}"));
        AssertSame(server, "copy", "same");
        foreach (string key in (string[])["copy", "same"]) Change(client, "sorted", key);
        AssertSame(server, "copy", "same");
        Assert.That(client.Call(["ZUNIONSTORE", "copy", "1", "source", "WEIGHTS", "-0"]), Is.EqualTo($"{entries}"), "-0 is 0");
        Assert.That(client.Call("ZCOUNT", "copy", "0", "0"), Is.EqualTo($"{entries}"));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    /// <summary>More pages than a root has room for: the rest is put in behind them.</summary>
    [Test]
    public void A_sorted_set_of_many_pages_is_made_at_once()
    {
        using EmbeddedServer server = Server(isCold: false);
        using var client = new TestClient(server.Server.Port);
        string[] pairs = [.. Enumerable.Range(0, ManyPages).SelectMany(static i => (string[])[Text(i * 7919 % ManyPages), new string('m', 1500) + i])];
        Assert.That(client.Call(["ZADD", "same", .. pairs]), Is.EqualTo($"{ManyPages}"));
        foreach (string[] pair in pairs.Chunk(2)) client.Call("ZADD", "copy", pair[0], pair[1]);
        AssertSame(server, "copy", "same");
        Assert.That(client.Call("ZUNIONSTORE", "copy", "1", "same"), Is.EqualTo($"{ManyPages}"));
        AssertSame(server, "copy", "same");
    }

    private EmbeddedServer Server(bool isCold) => new(adjust: settings =>
    {
        if (isCold)
            (settings.Tier.Path, settings.Tier.SizeBytes) = (_path, 256 << 20);
    });

    // One entry is written again as it was, which brings its part back.
    private static void HalfCold(TestClient client, string kind)
    {
        client.Call("TIER.DEMOTE", "source");
        string[] put = kind switch
        {
            "list" => ["LSET", "source", "0", "element 0"],
            "hash" => ["HSET", "source", "name 0", "value 0"],
            "set" => ["SADD", "source", "name 0"],
            _ => ["ZINCRBY", "source", "0", "name 0"],
        };
        client.Call(put);
    }

    private static void Fill(TestClient client, string kind, string key, int entries)
    {
        IEnumerable<int> all = Enumerable.Range(0, entries);
        string[] put = kind switch
        {
            "list" => ["RPUSH", key, .. all.Select(static i => $"element {i}")],
            "hash" => ["HSET", key, .. all.SelectMany(static i => (string[])[$"name {i}", $"value {i}"])],
            "set" => ["SADD", key, .. all.Select(static i => $"name {i}")],
            "lex" => ["ZADD", key, .. all.SelectMany(static i => (string[])["0", $"name {i}"])],
            _ => ["ZADD", key, .. all.SelectMany(static i => (string[])[(i * 7919 % 1000 / 8.0).ToString(CultureInfo.InvariantCulture), $"name {i}"])],
        };
        Assert.That(client.Call(put), Is.EqualTo(Text(entries)));
        if (kind == "timed")
            client.Call("ZPEXPIREAT", key, "4102444800000", "MEMBERS", "2", "name 0", "name 1");
    }

    private static void Change(TestClient client, string kind, string key)
    {
        string[][] changes = kind switch
        {
            "list" => [["LPUSH", key, "a", "b"], ["LINSERT", key, "BEFORE", "element 1", "c"], ["LREM", key, "0", "element 0"], ["LTRIM", key, "1", "-2"]],
            "hash" => [["HSET", key, "name 1", "other", "more", "x"], ["HDEL", key, "name 0"]],
            "set" => [["SADD", key, "more", "name 1"], ["SREM", key, "name 0"]],
            _ => [["ZADD", key, "7", "more", "500.5", "name 1", "-1", "less"], ["ZREM", key, "name 0"], ["ZREMRANGEBYRANK", key, "1", "1"], ["ZINCRBY", key, "3", "more"]],
        };
        foreach (string[] change in changes) client.Call(change);
    }

    private static void AssertSame(EmbeddedServer server, string key, string other)
    {
        SortedDictionary<string, string> content = StoreContent.Of(server.Server.Store, server.Server.Store.Namespaces.Id(0));
        Assert.That(content[key], Is.EqualTo(content[other]));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

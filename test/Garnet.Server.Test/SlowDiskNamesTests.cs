using Garnet.Common.Test;
using Garnet.Server.Test.Net;

namespace Garnet.Server.Test;

/// <summary>Commands of very many names on a collection that lies on a slow disk: others of the core are served meanwhile.</summary>
[NonParallelizable] // it takes the cores from others whose clock, which tests move, goes on meanwhile
internal sealed class SlowDiskNamesTests
{
    private const int Entries = 30_000, Names = 20_000;
    private static readonly string Filler = new('v', 50);

    // All but what shows itself only when it is changed: 0. Many times as many as are fetched at once, and more than is put back for one piece that is lacked.
    [TestCase("hash", 0, "HDEL", "old")]
    [LongCase("hash", 0, "HSET", "old")]
    [TestCase("hash", 0, "HSET", "new")]
    [TestCase("set", 0, "SREM", "old")]
    [TestCase("set", 0, "SADD", "new")]
    [LongCase("sorted", 0, "ZREM", "old")]
    [TestCase("sorted", 8, "ZADD", "old")]
    [LongCase("sorted", 8, "ZADD", "new")]
    [TestCase("sorted by name", 0, "ZREM", "old")]
    [TestCase("sorted by name", 8, "ZADD", "new")]
    public void Twenty_thousand_names_are_changed_with_hardly_a_wait(string kind, int waitsMax, string command, string which)
    {
        using HangingStage stage = new();
        for (int from = 0; from < Entries; from += 5000)
            stage.Other.Call([AddTo(kind), "key", .. Enumerable.Range(from, 5000).SelectMany(i => Words(kind, "old", i, i))]);
        stage.Demote("key");
        stage.Medium.TakesMs = 20;
        (long before, long waits, int reads) = (stage.Figure("postponed"), stage.Figure("waits"), stage.Medium.Reads);
        IEnumerable<int> some = Enumerable.Range(0, Names).Select(static i => i * 7919 % Entries);
        string[] given = [.. command is "HDEL" or "SREM" or "ZREM"
            ? some.Select(i => Words(kind, which, i, i)[kind[0] == 's' && kind != "set" ? 1 : 0])
            : some.SelectMany((i, at) => Words(kind, which, i, at * 37 % Entries))];
        string reply = stage.Slowly(() => stage.Other.Call([command, "key", .. given]));
        stage.Medium.TakesMs = 0;
        TestContext.Out.WriteLine(
            $"{stage.Figure("postponed") - before} times, {stage.Figure("waits") - waits} waits, {stage.Medium.Reads - reads} reads, {reply}");
        bool isRemoval = given.Length == Names && command != "SADD", isNew = which == "new";
        Assert.That(reply, Is.EqualTo(isRemoval || isNew ? $"{Names}" : "0"));
        Assert.That(stage.Other.Call(CountOf(kind), "key"), Is.EqualTo($"{Entries + (isRemoval ? -Names : isNew ? Names : 0)}"));
        Assert.That(stage.Figure("waits") - waits, Is.AtMost(waitsMax));
    }

    // Three times as much as is kept for a step: what it lacks last would drive out what it has fetched first.
    [TestCase("hash", "HMGET", "key")]
    [LongCase("hash", "HPTTL", "key", "FIELDS", "20000")]
    [LongCase("hash", "HGETEX", "key", "EX", "1000", "FIELDS", "20000")]
    [TestCase("hash", "HPEXPIRE", "key", "1000000", "FIELDS", "20000")]
    [TestCase("hash", "HGETDEL", "key", "FIELDS", "20000")]
    [TestCase("hash", "EVAL", "return #redis.call('HMGET', 'key', unpack(ARGV))", "1", "key")]
    [TestCase("set", "SMISMEMBER", "key")]
    [TestCase("sorted", "ZMSCORE", "key")]
    public void Twenty_thousand_names_are_looked_at_with_hardly_a_wait(string kind, params string[] command)
    {
        const int InAScript = 7000; // as many as unpack takes
        using HangingStage stage = new();
        string large = new('v', 400);
        for (int from = 0; from < Entries; from += 5000)
            stage.Other.Call([AddTo(kind), "key", .. Enumerable.Range(from, 5000).SelectMany(i => Words(kind, "old", i, i, large))]);
        stage.Demote("key");
        stage.Medium.TakesMs = 20;
        (long before, long waits, int reads, long pieces) = (stage.Figure("postponed"), stage.Figure("waits"), stage.Medium.Reads, stage.Records);
        bool isScript = command[0] == "EVAL";
        IEnumerable<string> names = Enumerable.Range(0, isScript ? InAScript : Names)
            .Select(i => Words(kind, "old", i * 7919 % Entries, 0, large)[kind == "sorted" ? 1 : 0]);
        string reply = stage.Slowly(() => stage.Other.Call([.. command, .. names]));
        stage.Medium.TakesMs = 0;
        TestContext.Out.WriteLine($"{stage.Figure("postponed") - before} times, {stage.Figure("waits") - waits} waits, {stage.Medium.Reads - reads} reads");
        Assert.That(reply, Does.Not.StartWith("ERR"));
        Assert.That(isScript ? reply : $"{reply.Trim('[', ']').Split(' ').Length}", Is.EqualTo($"{(isScript ? InAScript : Names)}"));
        Assert.That(stage.Figure("waits") - waits, Is.AtMost(isScript ? 40 : 0));
        Assert.That(stage.Medium.Reads - reads, Is.AtMost(1.3 * pieces));
    }

    private static string AddTo(string kind) => kind switch { "hash" => "HSET", "set" => "SADD", _ => "ZADD" };

    private static string CountOf(string kind) => kind switch { "hash" => "HLEN", "set" => "SCARD", _ => "ZCARD" };

    // New ones come to lie between those that are there.
    private static string[] Words(string kind, string which, int i, int score, string? filler = null) => kind switch
    {
        "hash" => [$"{i} {which}", filler ?? Filler],
        "set" => [$"{i} {which}{filler ?? Filler}"],
        "sorted" => [$"{score}", $"{i} {which}{filler ?? Filler}"],
        _ => ["0", $"{i} {which}{filler ?? Filler}"],
    };
}

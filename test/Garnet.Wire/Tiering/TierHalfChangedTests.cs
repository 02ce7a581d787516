using System.Globalization;
using Garnet.Common.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>
/// A change of a large collection comes, half done, to a piece on the tier that cannot be read: an error, the collection is as it was, in memory, in the log
/// and on the tier, and the process goes on (store.C7).
/// </summary>
[Parallelizable] // servers of its own
public sealed class TierHalfChangedTests
{
    private const int Elements = 3000, Narrow = 60;
    private const string Key = "key", Unreadable = "ERR a value cannot be read from the tier it lies on: ";

    [TestCase("HSET", "HGET", "HLEN", "HDEL @")]
    [TestCase("HSET", "HGET", "HLEN", "HDEL @", 10_000, Elements - 100)] // more than is kept to take a change back: all of it is read first
    [TestCase("HSET", "HGET", "HLEN", "HSET #")]
    [LongCase("HSET", "HGET", "HLEN", "HGETDEL FIELDS 3000 @")]
    [TestCase("HSET", "HGET", "HLEN", "HPEXPIRE 1000000 FIELDS 3000 @")]
    [TestCase("SADD", "SISMEMBER", "SCARD", "SREM @")]
    [LongCase("SADD", "SISMEMBER", "SCARD", "SPOP 3000")]
    [LongCase("ZADD", "ZSCORE", "ZCARD", "ZREM @")]
    [TestCase("ZADD", "ZSCORE", "ZCARD", "ZADD $")]
    [TestCase("ZADD", "ZSCORE", "ZCARD", "ZREMRANGEBYRANK 0 2000")]
    [LongCase("ZADD", "ZSCORE", "ZCARD", "ZPOPMIN 3000")]
    [TestCase("RPUSH", "LINDEX", "LLEN", "LREM 0 &")]
    [LongCase("RPUSH", "LINDEX", "LLEN", "LTRIM 2900 -1")]
    [LongCase("RPUSH", "LINDEX", "LLEN", "LPOP 3000")]
    [TestCase("RPUSH", "LINDEX", "LLEN", "LMOVE key LEFT RIGHT", Narrow, Elements - 1)]
    [LongCase("RPUSH", "LINDEX", "LLEN", "RPOPLPUSH key", Narrow, 0)]
    [TestCase("XADD", "XRANGE", "XLEN", "XDEL %")]
    [LongCase("XADD", "XRANGE", "XLEN", "XTRIM MAXLEN 0")]
    public void What_cannot_be_gone_on_with_is_taken_back(string add, string read, string count, string change, int valueBytes = Narrow, int harmed = Elements / 2)
    {
        using TierScratch tier = new(memory: "96mb", size: valueBytes == Narrow ? "24mb" : "96mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            client.CallAll(Enumerable.Range(0, Elements).Select(i => Adding(add, i, valueBytes)));
            Assert.That(client.Call("TIER.DEMOTE", Key).ToString(), Does.StartWith(":").And.Not.EqualTo(":0"));
            client.SaveSnapshot();
        }

        server.Kill();
        tier.Harm(Element(harmed));
        server.Start();
        string[] before = Content(server, read, count);
        Assert.That(before.Count(static one => one.Contains(Unreadable, StringComparison.Ordinal)), Is.InRange(1, Elements / 4), "one piece is harmed");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            string[] words = [.. change.Split(' ').SelectMany((word, i) => i == 0 ? [word, Key] : Words(word))];
            Assert.That(client.Call(words).ToString(), Does.StartWith("-" + Unreadable));
            Assert.That(client.Call(["MULTI"]).ToString(), Is.EqualTo("+OK"));
            client.Call(words);
            Assert.That(client.Call("EXEC").ToString(), Does.Contain(Unreadable));
        }

        Assert.That(Content(server, read, count), Is.EqualTo(before), "in memory");
        server.Kill();
        server.Start();
        Assert.That(Content(server, read, count), Is.EqualTo(before), "in the log, and on the tier");
    }

    [TestCase("HSET", "HGET", "HLEN", "HDEL @")]
    [LongCase("HSET", "HGET", "HLEN", "HSET #")]
    [TestCase("SADD", "SISMEMBER", "SCARD", "SREM @")]
    [TestCase("ZADD", "ZSCORE", "ZCARD", "ZADD $")]
    [LongCase("ZADD", "ZSCORE", "ZCARD", "ZREMRANGEBYRANK 0 2000")]
    [TestCase("RPUSH", "LINDEX", "LLEN", "LREM 0 &")]
    [LongCase("RPUSH", "LINDEX", "LLEN", "LTRIM 2900 -1")]
    [TestCase("XADD", "XRANGE", "XLEN", "XDEL %")]
    public void What_is_not_there_yet_is_fetched_and_the_change_made_once(string add, string read, string count, string change)
    {
        using TierScratch tier = new(memory: "96mb", size: "24mb");
        using DataServer server = new(tier.Flags);
        string[] words = [.. change.Split(' ').SelectMany((word, i) => i == 0 ? [word, Key] : Words(word))];
        string expected, found;
        string[] warm;
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            client.CallAll(Enumerable.Range(0, Elements).Select(i => Adding(add, i, Narrow)));
            client.Call("COPY", Key, "cold");
            expected = client.Call(words).ToString();
            warm = Content(server, read, count);
            client.Call("DEL", Key);
            client.Call("RENAME", "cold", Key);
            Assert.That(client.Call("TIER.DEMOTE", Key).ToString(), Does.StartWith(":").And.Not.EqualTo(":0"));
            long postponed = client.Tiering("tier_postponed_commands");
            found = client.Call(words).ToString();
            Assert.That(client.Tiering("tier_postponed_commands"), Is.GreaterThan(postponed + 1), "its head, and more behind that");
        }

        Assert.That(found, Is.EqualTo(expected));
        Assert.That(Content(server, read, count), Is.EqualTo(warm));
        server.Kill();
        server.Start();
        Assert.That(Content(server, read, count), Is.EqualTo(warm), "in the log once");
    }

    // What each element is, and how many there are.
    private static string[] Content(DataServer server, string read, string count)
    {
        using RespConnection client = new(server.Process.Address, 60_000);
        return [client.Call(count, Key).ToString(), .. client.CallAll(Enumerable.Range(0, Elements).Select(i => Reading(read, i))).Select(static reply => reply.ToString())];
    }

    private static string[] Reading(string read, int i) => read switch
    {
        "LINDEX" => [read, Key, Text(i)],
        "XRANGE" => [read, Key, Id(i), Id(i)],
        _ => [read, Key, Element(i)],
    };

    private static string[] Adding(string add, int i, int valueBytes) => add switch
    {
        "HSET" => [add, Key, Element(i), Element(i).PadRight(valueBytes, 'v')],
        "ZADD" => [add, Key, Text(i), Element(i)],
        "XADD" => [add, Key, Id(i), "field", Element(i)],
        _ => [add, Key, Element(i)],
    };

    // @: all elements; #: all, with a new value; $: all, with a new score; %: all ids; &: the first element.
    private static string[] Words(string word) => word switch
    {
        "@" => [.. Enumerable.Range(0, Elements).Select(Element)],
        "#" => [.. Enumerable.Range(0, Elements).SelectMany(static i => new[] { Element(i), "new" })],
        "$" => [.. Enumerable.Range(0, Elements).SelectMany(static i => new[] { Text(Elements - i), Element(i) })],
        "%" => [.. Enumerable.Range(0, Elements).Select(Id)],
        "&" => [Element(0)],
        _ => [word],
    };

    // With what no short form of a text has, so that it lies on the tier as it is.
    private static string Element(int i) => $"~{{|}}^element:{i:D6}:".PadRight(60, 'e');

    private static string Id(int i) => $"{i + 1}-0";

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

using System.Globalization;
using Garnet.Server.Base;
using Tsavorite;

namespace Garnet.Server.Test.Net;

/// <summary>
/// There is no memory for a reply, wherever its writer is: before it looks, under the lock of a partition, in the middle of a change, on behalf of a client that
/// waited (net.R9). Its client gets an error, every lock is given back, and others go on.
/// </summary>
[NonParallelizable] // for all servers of the process
public sealed class LackingMemoryTests
{
    private const int Elements = 40, ElementBytes = 64 << 10;
    private const long LackingFrom = 1 << 20;
    private const string NoReply = "ERR the system has no memory for the reply of", NoRoom = "ERR the system has no memory for what was asked for";
    private static readonly string Element = new('e', ElementBytes), Large = new('l', 3 << 20);

    // What makes the key, what asks for more than there is, what it is answered, and what is there after it.
    private static IEnumerable<TestCaseData> Cases()
    {
        yield return Case("a string is read", ["SET", "k", Large], ["GETEX", "k"], NoRoom, ["STRLEN", "k"], Large.Length);
        yield return Case("a part of a string is read", ["SET", "k", Large], ["GETRANGE", "k", "1", "-1"], NoRoom, ["STRLEN", "k"], Large.Length);
        yield return Case("a string is replaced and told", ["SET", "k", Large], ["SET", "k", "new", "GET"], NoRoom, ["STRLEN", "k"], Large.Length);
        yield return Case("a string is taken", ["SET", "k", Large], ["GETDEL", "k"], NoRoom, ["STRLEN", "k"], Large.Length);
        yield return Case("a list is looked at", ["RPUSH", "k", .. Row()], ["LRANGE", "k", "0", "-1"], NoReply, ["LLEN", "k"], Elements);
        yield return Case("a hash is looked at", ["HSET", "k", .. Pairs()], ["HGETALL", "k"], NoReply, ["HLEN", "k"], Elements);
        yield return Case("a set is looked at", ["SADD", "k", .. Row()], ["SMEMBERS", "k"], NoReply, ["SCARD", "k"], Elements);
        yield return Case("sets are joined", ["SADD", "k", .. Row()], ["SUNION", "k", "none"], NoReply, ["SCARD", "k"], Elements);
        yield return Case("elements are taken", ["RPUSH", "k", .. Row()], ["LPOP", "k", "30"], NoReply, ["LLEN", "k"], Elements - 30);
        yield return Case("members are taken", ["SADD", "k", .. Row()], ["SPOP", "k", "30"], NoReply, ["SCARD", "k"], Elements - 30);
        yield return Case("fields are taken", ["HSET", "k", .. Pairs()], ["HGETDEL", "k", "FIELDS", Text(Elements), .. Fields()], NoReply, ["EXISTS", "k"], 0);
        yield return Case("the least members are taken", ["ZADD", "k", .. Scores()], ["ZPOPMIN", "k", "30"], NoReply, ["ZCARD", "k"], Elements - 30);
        yield return Case("a script answers", ["SET", "k", "v"], ["EVAL", "local r = {} for i = 1, 40 do r[i] = string.rep('x', 65536) end return r", "0"], NoReply, ["DBSIZE"], 1);
    }

    [TestCaseSource(nameof(Cases))]
    public void The_client_is_told_and_others_go_on(string[] fill, string[] ask, string error, string[] look, int left)
    {
        using EmbeddedServer server = new(adjust: static settings => settings.Network.ReactorThreads = 1);
        using TestClient client = new(server.Server.Port), other = new(server.Server.Port);
        client.Call(fill);
        Lacking(() =>
        {
            Assert.That(client.Call(ask), Does.StartWith(error));
            Assert.That(other.Call("DBSIZE"), Is.AnyOf("0", "1"), "it takes every lock");
            Assert.That(other.Call("SET", "other", "v"), Is.EqualTo("OK"));
            Assert.That(client.Call("PING"), Is.EqualTo("PONG"), "the connection stays, its replies in order");
            other.Call("DEL", "other");
        });
        Assert.That(client.Call(look), Is.EqualTo(Text(left)));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
        Assert.That(server.Server.Completion.IsCompleted, Is.False);
    }

    [Test]
    public void In_a_transaction_it_is_the_error_of_one_command()
    {
        using EmbeddedServer server = new();
        using TestClient client = new(server.Server.Port);
        client.Call(["RPUSH", "k", .. Row()]);
        Lacking(() =>
        {
            foreach (string[] words in (string[][])[["MULTI"], ["SET", "before", "v"], ["LPOP", "k", "30"], ["LRANGE", "k", "0", "-1"], ["LLEN", "k"]])
                client.Call(words);
            Assert.That(client.Call("EXEC"), Does.Match($@"^\[OK {NoReply} \d+ bytes; the command has run 10\D").Or.Match($@"^\[OK {NoReply} \d+ bytes; the command has run .*10\]$"));
        });
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void Many_in_one_round_are_each_told()
    {
        using EmbeddedServer server = new(adjust: static settings => settings.Network.ReactorThreads = 1);
        using TestClient client = new(server.Server.Port);
        client.Call(["RPUSH", "k", .. Row()]);
        Lacking(() =>
        {
            string[] replies = client.Pipeline(200, ["LRANGE", "k", "0", "-1"], ["LLEN", "k"]);
            Assert.That(replies.Where(static (_, at) => at % 2 == 0), Has.All.StartsWith(NoReply));
            Assert.That(replies.Where(static (_, at) => at % 2 == 1), Has.All.EqualTo(Text(Elements)));
        });
        Assert.That(client.Call("LRANGE", "k", "0", "0"), Is.EqualTo($"[{Element}00]"));
    }

    [Test]
    public void Who_waited_for_more_than_there_is_room_for_is_told_and_who_served_him_goes_on([Values(1, 2)] int reactors)
    {
        using EmbeddedServer server = new(adjust: settings => settings.Network.ReactorThreads = reactors);
        using TestClient waiter = new(server.Server.Port), writer = new(server.Server.Port);
        waiter.Send("BLMPOP", "0", "1", "k", "LEFT", "COUNT", "100");
        Eventually.Holds(() => writer.Call("INFO", "clients").Contains("blocked_clients:1", StringComparison.Ordinal));
        Lacking(() =>
        {
            Assert.That(writer.Call(["RPUSH", "k", .. Row()]), Is.EqualTo(Text(Elements)));
            Assert.That(waiter.Read(), Does.StartWith(NoReply));
            Assert.That(writer.Call("DBSIZE"), Is.EqualTo("0"));
        });
        Assert.That(waiter.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void A_script_that_reads_more_than_there_is_room_for_has_an_error()
    {
        using EmbeddedServer server = new();
        using TestClient client = new(server.Server.Port);
        client.Call(["RPUSH", "k", .. Row()]);
        Lacking(() =>
        {
            Assert.That(client.Call("EVAL", "return #redis.call('LRANGE', KEYS[1], 0, -1)", "1", "k"), Does.StartWith("ERR"));
            Assert.That(client.Call("DBSIZE"), Is.EqualTo("1"));
        });
        Assert.That(client.Call("EVAL", "return #redis.call('LRANGE', KEYS[1], 0, -1)", "1", "k"), Is.EqualTo(Text(Elements)));
    }

    private static void Lacking(Action check)
    {
        ReplyBlock.FailsFrom = LackingFrom;
        try
        {
            check();
        }
        finally
        {
            ReplyBlock.FailsFrom = long.MaxValue;
        }
    }

    private static TestCaseData Case(string name, string[] fill, string[] ask, string error, string[] look, int left) => new TestCaseData(fill, ask, error, look, left).SetArgDisplayNames(name);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static string[] Row() => [.. Enumerable.Range(0, Elements).Select(static number => Element + number.ToString("D2", CultureInfo.InvariantCulture))];

    private static string[] Fields() => [.. Enumerable.Range(0, Elements).Select(Text)];

    private static string[] Pairs() => [.. Fields().SelectMany(static field => new[] { field, Element })];

    private static string[] Scores() => [.. Row().SelectMany(static (member, score) => new[] { Text(score), member })];
}

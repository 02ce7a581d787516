using System.Globalization;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Servers with single values on the tier that cannot be read: an error for whoever asks for one, and nothing for anybody else; the process goes on.</summary>
[Parallelizable] // servers of its own
public sealed class TierUnreadableTests
{
    private const int Fields = 3000, Lasting = 100, Few = 10;
    private const string Unreadable = "-ERR a value cannot be read from the tier it lies on: ";

    [TestCase("hash")]
    [TestCase("sorted")]
    public void What_is_due_goes_though_a_piece_beside_it_cannot_be_read(string kind)
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new(tier.Flags);
        bool isHash = kind == "hash";
        string[] keys = ["first", "harmed", "last"];
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            client.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
            foreach (string key in keys)
            {
                client.Call([isHash ? "HSET" : "ZADD", key, .. Enumerable.Range(0, Fields).SelectMany(i => isHash ? new[] { Name(key, i), "value" } : [Text(i), Name(key, i)])]);
                client.Call([isHash ? "HPEXPIRE" : "ZPEXPIRE", key, "1000", isHash ? "FIELDS" : "MEMBERS", Text(Fields - Lasting), .. Enumerable.Range(0, Fields - Lasting).Select(i => Name(key, i))]);
                Assert.That(client.Call("TIER.DEMOTE", key).ToString(), Does.StartWith(":").And.Not.EqualTo(":0"));
            }
            client.SaveSnapshot();
        }
        server.Kill();
        tier.Harm(Name("harmed", Fields / 2), copies: 1); // what lies behind may be the unused end of another's page
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        Eventually.Holds(() => again.Tiering("tier_read_failures") > 0);
        foreach (string key in keys.Where(static key => key != "harmed"))
            Assert.That(() => again.Call(isHash ? "HLEN" : "ZCARD", key).ToString(), Is.EqualTo($":{Lasting}").After(60_000, 50), key);
        Assert.That(again.Call(isHash ? "HGET" : "ZSCORE", "last", Name("last", Fields - 1)).ToString(), Does.Contain(isHash ? "value" : Text(Fields - 1)));
        Assert.That(server.Process.IsAlive, Is.True);
    }

    [TestCase("BLPOP", "list", "0")]
    [TestCase("BRPOP", "list", "0")]
    [TestCase("BLMOVE", "list", "to", "LEFT", "LEFT", "0")]
    [TestCase("BLMPOP", "0", "1", "list", "LEFT")]
    [TestCase("BZPOPMIN", "sorted", "0")]
    [TestCase("BLPOP", "large", "0")]
    public void What_cannot_be_read_is_the_error_of_those_who_wait_for_it_and_not_of_whoever_puts_it_there(params string[] words)
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            client.Call("SELECT", "1");
            client.Call(["RPUSH", "list", .. Enumerable.Range(0, Few).Select(static i => Name("list", i))]);
            client.Call(["RPUSH", "large", .. Enumerable.Range(0, Fields).Select(static i => Name("large", i))]);
            client.Call(["ZADD", "sorted", .. Enumerable.Range(0, Few).SelectMany(static i => new[] { Text(i), Name("sorted", i) })]);
            foreach (string key in new[] { "list", "large", "sorted" }) Assert.That(client.Call("TIER.DEMOTE", key).ToString(), Is.Not.EqualTo(":0"));
            client.SaveSnapshot();
        }
        server.Kill();
        foreach (string key in new[] { "list", "large", "sorted" }) tier.Harm(Name(key, 0));
        server.Start();
        using RespConnection client0 = new(server.Process.Address, 60_000), first = new(server.Process.Address, 60_000), second = new(server.Process.Address, 60_000);
        foreach (RespConnection waiting in new[] { first, second })
        {
            waiting.Send(RespConnection.Encode(words));
            Eventually.Holds(() => client0.Number("clients", "blocked_clients") >= (waiting == first ? 1 : 2));
        }
        Assert.That(client0.Call("SWAPDB", "0", "1").ToString(), Is.EqualTo("+OK"));
        Assert.That(first.Read().ToString(), Does.StartWith(Unreadable));
        Assert.That(second.Read().ToString(), Does.StartWith(Unreadable));
        Assert.That(client0.Call("DBSIZE").ToString(), Is.EqualTo(":3"));
        Assert.That(client0.Number("clients", "blocked_clients"), Is.Zero);
        Assert.That(first.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [TestCase("SHUTDOWN FORCE", "")]
    [TestCase("SHUTDOWN FORCE", "3600 1")]
    [TestCase("SHUTDOWN NOSAVE", "")]
    public void A_stop_that_would_give_up_what_lay_in_a_removed_file_is_refused_where_no_snapshot_can_be_taken_unless_it_is_forced(string forced, string savePoints)
    {
        const int Keys = 40;
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new($"{tier.Flags} --appendonly no");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            for (int i = 0; i < Keys; i++)
            {
                client.Call("SET", Text(i), Name("key", i));
                Assert.That(client.Call("TIER.DEMOTE", Text(i)).ToString(), Is.EqualTo(":1"));
            }
            client.SaveSnapshot();
        }
        server.Kill();
        tier.Harm(Name("key", 7));
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        again.Call("CONFIG", "SET", "save", savePoints);
        File.Delete(Directory.GetFiles(tier.Path, "tier-*").Single());
        for (int tries = 0; tries < 2; tries++)
            Assert.That(again.Call("SHUTDOWN").ToString(), Does.StartWith("-ERR"));
        for (int i = 0; i < Keys; i++)
            Assert.That(again.Call("GET", Text(i)).ToString(), i == 7 ? Does.StartWith(Unreadable) : Does.Contain(Name("key", i)), "it is there for as long as the server runs");
        if (forced.EndsWith("NOSAVE", StringComparison.Ordinal))
        {
            Assert.That(again.Call("DEL", Text(7)).ToString(), Is.EqualTo(":1"));
            again.Send(RespConnection.Encode("SHUTDOWN")); // now it can
            server.Process.WaitForExit();
            server.Start();
            using RespConnection last = new(server.Process.Address, 60_000);
            Assert.That(last.Call("DBSIZE").ToString(), Is.EqualTo($":{Keys - 1}"));
            return;
        }
        again.Send(RespConnection.Encode(forced.Split(' ')));
        server.Process.WaitForExit();
    }

    [Test]
    public void A_digest_of_what_cannot_be_read_is_an_error_and_not_the_end()
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            client.Call(["HSET", "large", .. Enumerable.Range(0, Fields).SelectMany(static i => new[] { Name("large", i), "value" })]);
            client.Call("TIER.DEMOTE", "large");
            client.SaveSnapshot();
        }
        server.Kill();
        tier.Harm(Name("large", 77));
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        Assert.That(again.Call("REPL", "DIGEST").ToString(), Does.StartWith(Unreadable));
        Assert.That(again.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void Each_SCAN_of_a_row_waits_for_the_tier_beside_other_clients()
    {
        const int Keys = 2000;
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new($"{tier.Flags} --reactor-threads 1 --tier-promotion no");
        using RespConnection client = new(server.Process.Address, 60_000);
        for (int i = 0; i < Keys; i++)
        {
            client.Call("SET", Name("key", i), new string('x', 2500));
            client.Call("TIER.DEMOTE", Name("key", i));
        }
        (long before, long waits) = (client.Tiering("tier_postponed_commands"), client.Tiering("tier_waits"));
        HashSet<string> seen = [];
        string cursor = "0";
        do
        {
            RespNode reply = client.Call("SCAN", cursor, "COUNT", "1000");
            cursor = reply.Items![0].Text;
            seen.UnionWith(reply.Items[1].Items!.Select(static key => key.Text));
        }
        while (cursor != "0");
        Assert.That(seen, Has.Count.EqualTo(Keys));
        Assert.That(client.Tiering("tier_postponed_commands") - before, Is.Positive); // of most what they need was begun by the one before: on a slow machine it is there
        Assert.That(client.Tiering("tier_waits") - waits, Is.Zero);
    }

    [Test]
    public void The_reads_of_a_pipeline_are_made_together_however_much_is_kept_of_those_before()
    {
        const int Keys = 640, AtOnce = 16, Bytes = 20_000;
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new($"{tier.Flags} --reactor-threads 1 --tier-promotion no");
        using RespConnection client = new(server.Process.Address, 60_000);
        for (int i = 0; i < Keys; i++)
        {
            client.Call("SET", Name("key", i), new string('x', Bytes));
            client.Call("TIER.DEMOTE", Name("key", i));
        }
        long before = client.Tiering("tier_postponed_commands");
        for (int from = 0; from < Keys; from += AtOnce)
        {
            client.Send([.. Enumerable.Range(from, AtOnce).SelectMany(static i => RespConnection.Encode("GET", Name("key", i)))]);
            for (int i = 0; i < AtOnce; i++) Assert.That(client.Read().Text, Has.Length.EqualTo(Bytes));
        }
        Assert.That(client.Tiering("tier_postponed_commands") - before, Is.LessThan(Keys / 4));
    }

    [Test]
    public void SCAN_says_what_cannot_be_read_and_goes_on_behind_it_and_KEYS_is_an_error()
    {
        const int Keys = 500;
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            for (int i = 0; i < Keys; i++)
            {
                client.Call("SET", Name("key", i), new string('x', 500));
                client.Call("TIER.DEMOTE", Name("key", i));
            }
            client.SaveSnapshot();
        }
        server.Kill();
        tier.Harm(Name("key", 77));
        tier.Harm(Name("key", 300));
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        HashSet<string> seen = [];
        string cursor = "0";
        int errors = 0;
        do
        {
            RespNode reply = again.Call("SCAN", cursor, "COUNT", "50");
            if (reply.Items is null)
            {
                Assert.That(reply.ToString(), Does.StartWith(Unreadable).And.Contain("; SCAN "));
                errors++;
                cursor = reply.ToString().Split("SCAN ")[1].Split(' ')[0];
                continue;
            }
            cursor = reply.Items[0].Text;
            seen.UnionWith(reply.Items[1].Items!.Select(static key => key.Text));
        }
        while (cursor != "0");
        Assert.That((seen.Count, errors), Is.EqualTo((Keys - 2, 1)));
        Assert.That(again.Call("KEYS", "*").ToString(), Does.StartWith(Unreadable));
        Assert.That(again.Call("RANDOMKEY").Text, Does.StartWith("key-"));
        Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo($":{Keys}"));
    }

    [Test]
    public void A_walk_for_due_fields_reads_nothing_while_none_is_due_and_brings_nothing_back()
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            client.Call(["HSET", "large", .. Enumerable.Range(0, Fields).SelectMany(static i => new[] { Name("large", i), "value" })]);
            client.Call("HEXPIRE", "large", "10000", "FIELDS", "1", Name("large", 5));
            for (int i = 0; i < 500; i++)
            {
                client.Call("HSET", "small" + i, "field", new string('x', 200), "other", "1");
                client.Call("HEXPIRE", "small" + i, "10000", "FIELDS", "1", "field");
                client.Call("TIER.DEMOTE", "small" + i);
            }
            client.Call("TIER.DEMOTE", "large");
            client.SaveSnapshot();
        }
        server.Kill();
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        long reads = -1;
        Eventually.Holds(() => again.Tiering("tier_reads") is > 500 and var now && reads == (reads = now) && IsQuiet(again));
        Assert.That(again.Tiering("tier_promotion_considered"), Is.Zero, "nobody has read anything");
        Assert.That((again.Tiering("tier_promoted_records"), again.Tiering("tier_returned_records")), Is.EqualTo((0L, 0L)));
        // Another field is given an expiry, and is due: of the rest nothing is read for it.
        reads = again.Tiering("tier_reads");
        again.Call("HSET", "other", "field", "value");
        again.Call("HPEXPIRE", "other", "1", "FIELDS", "1", "field");
        Eventually.Holds(() => again.Call("DBSIZE").ToString() == ":501");
        Assert.That(again.Tiering("tier_reads") - reads, Is.LessThan(3));
    }

    // No read in several ticks of the walk.
    private static bool IsQuiet(RespConnection client)
    {
        long reads = client.Tiering("tier_reads");
        client.Call("BLPOP", "nothing", "0.5");
        return client.Tiering("tier_reads") == reads;
    }

    private static string Name(string key, int i) => $"{key}-{Text(i)}-end";

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}

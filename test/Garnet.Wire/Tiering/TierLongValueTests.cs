using System.Text;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Values longer than a segment of the tier, on servers that keep it.</summary>
[Parallelizable] // servers of its own
public sealed class TierLongValueTests
{
    private const int SegmentTakes = 1020 << 10, Header = 16;

    [Test]
    public void Every_command_finds_a_value_on_the_tier_as_it_was_whatever_its_length()
    {
        using TierScratch tier = new(memory: "512mb", size: "1gb");
        using DataServer server = new(tier.Flags);
        using RespConnection client = new(server.Process.Address, 60_000);
        int longest = SegmentTakes - Header - 1; // one byte is the key's
        foreach (int bytes in new[] { longest - 16, longest, longest + 1, longest + 16, 1 << 20, (2 * SegmentTakes) - Header - 1, LongRun.IsWanted ? 100 << 20 : 1 << 24 })
        {
            string value = Value(bytes);
            client.Call("SET", "k", value);
            Assert.That(client.Call("TIER.DEMOTE", "k").ToString(), Is.EqualTo(":1"));
            long reads = client.Tiering("tier_reads");
            bool isSame = client.Call("GET", "k").Text == value;
            Assert.That(client.Tiering("tier_reads") - reads, Is.EqualTo(1), $"{bytes}");
            Assert.That((isSame, client.Call("STRLEN", "k").ToString(), client.Call("GETRANGE", "k", "-5", "-1").Text), Is.EqualTo((true, $":{bytes}", value[^5..])), $"{bytes}");
            Cold(client, "k");
            Assert.That(client.Call("APPEND", "k", "tail").ToString(), Is.EqualTo($":{bytes + 4}"));
            Cold(client, "k");
            client.Call("SETRANGE", "k", $"{bytes / 2}", "MIDDLE");
            Cold(client, "k");
            string changed = value[..(bytes / 2)] + "MIDDLE" + value[((bytes / 2) + 6)..] + "tail";
            Assert.That(client.Call("GET", "k").Text == changed, $"{bytes}");
            Cold(client, "k");
            client.Call("EXPIRE", "k", "100000");
            Cold(client, "k");
            Assert.That(client.Call("TTL", "k").ToString(), Is.EqualTo(":100000").Or.StartsWith(":999")); // the machine may be busy
            Cold(client, "k");
            client.Call("RENAME", "k", "r");
            Cold(client, "r");
            Assert.That(client.Call("COPY", "r", "c").ToString(), Is.EqualTo(":1"));
            Cold(client, "c");
            Assert.That(client.Call("GET", "c").Text == changed, $"{bytes}");
            Cold(client, "r");
            Assert.That(client.Call("TIER.PROMOTE", "r").ToString(), Is.EqualTo("+OK"));
            Assert.That(client.Call("TIER.WHERE", "r").ToString(), Does.Contain("memory"));
            Cold(client, "r");
            Assert.That(client.Call("DEL", "r", "c").ToString(), Is.EqualTo(":2"));
        }
        Eventually.Holds(() => client.Tiering("tier_cold_records") == 0);
        Eventually.Holds(() => client.Tiering("tier_free_bytes") + client.Tiering("tier_kept_bytes") == client.Tiering("tier_size_bytes"));
    }

    [Test]
    public void A_value_and_a_field_of_a_collection_are_dumped_from_the_tier()
    {
        using TierScratch tier = new(memory: "256mb", size: "256mb");
        using DataServer server = new(tier.Flags);
        using RespConnection client = new(server.Process.Address, 60_000);
        string value = Value(5_000_000);
        client.Call("SET", "k", value);
        client.Call("HSET", "h", "field", value, "other", "1");
        client.Call("RPUSH", "l", "first", value, "last");
        foreach ((string key, string copy) in new[] { ("k", "k2"), ("h", "h2"), ("l", "l2") })
        {
            byte[] before = Dump(client, key);
            Cold(client, key);
            Assert.That(Dump(client, key).AsSpan().SequenceEqual(before), key);
            Assert.That(client.Call("COPY", key, copy).ToString(), Is.EqualTo(":1"));
        }
        Cold(client, "h");
        Assert.That(client.Call("HGET", "h2", "field").Text == value);
        Assert.That(client.Call("HSET", "h", "field", "short").ToString(), Is.EqualTo(":0"));
        Assert.That(client.Call("HGET", "h", "field").Text, Is.EqualTo("short"));
        Assert.That(client.Call("LINDEX", "l2", "1").Text == value);
    }

    [Test]
    public void A_client_that_reads_one_larger_than_what_is_kept_reads_it_once_and_others_go_on()
    {
        using TierScratch tier = new(memory: "128mb", size: "512mb"); // 8 MiB are kept
        using DataServer server = new($"{tier.Flags} --reactor-threads 1 --tier-promotion no");
        using RespConnection client = new(server.Process.Address, 60_000), other = new(server.Process.Address, 60_000);
        string[] values = [Value(20 << 20), Value((20 << 20) + 1)];
        for (int i = 0; i < values.Length; i++)
        {
            client.Call("SET", "k" + i, values[i]);
            Assert.That(client.Call("TIER.DEMOTE", "k" + i).ToString(), Is.EqualTo(":1")); // a look would fetch it
        }
        long reads = client.Tiering("tier_reads");
        client.Send(RespConnection.Encode(["GET", "k0"]));
        other.Send(RespConnection.Encode(["GET", "k1"]));
        Assert.That((client.Read().Text == values[0], other.Read().Text == values[1]), Is.EqualTo((true, true)));
        Assert.That(client.Tiering("tier_reads") - reads, Is.EqualTo(2));
        Assert.That(client.Call("MGET", "k0", "k1").Items!.Select(static item => item.Text).SequenceEqual(values), "both at once, which is more than is kept");
    }

    [TestCase("--appendonly yes")]
    [TestCase("--appendonly no")]
    public void A_start_goes_on_with_it_and_reads_nothing_of_it(string log)
    {
        using TierScratch tier = new(memory: "64mb", size: "128mb");
        using DataServer server = new($"{tier.Flags} {log}");
        string value = Value(10_000_000);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            for (int i = 0; i < 3; i++)
            {
                client.Call("SET", "k" + i, value + i);
                Cold(client, "k" + i);
            }
            client.SaveSnapshot();
        }
        for (int starts = 0; starts < 2; starts++)
        {
            server.Kill();
            server.Start();
            using RespConnection again = new(server.Process.Address, 60_000);
            Assert.That((again.Tiering("tier_reads"), again.Tiering("tier_cold_records"), again.Call("DBSIZE").ToString()), Is.EqualTo((0L, 3L, ":3")));
            Assert.That(again.Call("GET", "k1").Text == value + 1);
            again.SaveSnapshot();
        }
        server.Terminate();
        (int code, string said) = RefusedStart.Check(server.Path);
        Assert.That((code, said), Is.EqualTo((0, said)));
        Assert.That(said, Does.Contain("The directory is sound"));
    }

    [Test]
    public void A_byte_in_the_middle_costs_its_key_and_a_repair_gives_up_that_only()
    {
        using TierScratch tier = new(memory: "64mb", size: "128mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            for (int i = 0; i < 3; i++)
            {
                client.Call("SET", "k" + i, Value(3_000_000, Mark(i)));
                Cold(client, "k" + i);
            }
            client.Call("SET", "short", "value");
            Cold(client, "short");
            client.SaveSnapshot();
        }
        server.Kill();
        Harm(tier, Mark(1));
        server.Start();
        using (RespConnection again = new(server.Process.Address, 60_000))
        {
            Assert.That(again.Call("GET", "k1").ToString(), Does.StartWith("-ERR a value cannot be read from the tier it lies on"));
            foreach (int i in new[] { 0, 2 }) Assert.That(again.Call("GET", "k" + i).Text == Value(3_000_000, Mark(i)));
            Assert.That(again.Call("GET", "short").Text, Is.EqualTo("value"));
        }
        server.Terminate();
        (int code, string said) = RefusedStart.Check(server.Path);
        Assert.That(code, Is.Not.Zero);
        Assert.That(said, Does.Contain("1 record on the tier cannot be read"));
        (code, said) = RefusedStart.RunWith("repair", server.Path, "--apply");
        Assert.That((code, said), Is.EqualTo((0, said)));
        server.Start();
        using RespConnection mended = new(server.Process.Address, 60_000);
        foreach (int i in new[] { 0, 2 }) Assert.That(mended.Call("GET", "k" + i).Text == Value(3_000_000, Mark(i)));
        Assert.That(mended.Call("GET", "short").Text, Is.EqualTo("value"));
    }

    [Test]
    public void A_replica_has_it_from_the_tier()
    {
        using TierScratch tier = new(memory: "64mb", size: "128mb");
        using DataServer primary = new(tier.Flags), replica = new("--maxmemory 256mb");
        using RespConnection client = new(primary.Process.Address, 60_000), follower = new(replica.Process.Address, 60_000);
        string value = Value(20_000_000);
        client.Call("SET", "k", value);
        client.Call("HSET", "h", "field", value);
        Cold(client, "k");
        Cold(client, "h");
        follower.Call("REPLICAOF", "127.0.0.1", $"{primary.Process.Address.Port}");
        Eventually.Holds(() => follower.Call("INFO", "replication").Text.Contains("master_link_status:up", StringComparison.Ordinal));
        Assert.That((follower.Call("GET", "k").Text == value, follower.Call("HGET", "h", "field").Text == value), Is.EqualTo((true, true)));
        Assert.That(client.Call("TIER.WHERE", "k").ToString(), Does.Contain("tier"), "it was copied, and not brought back");
    }

    private static void Cold(RespConnection client, string key)
    {
        client.Call("TIER.DEMOTE", key);
        Assert.That(client.Call("TIER.WHERE", key).ToString(), Does.Match("tier.*chunks_memory.*:0 "), key);
    }

    private static byte[] Dump(RespConnection client, string key) => Encoding.Latin1.GetBytes(client.Call("DUMP", key).Text);

    private static string Mark(int i) => $"<the middle of {i}>";

    // Pieces that differ, so that what is put elsewhere shows.
    private static string Value(int bytes, string middle = "")
    {
        StringBuilder value = new(bytes);
        for (int at = 0; value.Length < bytes; at++) value.Append(at).Append(';');
        value.Length = bytes;
        return middle.Length == 0 ? value.ToString() : value.Remove(bytes / 2, middle.Length).Insert(bytes / 2, middle).ToString();
    }

    private static void Harm(TierScratch tier, string text)
    {
        string path = Directory.GetFiles(tier.Path, "tier-*").Single();
        byte[] bytes = File.ReadAllBytes(path);
        int at = bytes.AsSpan().IndexOf(Encoding.ASCII.GetBytes(text));
        Assert.That(at, Is.GreaterThan(0));
        bytes[at] ^= 1;
        File.WriteAllBytes(path, bytes);
    }
}

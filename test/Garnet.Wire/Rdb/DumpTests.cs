using System.Globalization;
using System.Text;
using NUnit.Framework;

namespace Garnet.Wire.Rdb;

/// <summary>DUMP and RESTORE exchange values with Redis both ways, in every form there has been.</summary>
[TestFixture]
internal sealed class DumpTests
{
    private static readonly string[] OldForms = [.. Payloads.All().Select(form => form.Name)];
    private static readonly string[] NewForms = [.. Payloads.Newer().Select(form => form.Name)];

    [Test]
    public void A_value_of_each_kind_and_size_goes_there_and_back([ValueSource(typeof(Values), nameof(Values.Kinds))] string kind, [Values(1, 5, 600, 20_000)] int size)
    {
        using RespConnection redis = Fresh(ServerSide.Redis), ours = Fresh(ServerSide.Ours);
        foreach (RespConnection side in (RespConnection[])[redis, ours]) Values.Fill(side, "k", kind, size);
        string wanted = Values.Digest(redis, "k");
        Assert.That(Values.Digest(ours, "k"), Is.EqualTo(wanted));
        Assert.That(Restore(ours, "copy", Dump(redis)), Is.EqualTo("+OK"), "theirs to us");
        Assert.That(Values.Digest(ours, "copy"), Is.EqualTo(wanted));
        Assert.That(Restore(redis, "copy", Dump(ours)), Is.EqualTo("+OK"), "ours to them");
        Assert.That(Values.Digest(redis, "copy"), Is.EqualTo(wanted));
        Assert.That(ours.Call("OBJECT", "ENCODING", "copy").ToString(), Is.EqualTo(ours.Call("OBJECT", "ENCODING", "k").ToString()));
    }

    [TestCaseSource(nameof(OldForms))]
    public void A_form_of_old_versions_means_the_same_as_to_Redis(string name)
    {
        (_, byte[] payload, string[][] same) = Payloads.All().Single(form => form.Name == name);
        using RespConnection redis = Fresh(ServerSide.Redis), ours = Fresh(ServerSide.Ours);
        foreach (RespConnection side in (RespConnection[])[redis, ours])
        {
            foreach (string[] command in same) side.Call(command);
            Assert.That(Restore(side, "copy", payload), Is.EqualTo("+OK"));
            Assert.That(Values.Digest(side, "copy"), Is.EqualTo(Values.Digest(side, "k")));
        }
        Assert.That(Values.Digest(ours, "copy"), Is.EqualTo(Values.Digest(redis, "copy")));
    }

    [TestCaseSource(nameof(NewForms))]
    public void A_form_of_newer_versions_means_what_its_description_says(string name)
    {
        (_, byte[] payload, string[][] same) = Payloads.Newer().Single(form => form.Name == name);
        using RespConnection ours = Fresh(ServerSide.Ours);
        foreach (string[] command in same) ours.Call(command);
        Assert.That(Restore(ours, "copy", payload), Is.EqualTo("+OK"));
        Assert.That(Values.Digest(ours, "copy"), Is.EqualTo(Values.Digest(ours, "k")));
        if (name.StartsWith("hash", StringComparison.Ordinal))
            Assert.That(ours.Call("HPEXPIRETIME", "copy", "FIELDS", "2", "f", "g").ToString(), Is.EqualTo(ours.Call("HPEXPIRETIME", "k", "FIELDS", "2", "f", "g").ToString()));
        Assert.That(Restore(ours, "again", Dump(ours, "copy")), Is.EqualTo("+OK"));
        Assert.That(Values.Digest(ours, "again"), Is.EqualTo(Values.Digest(ours, "k")));
    }

    [Test]
    public void What_was_released_of_a_stream_stays_so_and_belongs_to_a_consumer_without_a_name_for_Redis([Values] bool hasConsumerWithoutName)
    {
        using RespConnection redis = Fresh(ServerSide.Redis), ours = Fresh(ServerSide.Ours);
        for (int i = 1; i <= 5; i++) ours.Call("XADD", "k", $"1-{i}", "f", "v");
        ours.Call("XGROUP", "CREATE", "k", "g", "0");
        ours.Call("XREADGROUP", "GROUP", "g", "c", "COUNT", "4", "STREAMS", "k", ">");
        if (hasConsumerWithoutName) ours.Call("XREADGROUP", "GROUP", "g", "", "STREAMS", "k", ">");
        ours.Call("XNACK", "k", "g", "FAIL", "IDS", "2", "1-1", "1-3", "RETRYCOUNT", "7");
        Assert.That(Restore(ours, "copy", Dump(ours)), Is.EqualTo("+OK"));
        Assert.That(Values.Digest(ours, "copy"), Is.EqualTo(Values.Digest(ours, "k")).And.Contains("nacked-count=:2"));
        Assert.That(ours.Call("XREADGROUP", "GROUP", "g", "d", "CLAIM", "1000000", "COUNT", "2", "STREAMS", "copy", ">").ToString(),
            Is.EqualTo("[ [ \"copy\" [ [ \"1-1\" [ \"f\" \"v\" ] :-1 :7 ] [ \"1-3\" [ \"f\" \"v\" ] :-1 :7 ] ] ] ]"));
        Assert.That(Restore(redis, "k", Dump(ours)), Is.EqualTo("+OK"));
        string unnamed = hasConsumerWithoutName ? "3" : "2", last = hasConsumerWithoutName ? "1-5" : "1-4";
        Assert.That(redis.Call("XPENDING", "k", "g").ToString(), Is.EqualTo($"[ :{2 + int.Parse(unnamed, CultureInfo.InvariantCulture)} \"1-1\" \"{last}\" [ [ \"\" \"{unnamed}\" ] [ \"c\" \"2\" ] ] ]"));
        Assert.That(redis.Call("XAUTOCLAIM", "k", "g", "d", "1000000000", "0", "JUSTID").ToString(), Is.EqualTo("[ \"0-0\" [ \"1-1\" \"1-3\" ] [ ] ]"));
    }

    [Test]
    public void Any_byte_that_is_changed_or_missing_is_found_by_the_checksum()
    {
        using RespConnection ours = Fresh(ServerSide.Ours);
        ours.Call("HSET", "k", "field", "value", "number", "7");
        byte[] payload = Dump(ours);
        for (int i = 0; i < payload.Length; i++)
        {
            byte[] changed = [.. payload];
            changed[i] ^= 1;
            Assert.That(Restore(ours, "copy", changed), Is.EqualTo("-ERR DUMP payload version or checksum are wrong"), $"byte {i}");
            Assert.That(Restore(ours, "copy", payload[..i]), Is.EqualTo("-ERR DUMP payload version or checksum are wrong"), $"cut at {i}");
        }
        Assert.That(ours.Call("EXISTS", "copy").ToString(), Is.EqualTo(":0"));
    }

    [Test]
    public void A_bad_value_under_a_right_checksum_leaves_the_old_one_where_it_is()
    {
        using RespConnection ours = Fresh(ServerSide.Ours);
        ours.Call("SET", "copy", "old");
        byte[] twins = Payloads.Close([4, 2, 1, (byte)'f', 1, (byte)'v', 1, (byte)'f', 1, (byte)'w']), empty = Payloads.Close([2, 0]), notANumber = Payloads.Close([3, 1, 1, (byte)'m', 253]);
        foreach (byte[] payload in (byte[][])[twins, empty, notANumber, Payloads.Close([99, 0]), Payloads.Close([0, 1, (byte)'a', (byte)'b'])])
        {
            Assert.That(Restore(ours, "copy", payload, "REPLACE"), Is.EqualTo("-ERR Bad data format"));
            Assert.That(ours.Call("GET", "copy").Text, Is.EqualTo("old"));
        }
    }

    [Test]
    public void Options_and_refusals_are_those_of_Redis([Values(2, 3)] int protocol)
    {
        using RespConnection redis = Fresh(ServerSide.Redis), ours = Fresh(ServerSide.Ours);
        string payload = Encoding.Latin1.GetString(Payloads.Close([0, 1, (byte)'a']));
        string[][] commands =
        [
            ["DUMP", "none"], ["RESTORE", "k", "0", payload], ["GET", "k"], ["RESTORE", "k", "0", payload], ["RESTORE", "k", "0", payload, "REPLACE"],
            ["RESTORE", "k", "-1", payload, "REPLACE"], ["RESTORE", "k", "x", payload, "REPLACE"], ["RESTORE", "k", "0", "bad", "REPLACE"], ["RESTORE", "k", "x", "bad"],
            ["RESTORE", "t", "100000", payload], ["PTTL", "t"], ["RESTORE", "t", "4000000000000", payload, "ABSTTL", "REPLACE"], ["PEXPIRETIME", "t"],
            ["RESTORE", "t", "1", payload, "ABSTTL", "REPLACE"], ["EXISTS", "t"], ["RESTORE", "i", "0", payload, "IDLETIME", "-1"], ["RESTORE", "i", "0", payload, "FREQ", "256"],
            ["RESTORE", "i", "0", payload, "FREQ", "5", "IDLETIME", "5"], ["RESTORE", "i", "0", payload, "IDLETIME", "5"], ["RESTORE", "i", "0", payload, "NONSENSE"], ["RESTORE", "i", "0", payload, "FREQ", "x", "REPLACE"],
        ];
        foreach (RespConnection side in (RespConnection[])[redis, ours]) side.Call("HELLO", protocol.ToString(CultureInfo.InvariantCulture));
        foreach (string[] command in commands)
        {
            string wanted = redis.Call(command).ToString(), got = ours.Call(command).ToString();
            if (command[0] == "PTTL" && Math.Abs(long.Parse(wanted[1..], CultureInfo.InvariantCulture) - long.Parse(got[1..], CultureInfo.InvariantCulture)) < 2000) continue;
            Assert.That(got, Is.EqualTo(wanted), string.Join(' ', command.Select(Quoted.Quote)));
        }
    }

    private static RespConnection Fresh(ServerSide side)
    {
        RespConnection client = new(Servers.Of(side).Address);
        client.Call("FLUSHALL");
        return client;
    }

    private static byte[] Dump(RespConnection from, string key = "k") => Encoding.Latin1.GetBytes(from.Call("DUMP", key).Text);

    private static string Restore(RespConnection to, string key, byte[] payload, params string[] options) =>
        to.Call(["RESTORE", key, "0", Encoding.Latin1.GetString(payload), .. options]).ToString();
}

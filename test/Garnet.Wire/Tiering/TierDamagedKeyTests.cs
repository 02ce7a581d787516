using System.Globalization;
using System.Text;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>How a person gets rid of a key whose value on the tier is damaged: by DEL or SET, as of any other; over restarts and on replicas too (store.C11).</summary>
[Parallelizable] // servers of its own
public sealed class TierDamagedKeyTests
{
    private const string Unreadable = "-ERR a value cannot be read from the tier it lies on: ";
    private const int Fields = 3000;

    // What asks for nothing of what is there, what is left then, and what is answered.
    private static readonly (string Key, string[] Words, string Reply, string Left)[] Ways =
    [
        ("del", ["DEL", "del"], ":1", "$-1"),
        ("unlink", ["UNLINK", "unlink"], ":1", "$-1"),
        ("several", ["DEL", "none", "several"], ":1", "$-1"),
        ("expire", ["EXPIRE", "expire", "-1"], ":1", "$-1"),
        ("set", ["SET", "set", "new"], "+OK", "new"),
        ("setex", ["SETEX", "setex", "10000", "new"], "+OK", "new"),
        ("mset", ["MSET", "other", "1", "mset", "new"], "+OK", "new"),
        ("rename", ["RENAME", "source", "rename"], "+OK", "value"),
    ];

    // What asks for it.
    private static readonly string[][] Refused =
    [
        ["GET", "kept"], ["EXISTS", "kept"], ["APPEND", "kept", "x"], ["SET", "kept", "new", "GET"], ["SET", "kept", "new", "NX"], ["SET", "kept", "new", "KEEPTTL"], ["GETDEL", "kept"],
        ["EXPIRE", "kept", "100"], ["PERSIST", "kept"], ["LPUSH", "kept", "x"], ["MSETNX", "kept", "new"], ["RENAME", "kept", "new"], ["INCR", "kept"],
    ];

    [Test]
    public void Whoever_removes_or_sets_it_is_done_with_it_after_a_restart_and_on_a_replica_too()
    {
        string[] harmed = [.. Ways.Select(static way => way.Key), "kept"];
        using TierScratch tier = new(memory: "64mb", size: "64mb"), ofReplica = new(memory: "64mb", size: "64mb");
        using DataServer server = new($"{tier.Flags} --appendfsync always");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            foreach (string key in harmed.Append("sound")) client.Call("SET", key, Value(key));
            client.Call("SET", "source", "value");
            foreach (string key in harmed.Append("sound")) Assert.That(client.Call("TIER.DEMOTE", key).ToString(), Is.EqualTo(":1"), key);
            client.SaveSnapshot();
        }
        using DataServer replica = new(ofReplica.Flags);
        using (RespConnection follower = new(replica.Process.Address, 60_000)) Follow(follower, server);
        server.Kill();
        foreach (string key in harmed) tier.Harm(Value(key)[..40]);
        server.Start();
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            foreach (string[] words in Refused) Assert.That(client.Call(words).ToString(), Does.StartWith(Unreadable), string.Join(' ', words));
            foreach ((string key, string[] words, string reply, _) in Ways)
            {
                Assert.That(client.Call("GET", key).ToString(), Does.StartWith(Unreadable), key);
                Assert.That(client.Call(words).ToString(), Is.EqualTo(reply), key);
            }
            Holds(client);
            Assert.That((client.Tiering("tier_given_up_records"), client.Call("DBSIZE").ToString()), Is.EqualTo(((long)Ways.Length, ":7")));
        }
        using (RespConnection follower = new(replica.Process.Address, 60_000))
        {
            Follow(follower, server);
            Eventually.Holds(() => follower.Call("GET", "rename").Text == "value");
            HasLeft(follower);
            Assert.That(follower.Call("GET", "kept").Text, Is.EqualTo(Value("kept")), "the replica's own is sound");
        }
        server.Kill(); // no snapshot since: the log does it again, over what is damaged
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        Holds(again);
        Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo(":7"));
        again.SaveSnapshot();
        Assert.That(again.Call("DEL", "kept").ToString(), Is.EqualTo(":1"));
        Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo(":6"));
    }

    // Its pieces, which nobody can name any more, stay until the database is emptied or repaired, and hinder nobody.
    [Test]
    public void A_large_collection_whose_head_is_damaged_makes_place_for_a_new_one()
    {
        using TierScratch tier = new(memory: "64mb", size: "64mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Put(client, "old");
            Assert.That(client.Call("TIER.DEMOTE", "large").ToString(), Does.StartWith(":").And.Not.EqualTo(":0"));
            client.SaveSnapshot();
        }
        server.Kill();
        HarmHead(tier, "large");
        server.Start();
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Assert.That(client.Call("HLEN", "large").ToString(), Does.StartWith(Unreadable));
            Assert.That(client.Call("HSET", "large", "field", "value").ToString(), Does.StartWith(Unreadable), "a change of what is there");
            Assert.That(client.Call("DEL", "large").ToString(), Is.EqualTo(":1"));
            Assert.That((client.Call("HLEN", "large").ToString(), client.Call("DBSIZE").ToString()), Is.EqualTo((":0", ":0")));
            Put(client, "new");
            client.Call("TIER.DEMOTE", "large");
            client.SaveSnapshot();
        }
        server.Kill();
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        Assert.That((again.Call("HLEN", "large").ToString(), again.Call("HGET", "large", "new-77").Text), Is.EqualTo(($":{Fields}", "value")));
        using DataServer replica = new("--maxmemory 256mb");
        using RespConnection follower = new(replica.Process.Address, 60_000);
        Follow(follower, server);
        Assert.That((follower.Call("HLEN", "large").ToString(), follower.Call("DBSIZE").ToString()), Is.EqualTo(($":{Fields}", ":1")));
    }

    private static void Put(RespConnection client, string name) =>
        client.Call(["HSET", "large", .. Enumerable.Range(0, Fields).SelectMany(i => new[] { $"{name}-{i}", "value" })]);

    private static void Follow(RespConnection follower, DataServer server)
    {
        follower.Call("REPLICAOF", "127.0.0.1", server.Process.Address.Port.ToString(CultureInfo.InvariantCulture));
        Eventually.Holds(() => follower.Call("INFO", "replication").Text.Contains("master_link_status:up", StringComparison.Ordinal));
    }

    private static void HasLeft(RespConnection client)
    {
        foreach ((string key, _, _, string left) in Ways)
        {
            RespNode reply = client.Call("GET", key);
            Assert.That(left == "$-1" ? reply.ToString() : reply.Text, Is.EqualTo(left), key);
        }
    }

    private static void Holds(RespConnection client)
    {
        HasLeft(client);
        Assert.That(client.Call("GET", "sound").Text, Is.EqualTo(Value("sound")));
        Assert.That(client.Call("GET", "kept").ToString(), Does.StartWith(Unreadable), "nobody has asked for that one to go");
    }

    // The key stands in each piece too, behind what tells the piece; the head's record says that its key is no longer than that.
    private static void HarmHead(TierScratch tier, string key)
    {
        const int KeyAt = 24, LengthAt = 6; // behind the header and the number that the pieces share
        string file = Directory.GetFiles(tier.Path, "tier-*").Single();
        byte[] bytes = File.ReadAllBytes(file), sought = Encoding.Latin1.GetBytes(key);
        int harmed = 0;
        for (int at = bytes.AsSpan().IndexOf(sought); at >= 0;)
        {
            if (at >= KeyAt && BitConverter.ToUInt16(bytes, at - KeyAt + LengthAt) == sought.Length)
            {
                bytes[at + sought.Length] ^= 1;
                harmed++;
            }
            int next = bytes.AsSpan(at + sought.Length).IndexOf(sought);
            at = next < 0 ? -1 : at + sought.Length + next;
        }
        Assert.That(harmed, Is.EqualTo(1));
        File.WriteAllBytes(file, bytes);
    }

    private static string Value(string key) => $"the value of {key} until it is harmed, ".PadRight(500, 'v');
}

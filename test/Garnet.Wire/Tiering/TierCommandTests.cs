using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>The commands of a tier, on a server that has one, and what its figures say of them.</summary>
[Parallelizable] // servers of its own
public sealed class TierCommandTests
{
    [Test]
    public void A_key_is_moved_by_hand_and_said_to_be_where_it_is()
    {
        using TierScratch tier = new();
        using ServerProcess server = Start(tier);
        using RespConnection client = new(server.Address, 60_000);
        client.Call("SET", "k", "value");
        Assert.That(Where(client, "k"), Is.EqualTo(Places("memory")));
        Assert.That(client.Call("TIER.DEMOTE", "k").ToString(), Is.EqualTo(":1"));
        Assert.That(Where(client, "k"), Is.EqualTo(Places("tier")));
        Assert.That(client.Call("TIER.DEMOTE", "k").ToString(), Is.EqualTo(":0"), "it lies there");
        Assert.That(client.Call("TIER.PROMOTE", "k").ToString(), Is.EqualTo("+OK"));
        Assert.That(Where(client, "k"), Is.EqualTo(Places("memory")));
        Assert.That(client.Call("GET", "k").Text, Is.EqualTo("value"));
        foreach (string command in (string[])["TIER.WHERE", "TIER.PROMOTE", "TIER.DEMOTE"])
            Assert.That(client.Call(command, "none").ToString(), Is.EqualTo("$-1"), command);
        Assert.That(client.Tiering("tier_promotion_considered"), Is.Zero, "none of it counts as a read");
    }

    [Test]
    public void A_large_collection_goes_and_comes_with_all_of_its_pieces()
    {
        using TierScratch tier = new(memory: "64mb");
        using ServerProcess server = Start(tier);
        using RespConnection client = new(server.Address, 60_000);
        for (int i = 0; i < 20_000; i += 100)
            client.Call(["HSET", "hash", .. Enumerable.Range(i, 100).SelectMany(static n => new[] { "field" + n, "value" + n })]);
        Assert.That(Where(client, "hash"), Does.Match("memory.*chunks_memory.*:[1-9][0-9]+ .*:0"));
        Assert.That(client.Call("TIER.DEMOTE", "hash").ToString(), Does.Match(":[1-9][0-9]"));
        Assert.That(Where(client, "hash"), Does.Match("tier.*chunks_memory.*:0 .*:[1-9][0-9]+"));
        Assert.That(client.Call("HGET", "hash", "field7").Text, Is.EqualTo("value7"));
        Assert.That(client.Call("TIER.PROMOTE", "hash").ToString(), Is.EqualTo("+OK"));
        Assert.That(Where(client, "hash"), Does.Match("memory.*chunks_memory.*:[1-9][0-9]+ .*:0"));
        Assert.That(client.Call("HLEN", "hash").ToString(), Is.EqualTo(":20000"));
    }

    [Test]
    public void A_read_is_one_read_however_large_the_value_and_however_many_there_are_beside_it()
    {
        using TierScratch tier = new(memory: "64mb");
        using ServerProcess server = Start(tier);
        using RespConnection client = new(server.Address, 60_000);
        string[] keys = [.. Enumerable.Range(0, 20).Select(static i => "k" + i)];
        foreach (string key in keys)
        {
            client.Call("SET", key, new string('v', key == "k0" ? 300_000 : 3_000));
            client.Call("TIER.DEMOTE", key);
        }
        client.Call("GET", "k0");
        Assert.That(client.Tiering("tier_promoted_records"), Is.Zero, "asked again with more room, that is one read");
        client.Call(["MGET", .. keys]);
        Assert.That((client.Tiering("tier_promoted_records"), Where(client, "k1")), Is.EqualTo((1, Places("tier"))), "only what was read before");
        client.Call(["MGET", .. keys]);
        Assert.That(client.Tiering("tier_promoted_records"), Is.EqualTo(20));
        long reads = client.Tiering("tier_reads");
        client.Call(["MGET", .. keys]);
        Assert.That(client.Tiering("tier_reads"), Is.EqualTo(reads), "all of them are in memory");
        Assert.That(client.Tiering("tier_hits"), Is.EqualTo(39), "the first MGET took k0 back, waited for the others, and counted when it ran again");
        Assert.That(client.Tiering("tier_memory_hits"), Is.GreaterThanOrEqualTo(21), "k0 before, and all of them now");
    }

    [Test]
    public void What_is_observed_is_counted_and_counters_begin_anew()
    {
        using TierScratch tier = new();
        using ServerProcess server = Start(tier, "--tier-promotion observe");
        using RespConnection client = new(server.Address, 60_000);
        client.Call("SET", "k", "value");
        client.Call("TIER.DEMOTE", "k");
        for (int read = 0; read < 3; read++) client.Call("GET", "k");
        Assert.That((client.Tiering("tier_promotion_considered"), client.Tiering("tier_promotion_rejected_observe"), client.Tiering("tier_promoted_records")), Is.EqualTo((3, 2, 0)));
        Assert.That(client.Call("TIER.STATS").ToString(), Does.Contain("\"promotion_considered\" :3").And.Contain("\"cold_records\" :1"));
        Assert.That(client.Call("INFO", "tiering").Text, Does.Contain("tier_promotion:observe").And.Match("tier_read_usec:p50=[1-9][0-9]*,p99="));
        Assert.That(client.Call("TIER.RESET").ToString(), Is.EqualTo("+OK"));
        Assert.That((client.Tiering("tier_promotion_considered"), client.Tiering("tier_cold_records")), Is.EqualTo((0, 1)));
        client.Call("CONFIG", "SET", "tier-promotion", "yes");
        client.Call("GET", "k");
        Assert.That(client.Tiering("tier_promoted_records"), Is.EqualTo(1));
        Assert.That(client.Call("CONFIG", "SET", "tier-promotion", "maybe").ToString(), Does.StartWith("-ERR"));
    }

    private static ServerProcess Start(TierScratch tier, string flags = "")
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        return ServerProcess.TryStartOurs($"{tier.Flags} {flags}".TrimEnd())!;
    }

    private static string Where(RespConnection client, string key) => client.Call("TIER.WHERE", key).ToString();

    private static string Places(string where) => $"[ \"where\" \"{where}\" \"chunks_memory\" :0 \"chunks_tier\" :0 ]";
}

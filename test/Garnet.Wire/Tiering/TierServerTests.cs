using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Servers whose data are several times their memory: what they answer is what one with all of it in memory would.</summary>
[Parallelizable(ParallelScope.All)] // servers of its own, each test
public sealed class TierServerTests
{
    private const int Fields = 4_000, PerRound = 200;

    // Twice the memory, or four times.
    private static readonly string Memory = LongRun.IsWanted ? "24mb" : "12mb";
    private static readonly int Keys = LongRun.IsWanted ? 120_000 : 30_000;

    [TestCase("epoll", "yes")]
    [TestCase("sockets", "no")]
    public void What_is_larger_than_memory_is_read_changed_and_emptied(string transport, string ring)
    {
        using TierScratch tier = new(Memory);
        using ServerProcess server = Start($"{tier.Flags} --tier-io-uring {ring} --transport {transport}");
        using RespConnection client = new(server.Address, 60_000);
        Fill(client);
        Assert.That(client.Tiering("tier_cold_records"), Is.GreaterThan(Keys / 2));
        CountOnce(client);
        CheckAll(client);
        long reads = client.Tiering("tier_reads");
        Assert.That(client.Tiering("tier_postponed_commands"), Is.GreaterThan(20), "nobody waited in a command for them");
        Assert.That(client.Tiering("tier_postponed_commands"), Is.LessThan(reads / 4), "a pipeline waits once for what it needs, and not at each of its commands");
        Change(client);
        Assert.That(client.Call("DBSIZE").ToString(), Does.Contain((Keys + 4).ToString(CultureInfo.InvariantCulture)));
        Assert.That(Scan(client), Is.EqualTo(Keys + 4));
        client.Call("FLUSHALL", "SYNC");
        Eventually.Holds(() => client.Tiering("tier_cold_records") == 0); // read, and removed, behind the answer
        Assert.That(client.Call("SET", "k", "v").ToString(), Does.Contain("OK"));
    }

    // What waits for the tier is framed again, and is one command all the same.
    private static void CountOnce(RespConnection client)
    {
        const int Reads = 500;
        long postponed = client.Tiering("tier_postponed_commands"), before = Commands(client);
        for (int i = 0; i < Reads; i++) client.Call("STRLEN", "key:" + i);
        for (int i = 0; i < Reads; i++) client.Call("GET", "key:" + (Reads + i));
        Assert.That(Commands(client) - before, Is.EqualTo((2 * Reads) + 1));
        Assert.That(client.Tiering("tier_postponed_commands") - postponed, Is.GreaterThan(20));

        static long Commands(RespConnection client) =>
            long.Parse(client.Call("CLIENT", "INFO").Text.Split(" tot-cmds=")[1].Split(' ', '\n')[0], CultureInfo.InvariantCulture);
    }

    [Test]
    public void What_is_larger_than_memory_survives_a_kill()
    {
        using TierScratch tier = new(Memory);
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Fill(client);
            client.Call("BGSAVE");
            Change(client);
            Assert.That(client.Call("WAITAOF", "1", "0", "60000").ToString(), Is.EqualTo("[ :1 :0 ]"));
        }
        server.Kill();
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        CheckAll(again);
        Assert.That(again.Tiering("tier_cold_records"), Is.GreaterThan(Keys / 2));
    }

    [Test]
    public void A_replica_has_a_tier_of_its_own()
    {
        using TierScratch tier = new(Memory), other = new(Memory);
        using ReplicaServer primary = new(keepsData: false, tier.Flags), replica = new(keepsData: false, other.Flags);
        using RespConnection client = new(primary.Process.Address, 60_000);
        Fill(client);
        replica.Follow(primary);
        replica.AwaitLink();
        Change(client);
        replica.CatchUp(primary);
        using RespConnection reader = new(replica.Process.Address, 60_000);
        CheckAll(reader);
        Assert.That(reader.Tiering("tier_cold_records"), Is.GreaterThan(Keys / 2));
        Assert.That(replica.Digest(), Is.EqualTo(primary.Digest()));
    }

    [TestCase("--tier-path /nowhere/at/all", "tier-path")]
    [TestCase("--tier-path {0}/file", "it is a file")]
    [TestCase("--tier-path /proc", "Name a directory that the server may write to")]
    [TestCase("--tier-path {0} --tier-size 1mb", "tier-size")]
    public void A_tier_that_cannot_be_is_refused_with_what_to_do(string flags, string said)
    {
        using TierScratch tier = new(Memory);
        File.WriteAllText(Path.Combine(tier.Path, "file"), "");
        (int code, string text) = RefusedStart.RunWith(Words(string.Format(CultureInfo.InvariantCulture, flags, tier.Path), tier));
        Assert.That((code, text), Is.EqualTo((64, text)));
        Assert.That(text, Does.Contain(said));
    }

    // Each has a file of its own there, and what it keeps names that.
    [TestCase(false)]
    [TestCase(true)]
    public void Two_servers_may_have_their_tiers_in_one_directory(bool keeps)
    {
        const int Few = 200;
        using TierScratch tier = new(memory: "64mb", size: "64mb");
        DirectoryInfo[] data = [Directory.CreateTempSubdirectory("garnet-two-tiers-"), Directory.CreateTempSubdirectory("garnet-two-tiers-")];
        for (int round = 0; round < (keeps ? 2 : 1); round++)
        {
            ServerProcess[] servers = [.. data.Select(one => Start(tier.Flags + (keeps ? $" --dir {one.FullName} --appendonly yes" : "")))];
            RespConnection[] clients = [.. servers.Select(static server => new RespConnection(server.Address, 60_000))];
            for (int i = 0; i < Few && round == 0; i++)
            {
                for (int which = 0; which < 2; which++)
                {
                    clients[which].Call("SET", "key:" + i, Value(i + which));
                    Assert.That(clients[which].Call("TIER.DEMOTE", "key:" + i).ToString(), Is.EqualTo(":1"));
                }
            }
            for (int which = 0; which < 2; which++)
            {
                Assert.That(Enumerable.Range(0, Few).Where(i => clients[which].Call("GET", "key:" + i).Text != Value(i + which)), Is.Empty);
                if (keeps) clients[which].SaveSnapshot();
                clients[which].Dispose();
                servers[which].Dispose();
            }
        }
        foreach (DirectoryInfo one in data) one.Delete(recursive: true);
    }

    // A disk without so much room, as far as the server can tell: how much there is on ours nobody knows.
    [Test]
    public void A_tier_for_which_there_is_no_room_is_refused_with_what_to_do()
    {
        using TierScratch tier = new(Memory);
        (int code, string text) = RefusedStart.RunWithSmallFiles(128 << 20, Words($"--tier-path {tier.Path} --tier-size 256mb", tier));
        Assert.That((code, text), Is.EqualTo((64, text)));
        Assert.That(text, Does.Contain($"cannot set {256 << 20} bytes aside").And.Contain("lower tier-size"));
        Assert.That(Directory.GetFiles(tier.Path, "tier-*"), Is.Empty);
    }

    private static string[] Words(string flags, TierScratch tier) => [.. flags.Split(' '), "--port", "0", "--unixsocket", System.IO.Path.Combine(tier.Path, "socket")];

    private static ServerProcess Start(string flags)
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        return ServerProcess.TryStartOurs(flags)!;
    }

    private static string Value(int i) => string.Create(CultureInfo.InvariantCulture, $"{i}:").PadRight(300 + (i % 900), (char)('a' + (i % 26)));

    private static void Fill(RespConnection client)
    {
        for (int from = 0; from < Keys; from += PerRound)
            Pipeline(client, Enumerable.Range(from, PerRound).Select(static i => new[] { "SET", "key:" + i, Value(i) }), static (_, reply) => Assert.That(reply, Does.Contain("OK")));
        for (int from = 0; from < Fields; from += PerRound)
        {
            Pipeline(client, Enumerable.Range(from, PerRound).Select(static i => new[] { "HSET", "hash", "f" + i, Value(i) }), Ignore);
            Pipeline(client, Enumerable.Range(from, PerRound).Select(static i => new[] { "ZADD", "sorted", i.ToString(CultureInfo.InvariantCulture), "m" + i }), Ignore);
            Pipeline(client, Enumerable.Range(from, PerRound).Select(static i => new[] { "RPUSH", "list", Value(i) }), Ignore);
            Pipeline(client, Enumerable.Range(from, PerRound).Select(static i => new[] { "XADD", "stream", $"{i + 1}-0", "f", Value(i) }), Ignore);
        }
        // What came last is what memory has: the collections go to the tier too.
        for (int from = 0; from < Keys; from += PerRound)
            Pipeline(client, Enumerable.Range(from, PerRound).Select(static i => new[] { "SET", "key:" + i, Value(i) }), Ignore);
    }

    private static void CheckAll(RespConnection client)
    {
        int[] some = [.. Enumerable.Range(0, Keys / 23).Select(static i => i * 23)];
        foreach (int[] chunk in some.Chunk(PerRound))
            Pipeline(client, chunk.Select(static i => new[] { "GET", "key:" + i }), (at, reply) => Assert.That(reply, Does.Contain(Value(chunk[at]))));
        int[] few = [.. Enumerable.Range(0, Fields / 37).Select(static i => i * 37)];
        Pipeline(client, few.Select(static i => new[] { "HGET", "hash", "f" + i }), (at, reply) => Assert.That(reply, Does.Contain(Value(few[at]))));
        Pipeline(client, few.Select(static i => new[] { "LINDEX", "list", i.ToString(CultureInfo.InvariantCulture) }), (at, reply) => Assert.That(reply, Does.Contain(Value(few[at]))));
        Pipeline(client, few.Select(static i => new[] { "ZRANK", "sorted", "m" + i }), (at, reply) => Assert.That(reply, Does.Contain(few[at].ToString(CultureInfo.InvariantCulture))));
        Pipeline(client, few.Select(static i => new[] { "XRANGE", "stream", $"{i + 1}", $"{i + 1}" }), (at, reply) => Assert.That(reply, Does.Contain(Value(few[at]))));
    }

    // What was changed is afterwards as it was, so that all of it can be checked.
    private static void Change(RespConnection client)
    {
        int[] some = [.. Enumerable.Range(0, 400).Select(static i => i * 23 * 7 % (Keys / 23) * 23)];
        Pipeline(client, some.SelectMany(static i => new[]
        {
            new[] { "APPEND", "key:" + i, "tail" }, ["GETRANGE", "key:" + i, "-4", "-1"], ["SETRANGE", "key:" + i, "0", Value(i)], ["SET", "key:" + i, Value(i)],
        }), static (at, reply) => Assert.That(reply, at % 4 == 1 ? Does.Contain("tail") : Does.Not.Contain("ERR")));
        string[] keys = [.. some.Distinct().Take(50).Select(static i => "key:" + i)];
        Assert.That(client.Call(["MGET", .. keys]).Items, Has.Count.EqualTo(keys.Length).And.None.Matches<RespNode>(static item => item.ToString().Contains("nil", StringComparison.Ordinal)));
        client.Call("MULTI");
        foreach (string key in keys) client.Call("STRLEN", key);
        client.Call("RENAME", keys[0], "renamed");
        client.Call("RENAME", "renamed", keys[0]);
        Assert.That(client.Call("EXEC").Items, Has.Count.EqualTo(keys.Length + 2));
        Assert.That(client.Call(["EVAL", "local n = 0; for _, k in ipairs(KEYS) do n = n + redis.call('STRLEN', k) end return n", keys.Length.ToString(CultureInfo.InvariantCulture), .. keys]).ToString(), Does.Not.Contain("ERR"));
        Assert.That(client.Call("EVAL", "return redis.call('STRLEN', 'key:' .. ARGV[1])", "0", "77").ToString(), Does.Contain(Value(77).Length.ToString(CultureInfo.InvariantCulture)));
        Pipeline(client, Enumerable.Range(0, 100).SelectMany(static i => new[]
        {
            new[] { "HINCRBY", "hash", "counter" + i, "1" }, ["HDEL", "hash", "counter" + i], ["ZADD", "sorted", (i * 17).ToString(CultureInfo.InvariantCulture), "m" + (i * 17)],
            ["LSET", "list", (i * 37).ToString(CultureInfo.InvariantCulture), Value(i * 37)],
        }), static (_, reply) => Assert.That(reply, Does.Not.Contain("ERR")));
    }

    private static int Scan(RespConnection client)
    {
        HashSet<string> seen = [];
        string cursor = "0";
        do
        {
            IReadOnlyList<RespNode> items = client.Call("SCAN", cursor, "COUNT", "1000").Items!;
            cursor = items[0].Text;
            foreach (RespNode key in items[1].Items!) seen.Add(key.Text);
        }
        while (cursor != "0");
        return seen.Count;
    }

    private static void Ignore(int at, string reply) => Assert.That(reply, Does.Not.Contain("ERR"));

    private static void Pipeline(RespConnection client, IEnumerable<string[]> commands, Action<int, string> check)
    {
        byte[][] all = [.. commands.Select(static words => RespConnection.Encode(words))];
        client.Send(all.SelectMany(static bytes => bytes).ToArray());
        for (int i = 0; i < all.Length; i++) check(i, client.Read().ToString());
    }
}

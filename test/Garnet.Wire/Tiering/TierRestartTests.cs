using System.Diagnostics;
using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Servers with a data directory and a tier, started again: the tier is gone on with, and one that is not the server's is refused.</summary>
[Parallelizable(ParallelScope.All)] // servers of its own, each test
public sealed class TierRestartTests
{
    private const int Keys = 30_000, PerRound = 200;

    [TestCase("--appendonly yes", "")]
    [LongCase("--appendonly no", "")]
    [TestCase("--appendonly yes", "16mb", Description = "persistent memory above the disk")]
    public void A_start_goes_on_with_the_tier_and_reads_nothing_of_it(string log, string pm)
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb", pm);
        using DataServer server = new($"{tier.Flags} {log}");
        long cold;
        string digest;
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Fill(client);
            client.SaveSnapshot();
            cold = client.Tiering("tier_cold_records");
            digest = Digest(client);
        }
        Assert.That(cold, Is.GreaterThan(Keys / 3));
        for (int starts = 0; starts < 2; starts++)
        {
            server.Kill();
            server.Start();
            using RespConnection again = new(server.Process.Address, 60_000);
            AwaitWalkForExpiredFields(again);
            Assert.That(again.Tiering("tier_reads"), Is.Zero, "the snapshot names what lies there");
            Assert.That(again.Tiering("tier_cold_records"), Is.GreaterThan(cold / 2));
            Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo($":{Keys + 3}"));
            CheckAll(again);
            Assert.That(Digest(again), Is.EqualTo(digest));
            again.SaveSnapshot();
        }
    }

    [TestCase("")]
    [TestCase("16mb", Description = "persistent memory above the disk")]
    public void Where_the_tiers_file_is_removed_while_the_server_runs_a_snapshot_takes_all_of_it_and_a_kill_loses_nothing(string pm)
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb", pm);
        using DataServer server = new($"{tier.Flags} --appendonly no");
        string digest;
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Fill(client);
            client.SaveSnapshot();
            digest = Digest(client);
            Assert.That(client.Tiering("tier_cold_records"), Is.GreaterThan(Keys / 3));
            long saves = client.Number("persistence", "rdb_saves");
            foreach (string file in Directory.GetFiles(pm.Length == 0 ? tier.Path : tier.MemoryPath)) File.Delete(file);
            Eventually.Holds(() => client.Number("persistence", "rdb_saves") > saves);
            Assert.That(client.Call("INFO", "tiering").Text, Does.Contain("tier_last_failure:its file was removed, or cut, while the server runs"));
        }

        server.Kill();
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        CheckAll(again);
        Assert.That(Digest(again), Is.EqualTo(digest));
    }

    [Test]
    public void Where_the_tiers_file_is_cut_while_the_server_runs_no_snapshot_is_said_to_have_it()
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb");
        using DataServer server = new($"{tier.Flags} --appendonly no");
        using RespConnection client = new(server.Process.Address, 60_000);
        Fill(client);
        client.SaveSnapshot();
        Assert.That(client.Tiering("tier_cold_records"), Is.GreaterThan(Keys / 3));
        using (Process cut = Process.Start("truncate", ["--size=1M", Directory.GetFiles(tier.Path).Single()])) // .NET would ask for the lock that the server has
        {
            Assert.That(cut.WaitForExit(60_000), Is.True);
            Assert.That(cut.ExitCode, Is.Zero);
        }
        Assert.That(client.Call("SAVE").Text, Does.StartWith("ERR"));
        Assert.That(client.Call("INFO", "tiering").Text, Does.Contain("tier_last_failure:"));
        Assert.That(client.Call("PING").Text, Is.EqualTo("PONG"));
    }

    [Test]
    public void Fields_whose_time_has_come_are_removed_on_the_tier_without_a_look_at_the_rest_of_it()
    {
        const int Timed = 20;
        using TierScratch tier = new(memory: "12mb", size: "64mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Fill(client);
            client.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
            for (int i = 0; i < Timed; i++)
            {
                client.Call("HSET", "timed:" + i, "field", Value(i));
                client.Call("HPEXPIRE", "timed:" + i, "1000", "FIELDS", "1", "field"); // seen by nobody before the start, however long all this takes
                client.Call("TIER.DEMOTE", "timed:" + i);
            }
            Assert.That(client.Call("TIER.WHERE", "timed:7").ToString(), Does.Contain("tier"));
            client.SaveSnapshot();
        }
        server.Kill();
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        Eventually.Holds(() => again.Call("DBSIZE").ToString() == $":{Keys + 3}");
        TestContext.Out.WriteLine($"{again.Tiering("tier_reads")} reads");
        Assert.That(again.Tiering("tier_reads"), Is.LessThan(Keys / 5), "most of the tier has none such");
        CheckAll(again);
    }

    [Test]
    public void What_the_log_says_of_keys_on_the_tier_is_done_to_them_at_the_start()
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb");
        using DataServer server = new($"{tier.Flags} --appendfsync always");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Fill(client);
            client.SaveSnapshot();
            for (int i = 0; i < 300; i++)
            {
                client.Call("APPEND", "key:" + i, "tail");
                client.Call("DEL", "key:" + (i + 300));
                client.Call("EXPIRE", "key:" + (i + 600), "100000");
                client.Call("HSET", "hash", "f" + i, "changed");
            }
            client.Call("SELECT", "3");
            client.Call("FLUSHDB");
            client.Call("SELECT", "0");
            client.Call("SWAPDB", "0", "5");
            client.Call("SELECT", "5");
            client.Call("SET", "last", "one");
        }
        server.Kill();
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        again.Call("SELECT", "5");
        Assert.That(again.Call("GET", "last").Text, Is.EqualTo("one"));
        Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo($":{Keys + 3 - 300 + 1}"));
        for (int i = 0; i < 300; i += 7)
        {
            Assert.That(again.Call("GET", "key:" + i).Text, Is.EqualTo(Value(i) + "tail"));
            Assert.That(again.Call("EXISTS", "key:" + (i + 300)).ToString(), Is.EqualTo(":0"));
            Assert.That(again.Call("TTL", "key:" + (i + 600)).ToString(), Is.Not.EqualTo(":-1"));
            Assert.That(again.Call("HGET", "hash", "f" + i).Text, Is.EqualTo("changed"));
        }
        again.Call("FLUSHALL");
        again.Call("WAITAOF", "1", "0", "60000");
        server.Kill();
        server.Start();
        using RespConnection empty = new(server.Process.Address, 60_000);
        empty.Call("SELECT", "5");
        Assert.That(empty.Call("DBSIZE").ToString(), Is.EqualTo(":0"));
    }

    [Test]
    public void Snapshots_are_taken_when_the_tier_waits_for_them_and_give_its_room_back()
    {
        using TierScratch tier = new(memory: "12mb", size: "32mb");
        using DataServer server = new(tier.Flags);
        using RespConnection client = new(server.Process.Address, 60_000);
        Fill(client);
        client.SaveSnapshot();
        for (int round = 0; round < 12 && client.Number("persistence", "rdb_saves") < 3; round++) Fill(client);
        Assert.That(client.Number("persistence", "rdb_saves"), Is.GreaterThan(1), "the server has asked for one by itself");
        Eventually.Holds(() => client.Tiering("tier_kept_bytes") < (32 << 20) * 0.15);
        CheckAll(client);
    }

    [Test]
    public void A_tier_that_is_not_what_the_snapshot_names_is_refused_and_loses_nothing()
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Fill(client);
            Put(client, "more:");
            client.SaveSnapshot();
        }
        server.Stop();
        string file = Directory.GetFiles(tier.Path, "tier-*").Single(), aside = Path.Combine(server.Path, "aside");
        (int code, string said) = RefusedStart.Check(server.Path);
        Assert.That((code, said), Is.EqualTo((0, said)));
        Assert.That(said, Does.Contain("on the tier, in").And.Contain("The directory is sound"));
        File.Move(file, aside);
        RefusedStart.Refuses(server, tier.Flags, "the tier's file is not the one");
        Assert.That(Directory.GetFiles(tier.Path, "tier-*"), Is.Empty, "one that was made anew does not stay");
        Assert.That(RefusedStart.Check(server.Path).Code, Is.Not.Zero);
        File.Copy(aside, file);
        RefusedStart.Refuses(server, tier.Flags.Replace("64mb", "16mb", StringComparison.Ordinal), "tier-size");
        Assert.That(new FileInfo(file).Length, Is.EqualTo(new FileInfo(aside).Length), "it is cut only when it is known to be larger than need be");
        RefusedStart.Refuses(server, "--maxmemory 12mb", "tier-path");
        using (FileStream cut = File.OpenWrite(file)) cut.SetLength(8 << 20);
        RefusedStart.Refuses(server, tier.Flags, "are not those that are named");
        File.Copy(aside, file, overwrite: true);
        using (FileStream other = File.Open(file, FileMode.Open))
        {
            other.Position = 16;
            int byteThere = other.ReadByte();
            other.Position = 16;
            other.WriteByte((byte)~byteThere);
        }
        RefusedStart.Refuses(server, tier.Flags, "the checksum of its head is wrong");
        File.Move(aside, file, overwrite: true);
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        CheckAll(again);
    }

    [Test]
    public void A_start_that_needs_a_value_that_cannot_be_read_says_what_to_do_and_a_repair_does_it()
    {
        using TierScratch tier = new(memory: "12mb", size: "64mb");
        using DataServer server = new($"{tier.Flags} --appendfsync always");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Fill(client);
            client.SaveSnapshot();
            for (int i = 0; i < 300; i++) client.Call("EXPIRE", "key:" + i, "100000");
        }
        server.Kill();
        HarmAll(Directory.GetFiles(tier.Path, "tier-*").Single());
        RefusedStart.Refuses(server, tier.Flags, "garnet-server repair");
        RefusedStart.Refuses(server, tier.Flags, "a value cannot be read from the tier it lies on");
        (int code, string said) = RefusedStart.RunWith("repair", server.Path);
        Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
        Assert.That(said, Does.Contain("Would begin with the log alone").And.Contain("Nothing would be lost."), "it reaches back to the beginning");
        (code, said) = RefusedStart.RunWith("repair", server.Path, "--apply");
        Assert.That((code, said), Is.EqualTo((0, said)));
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo($":{Keys + 3}"));
        CheckAll(again);
    }

    // In every record behind the heads of segments.
    private static void HarmAll(string path)
    {
        byte[] bytes = File.ReadAllBytes(path);
        for (int at = 1 << 20; at < bytes.Length; at += 64)
        {
            if ((at & ((1 << 20) - 1)) != 0) bytes[at] ^= 1;
        }
        File.WriteAllBytes(path, bytes);
    }

    // The same field of the same key twice: between the two the walk has met every key.
    private static void AwaitWalkForExpiredFields(RespConnection client)
    {
        for (int walks = 0; walks < 2; walks++)
        {
            client.Call("HSET", "walked", "field", "value");
            client.Call("HPEXPIRE", "walked", "1", "FIELDS", "1", "field");
            Eventually.Holds(() => client.Call("DBSIZE").ToString() == $":{Keys + 3}");
        }
    }

    private static string Digest(RespConnection client)
    {
        string reply = client.Call("REPL", "DIGEST").ToString();
        return reply[reply.IndexOf("\"keys\"", StringComparison.Ordinal)..];
    }

    private static string Value(int i) => string.Create(CultureInfo.InvariantCulture, $"{i}:").PadRight(200 + (i % 700), (char)('a' + (i % 26)));

    private static void Fill(RespConnection client)
    {
        for (int from = 0; from < 3000; from += PerRound)
        {
            int[] some = [.. Enumerable.Range(from, PerRound)];
            client.Call(["HSET", "hash", .. some.SelectMany(static i => new[] { "f" + i, Value(i) })]);
            client.Call(["ZADD", "sorted", .. some.SelectMany(static i => new[] { i.ToString(CultureInfo.InvariantCulture), "m" + i })]);
            client.Call(["SADD", "set", .. some.Select(static i => "s" + i)]);
        }
        Put(client, "key:");
    }

    // Writes that come faster than the disk takes them are refused for a while.
    private static void Put(RespConnection client, string name)
    {
        for (int from = 0; from < Keys; from += PerRound)
        {
            string[] words = ["MSET", .. Enumerable.Range(from, PerRound).SelectMany(i => new[] { name + i, Value(i) })];
            Eventually.Holds(() => client.Call(words).ToString() == "+OK");
        }
    }

    private static void CheckAll(RespConnection client)
    {
        for (int from = 0; from < Keys; from += PerRound)
        {
            RespNode values = client.Call(["MGET", .. Enumerable.Range(from, PerRound).Select(static i => "key:" + i)]);
            for (int i = 0; i < PerRound; i++) Assert.That(values.Items![i].Text, Is.EqualTo(Value(from + i)));
        }
        for (int i = 0; i < 3000; i += 17)
        {
            Assert.That(client.Call("HGET", "hash", "f" + i).Text, Is.EqualTo(Value(i)));
            Assert.That(client.Call("ZSCORE", "sorted", "m" + i).Text, Is.EqualTo(i.ToString(CultureInfo.InvariantCulture)));
        }
        Assert.That(client.Call("SCARD", "set").ToString(), Is.EqualTo(":3000"));
    }
}

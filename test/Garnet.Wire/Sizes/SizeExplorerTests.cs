using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using Garnet.Common.Test;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Sizes;

/// <summary>
/// Commands with arguments and stored values of sizes around the boundaries of what lengths are kept in, with a log and a replica: whatever the
/// answer, the process lives, others are served, memory comes back, and what was acknowledged is there after a kill. GARNET_SIZES=long for all
/// sizes, some of which want 6 GiB of memory.
/// </summary>
[Parallelizable] // servers of its own
internal sealed class SizeExplorerTests
{
    private const int OthersMs = 10_000, CommandMs = 120_000;
    private const long ElementBytes = 256L << 20, Large = 64L << 20, Largest = 512L << 20, SlackBytes = 640L << 20;
    private const string Flags = "--maxmemory 3gb --appendfsync everysec --auto-aof-rewrite-min-size 1gb";

    private static readonly long[] Small = [0, 1, (1 << 15) - 1, 1 << 15, (1 << 15) + 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1];

    private static bool IsLong => Environment.GetEnvironmentVariable("GARNET_SIZES") == "long";

    // Commands of the data groups that say nothing about sizes here: they wait, administer, or take no value.
    private static readonly string[] Elsewhere = ["FLUSHALL", "FLUSHDB", "MIGRATE", "RESTORE-ASKING", "WAIT", "PFDEBUG", "PFSELFTEST", "SCAN", "OBJECT"];

    [Test]
    public void Every_command_of_the_data_groups_has_a_size()
    {
        using RespConnection client = new(Servers.Ours.Address);
        HashSet<string> named = [.. SizeWords.Families.SelectMany(static family => family.Commands.Concat(family.Stored)).Select(static command => command.Split(' ')[0]), .. Elsewhere];
        string[] groups = ["@string", "@bitmap", "@hyperloglog", "@keyspace", "@list", "@hash", "@set", "@sortedset", "@geo", "@stream"];
        string[] missing = [.. client.Call("COMMAND").Items!
            .Where(command => command.Items![6].Items!.Any(category => groups.Contains(category.Text)))
            .Select(static command => command.Items![0].Text.ToUpperInvariant()).Where(name => !named.Contains(name))];
        Assert.That(missing, Is.Empty, "commands without a line in SizeWords");
    }

    [TestCase("")]
    [TestCase("--aof-sublogs 3")]
    public void Whatever_the_size_the_server_lives_and_keeps_what_it_has_said(string more)
    {
        using var primary = new ReplicaServer(keepsData: true, $"{Flags} {more}".Trim());
        using var replica = new ReplicaServer(keepsData: true, Flags);
        replica.Follow(primary);
        using (RespConnection client = primary.Connect()) client.Call("SET", "marker", "there");
        foreach (long size in Small.Where(size => Modes(more.Length == 0, size).Length > 0)) RunAll(primary, replica, size, Modes(more.Length == 0, size));
        if (more.Length == 0 || IsLong) RunSome(primary, replica, Large, IsLong ? ["alone", "MULTI", "EVAL"] : ["alone"], IsLong ? 1 : LongRun.IsWanted ? 12 : 96);
        if (IsLong)
        {
            foreach (long size in (long[])[Largest - 1, Largest, Largest + 1]) RunSome(primary, replica, size, ["alone"], 1);
            RunSome(primary, replica, Largest, ["MULTI", "EVAL"], 5);
        }
        Judge(primary, replica);
    }

    // A short run does each alone with one file of the log, and half of the sizes in a script; the other half in a transaction with three files.
    private static string[] Modes(bool hasOneFile, long size)
    {
        if (LongRun.IsWanted || IsLong) return ["alone", "MULTI", "EVAL"];
        bool isScripted = Array.IndexOf(Small, size) % 2 == 0;
        if (hasOneFile) return isScripted ? ["alone", "EVAL"] : ["alone"];
        return isScripted ? [] : ["MULTI"];
    }

    /// <summary>Large elements whose hashes meet, or that are put between others, want more than a page can be (reproduced: the process ended).</summary>
    [TestCase("HSET h f{0} @")]
    [TestCase("SADD u @{0}")]
    [TestCase("ZADD z 1 @{0}")]
    [TestCase("ZADD z {0} @{0}")]
    [TestCase("RPUSH l @{0}")]
    [TestCase("LPUSH l @{0}")]
    [TestCase("LINSERT l BEFORE b @{0}")]
    [TestCase("XADD x * f @{0}")]
    public void Many_elements_of_the_largest_size_find_room(string command)
    {
        bool isShort = command.StartsWith("SADD", StringComparison.Ordinal);
        if (!IsLong && !(isShort && LongRun.IsWanted)) Assert.Ignore(isShort ? "wants a minute: CI=true" : "wants minutes: GARNET_SIZES=long");
        const int Many = 7;
        using var server = new ReplicaServer(keepsData: true, "--maxmemory 8gb");
        using (SizedClient client = new(server.Process.Address, CommandMs))
        {
            client.Call("RPUSH l a b c", 0);
            for (int i = 0; i < Many; i++) Assert.That(client.Call(Of(command, i), ElementBytes), Does.Match("^[:$][0-9]"), $"{i}: {server.Process.LastWords}");
            Assert.That(client.Call(Of(command, Many), ElementBytes + (1 << 20)), Does.StartWith("-ERR an element of a collection is longer"), server.Process.LastWords);
            Assert.That(client.Call("WAITAOF 1 0 60000", 0), Does.StartWith("*2: :1"));
        }
        string digest = server.Digest();
        server.Kill();
        server.Start();
        Assert.That(server.Digest(), Is.EqualTo(digest));
    }

    [Test]
    public void What_was_gathered_for_a_change_that_is_refused_is_given_back()
    {
        using var server = new ReplicaServer(keepsData: true, "--maxmemory 1gb");
        using var client = new SizedClient(server.Process.Address, CommandMs);
        const int Bytes = 1 << 20, Many = 24, PatienceMs = 60_000;
        int rounds = LongRun.IsWanted || IsLong ? 20 : 10; // what each would leave is twice what is let pass
        foreach (string key in (string[])["RPUSH l", "SADD u", "GEOADD g 13 38", "HSET h", "ZADD z 1"])
        {
            for (int i = 0; i < Many; i++) client.Call($"{key} @{i}.{(key[0] == 'H' ? " v" : "")}", Bytes);
        }
        client.Call("CONFIG SET aof-step-max-size 2097152", 0);
        string fields = string.Join(' ', Enumerable.Range(0, 8).Select(static i => $"@{i}."));
        string[] refused =
        [
            "SORT l BY nosort STORE d", "SPOP u 20", "ZRANGESTORE d z 0 -1", "GEOSEARCHSTORE d g FROMLONLAT 13 38 BYRADIUS 9 km", "ZUNIONSTORE d 1 z", "SUNIONSTORE d u", "COPY l d", "COPY z d",
            $"HPEXPIRE h 100000 FIELDS 8 {fields}", $"GEOADD d {string.Join(' ', Enumerable.Range(0, 8).Select(static i => $"1 {i} @{i}."))}",
        ];
        foreach (string command in refused)
        {
            client.Call(command, Bytes);
            long before = server.Process.ResidentBytes();
            for (int i = 0; i < rounds; i++) Assert.That(client.Call(command, Bytes), Does.StartWith("-ERR a step of the append-only file"), command.Split(' ')[0]);
            bool IsBack() => server.Process.ResidentBytes() - before < rounds * (long)Bytes * 4;
            Assert.That(SpinWait.SpinUntil(IsBack, PatienceMs), Is.True, command.Split(' ')[0]); // some of it waits a moment to be used again
        }
        // In a transaction the first of them fit.
        client.Call("CONFIG SET aof-step-max-size 8388608", 0);
        long resident = 0;
        for (int i = 0; i < rounds * 2; i++)
        {
            if (i == 1) resident = server.Process.ResidentBytes();
            client.Call("MULTI", 0);
            for (int move = 0; move < 20; move++) client.Call(move % 2 == 0 ? "LMOVE l k LEFT RIGHT" : "LMOVE k l RIGHT LEFT", 0);
            Assert.That(client.Call("EXEC", 0), Does.Contain("-ERR a step of the append-only file"));
        }
        Assert.That(server.Process.ResidentBytes() - resident, Is.LessThan(200L << 20), "LMOVE");
    }

    private static string Of(string command, int number) => string.Format(CultureInfo.InvariantCulture, command, number);

    private static void RunAll(ReplicaServer primary, ReplicaServer replica, long size, params string[] modes) => RunSome(primary, replica, size, modes, 1);

    private static void RunSome(ReplicaServer primary, ReplicaServer replica, long size, string[] modes, int every)
    {
        long from = Stopwatch.GetTimestamp();
        int commands = 0, turn = 0;
        foreach (string mode in modes)
        {
            foreach ((string _, string[] stored, string[] all) in SizeWords.Families)
            {
                string[] some = [.. all.Where(_ => turn++ % every == every / 2)];
                if (some.Length == 0) continue; // what they need has that size too
                SizedClient client = new(primary.Process.Address, CommandMs);
                client.Call("DEL s t n m1 x1 x2 d p q l k c e r o h u v z y g x", 0);
                foreach (string command in stored) client = Run(primary, client, command, size, "alone");
                foreach (string command in some) client = Run(primary, client, command, size, mode);
                commands += some.Length;
                client.Dispose();
            }
        }
        using (SizedClient client = new(primary.Process.Address, CommandMs))
        {
            client.Call("FLUSHALL", 0);
            client.Call("SET marker there", 0);
            client.Call("SCRIPT FLUSH", 0);
            client.Call("WAIT 1 100000", 0); // what a slow replica has still to get is kept for it
        }
        Assert.That(commands, Is.Positive);
        TestContext.Out.WriteLine($"size {size}: {commands} commands, {Stopwatch.GetElapsedTime(from).TotalSeconds:F1} s, peak {Peak(primary)} MiB, replica {Peak(replica)} MiB");
        Assert.That(() => primary.Process.ResidentBytes(), Is.LessThan(SlackBytes).After(60_000, 200), $"memory after what had {size} bytes");
    }

    private static SizedClient Run(ReplicaServer primary, SizedClient client, string command, long size, string mode)
    {
        string what = $"{command} with {size} bytes, {mode}";
        try
        {
            string reply = Reply(client, command, size, mode);
            if (reply == "closed" || client.Call("ECHO in-step", 0) != "$7 in-step")
            {
                client.Dispose();
                client = new SizedClient(primary.Process.Address, CommandMs);
                Assert.That(reply.StartsWith('-') || reply == "closed" || reply.StartsWith('*'), $"{what}: {reply}, and then replies were out of step");
            }
            using SizedClient other = new(primary.Process.Address, OthersMs);
            Assert.That(other.Call("GET marker", 0), Is.EqualTo("$5 there"), what);
            return client;
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            throw new AssertionException($"{what}: {e.Message}; the server: {primary.Process.LastWords}");
        }
    }

    private static string Reply(SizedClient client, string command, long size, string mode)
    {
        if (mode != "MULTI") return client.Call(mode == "alone" ? command : $"EVAL return(redis.pcall(unpack(ARGV))) 0 {command}", size);
        client.Call("MULTI", 0);
        client.Call(command, size);
        client.Call(command, size);
        return client.Call("EXEC", 0);
    }

    private static void Judge(ReplicaServer primary, ReplicaServer replica)
    {
        using (RespConnection client = primary.Connect())
        {
            Assert.That(client.Call("SET", "last", "word").Text, Is.EqualTo("OK"));
            Assert.That(client.Call("WAITAOF", "1", "0", "30000").Items![0].Text, Is.EqualTo("1"));
        }
        replica.CatchUp(primary);
        Assert.That(replica.Digest(), Is.EqualTo(primary.Digest()));
        primary.Kill();
        primary.Start();
        using (RespConnection client = primary.Connect()) Assert.That(client.Call("MGET", "marker", "last").Items!.Select(static item => item.Text), Is.EqualTo((string[])["there", "word"]));
        primary.Kill();
        Assert.That(primary.Check(), Does.Contain("sound"));
    }

    private static long Peak(ReplicaServer server) =>
        long.Parse(File.ReadLines($"/proc/{server.Process.Pid}/status").First(static line => line.StartsWith("VmHWM", StringComparison.Ordinal)).Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) >> 10;
}

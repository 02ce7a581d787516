using System.Collections.Concurrent;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>One write that is larger than what is kept free: room is made for it by eviction or by the tier, and only what can never fit is refused.</summary>
internal sealed class LargeWriteTests
{
    private const int Small = 4000, Large = 2 << 20, Keys = 6_000;
    private static readonly string Value = new('v', Large);
    private static readonly string[] Members = [.. Enumerable.Range(0, 100_000).Select(static i => $"{i}")];

    [TestCase("SET big")]
    [TestCase("APPEND big")]
    [LongCase("SETEX big 1000")]
    [LongCase("SETNX big")]
    [LongCase("GETSET big")]
    [TestCase("MSET big")]
    [TestCase("HSET big f")]
    [TestCase("RPUSH big")]
    [LongCase("SADD big")]
    [LongCase("ZADD big 1")]
    [TestCase("XADD big * f")]
    public void Room_is_made_for_a_value(string command) => Write([.. command.Split(' '), Value], before: []);

    [TestCase("EVAL return(redis.call('SET',KEYS[1],ARGV[1])) 1 big")]
    [TestCase("EVAL #!lua\nreturn(redis.call('SET',KEYS[1],ARGV[1])) 1 big")]
    public void Room_is_made_for_what_a_script_is_given(string command) => Write([.. command.Split(' '), Value], before: []);

    [TestCase("SETRANGE big 2000000 x")]
    [LongCase("SETBIT big 16000000 1")]
    [TestCase("BITFIELD big SET u8 16000000 1")]
    public void Room_is_made_for_what_a_number_asks_for(string command) => Write(command.Split(' '), before: []);

    [LongCase("COPY from big", "SET from")]
    [TestCase("BITOP NOT big from", "SET from")]
    [TestCase("LMOVE from big LEFT LEFT", "RPUSH from x")]
    [TestCase("SMOVE from big {0}", "SADD from x")]
    [LongCase("SORT from ALPHA STORE big", "RPUSH from x")]
    [LongCase("SUNIONSTORE big from", "SADD from")]
    [LongCase("ZUNIONSTORE big 1 from", "ZADD from 1")]
    [TestCase("COPY from big", "SADD from *")]
    [TestCase("SUNIONSTORE big from", "SADD from *")]
    [TestCase("ZUNIONSTORE big 1 from", "SADD from *")]
    [TestCase("SORT from BY nosort STORE big", "SADD from *")]
    public void Room_is_made_for_what_comes_of_other_keys(string command, string before) =>
        Write([.. command.Split(' ').Select(static word => word == "{0}" ? Value : word)],
            [.. before.Split(' ').SelectMany(static word => word == "*" ? Members : [word]), .. before.EndsWith('*') ? Array.Empty<string>() : [Value]]);

    private static void Write(string[] command, string[] before)
    {
        Write(command, before, settings => settings.Memory.Policy = EvictionPolicy.VolatileLru, keeps: false);
        string path = Directory.CreateTempSubdirectory("garnet-large").FullName;
        try
        {
            Write(command, before, settings => (settings.Tier.Path, settings.Tier.SizeBytes) = (path, 512 << 20), keeps: true);
        }
        finally
        {
            Directory.Delete(path, recursive: true);
        }
    }

    private static void Write(string[] command, string[] before, Action<ServerSettings> adjust, bool keeps)
    {
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Memory.MaxMemoryBytes = 16 << 20;
            adjust(settings);
        });
        using var client = new TestClient(server.Server.Port);
        if (before.Length > 0) Assert.That(client.Call(before), Does.Not.StartWith("OOM").And.Not.StartWith("ERR"));
        string value = new('s', Small);
        foreach (int[] some in Enumerable.Range(0, Keys).Chunk(50))
            Assert.That(client.Call(["MSETEX", $"{some.Length}", .. some.SelectMany(i => (string[])[$"k{i}", value]), "EX", "10000"]), Is.EqualTo("1"));
        if (keeps) client.Call("CONFIG", "SET", "notify-keyspace-events", "KEA"); // that keys are looked at before is no change of the command's
        // Where what has an expiry may be given up, so may what was just written: one of some thousands, rarely. Not each time.
        int tries = 0;
        do
        {
            Assert.That(client.Call(command), Does.Not.StartWith("OOM").And.Not.StartWith("ERR"));
        }
        while (!keeps && ++tries < 3 && client.Call("EXISTS", "big") == "0");
        Assert.That(client.Call("EXISTS", "big"), Is.EqualTo("1"));
        if (keeps) Assert.That(client.Call(["EXISTS", .. Enumerable.Range(0, Keys).Select(static i => $"k{i}")]), Is.EqualTo($"{Keys}"), "nothing is lost for it");
    }

    // Others take memory between the look whether there is room and the locks.
    [Test]
    public void A_refused_write_of_many_keys_has_set_none_however_many_write()
    {
        const int Clients = 8, Names = 20_000, RefusedMin = 400;
        int[] sizes = [50, 700, 5000];
        string path = Directory.CreateTempSubdirectory("garnet-many").FullName;
        using (var server = new EmbeddedServer(adjust: settings =>
        {
            (settings.Memory.MaxMemoryBytes, settings.Network.ReactorThreads) = (48 << 20, 4);
            (settings.Tier.Path, settings.Tier.SizeBytes) = (path, 128 << 20);
        }))
        {
            ConcurrentBag<int> torn = [];
            int refused = 0;
            Thread[] all = [.. Enumerable.Range(0, Clients).Select(which => new Thread(() =>
            {
                using var client = new TestClient(server.Server.Port);
                Random random = new(which);
                for (int round = 0; Volatile.Read(ref refused) < RefusedMin && round < 5000; round++)
                {
                    string[] keys = [.. Enumerable.Range(0, round % 2 == 0 ? 50 : 300).Select(_ => $"{which}:{random.Next(Names)}").Distinct()];
                    string tag = $"{which}:{round}:";
                    string[] words = [.. keys.SelectMany(key => (string[])[key, tag + new string('x', sizes[random.Next(sizes.Length)])])];
                    if (!client.Call(["MSET", .. words]).StartsWith("OOM", StringComparison.Ordinal))
                        continue;
                    Interlocked.Increment(ref refused);
                    torn.Add(client.Call(["MGET", .. keys]).Split(tag).Length - 1);
                }
            }))];
            foreach (Thread one in all) one.Start();
            foreach (Thread one in all) one.Await();
            TestContext.Out.WriteLine($"{refused} refused, {torn.Count(static set => set > 0)} of them in part");
            Assert.That((refused >= RefusedMin, torn.Sum()), Is.EqualTo((true, 0)));
        }
        Directory.Delete(path, recursive: true);
    }

    [LongCase("SADD big", 1)]
    [TestCase("ZADD big", 2)]
    [LongCase("HSET big", 2)]
    [TestCase("RPUSH big", 1)]
    public void What_brings_many_entries_is_written_whole(string command, int words)
    {
        const int Entries = 20_000;
        string[] entries = [.. Enumerable.Range(0, Entries).SelectMany(i => (string[])(words == 1 ? [$"entry-{i:d20}"] : [$"{i}", $"entry-{i:d20}"]))];
        Write([.. command.Split(' '), .. entries], before: []);
    }

    [TestCase("HSET big", "HLEN", "f", true)]
    [LongCase("HMSET big", "HLEN", "f", true)]
    [TestCase("HSETEX big EX 1000 FIELDS 6", "HLEN", "f", true)]
    [TestCase("RPUSH big", "LLEN", "", true)]
    [LongCase("SADD big", "SCARD", "", true)]
    [TestCase("ZADD big", "ZCARD", "1", true)]
    [LongCase("GEOADD big", "ZCARD", "1 1", true)]
    [TestCase("EVAL return(redis.call('RPUSH',KEYS[1],unpack(ARGV))) 1 big", "LLEN", "", false)]
    [LongCase("EVAL return(redis.call('HSET',KEYS[1],unpack(ARGV))) 1 big", "HLEN", "f", false)]
    public void What_finds_no_room_for_all_of_it_has_changed_nothing(string command, string count, string before, bool isRefused)
    {
        const int Entries = 6;
        string[] words = before.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        string[] entries = [.. Enumerable.Range(0, Entries)
            .SelectMany(i => (string[])[.. words.Select(word => word == "f" ? $"f{i}" : word), $"{i}{Value}"])];
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = 40 << 20);
        using var client = new TestClient(server.Server.Port);
        string small = new('s', 60_000);
        int filled = 0, freed = 0, refused = 0;
        while (!client.Call("SET", $"k{filled}", small).StartsWith("OOM", StringComparison.Ordinal)) filled++;
        for (string reply = "OOM"; reply.Contains("OOM", StringComparison.Ordinal) && freed < filled;)
        {
            for (int end = freed + 10; freed < end; freed++) client.Call("DEL", $"k{freed}");
            reply = client.Call([.. command.Split(' '), .. entries]);
            bool isWhole = !reply.Contains("OOM", StringComparison.Ordinal);
            refused += isWhole ? 0 : 1;
            Assert.That(client.Call(count, "big"), Is.EqualTo(isWhole ? $"{Entries}" : "0"), reply);
        }
        Assert.That(client.Call(count, "big"), Is.EqualTo($"{Entries}"));
        Assert.That(refused, isRefused ? Is.Positive : Is.Not.Negative);
    }

    [TestCase("HSET", true)]
    [TestCase("ZADD", true)]
    [TestCase("SADD", false)]
    [TestCase("RPUSH", false)]
    public void A_key_too_long_for_a_collection_gets_no_part_of_one(string command, bool isPairs)
    {
        const int KeyBytes = 65_523, Entries = 1000;
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        string[] entries = [.. Enumerable.Range(0, isPairs ? 2 * Entries : Entries).Select(static i => $"{i}")];
        string longest = new('k', KeyBytes), longer = new('k', KeyBytes + 1);
        Assert.That(client.Call([command, longest, .. entries]), Is.EqualTo($"{Entries}"));
        Assert.That(client.Call([command, longer, .. entries]), Is.EqualTo("ERR the key of a collection is longer than 65523 bytes"));
        Assert.That((client.Call("EXISTS", longer), client.Call("SET", longer, "v")), Is.EqualTo(("0", "OK")));
    }

    [Test]
    public void What_the_log_cannot_take_is_refused_before_its_first_change()
    {
        const int Fields = 20_000; // each a change of its own, with the key
        var disk = new MemoryDisk();
        using var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.No);
        server.Server.Loaded.Await();
        using var client = new TestClient(server.Server.Port);
        string key = new('k', 65_000);
        string[] pairs = [.. Enumerable.Range(0, Fields).SelectMany(static i => (string[])[$"{i}", "v"])];
        Assert.That(client.Call(["HSETEX", key, "KEEPTTL", "FIELDS", $"{Fields}", .. pairs]), Does.Contain("aof-step-max-size"));
        Assert.That(client.Call("EXISTS", key), Is.EqualTo("0"));
    }

    [TestCase("HSET big")]
    [LongCase("HSETEX big FIELDS 120000")]
    [TestCase("HSETEX big KEEPTTL FIELDS 120000")]
    public void What_a_write_leaves_behind_on_its_way_does_not_stop_it(string command)
    {
        const int Fields = 120_000; // 120 MB of 200, and more than as much of chunks that had to grow
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = 200 << 20);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 1000);
        string[] pairs = [.. Enumerable.Range(0, Fields).SelectMany(i => (string[])[$"{i}", value])];
        Assert.That(client.Call([.. command.Split(' '), .. pairs]), Does.Not.StartWith("OOM"));
        Assert.That(client.Call("HLEN", "big"), Is.EqualTo($"{Fields}"));
    }

    [TestCase("ZADD", true)]
    [TestCase("HSET", true)]
    [TestCase("SADD", false)]
    public void A_long_key_counts_as_often_as_it_is_kept(string command, bool isPairs)
    {
        const int Entries = 100_000;
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = 64 << 20);
        using var client = new TestClient(server.Server.Port);
        string key = new('k', 60_000);
        string[] entries = [.. Enumerable.Range(0, Entries).SelectMany(i => (string[])(isPairs ? [$"{i}", $"m{i}"] : [$"m{i}"]))];
        Assert.That(client.Call([command, key, .. entries]), Does.StartWith("OOM"));
        Assert.That((client.Call("EXISTS", key), client.Call([command, "k", .. entries])), Is.EqualTo(("0", $"{Entries}")));
    }

    [Test]
    public void Fields_keep_their_own_times_to_live()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("HSETEX", "h", "EX", "1000", "FIELDS", "2", "b", "1", "c", "1");
        client.Call("HSETEX", "h", "EX", "5000", "FIELDS", "1", "d", "1");
        Assert.That(client.Call("HSETEX", "h", "KEEPTTL", "FIELDS", "6", "a", "2", "b", "2", "c", "2", "d", "2", "e", "2", "b", "3"), Is.EqualTo("1"));
        Assert.That(client.Call("HTTL", "h", "FIELDS", "5", "a", "b", "c", "d", "e"), Is.EqualTo("[-1 1000 1000 5000 -1]"));
        Assert.That(client.Call("HMGET", "h", "a", "b", "c", "d", "e"), Is.EqualTo("[2 3 2 2 2]"));
    }

    [Test]
    public void For_what_is_not_written_nobody_is_evicted()
    {
        using var server = new EmbeddedServer(adjust: static settings =>
            (settings.Memory.MaxMemoryBytes, settings.Memory.Policy) = (16 << 20, EvictionPolicy.AllKeysLru));
        using var client = new TestClient(server.Server.Port);
        string small = new('s', Small);
        for (int i = 0; i < 2500; i++) client.Call("SET", $"k{i}", small);
        string before = client.Call("DBSIZE");
        Assert.That(client.Call(["RPUSHX", "big", .. Enumerable.Repeat(new string('v', 1 << 20), 8)]), Is.EqualTo("0"));
        Assert.That(client.Call("DBSIZE"), Is.EqualTo(before));
    }

    [TestCase("RPOPLPUSH l l")]
    [TestCase("LMOVE l l LEFT RIGHT")]
    public void A_list_that_is_turned_loses_nothing_where_there_is_no_room(string command)
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = 32 << 20);
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 5; i++) Assert.That(client.Call("RPUSH", "l", Value), Is.EqualTo($"{i + 1}"));
        string small = new('s', Small);
        int full = 0;
        for (int i = 0; full < 3; i++) full += client.Call("SET", $"k{i}", small).StartsWith("OOM", StringComparison.Ordinal) ? 1 : 0;
        client.Call("DEL", "k0", "k1");
        for (int i = 0; i < 10; i++) client.Call(command.Split(' '));
        Assert.That(client.Call("LLEN", "l"), Is.EqualTo("5"));
    }

    [Test]
    public void Who_was_refused_once_is_waited_for_again()
    {
        using var server = new EmbeddedServer(adjust: static settings =>
            (settings.Memory.MaxMemoryBytes, settings.Memory.Policy) = (16 << 20, EvictionPolicy.VolatileLru));
        using var client = new TestClient(server.Server.Port);
        string small = new('s', Small);
        int full = 0;
        for (int i = 0; full < 3; i++) full += client.Call("SET", $"k{i}", small).StartsWith("OOM", StringComparison.Ordinal) ? 1 : 0;
        Assert.That(client.Call("SET", "big", Value), Does.StartWith("OOM"));
        client.Call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
        Assert.That(client.Call("SETRANGE", "big", $"{Large}", "x"), Is.EqualTo($"{Large + 1}"));
    }

    [Test]
    public void What_can_never_fit_is_refused_and_counted_once()
    {
        using var server = new EmbeddedServer(adjust: static settings =>
            (settings.Memory.MaxMemoryBytes, settings.Memory.Policy) = (8 << 20, EvictionPolicy.AllKeysLru));
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("SET", "big", new string('v', 16 << 20)), Does.StartWith("OOM"));
        Assert.That(client.Call("INFO", "commandstats"), Does.Contain("cmdstat_set:calls=1,").And.Contain("failed_calls=1"));
        Assert.That(client.Call("SET", "small", "v"), Is.EqualTo("OK"));
    }

    [TestCase("SET big")]
    [LongCase("APPEND k1")]
    [LongCase("MSET big")]
    [TestCase("RPUSH big")]
    [TestCase("EVAL return(redis.call('SET',KEYS[1],ARGV[1])) 1 big")]
    public void For_what_can_never_fit_nobody_else_is_evicted(string command)
    {
        using var server = new EmbeddedServer(adjust: static settings =>
            (settings.Memory.MaxMemoryBytes, settings.Memory.Policy) = (16 << 20, EvictionPolicy.AllKeysLru));
        using var client = new TestClient(server.Server.Port);
        string small = new('s', Small);
        for (int i = 0; i < 1000; i++) client.Call("SET", $"k{i}", small);
        Assert.That(client.Call("DBSIZE"), Is.EqualTo("1000"));
        Assert.That(client.Call([.. command.Split(' '), new string('v', 20 << 20)]), Does.Contain("OOM"));
        Assert.That(client.Call("DBSIZE"), Is.EqualTo("1000"));
    }
}

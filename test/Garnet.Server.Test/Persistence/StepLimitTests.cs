using System.Net.Sockets;
using System.Text;
using Garnet.Aof;
using Garnet.Aof.Format;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Test.Replication;
using NUnit.Framework;

namespace Garnet.Server.Test.Persistence;

/// <summary>What the append-only file could not read back is refused before it is done (log.L5, store.U22).</summary>
internal sealed class StepLimitTests
{
    private const int Limit = (int)LogLimits.StepBytesMaxLeast, Half = Limit / 2;

    [Test]
    public void A_value_that_the_log_does_not_take_is_refused_and_the_one_before_stays()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("SET", "k", new string('a', Limit - 100)), Is.EqualTo("OK"), "what fits is taken");
        Assert.That(client.Call("SET", "k", new string('b', Limit)), Does.StartWith("ERR a step of the append-only file").And.Contain($"limit of {Limit}"));
        Assert.That(client.Call("GET", "k"), Is.EqualTo(new string('a', Limit - 100)));
    }

    [TestCase(1)]
    [TestCase(3)]
    public void A_step_as_long_as_may_be_is_read_back_by_a_restart_a_replica_and_a_full_copy_and_one_byte_more_is_refused(int sublogs)
    {
        const int Fixed = 1 + (2 * sizeof(long)) + (2 * (1 + Tsavorite.IWriteLog.EntryHeadBytes)); // of a SET of a key of one byte
        var disk = new MemoryDisk();
        SortedDictionary<string, string> kept;
        using (EmbeddedServer server = Start(disk, sublogs))
        {
            using var client = new TestClient(server.Server.Port);
            using EmbeddedServer replica = ReplicaGroup.ReplicaOf(server.Server.Port);
            Assert.That(client.Call("SET", "a", new string('a', Limit - Fixed - 1)), Is.EqualTo("OK"));
            Assert.That(client.Call("SET", "b", new string('b', Limit - Fixed)), Is.EqualTo("OK"));
            Assert.That(client.Call("SET", "c", new string('c', Limit - Fixed + 1)), Does.StartWith("ERR a step of the append-only file"));
            ReplicaGroup.AssertSame(server, replica);
            using EmbeddedServer late = ReplicaGroup.ReplicaOf(server.Server.Port);
            ReplicaGroup.AssertSame(server, late);
            kept = ReplicaGroup.ContentOf(server);
        }
        using (EmbeddedServer server = Start(disk, sublogs)) Assert.That(ReplicaGroup.ContentOf(server), Is.EqualTo(kept));
        Assert.That(kept.Keys, Is.EqualTo(new[] { "a", "b" }));
    }

    [Test]
    public void A_command_of_several_keys_is_refused_before_its_first()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("MSET", "a", new string('a', Half), "b", new string('b', Half), "c", new string('c', Half)), Does.StartWith("ERR a step"));
        Assert.That(client.Call("EXISTS", "a", "b", "c"), Is.EqualTo("0"));
    }

    [Test]
    public void A_transaction_whose_commands_are_too_long_together_is_refused_before_its_first()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        client.Call("MULTI");
        for (int i = 0; i < 3; i++) client.Call("SET", $"k{i}", new string('a', Half));
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT").And.Contain("a step of the append-only file"));
        Assert.That(client.Call("DBSIZE"), Is.EqualTo("0"));
    }

    [Test]
    public void In_a_script_the_call_that_would_be_too_much_fails_and_changes_nothing()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        string reply = client.Call("EVAL", "for i = 1, 5 do redis.call('SET', 'k' .. i, ARGV[1]) end", "0", new string('a', Half));
        Assert.That(reply, Does.StartWith("ERR a step of the append-only file"));
        Assert.That(client.Call("EXISTS", "k1", "k2", "k3"), Is.EqualTo("1"), "as in redis, what a script did before its error stays");
        Assert.That(client.Call("SET", "after", "1"), Is.EqualTo("OK"), "the next step has its own account, and nothing is locked");
    }

    [TestCase("COPY", "source", "copy")]
    [TestCase("RENAME", "source", "copy")]
    [TestCase("SORT", "source", "BY", "nosort", "STORE", "copy")]
    public void A_copy_that_is_too_long_leaves_source_and_target_as_they_were(params string[] command)
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 6; i++) Assert.That(client.Call("RPUSH", "source", new string((char)('a' + i), Half)), Is.EqualTo($"{i + 1}"));
        client.Call("SET", "copy", "before");
        string[] words = command[0] == "COPY" ? [.. command, "REPLACE"] : command;
        Assert.That(client.Call(words), Does.StartWith("ERR a step of the append-only file"));
        Assert.That(client.Call("GET", "copy"), Is.EqualTo("before"));
        Assert.That(client.Call("LLEN", "source"), Is.EqualTo("6"));
        client.Call("MULTI");
        client.Call(words);
        client.Call("SET", "third", "1");
        Assert.That(client.Call("EXEC"), Does.Contain("ERR a step").And.Contain("OK"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"), "locks taken inside are given back");
        Assert.That(client.Call("DEL", "source", "copy", "third"), Is.EqualTo("3"));
    }

    [TestCase("ZADD")] // scores are longer as text
    [TestCase("HSETEX")] // each field with an expiry is an operation of its own
    public void A_copy_that_is_longer_in_the_log_than_in_memory_leaves_its_target_as_it_was(string command)
    {
        const int Entries = Limit / 30, AtOnce = 1000;
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        for (int from = 0; from < Entries; from += AtOnce)
        {
            IEnumerable<int> numbers = Enumerable.Range(from, AtOnce);
            if (command == "ZADD")
                client.Call(["ZADD", "source", .. numbers.SelectMany(static n => new[] { $"-1.2345678901{n:000000}e-300", $"{n:00000}" })]);
            else
                client.Call(["HSETEX", "source", "PXAT", "1900000000000", "FIELDS", $"{AtOnce}", .. numbers.SelectMany(static n => new[] { $"{n:00000}", "v" })]);
        }
        client.Call("SET", "copy", "before");
        Assert.That(client.Call("RENAME", "source", "copy"), Does.StartWith("ERR a step of the append-only file"));
        Assert.That(client.Call("GET", "copy"), Is.EqualTo("before"));
        Assert.That(client.Call("EXISTS", "source"), Is.EqualTo("1"));
    }

    [TestCase("RESTORE")]
    [TestCase("COPY")]
    public void A_hash_whose_fields_expire_is_taken_as_far_as_what_is_written_of_it_fits(string command)
    {
        const int KeyBytes = 20_000;
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        int fields = Limit * 9 / 10 / (KeyBytes + 60); // each is an entry of its own, with the key
        client.Call(["HSETEX", "source", "PXAT", "1900000000000", "FIELDS", $"{fields}", .. Enumerable.Range(0, fields).SelectMany(static n => new[] { $"{n:00000}", "v" })]);
        string target = new('k', KeyBytes);
        long before = server.Server.Keeper!.Figures!.BytesWritten;
        string[] words = command == "COPY" ? ["COPY", "source", target] : ["RESTORE", target, "0", client.Call("DUMP", "source")];
        Assert.That(client.Call(words), Is.EqualTo(command == "COPY" ? "1" : "OK"));
        Assert.That(client.Call("HLEN", target), Is.EqualTo($"{fields}"));
        long written = server.Server.Keeper.Figures!.BytesWritten - before;
        TestContext.Out.WriteLine($"{fields} fields, {written} bytes written, {written / fields} each");
        Assert.That(written, Is.GreaterThan(Limit / 2), "it is a long step");
    }

    [Test]
    public void What_was_announced_and_not_written_does_not_keep_the_next_ones_waiting()
    {
        using EmbeddedServer server = KeeperTests.Start(new MemoryDisk(), static settings => settings.Persistence.StepBytesMax = (int)LogLimits.StepBytesMaxDefault);
        using TcpClient client = server.Connect();
        client.ReceiveTimeout = 20_000;
        NetworkStream stream = client.GetStream();
        byte[] block = new byte[1 << 20];
        const int Blocks = 300; // more than an element may have; of three such a batch has no room
        for (int i = 0; i < 4; i++)
        {
            stream.Write(Encoding.ASCII.GetBytes($"*3\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n${Blocks * block.Length}\r\n"));
            for (int sent = 0; sent < Blocks; sent++) stream.Write(block);
            Assert.That(EmbeddedServer.Send(client, "\r\n", "\r\n"), Does.StartWith("-ERR an element"));
        }
    }

    // Announced and not written, of steps of several changes: SET with XX of a key that is not there.
    [TestCase(true)]
    [TestCase(false)]
    public void Steps_that_change_nothing_do_not_take_the_room_of_others(bool scripts)
    {
        const int Block = 16 << 20, Steps = 3, PerStep = 31; // two of them would be more than a batch takes
        using EmbeddedServer server = KeeperTests.Start(new MemoryDisk(), static settings => settings.Persistence.StepBytesMax = (int)LogLimits.StepBytesMaxDefault);
        using var client = new TestClient(server.Server.Port);
        string block = new('x', Block);
        for (int i = 0; i < Steps; i++)
        {
            if (scripts)
            {
                Assert.That(client.Call("EVAL", $"local v = string.rep('x', {Block}) for i = 1, {2 * PerStep} do redis.call('SET', 'missing', v, 'XX') end return 1", "0"), Is.EqualTo("1"));
                continue;
            }
            client.Call("MULTI");
            for (int n = 0; n < PerStep; n++) client.Call("SET", "missing", block, "XX");
            Assert.That(client.Call("EXEC"), Does.StartWith("[nil").And.Not.Contain("ERR"));
        }
        Assert.That(client.Call("SET", "k", block), Is.EqualTo("OK"));
    }

    [Test]
    public void Fields_whose_time_has_come_go_though_their_names_are_longer_than_a_step()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 6; i++)
        {
            string field = new((char)('a' + i), Half);
            Assert.That(client.Call("HSETEX", "h", "PXAT", "1900000000000", "FIELDS", "1", field, "v"), Is.EqualTo("1"));
        }
        client.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        for (int i = 0; i < 6; i++) client.Call("HPEXPIRE", "h", "1", "FIELDS", "1", new string((char)('a' + i), Half));
        client.Call("DEBUG", "SET-ACTIVE-EXPIRE", "1");
        Assert.That(() => client.Call("EXISTS", "h"), Is.EqualTo("0").After(60_000, 20));
        Assert.That(client.Call("SET", "after", "1"), Is.EqualTo("OK"));
    }

    [Test]
    public void Who_waits_for_an_element_that_the_log_does_not_take_gets_the_error_and_nobody_else()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        using var waiting = new TestClient(server.Server.Port);
        client.Call("CONFIG", "SET", "aof-step-max-size", $"{4 * Limit}");
        client.Call("SELECT", "1");
        Assert.That(client.Call("RPUSH", "source", new string('a', 2 * Limit)), Is.EqualTo("1"));
        client.Call("CONFIG", "SET", "aof-step-max-size", $"{Limit}");
        waiting.Send("BLMOVE", "source", "target", "LEFT", "RIGHT", "0");
        Assert.That(() => client.Call("INFO", "clients"), Does.Contain("blocked_clients:1").After(60_000, 20));
        Assert.That(client.Call("SWAPDB", "0", "1"), Is.EqualTo("OK"));
        Assert.That(waiting.Read(), Does.StartWith("ERR a step of the append-only file"));
        Assert.That(waiting.Call("LLEN", "source"), Is.EqualTo("1"));
        Assert.That(client.Call("INFO", "clients"), Does.Contain("blocked_clients:0"));
    }

    [Test]
    public void The_limit_may_be_set_while_it_runs_and_not_above_what_readers_take()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("CONFIG", "SET", "aof-step-max-size", $"{LogLimits.StepBytesMaxMost + 1}"), Does.StartWith("ERR"));
        Assert.That(client.Call("CONFIG", "SET", "aof-step-max-size", $"{2 * Limit}"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "k", new string('b', Limit)), Is.EqualTo("OK"));
    }

    private static EmbeddedServer Start(MemoryDisk disk, int sublogs)
    {
        var directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(64, sublogs));
        var server = new EmbeddedServer(directory: directory, sync: AppendSync.Always, adjust: static settings => settings.Persistence.StepBytesMax = Limit);
        server.Server.Loaded.Await();
        return server;
    }

    private static EmbeddedServer Start() => KeeperTests.Start(new MemoryDisk(), static settings => settings.Persistence.StepBytesMax = Limit);
}

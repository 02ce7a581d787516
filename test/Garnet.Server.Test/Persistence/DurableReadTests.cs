using System.Net.Sockets;
using System.Text;
using Garnet.Aof;
using Garnet.Aof.Test.Disk;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// aof-durable-reads under appendfsync always: no reply shows a change that a crash could still take back. The disk does not sync
/// until it is let, so that a change is seen by others and not durable for as long as a test wants.
/// </summary>
public sealed class DurableReadTests
{
    private const int WaitMs = 30_000;

    // What is there and durable; a change of it; a read that shows the change.
    private static readonly string[][] Looks =
    [
        ["SET k old", "SET k new", "GET k"],
        ["SET k old", "DEL k", "EXISTS k"],
        ["SET k old", "SET k new", "MGET other k"],
        ["SET k old", "EXPIRE k 1000", "TTL k"],
        ["SET k old", "APPEND k x", "STRLEN k"],
        ["SET k old", "RENAME k r", "TYPE r"],
        ["SET other old", "SET k new", "SET k mine NX"],
        ["SET other old", "SET k new", "SETNX k mine"],
        ["SET k old", "DEL k", "EXPIRE k 1000"],
        ["HSET k f old", "HSET k f new", "HGETALL k"],
        ["RPUSH k a", "RPUSH k b", "LRANGE k 0 -1"],
        ["SADD k a", "SADD k b", "SMEMBERS k"],
        ["SADD k a b", "SADD other b", "SINTER k other"],
        ["ZADD k 1 a", "ZADD k 2 a", "ZSCORE k a"],
        ["XADD k 1-1 f old", "XADD k 2-1 f new", "XREAD COUNT 9 STREAMS k 0"],
        ["SADD k a", "SADD k b", "SREM k c"],
        ["SET k old", "SET new x", "SCAN 0"],
        ["SET k old", "SET new x", "KEYS *"],
        ["SET k old", "SET new x", "DBSIZE"],
        ["SET k old", "RENAME k new", "RANDOMKEY"],
        ["SET k old", "FLUSHALL", "GET k"],
        ["SET k old", "SWAPDB 0 1", "GET k"],
        ["SET k old", "MULTI|SET k new|SET l new|EXEC", "GET l"],
        ["SET k old", "SET k new", "MULTI|PING|GET k|EXEC"],
        ["SET k old", "SET k new", "EVAL \"return redis.call('get',KEYS[1])\" 1 k"],
        ["SET k old", "EVAL \"redis.call('set',KEYS[1],'new') return 1\" 1 k", "EVAL_RO \"return redis.call('get',KEYS[1])\" 1 k"],
        ["SET k old", "SET k new", "DUMP k"],
        ["SET k old", "SET k new", "OBJECT ENCODING k"],
    ];

    private static IEnumerable<TestCaseData> LookCases() => Looks.Select(static words => new TestCaseData(words[0], words[1], words[2]).SetArgDisplayNames(words[1], words[2]));

    [TestCaseSource(nameof(LookCases))]
    public void A_reply_that_shows_a_change_waits_until_the_change_is_durable(string before, string change, string look)
    {
        using Machine machine = new(durableReads: true);
        Look(machine, before, change, look);
        Assert.That(() => machine.Held, Is.EqualTo(2).After(WaitMs, 1), "the writer and the reader wait");
        Assert.That(machine.Reader.Available + machine.Writer.Available, Is.Zero, "neither has been told anything");
        machine.Disk.Release();
        Assert.That(() => machine.Reader.Available, Is.Not.Zero.After(WaitMs, 1));
    }

    [TestCaseSource(nameof(LookCases))]
    public void Without_the_setting_a_reply_shows_it_at_once(string before, string change, string look)
    {
        using Machine machine = new(durableReads: false);
        Look(machine, before, change, look);
        Assert.That(() => machine.Reader.Available, Is.Not.Zero.After(WaitMs, 1));
        Assert.That(machine.Writer.Available, Is.Zero);
    }

    [Test]
    public void What_was_shown_before_a_crash_is_there_after_it([Values] bool durableReads)
    {
        SimulatedDisk found;
        string shown = "";
        using (Machine machine = new(durableReads))
        {
            Look(machine, "SET k old", "SET k new", "GET k");
            Assert.That(() => machine.Held == 2 || machine.Reader.Available > 0, Is.True.After(WaitMs, 1));
            if (machine.Reader.Available > 0) shown = EmbeddedServer.Send(machine.Reader, "", "new\r\n");
            found = machine.Disk.Crash();
        }

        using EmbeddedServer again = new(directory: DataDirectory.OpenUnlocked(found), sync: AppendSync.Always);
        again.Server.Loaded.Await();
        Assert.That(again.Send("GET k\r\n", "old\r\n"), Is.EqualTo("$3\r\nold\r\n"), "the crash took the change back");
        Assert.That(shown, Is.EqualTo(durableReads ? "" : "$3\r\nnew\r\n"), "what anybody had seen of it");
    }

    [Test]
    public void Nobody_waits_who_looks_at_nothing_or_at_what_has_long_been_durable()
    {
        using Machine machine = new(durableReads: true);
        machine.Call("SET quiet quiet");
        Look(machine, "SET k old", "SET k new", "GET k");
        Assert.That(() => machine.Held, Is.EqualTo(2).After(WaitMs, 1));
        Assert.That(machine.Call("PING"), Is.EqualTo("+PONG\r\n"));
        Assert.That(machine.Call("GET quiet"), Is.EqualTo("$5\r\nquiet\r\n"));
    }

    [Test]
    public void A_stream_reader_that_was_waiting_is_told_when_the_entry_is_durable([Values] bool durableReads)
    {
        using Machine machine = new(durableReads);
        Machine.Send(machine.Reader, "XREAD BLOCK 0 STREAMS s $");
        Assert.That(() => machine.Call("INFO clients"), Does.Contain("blocked_clients:1").After(WaitMs, 1));
        machine.Disk.Hold();
        Machine.Send(machine.Writer, "XADD s 1-1 f v");
        Assert.That(() => machine.Held == 2 || machine.Reader.Available > 0, Is.True.After(WaitMs, 1));
        Assert.That(machine.Reader.Available == 0, Is.EqualTo(durableReads));
        machine.Disk.Release();
        Assert.That(EmbeddedServer.Send(machine.Reader, "", "v\r\n"), Does.Contain("1-1"));
    }

    [Test]
    public void A_transaction_that_a_change_of_others_ended_says_so_when_the_change_is_durable([Values] bool durableReads)
    {
        using Machine machine = new(durableReads);
        foreach (string command in new[] { "WATCH k", "MULTI", "PING" }) machine.CallReader(command);
        Look(machine, "", "SET k new", "EXEC");
        Assert.That(() => machine.Held == 2 || machine.Reader.Available > 0, Is.True.After(WaitMs, 1));
        Assert.That(machine.Reader.Available == 0, Is.EqualTo(durableReads));
        machine.Disk.Release();
        Assert.That(EmbeddedServer.Send(machine.Reader, "", "\r\n"), Is.EqualTo("*-1\r\n"));
    }

    [Test]
    public void What_expired_in_the_background_is_shown_when_that_is_durable()
    {
        using Machine machine = new(durableReads: true);
        machine.Call("SET k v PX 1000");
        machine.Disk.Hold(); // before its time comes
        Assert.That(() => machine.Server.Store.Figures().ExpiredKeys, Is.EqualTo(1).After(WaitMs, 1));
        Machine.Send(machine.Reader, "EXISTS k");
        Assert.That(() => machine.Held, Is.EqualTo(1).After(WaitMs, 1));
        machine.Disk.Release();
        Assert.That(EmbeddedServer.Send(machine.Reader, "", "\r\n"), Is.EqualTo(":0\r\n"), "nobody else waits for that batch: the reader has it closed");
    }

    [Test]
    public void Nothing_is_remembered_without_the_setting_or_without_a_log()
    {
        using Machine without = new(durableReads: false);
        using EmbeddedServer inMemory = new(adjust: static settings => settings.Persistence.DurableReads = true);
        Assert.That(without.Server.Store.Settings.TellsBatches, Is.False);
        Assert.That(inMemory.Server.Store.Settings.TellsBatches, Is.False);
        inMemory.Send("SET k v\r\n", "+OK\r\n");
        Assert.That(inMemory.Send("GET k\r\n", "v\r\n"), Is.EqualTo("$1\r\nv\r\n"));
    }

    // Something is there and durable; it is changed, which is not; then somebody looks.
    private static void Look(Machine machine, string before, string change, string look)
    {
        if (before.Length > 0) machine.Call(before);
        machine.Disk.Hold();
        SendAll(machine.Writer, change.Split('|'));
        Assert.That(() => machine.Held, Is.EqualTo(1).After(WaitMs, 1));
        SendAll(machine.Reader, look.Split('|'));
    }

    // What the last one answers is for the test to see.
    private static void SendAll(TcpClient client, string[] commands)
    {
        foreach (string command in commands[..^1]) EmbeddedServer.Send(client, command + "\r\n", "\r\n");
        Machine.Send(client, commands[^1]);
    }

    /// <summary>A server on a disk that can be kept from syncing, a client that writes, one that reads, and one for everything else.</summary>
    private sealed class Machine : IDisposable
    {
        private readonly EmbeddedServer _server;

        public Machine(bool durableReads)
        {
            _server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(Disk), sync: AppendSync.Always, adjust: settings =>
            {
                settings.Persistence.DurableReads = durableReads;
                settings.Persistence.SegmentBytes = 1 << 20;
            });
            Server.Loaded.Await();
            (Writer, Reader) = (_server.Connect(), _server.Connect());
        }

        public GatedDisk Disk { get; } = new();
        public RespServer Server => _server.Server;
        public TcpClient Writer { get; }
        public TcpClient Reader { get; }

        /// <summary>Clients whose replies wait for the log.</summary>
        public int Held => Server.Reactors.Sum(static reactor => reactor.Replies.Held.Count);

        public static void Send(TcpClient client, string command) => client.GetStream().Write(Encoding.Latin1.GetBytes(command + "\r\n"));

        public string Call(string command) => _server.Send(command + "\r\n", "\r\n");

        public string CallReader(string command) => EmbeddedServer.Send(Reader, command + "\r\n", "\r\n");

        public void Dispose()
        {
            Disk.Release();
            Writer.Dispose();
            Reader.Dispose();
            _server.Dispose();
            Disk.Dispose();
        }
    }
}

using System.Globalization;
using System.Text;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Test.Replication;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Test.Persistence;

/// <summary>What is evicted is in the log: nothing goes before there is one, neither while data are loaded nor on the way to lead.</summary>
public sealed class EvictionTests
{
    private const int Counters = 1000, Values = 8000, ValueBytes = 2000, WaitMs = 30_000;
    private const long Room = 64L << 20, Tight = 8L << 20;

    [Test]
    public void Amid_a_history_nothing_is_evicted_and_what_is_behind_it_is_gone_for_good()
    {
        var disk = new MemoryDisk();
        using (EmbeddedServer server = Start(disk, Room, EvictionPolicy.NoEviction)) Fill(server);
        SortedDictionary<string, string> left;
        using (EmbeddedServer server = Start(disk, Tight, EvictionPolicy.AllKeysRandom)) left = WhatIsLeft(server);
        Assert.That(left.Where(static pair => pair.Key[0] == 'c').Select(static pair => pair.Value).Distinct().Count(), Is.LessThanOrEqualTo(1), "each was raised twice, or is not there");
        using (EmbeddedServer server = Start(disk, Room, EvictionPolicy.NoEviction)) Assert.That(ReplicaGroup.ContentOf(server), Is.EqualTo(left));
    }

    [Test]
    public void What_was_kept_is_read_back_whatever_maxmemory_says_and_refuses_writes_until_there_is_room()
    {
        var disk = new MemoryDisk();
        SortedDictionary<string, string> kept;
        using (EmbeddedServer server = Start(disk, Room, EvictionPolicy.NoEviction))
        {
            Fill(server);
            kept = ReplicaGroup.ContentOf(server);
        }
        using (EmbeddedServer server = Start(disk, Tight, EvictionPolicy.NoEviction))
        {
            Assert.That(ReplicaGroup.ContentOf(server), Is.EqualTo(kept));
            Assert.That(server.Send("SET k v\r\n", "\r\n"), Does.StartWith("-OOM "));
            for (int i = 0; i < Values; i += 1000)
                server.Send($"DEL {string.Join(' ', Enumerable.Range(i, 1000).Select(static n => $"value{n}"))}\r\n", ":1000\r\n");
            Assert.That(server.Send("SET k v\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        }
    }

    [Test]
    public unsafe void Memory_that_is_full_of_functions_gives_the_movers_nothing_to_do()
    {
        using var store = new Store(new StoreSettings { MemoryLimitBytes = 4 << 20, Partitions = 2, HugePages = false, BackgroundMovers = false, Policy = EvictionPolicy.AllKeysLru });
        StoreSession session = store.OpenSession();
        uint functions = store.Namespaces.Id(NamespaceTable.Reserved);
        byte[] text = new byte[1000];
        byte* name = stackalloc byte[64];
        int kept = 0;
        fixed (byte* value = text)
        {
            while (session.Room.Ensure(text.Length))
            {
                *(long*)name = kept;
                KeyRef key = store.Key(name, sizeof(long), functions);
                var set = new SetValue { Value = value, Length = text.Length };
                Assert.That(session.Modify(in key, ref set), Is.EqualTo(Outcome.Done));
                kept++;
            }
        }

        int steps = 0;
        while (store.StepMovers(session.NowMs) && steps < 1_000) steps++;
        Assert.That(store.Count(functions), Is.EqualTo(kept), "functions are not evicted");
        Assert.That(steps, Is.LessThan(1_000), "and that is known at once");
    }

    [Test]
    public void A_replica_that_is_to_lead_evicts_when_its_log_is_there()
    {
        var disk = new MemoryDisk();
        SortedDictionary<string, string> left;
        using (EmbeddedServer primary = new(adjust: static settings => settings.Memory.MaxMemoryBytes = Room), replica = Start(disk, Tight, EvictionPolicy.AllKeysRandom))
        {
            using var gate = new ManualResetEventSlim();
            using var reached = new ManualResetEventSlim();
            using TestClient client = new(replica.Server.Port);
            Assert.That(client.Call("REPLICAOF", "127.0.0.1", primary.Server.Port.ToString(CultureInfo.InvariantCulture)), Is.EqualTo("OK"));
            Fill(primary);
            ReplicaGroup.CatchUp(replica, primary);
            string keys = client.Call("DBSIZE");
            disk.OnCreate = _ =>
            {
                reached.Set();
                gate.Await();
            };
            Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
            reached.Await();
            string set = client.Call("CONFIG", "SET", "maxmemory", Tight.ToString(CultureInfo.InvariantCulture));
            replica.Server.Store.StepMovers(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
            string then = client.Call("DBSIZE");
            disk.OnCreate = null;
            gate.Set();
            Assert.That((set, then), Is.EqualTo(("OK", keys)));
            left = WhatIsLeft(replica);
        }
        using (EmbeddedServer server = Start(disk, Room, EvictionPolicy.NoEviction)) Assert.That(ReplicaGroup.ContentOf(server), Is.EqualTo(left));
    }

    private static EmbeddedServer Start(MemoryDisk disk, long memory, EvictionPolicy policy)
    {
        var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), adjust: settings => (settings.Memory.MaxMemoryBytes, settings.Memory.Policy) = (memory, policy));
        Assert.That(server.Server.Loaded.Wait(WaitMs), "the data are loaded");
        return server;
    }

    // Counters are raised, much else is written, and they are raised again.
    private static void Fill(EmbeddedServer server)
    {
        var raise = new StringBuilder();
        for (int i = 0; i < Counters; i++) raise.Append(CultureInfo.InvariantCulture, $"INCR c{i}\r\n");
        server.Send(raise + "ECHO raised\r\n", "raised\r\n");
        string value = new('v', ValueBytes);
        for (int i = 0; i < Values; i += 1000)
            server.Send(string.Concat(Enumerable.Range(i, 1000).Select(n => $"SET value{n} {value}\r\n")) + "ECHO written\r\n", "written\r\n");
        server.Send(raise + "ECHO raised\r\n", "raised\r\n");
    }

    // When it fits, and no more is evicted.
    private static SortedDictionary<string, string> WhatIsLeft(EmbeddedServer server)
    {
        Store store = server.Server.Store;
        Assert.That(() => store.Figures().UsedBytes, Is.LessThanOrEqualTo(Tight).After(WaitMs, 5));
        Assert.That(server.Send("CONFIG SET maxmemory-policy noeviction\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        store.StepMovers(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()); // one that was under way has ended
        return ReplicaGroup.ContentOf(server);
    }
}

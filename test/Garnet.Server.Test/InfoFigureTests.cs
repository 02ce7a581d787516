using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Test.Persistence;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test;

/// <summary>Figures of INFO that say what they mean: each is seen to move.</summary>
public sealed class InfoFigureTests
{
    private const int WaitMs = 30_000, Many = 64;
    private static readonly string Large = new('v', 64 << 10);

    [Test]
    public void What_goes_over_a_link_is_counted_at_both_ends_beside_and_among_what_clients_send()
    {
        using EmbeddedServer primary = new(), replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using TestClient writer = new(primary.Server.Port), reader = new(replica.Server.Port);
        Assert.That(() => writer.Call("INFO", "replication"), Does.Contain("state=online").After(WaitMs, 5));
        writer.Call("SET", "k", Large);
        ReplicaGroup.CatchUp(replica, primary);
        Assert.That(Of(writer, "total_net_repl_output_bytes"), Is.GreaterThan(Large.Length));
        Assert.That(Of(reader, "total_net_repl_input_bytes"), Is.GreaterThan(Large.Length));
        Assert.That(() => Of(writer, "total_net_repl_input_bytes"), Is.Positive.After(WaitMs, 5), "it acknowledges");
        Assert.That(Of(reader, "total_net_input_bytes"), Is.GreaterThan(Large.Length), "no client has sent so much");
        Assert.That(() => Rate(writer, writer, "instantaneous_output_repl_kbps"), Is.Positive.After(WaitMs, 50));
        Assert.That(() => Rate(writer, reader, "instantaneous_input_repl_kbps"), Is.Positive.After(WaitMs, 50));
        ReplicaGroup.CatchUp(replica, primary);
        writer.Call("CONFIG", "RESETSTAT");
        Assert.That(Of(writer, "total_net_repl_output_bytes"), Is.LessThan(Large.Length));
    }

    [Test]
    public void The_peak_of_memory_is_never_below_what_was_used_by_clients_that_are_gone()
    {
        using EmbeddedServer server = new();
        using TestClient client = new(server.Server.Port);
        long used;
        using (var large = new TestClient(server.Server.Port))
        {
            for (int i = 0; i < Many; i++) large.Call("SUBSCRIBE", $"channel:{i}:{Large[..4096]}");
            used = Of(client, "used_memory");
        }

        Eventually.Holds(() => Of(client, "used_memory") < used);
        Assert.That(Of(client, "used_memory_peak"), Is.GreaterThanOrEqualTo(used));
    }

    [Test]
    public void A_replica_costs_memory()
    {
        using EmbeddedServer primary = new();
        using TestClient client = new(primary.Server.Port);
        Assert.That(Of(client, "mem_clients_slaves"), Is.Zero);
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        Assert.That(() => Of(client, "mem_clients_slaves"), Is.Positive.After(WaitMs, 5));
        client.Call("SET", "k", Large);
        ReplicaGroup.CatchUp(replica, primary);
        Assert.That(Of(client, "mem_total_replication_buffers"), Is.EqualTo(Of(client, "mem_replication_backlog") + Of(client, "mem_clients_slaves")));
    }

    [Test]
    public void A_replica_with_a_place_that_is_none_here_is_denied_what_it_asked_for()
    {
        using EmbeddedServer primary = new(), replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using TestClient writer = new(primary.Server.Port), other = new(replica.Server.Port);
        writer.Call("SET", "k", "v");
        ReplicaGroup.CatchUp(replica, primary);
        Assert.That(Of(writer, "sync_partial_err"), Is.Zero, "it was new");
        Assert.That(Of(other, "second_repl_offset"), Is.EqualTo(-1));
        other.Call("REPLICAOF", "NO", "ONE");
        ReplicaGroup.AwaitRole(replica, "master");
        Assert.That(Of(other, "second_repl_offset"), Is.Positive, "where the history before ended");
        Assert.That(other.Call("SET", "k", "mine"), Is.EqualTo("OK"));
        other.Call("REPLICAOF", "127.0.0.1", primary.Server.Port.ToString(CultureInfo.InvariantCulture));
        Assert.That(() => Of(writer, "sync_full"), Is.EqualTo(2).After(WaitMs, 5));
        Assert.That(Of(writer, "sync_partial_err"), Is.EqualTo(1));
    }

    [Test]
    public void A_snapshot_tells_how_much_there_is_to_save_and_what_writers_save_for_it()
    {
        using var disk = new GatedDisk();
        using EmbeddedServer server = new(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.No);
        using TestClient client = new(server.Server.Port);
        server.Server.Loaded.Await();
        Fill(client, Large);
        Assert.That(Of(client, "current_save_keys_total"), Is.Zero);
        disk.HoldSnapshots();
        try
        {
            client.Call("BGSAVE");
            Assert.That(() => Of(client, "current_save_keys_total"), Is.EqualTo(Many).After(WaitMs, 5));
            Fill(client, "new");
            Assert.That(Of(client, "current_cow_size"), Is.GreaterThan(Large.Length), "what was not written yet is kept as it was");
            Assert.That(Of(client, "current_cow_peak"), Is.GreaterThan(Large.Length));
        }
        finally
        {
            disk.Release();
        }

        Assert.That(() => Of(client, "rdb_saves"), Is.EqualTo(1).After(WaitMs, 5));
        Assert.That(() => Of(client, "current_cow_size") + Of(client, "current_save_keys_total"), Is.Zero.After(WaitMs, 5));
    }

    [Test]
    public void A_key_that_readers_of_a_group_wait_for_counts_once_until_the_last_has_gone()
    {
        using EmbeddedServer server = new();
        using TestClient client = new(server.Server.Port);
        client.Call("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM");
        using (TestClient plain = new(server.Server.Port))
        using (TestClient first = new(server.Server.Port))
        using (TestClient second = new(server.Server.Port))
        {
            plain.Send("BLPOP", "list", "0");
            int waiting = 1;
            foreach (TestClient reader in new[] { first, second }) // in this order, whichever reactors they are on
            {
                reader.Send("XREADGROUP", "GROUP", "g", "me", "BLOCK", "0", "STREAMS", "s", ">");
                waiting++;
                Assert.That(() => Of(client, "blocked_clients"), Is.EqualTo(waiting).After(WaitMs, 5));
            }

            Assert.That(Of(client, "total_blocking_keys"), Is.EqualTo(2));
            Assert.That(Of(client, "total_blocking_keys_on_nokey"), Is.EqualTo(1));
            client.Call("XADD", "s", "*", "f", "v");
            Assert.That(first.Read(), Does.Contain("f"));
            Assert.That(Of(client, "total_blocking_keys_on_nokey"), Is.EqualTo(1), "another one waits");
            client.Call("DEL", "s");
            Assert.That(second.Read(), Does.Contain("NOGROUP"));
            Assert.That(Of(client, "total_blocking_keys_on_nokey"), Is.Zero);
        }
    }

    [Test]
    public void Functions_and_clients_have_memory_of_theirs()
    {
        using EmbeddedServer server = new();
        using TestClient client = new(server.Server.Port);
        Assert.That(Of(client, "used_memory_functions"), Is.Zero);
        string library = "#!lua name=l\n-- " + new string('x', 1000) + "\nredis.register_function('f', function() return 1 end)";
        client.Call("FUNCTION", "LOAD", library);
        client.Call("FCALL", "f", "0"); // a state loads them when somebody asks for one
        Assert.That(Of(client, "used_memory_functions"), Is.EqualTo(library.Length));
        Assert.That(client.Call("MEMORY", "STATS"), Does.Contain($"functions.caches {library.Length} "));
        Assert.That(Of(client, "mem_not_counted_for_evict"), Is.EqualTo(Of(client, "mem_clients_normal")).And.Positive);
    }

    [Test]
    public void Functions_are_counted_behind_a_start_before_one_is_called_and_by_every_reactor_behind_a_change()
    {
        var disk = new MemoryDisk();
        using (EmbeddedServer server = new(directory: DataDirectory.OpenUnlocked(disk)))
        using (TestClient client = new(server.Server.Port))
        {
            server.Server.Loaded.Await();
            client.Call("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end) redis.register_function('g', function() return 2 end)");
        }
        using EmbeddedServer again = new(directory: DataDirectory.OpenUnlocked(disk));
        again.Server.Loaded.Await();
        List<TestClient> clients = [.. Enumerable.Range(0, 4).Select(_ => new TestClient(again.Server.Port))];
        foreach (TestClient client in clients)
            Assert.That((Of(client, "number_of_functions"), Of(client, "number_of_libraries")), Is.EqualTo((2, 1)));
        clients[0].Call("FUNCTION", "FLUSH");
        foreach (TestClient client in clients)
        {
            Assert.That(Of(client, "number_of_functions"), Is.Zero);
            client.Dispose();
        }
    }

    private static void Fill(TestClient client, string value)
    {
        for (int i = 0; i < Many; i++)
            client.Call("SET", "k" + i.ToString(CultureInfo.InvariantCulture), value);
    }

    // Between two looks something is written: what a rate is of.
    private static double Rate(TestClient writer, TestClient looker, string figure)
    {
        writer.Call("SET", "k", Large);
        return double.Parse(Text(looker, figure), CultureInfo.InvariantCulture);
    }

    private static long Of(TestClient client, string figure) => long.Parse(Text(client, figure), CultureInfo.InvariantCulture);

    private static string Text(TestClient client, string figure) =>
        client.Call("INFO").Split("\r\n").Single(line => line.StartsWith(figure + ':', StringComparison.Ordinal))[(figure.Length + 1)..];
}

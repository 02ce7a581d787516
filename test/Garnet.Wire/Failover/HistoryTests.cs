using System.Globalization;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Failover;

/// <summary>Two histories that meet: what of the one is given up for the other, and what is not.</summary>
[Parallelizable] // servers of its own
public sealed class HistoryTests
{
    [Test]
    public void An_old_primary_whose_last_batch_is_an_empty_one_comes_back_without_a_copy([Values] bool restarts)
    {
        using ReplicaServer old = new(keepsData: true), next = new(keepsData: true);
        next.Follow(old);
        using (RespConnection connection = old.Connect())
        {
            for (int i = 0; i < 100; i++) connection.Call("SET", $"k{i}", "v");
            Assert.That(connection.Call("WAIT", "1", "10000").ToString(), Is.EqualTo(":1"));
        }
        long shared = Promote(next);
        // A log that was quiet for a second closes one empty batch, which says that all before it is durable.
        Assert.That(() => old.Number("garnet_repl_sealed_batch"), Is.GreaterThan(shared).After(ReplicaServer.TimeoutMs, 20));
        if (restarts)
        {
            old.Kill();
            old.Start();
        }
        using (RespConnection connection = next.Connect()) connection.Call("SET", "after", "1");
        old.Follow(next);
        old.CatchUp(next);
        Assert.That(next.Number("sync_full"), Is.Zero);
        Assert.That(old.Number("garnet_repl_discards"), Is.Zero);
        SortedDictionary<string, string> content = Content.Of(next);
        Assert.That(content, Has.Count.EqualTo(101));
        Assert.That(Content.Of(old), Is.EqualTo(content));
        // What is on its disk now is one history.
        using (RespConnection connection = old.Connect()) connection.Call("REPLICAOF", "NO", "ONE");
        old.Kill();
        old.Start();
        Assert.That(Content.Of(old), Is.EqualTo(content));
    }

    [Test]
    public void A_log_with_another_batch_of_the_same_number_and_term_is_refused_counted_and_copied_over()
    {
        using ReplicaServer first = new(keepsData: true, "--appendfsync always");
        using (RespConnection connection = first.Connect()) connection.Call("SET", "k", "0");
        first.Kill();
        using ReplicaServer second = new(first);
        first.Start();
        foreach (ReplicaServer server in (ReplicaServer[])[first, second])
        {
            using RespConnection connection = server.Connect();
            connection.Call("SET", "k", server == first ? "1" : "2");
        }
        using (RespConnection connection = first.Connect())
        {
            for (int i = 0; i < 3; i++) connection.Call("SET", $"more{i}", "1");
        }
        Assert.That(first.Number("garnet_repl_term"), Is.EqualTo(second.Number("garnet_repl_term")));
        second.Follow(first);
        second.CatchUp(first);
        Assert.That(first.Number("garnet_repl_divergences"), Is.EqualTo(1));
        Assert.That(first.Number("sync_full"), Is.EqualTo(1));
        Assert.That(second.Number("garnet_repl_discards"), Is.EqualTo(1));
        Assert.That(Content.Of(second), Is.EqualTo(Content.Of(first)));
    }

    [Test]
    public void A_replica_of_a_promoted_replica_goes_on_without_a_copy_and_reads_the_same_back_from_its_disk()
    {
        using ReplicaServer first = new(keepsData: true), middle = new(keepsData: true), last = new(keepsData: true);
        middle.Follow(first);
        last.Follow(middle);
        Append(first);
        last.CatchUp(first);
        Promote(middle);
        Append(middle); // by another hash: the same keys in other lanes
        last.AwaitLink();
        last.CatchUp(middle);
        Assert.That(middle.Number("sync_full"), Is.EqualTo(1), "the first time");
        SortedDictionary<string, string> content = Content.Of(middle);
        Assert.That(Content.Of(last), Is.EqualTo(content));
        using (RespConnection connection = last.Connect()) connection.Call("REPLICAOF", "NO", "ONE");
        last.Kill();
        last.Start();
        Assert.That(Content.Of(last), Is.EqualTo(content));

        static void Append(ReplicaServer server)
        {
            using RespConnection connection = server.Connect();
            for (int i = 0; i < 2000; i++) Assert.That(connection.Call("APPEND", $"k{i % 50}", Convert.ToString(i, 16)).Kind, Is.EqualTo(':'));
        }
    }

    [Test]
    public void A_stock_Redis_is_not_followed_and_the_way_to_take_its_data_over_is_named()
    {
        using ReplicaServer server = new(keepsData: false);
        using ServerProcess redis = ServerProcess.TryStartRedis() ?? throw new IgnoreException("redis-server is not installed");
        using RespConnection connection = server.Connect();
        connection.Call("SET", "k", "v");
        connection.Call("REPLICAOF", "127.0.0.1", redis.Address.Port.ToString(CultureInfo.InvariantCulture));
        Assert.That(() => ReplicaServer.Field(connection, "garnet_repl_link_problem"), Does.Contain("another kind of server").And.Contain("dump.rdb").After(ReplicaServer.TimeoutMs, 20));
        Assert.That(connection.Call("GET", "k").Text, Is.EqualTo("v"));
        connection.Call("REPLICAOF", "NO", "ONE");
        Assert.That(connection.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    [Test]
    public void A_replica_that_is_not_heard_of_for_too_long_does_not_count_for_writes()
    {
        using ReplicaServer primary = new(keepsData: false, "--min-replicas-to-write 1 --min-replicas-max-lag 1"), replica = new(keepsData: false);
        replica.Follow(primary);
        using RespConnection connection = primary.Connect();
        Assert.That(() => connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK").After(ReplicaServer.TimeoutMs, 20));
        replica.Signal("STOP");
        Assert.That(() => connection.Call("SET", "k", "v").Text, Does.StartWith("NOREPLICAS").After(ReplicaServer.TimeoutMs, 20));
        Assert.That(ReplicaServer.Field(connection, "min_slaves_good_slaves"), Is.EqualTo("0"));
        replica.Signal("CONT");
        Assert.That(() => connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK").After(ReplicaServer.TimeoutMs, 20));
    }

    [Test]
    public void Info_says_how_far_a_replica_is_behind()
    {
        using ReplicaServer primary = new(keepsData: true), replica = new(keepsData: true);
        replica.Follow(primary);
        using RespConnection connection = primary.Connect();
        replica.Signal("STOP");
        connection.Call("SET", "k", new string('v', 10_000));
        Assert.That(() => Lag(connection, "lag_ms"), Is.GreaterThan(20).After(ReplicaServer.TimeoutMs, 20));
        Assert.That(Lag(connection, "lag_bytes"), Is.GreaterThan(10_000));
        Assert.That(Lag(connection, "lag_batches"), Is.Positive);
        replica.Signal("CONT");
        Assert.That(() => (Lag(connection, "lag_ms"), Lag(connection, "lag_bytes"), Lag(connection, "lag_batches")), Is.EqualTo((0L, 0L, 0L)).After(ReplicaServer.TimeoutMs, 20));
        Assert.That(primary.Number("garnet_repl_acknowledged_batch"), Is.EqualTo(replica.Number("garnet_repl_applied_batch")));
        Assert.That(replica.Number("garnet_repl_lag_ms"), Is.Zero);
    }

    private static long Lag(RespConnection primary, string name)
    {
        string line = ReplicaServer.Field(primary, "garnet_slave0");
        return long.Parse(line.Split(',').Single(pair => pair.StartsWith(name + "=", StringComparison.Ordinal))[(name.Length + 1)..], CultureInfo.InvariantCulture);
    }

    private static long Promote(ReplicaServer replica)
    {
        long at = replica.Number("garnet_repl_applied_batch");
        using RespConnection connection = replica.Connect();
        Assert.That(connection.Call("REPLICAOF", "NO", "ONE").ToString(), Is.EqualTo("+OK"));
        return at;
    }
}

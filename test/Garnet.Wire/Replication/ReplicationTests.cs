using System.Globalization;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Replication;

/// <summary>Primaries and replicas as processes of their own, over the loopback. GARNET_REPL_SEED sets the seed.</summary>
[Parallelizable] // servers of its own
public sealed class ReplicationTests
{
    private static readonly int Rounds = LongRun.IsWanted ? 3 : 2;

    private static readonly int Seed =
        int.TryParse(Environment.GetEnvironmentVariable("GARNET_REPL_SEED"), NumberStyles.None, CultureInfo.InvariantCulture, out int seed) ? seed : 20_261;

    [SetUp]
    public void Say() => TestContext.Out.WriteLine($"seed {Seed}");

    [TestCase(false, 1)]
    [LongCase(false, 3)]
    [LongCase(true, 1)]
    [TestCase(true, 3)]
    public void A_replica_that_comes_while_clients_write_ends_with_the_same_data(bool keepsData, int sublogs)
    {
        using ReplicaServer primary = new(keepsData, $"--aof-sublogs {sublogs}"), replica = new(keepsData);
        using (Load load = new(primary, Seed))
        {
            load.Await(2000);
            replica.Follow(primary);
            load.Await(4000);
        }
        AssertSame(primary, replica);
        Assert.That(primary.Number("sync_full"), Is.EqualTo(1));
    }

    [Test]
    public void Who_waits_for_a_stream_while_a_full_copy_comes_in_is_served_once_it_is_whole()
    {
        const int Streams = 40, Entries = 1000, PerRequest = 200;
        using ReplicaServer first = new(keepsData: true), second = new(keepsData: true), replica = new(keepsData: true);
        string value = new('v', 500);
        using (RespConnection writer = second.Connect())
        {
            for (int i = 0; i < Streams * Entries; i += PerRequest)
            {
                for (int entry = i; entry < i + PerRequest; entry++)
                    writer.Send(RespConnection.Encode("XADD", $"s{entry / Entries}", $"1-{(entry % Entries) + 1}", "f", value));
                for (int entry = i; entry < i + PerRequest; entry++) writer.Read();
            }
        }

        replica.Follow(first);
        RespConnection[] readers = [.. Enumerable.Range(0, Streams).Select(_ => new RespConnection(replica.Process.Address, ReplicaServer.TimeoutMs))];
        for (int i = 0; i < Streams; i++) readers[i].Send(RespConnection.Encode("XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", $"s{i}", "0"));
        Assert.That(() => replica.Number("blocked_clients"), Is.EqualTo(Streams).After(ReplicaServer.TimeoutMs, 20));
        replica.Follow(second);
        for (int i = 0; i < Streams; i++)
        {
            Assert.That(readers[i].Read().ToString(), Does.Contain($"s{i}").And.Contain("1-1"));
            readers[i].Dispose();
        }

        AssertSame(second, replica);
    }

    [Test]
    public void A_replica_that_has_not_heard_of_its_primary_yet_saves_what_it_has()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: true);
        string words = FollowWords(primary);
        primary.Kill();
        using (RespConnection client = replica.Connect())
        {
            client.Call("INCR", "counter"); // what is played back twice is seen
            client.Call("REPLICAOF", "127.0.0.1", words.Trim('"').Split(' ')[1]);
            Assert.That(client.Call("SAVE").ToString(), Is.EqualTo("+OK"));
        }

        replica.Kill();
        replica.Start($"--replicaof {words}");
        using (RespConnection client = replica.Connect())
        {
            Assert.That(client.Call("GET", "counter").Text, Is.EqualTo("1"));
            Assert.That(client.Call("SAVE").ToString(), Is.EqualTo("+OK"));
            client.Call("REPLICAOF", "NO", "ONE");
            Assert.That(() => client.Call("INCR", "counter").ToString(), Is.EqualTo(":2").After(ReplicaServer.TimeoutMs, 20));
            Assert.That(client.Call("SAVE").ToString(), Is.EqualTo("+OK"));
            client.Call("SET", "key", "later");
            client.Call("WAITAOF", "1", "0", "60000");
        }

        replica.Kill();
        replica.Start();
        using RespConnection again = replica.Connect();
        Assert.That((again.Call("GET", "key").Text, again.Call("GET", "counter").Text), Is.EqualTo(("later", "2")));
    }

    [Test]
    public void A_replica_killed_and_started_again_goes_on_where_it_was()
    {
        using ReplicaServer primary = new(keepsData: true), replica = new(keepsData: true, "--appendfsync always");
        replica.Follow(primary);
        using (Load load = new(primary, Seed))
        {
            for (int round = 0; round < Rounds; round++)
            {
                load.Await(1500);
                replica.Kill();
                load.Await(1500);
                replica.Start($"--replicaof {FollowWords(primary)}");
                replica.AwaitLink();
            }
        }
        AssertSame(primary, replica);
        Assert.That(primary.Number("sync_full"), Is.EqualTo(1), "only the first time");
        Assert.That(primary.Number("sync_partial_ok"), Is.EqualTo(Rounds));
    }

    [Test]
    public void A_replica_that_was_away_longer_than_the_backlog_reads_the_files()
    {
        using ReplicaServer primary = new(keepsData: true, "--repl-backlog-size 64kb"), replica = new(keepsData: true, "--appendfsync always");
        replica.Follow(primary);
        replica.Kill();
        using (Load load = new(primary, Seed)) load.Await(6000);
        replica.Start($"--replicaof {FollowWords(primary)}");
        AssertSame(primary, replica);
        Assert.That(primary.Number("sync_full"), Is.EqualTo(1));
    }

    [Test]
    public void A_replica_in_memory_that_was_away_too_long_gets_everything_anew()
    {
        using ReplicaServer primary = new(keepsData: false, "--repl-backlog-size 64kb --client-output-buffer-limit replica 64kb 0 0"), replica = new(keepsData: false);
        replica.Follow(primary);
        using (RespConnection connection = replica.Connect())
        {
            connection.Call("REPLICAOF", "127.0.0.1", "1"); // nobody is there
            using (Load load = new(primary, Seed)) load.Await(6000);
        }
        replica.Follow(primary);
        AssertSame(primary, replica);
        Assert.That(primary.Number("sync_full"), Is.EqualTo(2));
    }

    [Test]
    public void A_primary_killed_and_started_again_is_followed_on()
    {
        using ReplicaServer primary = new(keepsData: true, "--appendfsync always"), replica = new(keepsData: true);
        replica.Follow(primary);
        for (int round = 0; round < Rounds; round++)
        {
            using (Load load = new(primary, Seed + round))
            {
                load.Await(1500);
                primary.Kill();
            }
            primary.Start();
            replica.AwaitLink();
        }
        AssertSame(primary, replica);
    }

    [Test]
    public void A_promoted_replica_is_followed_by_the_others_and_by_the_old_primary()
    {
        using ReplicaServer first = new(keepsData: true), second = new(keepsData: true), third = new(keepsData: false);
        second.Follow(first);
        third.Follow(first);
        using (Load load = new(first, Seed, expires: false)) load.Await(2000);
        second.CatchUp(first);
        third.CatchUp(first);
        first.Kill();
        using (RespConnection connection = second.Connect())
        {
            Assert.That(connection.Call("REPLICAOF", "NO", "ONE").ToString(), Is.EqualTo("+OK"));
            Assert.That(connection.Call("SET", "after", "1").ToString(), Is.EqualTo("+OK"), "waits until it is a primary");
        }
        third.Follow(second);
        first.Start();
        using (RespConnection connection = first.Connect()) connection.Call("MSET", "lost", "1", "lost2", "2");
        first.Follow(second);
        using (Load load = new(second, Seed + 1, expires: false)) load.Await(2000);
        AssertSame(second, third);
        AssertSame(second, first);
        Assert.That(second.Number("sync_partial_ok"), Is.EqualTo(1), "the third had nothing of its own");
        Assert.That(second.Number("sync_full"), Is.EqualTo(1), "the first had");
        using (RespConnection again = first.Connect()) Assert.That(again.Call("EXISTS", "lost", "lost2").ToString(), Is.EqualTo(":0"));
        // What stands on the disk of a server that has been both is read back, over the change of term and over the snapshot.
        foreach (ReplicaServer server in (ReplicaServer[])[second, first])
        {
            SortedDictionary<string, string> before = Content.Of(server);
            using (RespConnection connection = server.Connect()) Assert.That(connection.Call("CONFIG", "GET", "appendonly").ToString(), Does.Contain("yes"));
            if (server == first)
                using (RespConnection connection = server.Connect()) connection.Call("REPLICAOF", "NO", "ONE");
            server.Kill();
            server.Start();
            Assert.That(Difference(before, Content.Of(server)), Is.Empty);
        }
    }

    [Test]
    public void A_replica_of_a_replica_has_the_same_data()
    {
        using ReplicaServer primary = new(keepsData: true), middle = new(keepsData: true), last = new(keepsData: false);
        middle.Follow(primary);
        using (Load load = new(primary, Seed))
        {
            load.Await(1000);
            last.Follow(middle);
            load.Await(2000);
        }
        AssertSame(primary, middle);
        AssertSame(primary, last);
    }

    [Test]
    public void Wait_and_waitaof_count_replicas()
    {
        using ReplicaServer primary = new(keepsData: true), onDisk = new(keepsData: true), inMemory = new(keepsData: false);
        onDisk.Follow(primary);
        inMemory.Follow(primary);
        using RespConnection connection = primary.Connect();
        connection.Call("SET", "k", "v");
        Assert.That(connection.Call("WAIT", "2", "5000").ToString(), Is.EqualTo(":2"));
        Assert.That(connection.Call("WAITAOF", "1", "1", "5000").ToString(), Is.EqualTo("[ :1 :1 ]"));
        Assert.That(connection.Call("WAITAOF", "1", "2", "50").ToString(), Is.EqualTo("[ :1 :1 ]"), "one of them has no disk");
        using RespConnection replica = onDisk.Connect();
        Assert.That(replica.Call("WAIT", "1", "1").Text, Does.StartWith("ERR WAIT cannot be used with replica"));
        Assert.That(replica.Call("GET", "k").Text, Is.EqualTo("v"));
        Assert.That(replica.Call("SET", "k", "w").Text, Does.StartWith("READONLY"));
    }

    [Test]
    public void Writes_are_refused_without_enough_replicas()
    {
        using ReplicaServer primary = new(keepsData: false, "--min-replicas-to-write 1"), replica = new(keepsData: false);
        using RespConnection connection = primary.Connect();
        Assert.That(connection.Call("SET", "k", "v").Text, Does.StartWith("NOREPLICAS"));
        Assert.That(connection.Call("GET", "k").ToString(), Is.EqualTo("$-1"));
        replica.Follow(primary);
        Assert.That(() => connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK").After(60_000, 20));
    }

    [Test]
    public void A_replica_without_its_primary_says_so_if_it_must_not_serve_stale_data()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false, "--replica-serve-stale-data no");
        replica.Follow(primary);
        using RespConnection connection = replica.Connect();
        Assert.That(connection.Call("GET", "k").ToString(), Is.EqualTo("$-1"));
        primary.Kill();
        Assert.That(() => connection.Call("GET", "k").Text, Does.StartWith("MASTERDOWN").After(60_000, 20));
        Assert.That(connection.Call("PING").Text, Does.StartWith("MASTERDOWN"));
        Assert.That(connection.Call("CONFIG", "SET", "replica-serve-stale-data", "yes").ToString(), Is.EqualTo("+OK"));
        Assert.That(connection.Call("GET", "k").ToString(), Is.EqualTo("$-1"));
    }

    [Test]
    public void Servers_that_cannot_be_followed_are_named_and_nothing_is_lost()
    {
        using ReplicaServer server = new(keepsData: false), other = new(keepsData: false, "--requirepass secret");
        using RespConnection connection = server.Connect();
        connection.Call("SET", "k", "v");
        connection.Call("REPLICAOF", "127.0.0.1", server.Port.ToString(CultureInfo.InvariantCulture));
        Assert.That(connection.Call("GET", "k").Text, Is.EqualTo("v"), "it follows itself: refused");
        connection.Call("REPLICAOF", "127.0.0.1", other.Port.ToString(CultureInfo.InvariantCulture));
        Assert.That(connection.Call("ROLE").ToString(), Does.StartWith("[ \"slave\" \"127.0.0.1\""));
        Assert.That(connection.Call("GET", "k").Text, Is.EqualTo("v"), "the password is missing");
        Assert.That(connection.Call("CONFIG", "SET", "masterauth", "secret").ToString(), Is.EqualTo("+OK"));
        server.AwaitLink();
        Assert.That(connection.Call("GET", "k").ToString(), Is.EqualTo("$-1"), "now it has the other's data: none");
    }

    private static string FollowWords(ReplicaServer primary) => string.Create(CultureInfo.InvariantCulture, $"\"127.0.0.1 {primary.Port}\"");

    private static void AssertSame(ReplicaServer primary, ReplicaServer replica)
    {
        // What is due is removed by the primary alone; a batch for it may come at any moment, so both are read until they agree.
        replica.AwaitLink();
        Assert.That(() =>
        {
            replica.CatchUp(primary);
            return Difference(Content.Of(primary), Content.Of(replica));
        }, Is.Empty.After(60_000, 50), () => $"seed {Seed}\n{primary.Info()}\n{replica.Info()}");
    }

    private static string Difference(SortedDictionary<string, string> one, SortedDictionary<string, string> other)
    {
        foreach (string key in one.Keys.Union(other.Keys))
        {
            string first = one.GetValueOrDefault(key, "nothing"), second = other.GetValueOrDefault(key, "nothing");
            if (first != second) return $"{key}: {first[..Math.Min(first.Length, 60)]} / {second[..Math.Min(second.Length, 60)]}";
        }
        return "";
    }
}

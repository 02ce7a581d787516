using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test.Reading;

/// <summary>What has expired is the primary's to say: the clocks of replicas, fast or slow, change nothing in what they show.</summary>
public sealed class ReplicaExpiryTests
{
    private const long HourMs = 3_600_000;

    [Test]
    public void Replicas_with_wrong_clocks_show_the_same_keys_at_the_same_batch()
    {
        var clock = new ShiftedClock();
        using EmbeddedServer primary = new(clock: clock);
        using EmbeddedServer fast = Replica(primary, HourMs), slow = Replica(primary, -HourMs);
        using TestClient writer = new(primary.Server.Port), one = new(fast.Server.Port), two = new(slow.Server.Port);
        primary.Server.Store.PauseExpiry(true); // nothing removes what is due
        writer.Call("SET", "k", "v", "PX", "60000");
        writer.Call("SET", "stays", "v");
        AssertShown(primary, [fast, slow], [one, two], ["v", "1", "[k stays]", "[v 1]"]);
        Assert.That(long.Parse(one.Call("PTTL", "k"), System.Globalization.CultureInfo.InvariantCulture), Is.Zero, "by its own clock it is over");
        clock.ShiftMs = 61_000;
        writer.Call("SET", "later", "v");
        writer.Call("DEL", "later");
        AssertShown(primary, [fast, slow], [one, two], ["nil", "0", "[stays]", "[nil 0]"]);
        Assert.That(one.Call("DBSIZE"), Is.EqualTo("2"), "hidden, and not removed");
        Assert.That(writer.Call("DBSIZE"), Is.EqualTo("2"));
    }

    [Test]
    public void Members_that_are_due_are_hidden_until_the_primary_removes_them([Values(0, 1024)] int packedBytes)
    {
        var clock = new ShiftedClock();
        using EmbeddedServer primary = new(clock: clock);
        primary.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        using EmbeddedServer fast = Replica(primary, HourMs);
        using TestClient writer = new(primary.Server.Port), reader = new(fast.Server.Port);
        primary.Server.Store.PauseExpiry(true); // nothing removes what is due
        writer.Call("ZADD", "z", "1", "a", "2", "b", "3", "c", "4", "d");
        writer.Call("ZPEXPIRE", "z", "60000", "MEMBERS", "2", "b", "d");
        ReplicaGroup.CatchUp(fast, primary);
        Assert.That(reader.Call("ZRANGE", "z", "0", "-1"), Is.EqualTo("[a b c d]"), "by its own clock it is over");
        clock.ShiftMs = 61_000;
        writer.Call("SET", "later", "v");
        ReplicaGroup.CatchUp(fast, primary);
        Assert.That(reader.Call("ZRANGE", "z", "0", "-1"), Is.EqualTo("[a c]"));
        Assert.That(reader.Call("ZREVRANK", "z", "a"), Is.EqualTo("1"));
        Assert.That(reader.Call("ZCARD", "z"), Is.EqualTo("2"));
        ReplicaGroup.AssertSame(primary, fast);
        Assert.That(writer.Call("ZPOPMAX", "z"), Is.EqualTo("[c 3]"));
        Assert.That(writer.Call("ZADD", "z", "NX", "9", "b"), Is.EqualTo("1"));
        ReplicaGroup.AssertSame(primary, fast);
        Assert.That(reader.Call("ZRANGE", "z", "0", "-1", "WITHSCORES"), Is.EqualTo("[a 1 b 9]"));
    }

    [Test]
    public void A_full_sync_takes_the_time_of_its_cut()
    {
        var clock = new ShiftedClock();
        using EmbeddedServer primary = new(clock: clock);
        using var writer = new TestClient(primary.Server.Port);
        primary.Server.Store.PauseExpiry(true);
        writer.Call("SET", "k", "v", "PX", "60000");
        using EmbeddedServer before = Replica(primary, HourMs);
        ReplicaGroup.CatchUp(before, primary);
        using (var reader = new TestClient(before.Server.Port)) Assert.That(reader.Call("GET", "k"), Is.EqualTo("v"));
        clock.ShiftMs = 61_000;
        using EmbeddedServer after = Replica(primary, -HourMs);
        ReplicaGroup.CatchUp(after, primary);
        using (var reader = new TestClient(after.Server.Port)) Assert.That(reader.Call("GET", "k"), Is.EqualTo("nil"));
    }

    [Test]
    public void A_replica_started_again_shows_what_the_batch_it_stands_at_showed([Values] bool fromSnapshot)
    {
        var clock = new ShiftedClock();
        var disk = new MemoryDisk();
        EmbeddedServer primary = new(clock: clock);
        using (var writer = new TestClient(primary.Server.Port))
        {
            primary.Server.Store.PauseExpiry(true);
            writer.Call("SET", "k", "v", "PX", "60000");
            using EmbeddedServer replica = OnDisk(disk, primary.Server.Port);
            ReplicaGroup.CatchUp(replica, primary);
            if (!fromSnapshot)
            {
                writer.Call("SET", "stays", "v");
                ReplicaGroup.CatchUp(replica, primary);
            }
        }
        int port = primary.Server.Port;
        using (EmbeddedServer linked = OnDisk(disk, port))
        {
            using var reader = new TestClient(linked.Server.Port);
            Assert.That(() => linked.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(60_000, 5));
            Assert.That(reader.Call("GET", "k"), Is.EqualTo("v"), "by its own clock it is over");
        }
        primary.Dispose();
        using EmbeddedServer alone = OnDisk(disk, port);
        using (var reader = new TestClient(alone.Server.Port)) Assert.That(reader.Call("GET", "k"), Is.EqualTo("v"), "nor did its primary say so");
    }

    private static EmbeddedServer OnDisk(MemoryDisk disk, int port)
    {
        var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always, clock: new ShiftedClock { ShiftMs = HourMs },
            adjust: settings => settings.Replication.ReplicaOf = ["127.0.0.1", port.ToString(System.Globalization.CultureInfo.InvariantCulture)]);
        server.Server.Loaded.Await();
        return server;
    }

    private static EmbeddedServer Replica(EmbeddedServer primary, long shiftMs) =>
        ReplicaGroup.ReplicaOf(primary.Server.Port, clock: new ShiftedClock { ShiftMs = shiftMs });

    private static void AssertShown(EmbeddedServer primary, EmbeddedServer[] replicas, TestClient[] readers, string[] expected)
    {
        foreach (EmbeddedServer replica in replicas) ReplicaGroup.CatchUp(replica, primary);
        foreach (TestClient reader in readers)
        {
            Assert.That(reader.Call("GET", "k"), Is.EqualTo(expected[0]));
            Assert.That(reader.Call("EXISTS", "k"), Is.EqualTo(expected[1]));
            Assert.That(string.Join(' ', reader.Call("KEYS", "*").Trim('[', ']').Split(' ').Order()), Is.EqualTo(expected[2].Trim('[', ']')));
            reader.Call("MULTI");
            reader.Call("GET", "k");
            reader.Call("EXISTS", "k");
            Assert.That(reader.Call("EXEC"), Is.EqualTo(expected[3]));
        }
    }
}

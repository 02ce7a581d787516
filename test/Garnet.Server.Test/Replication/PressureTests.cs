using System.Globalization;
using System.Text.RegularExpressions;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Test.Replication.Simulation;

namespace Garnet.Server.Test.Replication;

/// <summary>Nothing to do costs nothing, and a slow replica costs its primary no more than it is allowed to.</summary>
public sealed class PressureTests
{
    private const int WaitMs = 30_000, PingBytes = 40, ValueBytes = 10_000, Values = 1500;
    private const long Cap = 1 << 20, BatchBytes = 1 << 20;

    [Test]
    public void When_nobody_writes_nothing_goes_over_the_link_but_a_ping_a_second_and_nothing_to_the_disk()
    {
        var clock = new ManualClock();
        var random = new Random(18);
        using Node primary = new(0, new Garnet.Aof.Test.Disk.SimulatedDisk(), clock, random), replica = new(1, new Garnet.Aof.Test.Disk.SimulatedDisk(), clock, random);
        primary.Lead();
        replica.BecomeFollower();
        using var link = new Link(primary, replica, clock, static _ => { });
        primary.Write([1, 2, 3], 7);
        for (int i = 0; i < 50; i++)
        {
            Turn(primary, replica, link, deliver: true);
            clock.Advance(100_000); // what a quiet log still has to say, it says
        }
        Assert.That(replica.Read(2), Is.EqualTo(7));
        (int, int) before = (primary.DataDisk!.Operations, replica.DataDisk!.Operations);
        ulong batch = primary.Backlog.End.Batch;
        int bytes = 0;
        for (int i = 0; i < 600; i++)
        {
            clock.Advance(100_000);
            bytes += Turn(primary, replica, link, deliver: true);
        }
        Assert.That(bytes, Is.LessThanOrEqualTo(61 * PingBytes));
        Assert.That((primary.DataDisk.Operations, replica.DataDisk.Operations), Is.EqualTo(before));
        Assert.That(primary.Backlog.End.Batch, Is.EqualTo(batch));
    }

    [Test]
    public void What_is_kept_for_replicas_goes_by_the_memory_there_is_unless_somebody_has_said_how_much()
    {
        using EmbeddedServer primary = new(adjust: static settings => settings.Memory.MaxMemoryBytes = 64 << 20);
        using var client = new TestClient(primary.Server.Port);
        Assert.That(Kept(), Is.EqualTo(8 << 20));
        Set("maxmemory", 24 << 20);
        Assert.That(Kept(), Is.EqualTo(3 << 20));
        Set("repl-backlog-size", 5 << 20);
        Assert.That(Kept(), Is.EqualTo(5 << 20));
        Set("maxmemory", 2L << 30);
        Assert.That(Kept(), Is.EqualTo(5 << 20));
        Set("repl-backlog-size", 0);
        Assert.That(Kept(), Is.EqualTo(64 << 20));

        long Kept() => long.Parse(Regex.Match(client.Call("INFO", "replication"), @"repl_backlog_size:(\d+)").Groups[1].Value, CultureInfo.InvariantCulture);
        void Set(string name, long bytes) => Assert.That(client.Call("CONFIG", "SET", name, $"{bytes}"), Is.EqualTo("OK"));
    }

    [Test]
    public void A_replica_that_takes_nothing_is_sent_away_and_its_primary_never_keeps_more_than_allowed()
    {
        using EmbeddedServer primary = new(adjust: static settings => settings.Replication.BacklogBytes = Cap);
        using (var client = new TestClient(primary.Server.Port))
            Assert.That(client.Call("CONFIG", "SET", "client-output-buffer-limit", $"replica {2 * Cap} 0 0"), Is.EqualTo("OK"));
        using HeldProxy proxy = new(primary.Server.Port);
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(proxy.Port);
        ReplicaGroup.CatchUp(replica, primary);
        proxy.Hold();
        long most = Write(primary, () => primary.Server.Replication.Backlog.Bytes);
        Assert.That(most, Is.LessThan((2 * Cap) + (4 * ValueBytes) + BatchBytes));
        proxy.Release();
        ReplicaGroup.AssertSame(primary, replica);
    }

    [Test]
    public void A_replica_whose_disk_hangs_holds_up_to_its_own_limits_and_neither_readers_nor_the_primary()
    {
        using EmbeddedServer primary = new();
        var disk = new MemoryDisk();
        using var flows = new ManualResetEventSlim(true);
        disk.OnWrite = (_, _) => flows.Await();
        using EmbeddedServer replica = new(directory: DataDirectory.OpenUnlocked(disk), adjust: settings =>
        {
            settings.Replication.ReplicaOf = ["127.0.0.1", $"{primary.Server.Port}"];
            settings.Persistence.StagingBytesMax = Cap;
            settings.Replication.ReceiveBytesMax = Cap;
        });
        replica.Server.Loaded.Await();
        ReplicaGroup.CatchUp(replica, primary);
        flows.Reset();
        try
        {
            long most = Write(primary, () => replica.Server.Replication.Log.Current?.Figures().StagedBytes ?? 0);
            Assert.That(most, Is.GreaterThan(Cap / 2).And.LessThan((2 * Cap) + BatchBytes), "the disk did hang");
            using var reader = new TestClient(replica.Server.Port);
            Assert.That(reader.Call("GET", "v0"), Has.Length.EqualTo(ValueBytes), "readers do not wait for the disk");
        }
        finally
        {
            flows.Set();
        }
        ReplicaGroup.AssertSame(primary, replica);
    }

    // Everybody has a turn; returns the bytes that were sent.
    private static int Turn(Node primary, Node replica, Link link, bool deliver)
    {
        for (int turner = 0; turner < primary.Current!.Turners; turner++) primary.Current.Turn(turner);
        if (replica.Current is { } log)
            for (int turner = 0; turner < log.Turners; turner++) log.Turn(turner);
        link.Send();
        int bytes = link.UnderWay;
        if (deliver && bytes > 0) link.Deliver(bytes);
        replica.Follower!.Turn();
        link.Acknowledge();
        return bytes;
    }

    // Every write is answered; returns the most of what is watched.
    private static long Write(EmbeddedServer primary, Func<long> watched)
    {
        using var client = new TestClient(primary.Server.Port);
        string value = new('x', ValueBytes);
        long most = 0;
        for (int i = 0; i < Values; i++)
        {
            Assert.That(client.Call("SET", $"v{i % 100}", value), Is.EqualTo("OK"));
            most = Math.Max(most, watched());
        }
        return most;
    }
}

using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Common.Time;
using Garnet.Replication.Frames;

namespace Garnet.Server.Test.Replication;

/// <summary>Full copies whose connection is cut in the middle go on where they were.</summary>
public sealed class ResumeTests
{
    private const int Keys = 2000, ValueBytes = 8000, Cuts = 4, CutBytes = 3_000_000, BlockBytes = 80 << 10, WaitMs = 60_000, KeepSeconds = 3600;

    [Test]
    public void Blocks_that_a_replica_has_are_not_sent_again([Values] bool keepsData, [Values] bool writes)
    {
        using EmbeddedServer primary = Primary();
        using CuttingProxy proxy = new(primary.Server.Port, static connection => connection < Cuts ? CutBytes : long.MaxValue) { IsGentle = true };
        using EmbeddedServer replica = new(directory: keepsData ? DataDirectory.OpenUnlocked(new MemoryDisk()) : null, adjust: ReplicaGroup.ComesBackAtOnce);
        replica.Server.Loaded.Await();
        Follow(replica, proxy.Port);
        using (var client = new TestClient(primary.Server.Port))
        {
            for (int i = 0; proxy.Connections <= Cuts; i++)
            {
                if (writes) client.Call("SET", $"k{i % Keys}", $"{i}");
                else client.Call("PING");
            }
        }
        Assert.That(() => replica.Server.Replication.Role.Following, Is.Not.Null.After(WaitMs, 5));
        Assert.That(() => replica.Server.Replication.Role.Following!.IsUp, Is.True.After(WaitMs, 5));
        long passed = proxy.Passed, whole = (long)Keys * (ValueBytes + 100);
        ReplicaGroup.AssertSame(primary, replica);
        Assert.That(primary.Server.Replication.Links.Full, Is.EqualTo(1), "one snapshot for all connections");
        if (!writes) Assert.That(passed, Is.LessThan(whole + (Cuts * BlockBytes)), "again came what was cut in its middle only");
        Assert.That(passed, Is.GreaterThan(Cuts * CutBytes), "every connection brought something");
    }

    [Test]
    public void A_copy_that_its_replica_does_not_come_back_for_makes_way_for_others()
    {
        var clock = new ManualClock();
        using EmbeddedServer primary = Primary(static settings => settings.Replication.CopyKeepSeconds = KeepSeconds, clock);
        using CuttingProxy proxy = new(primary.Server.Port, static _ => CutBytes);
        using EmbeddedServer broken = new(), replica = new();
        Follow(broken, proxy.Port);
        Assert.That(() => proxy.Connections, Is.GreaterThan(0).After(WaitMs, 5));
        proxy.Dispose(); // nobody is there any more
        Follow(replica, primary.Server.Port);
        Assert.That(() => Later(), Is.True.After(WaitMs, 5));
        ReplicaGroup.AssertSame(primary, replica);

        bool Later()
        {
            clock.Advance(KeepSeconds * 1_000_000L);
            return replica.Server.Replication.Role.Following is { IsUp: true };
        }
    }

    [Test]
    public void A_copy_of_which_nothing_has_arrived_is_not_kept()
    {
        using EmbeddedServer primary = Primary(static settings => settings.Replication.CopyKeepSeconds = KeepSeconds, new ManualClock());
        for (int i = 0; i < 3; i++)
        {
            using var strange = new StrangeReplica(primary.Server.Port, "0:0:");
            strange.Await(FrameKind.Snapshot); // the copy is under way
        }

        using EmbeddedServer replica = new();
        Follow(replica, primary.Server.Port);
        Assert.That(() => replica.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(WaitMs / 3, 5), "nobody's time has to pass");
        ReplicaGroup.AssertSame(primary, replica);
    }

    [Test]
    public void A_copy_is_begun_anew_if_nothing_is_kept()
    {
        using EmbeddedServer primary = Primary(static settings => settings.Replication.CopyKeepSeconds = 0);
        using CuttingProxy proxy = new(primary.Server.Port, static connection => connection < 2 ? CutBytes : long.MaxValue);
        using EmbeddedServer replica = new(adjust: ReplicaGroup.ComesBackAtOnce);
        Follow(replica, proxy.Port);
        ReplicaGroup.AssertSame(primary, replica);
        Assert.That(primary.Server.Replication.Links.Full, Is.EqualTo(3));
    }

    private static EmbeddedServer Primary(Action<ServerSettings>? adjust = null, IClock? clock = null)
    {
        EmbeddedServer primary = new(adjust: adjust, clock: clock);
        using var client = new TestClient(primary.Server.Port);
        for (int i = 0; i < Keys; i++) client.Call("SET", $"k{i}", new string((char)('a' + (i % 26)), ValueBytes));
        return primary;
    }

    private static void Follow(EmbeddedServer replica, int port)
    {
        using var client = new TestClient(replica.Server.Port);
        Assert.That(client.Call("REPLICAOF", "127.0.0.1", port.ToString(CultureInfo.InvariantCulture)), Is.EqualTo("OK"));
    }
}

using Garnet.Server.Telemetry;

namespace Garnet.Server.Test.Replication;

/// <summary>A primary that hangs keeps its links, and says nothing on them.</summary>
public sealed class SilentPrimaryTests
{
    [Test]
    public void A_replica_whose_primary_hangs_is_not_ready_although_the_link_stands()
    {
        HandClock primaryClock = new(), replicaClock = new();
        using EmbeddedServer primary = new(clock: primaryClock);
        using EmbeddedServer replica = new(
            adjust: settings => settings.Replication.ReplicaOf = ["127.0.0.1", $"{primary.Server.Port}"], clock: replicaClock);
        Assert.That(() => CaughtUp(replica), Is.Empty.After(ReplicaGroup.WaitMs, 5));
        primaryClock.Stop(); // it pings no more
        // What was on its way may still be heard after the first of these.
        Assert.That(() =>
        {
            if (CaughtUp(replica).Length == 0)
                replicaClock.PutForward(TimeSpan.FromSeconds(15));
            return CaughtUp(replica);
        }, Does.Match("^it is [0-9]{5,} ms behind its primary, at most 10000 ms are allowed").After(ReplicaGroup.WaitMs, 20));
        using TestClient client = new(replica.Server.Port);
        Assert.That(client.Call("INFO", "replication"), Does.Contain("master_link_status:up"));
    }

    private static string CaughtUp(EmbeddedServer server) =>
        server.Server.Telemetry.Ready().Single(static one => one.Name == "caught-up").Problem;
}

using Garnet.Aof.Test.Writing;
using Garnet.Server.Replication;
using Garnet.Server.Test.Replication.Simulation;
using Tsavorite;

namespace Garnet.Server.Test.Replication;

/// <summary>Data that are not the primary's are found without anybody asking, said, counted and replaced (replication.Z9). The test has the clock.</summary>
public sealed class ComparisonTests
{
    private const int WaitMs = 20_000;
    private const long SecondUs = 1_000_000;
    private readonly ManualClock _clock = new();
    private int _periodSeconds = 60;

    [Test]
    public void A_replica_whose_data_differ_finds_out_and_gets_them_anew()
    {
        using EmbeddedServer primary = Primary();
        using EmbeddedServer middle = ReplicaGroup.ReplicaOf(primary.Server.Port), last = ReplicaGroup.ReplicaOf(middle.Server.Port);
        Fill(primary);
        ReplicaGroup.AssertSame(primary, middle, last);
        var round = RoundOf(primary);
        AwaitTold(round, primary);
        Assert.That(() => (Comparisons(middle), Comparisons(last)), Is.EqualTo((1L, 1L)).After(WaitMs, 5), "who follows a replica compares too");
        Assert.That((Divergences(middle), Divergences(last)), Is.EqualTo((0L, 0L)));

        _clock.Advance(61 * SecondUs);
        Fill(primary);
        ReplicaGroup.CatchUp(last, primary);
        Spoil(last);
        AwaitTold(round, primary);
        Assert.That(() => Divergences(last), Is.EqualTo(1).After(WaitMs, 5));
        Assert.That(() => middle.Server.Replication.Links.Full, Is.EqualTo(2).After(WaitMs, 5), "the first time, and now");
        ReplicaGroup.AssertSame(primary, middle, last);
        Assert.That((Comparisons(middle), Divergences(middle)), Is.EqualTo((2L, 0L)));
    }

    [Test]
    public void Nothing_is_read_while_somebody_writes_or_before_it_is_time_or_for_nothing_new()
    {
        using EmbeddedServer primary = Primary();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        var round = RoundOf(primary);
        Fill(primary);
        Settle(primary, replica);
        Assert.That(round.Turn(), Is.False, "it has just seen a batch");
        _clock.Advance(SecondUs);
        Assert.That(round.Turn(), Is.False, "nobody has written for one second");
        _clock.Advance(SecondUs);
        Assert.That(round.Turn(), Is.True);
        _clock.Advance(3600 * SecondUs);
        Assert.That(round.Turn(), Is.False, "the replica knows");
        Fill(primary);
        Settle(primary, replica);
        Assert.That(round.Turn(), Is.False);
        _clock.Advance(2 * SecondUs);
        Assert.That(round.Turn(), Is.True);
        Fill(primary);
        Settle(primary, replica);
        Assert.That(round.Turn(), Is.False);
        _clock.Advance(3 * SecondUs);
        Assert.That(round.Turn(), Is.False, "a minute has not passed");
        _periodSeconds = 0;
        _clock.Advance(3600 * SecondUs);
        Assert.That(round.Turn(), Is.False, "it was switched off");
    }

    [Test]
    public void A_replica_in_doubt_leads_with_what_it_has_if_it_must()
    {
        EmbeddedServer primary = Primary();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        Fill(primary);
        ReplicaGroup.CatchUp(replica, primary);
        primary.Dispose();
        replica.Server.Replication.Role.Follower!.Doubt();
        Assert.That(replica.Server.Replication.Position.ReceivedOffset, Is.Zero, "any other one comes first");
        using var client = new TestClient(replica.Server.Port);
        Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "after", "1"), Is.EqualTo("OK"));
        Assert.That(client.Call("DBSIZE"), Is.EqualTo("101"));
    }

    // Its own thread compares nothing.
    private static EmbeddedServer Primary() => new(adjust: static settings => settings.Replication.DigestSeconds = 0);

    private DigestRound RoundOf(EmbeddedServer primary)
    {
        _periodSeconds = 60;
        ReplicationNode node = primary.Server.Replication;
        return new DigestRound(primary.Server.Context.Core, node.Role, node.Log, node.Links, _clock, () => _periodSeconds);
    }

    private static long Comparisons(EmbeddedServer server) => server.Server.Replication.Adoption.Comparisons;

    private static long Divergences(EmbeddedServer server) => server.Server.Replication.Links.Divergences;

    private static void Fill(EmbeddedServer server)
    {
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 50; i++)
        {
            client.Call("SET", $"k{i}", "v");
            client.Call("RPUSH", $"l{i}", "a", "b");
        }
    }

    // The replica has said that it has all there is.
    private static void Settle(EmbeddedServer primary, EmbeddedServer replica)
    {
        ReplicaGroup.CatchUp(replica, primary);
        Assert.That(() => primary.Server.Replication.Links.All.All(one => one.Link.Ack.Applied == primary.Server.Replication.Backlog.End.Batch), Is.True.After(WaitMs, 5));
    }

    private void AwaitTold(DigestRound round, EmbeddedServer primary) => Assert.That(() =>
    {
        _clock.Advance(SecondUs);
        return round.Turn();
    }, Is.True.After(WaitMs, 20), () => primary.Server.Replication.Backlog.End.ToString());

    // As a fault of this server would.
    private static unsafe void Spoil(EmbeddedServer replica)
    {
        Store store = replica.Server.Store;
        using StoreSession session = store.OpenSession();
        byte[] name = [.. "k7"u8, .. new byte[32]];
        fixed (byte* at = name)
        {
            KeyRef key = store.Key(at, 2, store.Namespaces.Id(0));
            var put = new PutNumber { Number = 7 };
            session.Modify(in key, ref put);
        }
    }
}

using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Garnet.Aof;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication;

/// <summary>What is asked in the very moment in which a role is being taken: the role's lock is held, so that its thread cannot go on.</summary>
public sealed class RoleChangeTests
{
    private const int WaitMs = 30_000;

    [Test]
    public void A_role_is_not_given_away_before_it_has_been_taken()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer middle = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using EmbeddedServer last = ReplicaGroup.ReplicaOf(middle.Server.Port);
        ReplicaGroup.CatchUp(last, primary);
        ReplicationNode node = middle.Server.Replication;
        lock (node.Role.Gate)
        {
            Assert.That(node.Role.LeadAlone(), Is.True);
            string? refusal = node.Handovers.TryBegin(new HandoverOrder(null, 0, IsForced: false));
            Assert.That(refusal, Is.EqualTo("FAILOVER is not possible while the server is taking its role; retry."));
        }
        ReplicaGroup.AwaitRole(middle, "master");
        ReplicaGroup.AssertSame(middle, last);
    }

    [Test]
    public void A_change_that_was_discarded_is_not_waited_for_while_the_next_role_is_taken()
    {
        using EmbeddedServer server = new(), other = new();
        using TestClient client = new(server.Server.Port);
        ReplicationNode node = server.Server.Replication;
        using (EmbeddedServer replica = ReplicaGroup.ReplicaOf(server.Server.Port)) // so that there is a log
        {
            ReplicaGroup.CatchUp(replica, server);
            client.Call("SET", "k", "1");
            ReplicaGroup.CatchUp(replica, server);
        }
        var write = new LogMark(node.History.LedTerm, node.Backlog.End.Batch);
        Assert.That(node.Position.HasGivenUp(write), Is.False);
        client.Call("REPLICAOF", "127.0.0.1", $"{other.Server.Port}");
        ReplicaGroup.CatchUp(server, other);
        Assert.That(() => client.Call("EXISTS", "k"), Is.EqualTo("0").After(ReplicaGroup.WaitMs, 5));
        lock (node.Role.Gate)
        {
            Assert.That(node.Role.LeadAlone(), Is.True);
            Assert.That(node.Position.HasGivenUp(write), Is.True);
        }
    }

    [Test]
    public void Who_stops_does_not_take_a_role_over()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(replica, primary);
        ReplicationNode node = replica.Server.Replication;
        lock (node.Role.Gate)
        {
            node.Role.Stop();
            Assert.That(node.Handovers.TryTakeOver(primary.Server.Replication.RunId, primary.Server.Replication.Backlog.End, isForced: true), Is.Not.Null);
        }
    }

    [Test]
    public void A_barrier_asks_who_began_the_term()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(replica, primary);
        using (TestClient client = new(replica.Server.Port)) client.Call("REPLICAOF", "NO", "ONE");
        ReplicaGroup.AwaitRole(replica, "master");
        ReplicationNode node = replica.Server.Replication;
        (uint term, ulong batch) = node.Position.Token();
        var wait = new BarrierWait(node.Position, long.MaxValue);
        wait.Tell((term, batch, node.History.Owner ^ 1), null);
        Assert.That(wait.Resume(replica.Server.Reactors[0], null!), Is.False, "of another history, though its numbers are the same");
    }

    [Test]
    public void Nobody_waits_for_a_primary_that_does_not_answer_the_connection()
    {
        using Unanswering far = new();
        using EmbeddedServer server = ReplicaGroup.ReplicaOf(far.Port);
        using TestClient client = new(server.Server.Port);
        Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        long began = Stopwatch.GetTimestamp();
        Assert.That(client.Call("SET", "k", "1"), Is.EqualTo("OK"));
        Assert.That(Stopwatch.GetElapsedTime(began).TotalSeconds, Is.LessThan(server.Server.Settings.Replication.TimeoutSeconds / 2), "repl-timeout");
        Assert.That(client.Call("REPLICAOF", "127.0.0.1", $"{far.Port}"), Is.EqualTo("OK"));
    } // and its stop does not wait for it either

    [Test]
    public void A_stop_does_not_wait_for_ever_for_a_replica_that_does_not_answer()
    {
        using var mute = new TcpListener(IPAddress.Loopback, 0);
        mute.Start(); // the system accepts for it, and nobody answers
        using EmbeddedServer primary = new(adjust: static settings =>
        {
            settings.Replication.HandsOverAtStop = true;
            settings.Replication.StopSeconds = 1;
        });
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, settings =>
            settings.Replication.AnnouncePort = ((IPEndPoint)mute.LocalEndpoint).Port);
        ReplicaGroup.CatchUp(replica, primary);
        primary.Server.RequestStop();
        Assert.That(primary.Server.Completion.Wait(WaitMs), Is.True);
    }
}

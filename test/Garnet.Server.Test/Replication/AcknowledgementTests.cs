using Garnet.Aof;
using Garnet.Replication.Frames;

namespace Garnet.Server.Test.Replication;

/// <summary>WAIT and WAITAOF believe only what is said of this very history (replication.P3).</summary>
public sealed class AcknowledgementTests
{
    private const ulong Far = 1_000_000;

    [Test]
    public void P3_what_a_replica_says_before_it_streams_is_not_counted()
    {
        using EmbeddedServer primary = new();
        using TestClient client = new(primary.Server.Port);
        client.Call("SET", "before", "1");
        using StrangeReplica replica = new(primary.Server.Port, $"7:{Far}:00000001"); // a place that is none of this history
        replica.Await(FrameKind.Plan);
        replica.Send(new AckFrame(7, 1, Far, Far, Far));
        client.Call("SET", "acked", "n");
        Assert.That(client.Call("WAIT", "1", "200"), Is.EqualTo("0"));
        Assert.That(client.Call("WAITAOF", "0", "1", "200"), Is.EqualTo("[0 0]"));
    }

    [Test]
    public void P3_a_number_without_the_checksum_of_its_place_ends_the_link()
    {
        using EmbeddedServer primary = new();
        using TestClient client = new(primary.Server.Port);
        client.Call("SET", "before", "1");
        using StrangeReplica replica = new(primary.Server.Port, "0:0:");
        PlanFrame plan = PlanFrame.TryDecode(replica.Await(FrameKind.Plan))!;
        replica.Await(FrameKind.SnapshotEnd);
        client.Call("SET", "acked", "n");
        (uint term, ulong batch) = primary.Server.Replication.Position.Token();
        replica.Await(FrameKind.Batch);
        replica.Send(new AckFrame(term, plan.At.Mark, batch, batch, batch)); // it guesses
        Assert.That(client.Call("WAIT", "1", "200"), Is.EqualTo("0"));
        Assert.That(() => primary.Server.Replication.Links.All, Is.Empty.After(ReplicaGroup.WaitMs, 5));
    }

    [Test]
    public void P3_what_has_come_is_counted_by_its_own_checksum()
    {
        using EmbeddedServer primary = new();
        using TestClient client = new(primary.Server.Port);
        client.Call("SET", "before", "1");
        using StrangeReplica replica = new(primary.Server.Port, "0:0:");
        PlanFrame plan = PlanFrame.TryDecode(replica.Await(FrameKind.Plan))!;
        replica.Await(FrameKind.SnapshotEnd);
        client.Call("SET", "acked", "n");
        replica.Await(FrameKind.Batch);
        LogPosition end = primary.Server.Replication.Backlog.End;
        Assert.That(end.Batch, Is.GreaterThan(plan.At.Batch));
        replica.Send(new AckFrame(end.Term, end.Mark, end.Batch, 0, end.Batch));
        Assert.That(client.Call("WAIT", "1", "20000"), Is.EqualTo("1"));
        Assert.That(client.Call("WAITAOF", "0", "1", "50"), Is.EqualTo("[0 0]"), "it has no disk");
    }

    [Test]
    public void A_write_of_a_history_that_was_given_up_is_on_no_replica_and_is_not_waited_for()
    {
        using EmbeddedServer old = new(), other = new();
        using TestClient client = new(old.Server.Port), elsewhere = new(other.Server.Port);
        for (int i = 0; i < 50; i++) client.Call("SET", $"k{i}", "1");
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(old.Server.Port); // from now on there is a log
        ReplicaGroup.CatchUp(replica, old);
        client.Call("SET", "lost", "1");
        Assert.That(client.Call("WAIT", "1", "20000"), Is.EqualTo("1"));
        client.Call("REPLICAOF", "127.0.0.1", Port(other));
        Assert.That(() => old.Server.Replication.Role.Following, Is.Not.Null.After(ReplicaGroup.WaitMs, 5));
        Assert.That(() => old.Server.Replication.Role.Following!.IsUp, Is.True.After(ReplicaGroup.WaitMs, 5));
        client.Call("REPLICAOF", "NO", "ONE");
        using EmbeddedServer follower = ReplicaGroup.ReplicaOf(old.Server.Port);
        Assert.That(elsewhere.Call("SET", "x", "1"), Is.EqualTo("OK"));
        Assert.That(() => old.Server.Replication.Links.All.Count, Is.GreaterThan(0).After(ReplicaGroup.WaitMs, 5));
        ReplicaGroup.CatchUp(follower, old);
        Assert.That(client.Call("WAIT", "1", "0"), Is.EqualTo("0"));
        client.Call("SET", "kept", "1");
        Assert.That(client.Call("WAIT", "1", "20000"), Is.EqualTo("1"));
    }

    [Test]
    public void P4_a_replica_that_is_told_to_follow_one_that_lags_does_not_go_back_in_time()
    {
        using EmbeddedServer primary = new();
        using HeldProxy slow = new(primary.Server.Port);
        using EmbeddedServer lagging = ReplicaGroup.ReplicaOf(slow.Port), replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using TestClient client = new(primary.Server.Port), reader = new(replica.Server.Port);
        client.Call("SET", "k", "1");
        ReplicaGroup.CatchUp(lagging, primary);
        slow.Hold();
        client.Call("SET", "k", "2");
        ReplicaGroup.CatchUp(replica, primary);
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("2"));
        reader.Call("REPLICAOF", "127.0.0.1", Port(lagging));
        Assert.That(() => replica.Server.Replication.Role.Following?.Problem ?? "", Does.Contain("has not got yet").After(ReplicaGroup.WaitMs, 5));
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("2"));
        slow.Release();
        Assert.That(() => replica.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("2"));
        Assert.That(lagging.Server.Replication.Links.Full, Is.Zero, "it goes on where it was");
        client.Call("SET", "k", "3");
        ReplicaGroup.AssertSame(primary, lagging, replica);
    }

    [Test]
    public void A_greeting_whose_connection_is_reset_at_once_ends_nothing_else()
    {
        using EmbeddedServer primary = new();
        using TestClient client = new(primary.Server.Port);
        byte[] hello = System.Text.Encoding.ASCII.GetBytes($"*7\r\n$4\r\nREPL\r\n$5\r\nHELLO\r\n$1\r\n{FrameFormat.Protocol}\r\n$40\r\n{new string('b', 40)}\r\n$1\r\n1\r\n$1\r\n-\r\n$4\r\n0:0:\r\n");
        for (int i = 0; i < 200; i++)
        {
            using var socket = new System.Net.Sockets.TcpClient("127.0.0.1", primary.Server.Port) { LingerState = new System.Net.Sockets.LingerOption(true, 0) };
            socket.GetStream().Write(hello);
        }
        Assert.That(client.Call("SET", "k", "v"), Is.EqualTo("OK"));
        Assert.That(() => primary.Server.Replication.Links.All, Is.Empty.After(ReplicaGroup.WaitMs, 5));
    }

    private static string Port(EmbeddedServer server) => server.Server.Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
}

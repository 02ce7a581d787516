namespace Garnet.Server.Test.Replication;

/// <summary>What a transaction may do where writes are another server's, and that it waits for nobody.</summary>
public sealed class TransactionOnReplicaTests
{
    [Test]
    public void A_write_is_refused_when_it_is_queued_and_reads_are_answered()
    {
        using EmbeddedServer primary = new();
        using (var writer = new TestClient(primary.Server.Port)) writer.Call("SET", "k", "v");
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(replica, primary);
        using var client = new TestClient(replica.Server.Port);
        client.Call("MULTI");
        Assert.That(client.Call("SET", "k", "w"), Does.StartWith("READONLY"));
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT"));
        client.Call("MULTI");
        client.Call("GET", "k");
        client.Call("MGET", "k", "none");
        Assert.That(client.Call("EXEC"), Is.EqualTo("[v [v nil]]"));
    }

    [Test]
    public void What_was_queued_before_the_server_became_a_replica_is_not_run()
    {
        using EmbeddedServer primary = new(), other = new();
        using TestClient client = new(other.Server.Port), admin = new(other.Server.Port);
        client.Call("MULTI");
        Assert.That(client.Call("SET", "k", "v"), Is.EqualTo("QUEUED"));
        Assert.That(admin.Call("REPLICAOF", "127.0.0.1", $"{primary.Server.Port}"), Is.EqualTo("OK"));
        ReplicaGroup.CatchUp(other, primary);
        Assert.That(client.Call("EXEC"), Does.Contain("READONLY"));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("nil"));
    }

    [Test]
    public void Commands_that_would_wait_answer_at_once()
    {
        using EmbeddedServer server = new();
        using var client = new TestClient(server.Server.Port);
        client.Call("MULTI");
        client.Call("SET", "k", "v");
        client.Call("WAIT", "1", "0");
        client.Call("REPL", "WAIT", $"{uint.MaxValue}:1", "0");
        Assert.That(client.Call("EXEC"), Does.StartWith("[OK 0 TRYAGAIN"));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("v"));
    }
}

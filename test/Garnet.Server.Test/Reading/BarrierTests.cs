using System.Globalization;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test.Reading;

/// <summary>Reads that are as new as asked for (REPL BARRIER), and reads that take what is there (CLIENT CONSISTENCY ANY).</summary>
public sealed class BarrierTests
{
    [Test]
    public void What_anybody_has_written_before_a_barrier_can_be_read_after_it()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer middle = ReplicaGroup.ReplicaOf(primary.Server.Port), last = ReplicaGroup.ReplicaOf(middle.Server.Port);
        ReplicaGroup.CatchUp(last, primary);
        using TestClient writer = new(primary.Server.Port), near = new(middle.Server.Port), far = new(last.Server.Port);
        for (int i = 0; i < 200; i++)
        {
            string value = i.ToString(CultureInfo.InvariantCulture);
            writer.Call("SET", $"k{i % 7}", value);
            foreach (TestClient reader in (TestClient[])[near, far, writer])
            {
                Assert.That(reader.Call("REPL", "BARRIER", "10000"), Does.StartWith("1:"));
                Assert.That(reader.Call("GET", $"k{i % 7}"), Is.EqualTo(value));
            }
        }
    }

    [Test]
    public void A_barrier_says_when_the_primary_is_gone_and_the_connection_goes_on()
    {
        EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(replica, primary);
        using var reader = new TestClient(replica.Server.Port);
        Assert.That(reader.Call("REPL", "BARRIER", "10000"), Does.StartWith("1:"));
        primary.Dispose();
        Assert.That(reader.Call("REPL", "BARRIER", "10000"), Does.StartWith("NOMASTERLINK"));
        Assert.That(reader.Call("PING"), Is.EqualTo("PONG"));
    }

    [TestCase("REPL TOKEN")]
    [TestCase("REPL BARRIER 10000")]
    public void A_place_in_the_history_is_not_named_in_a_transaction(string command)
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(replica, primary);
        foreach (EmbeddedServer server in (EmbeddedServer[])[primary, replica])
        {
            using TestClient client = new(server.Server.Port);
            client.Call("MULTI");
            Assert.That(client.Call(command.Split(' ')), Is.EqualTo("ERR Command not allowed inside a transaction"));
            Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT"));
            Assert.That(client.Call(command.Split(' ')), Does.StartWith("1:"));
        }
    }

    [Test]
    public void Reads_of_a_batch_that_does_not_end_are_told_to_try_again_and_earlier_replies_arrive()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using var writer = new TestClient(primary.Server.Port);
        writer.Call("SET", "k", "v");
        ReplicaGroup.CatchUp(replica, primary);
        using var reader = new TestClient(replica.Server.Port);
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("v"));
        replica.Server.Replication.Applied.Close(); // as a batch on the whole store that is being applied
        reader.Send("PING");
        reader.Send("GET", "k");
        reader.Send("DBSIZE");
        reader.Send("PING");
        Assert.That(reader.Read(), Is.EqualTo("PONG"));
        Assert.That(reader.Read(), Does.StartWith("TRYAGAIN"));
        Assert.That(reader.Read(), Does.StartWith("TRYAGAIN"));
        Assert.That(reader.Read(), Is.EqualTo("PONG"));
        Assert.That(reader.Call("CLIENT", "CONSISTENCY", "ANY"), Is.EqualTo("OK"));
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("v"), "taken as it is");
        Assert.That(reader.Call("DBSIZE"), Is.EqualTo("1"));
        Assert.That(reader.Call("CLIENT", "CONSISTENCY", "STRICT"), Is.EqualTo("OK"));
        Assert.That(reader.Call("GET", "k"), Does.StartWith("TRYAGAIN"));
        reader.Call("MULTI");
        reader.Call("GET", "k");
        Assert.That(reader.Call("EXEC"), Does.StartWith("EXECABORT").And.Contain("TRYAGAIN"));
        Assert.That(reader.Call("PING"), Is.EqualTo("PONG"), "the transaction has ended");
    }
}

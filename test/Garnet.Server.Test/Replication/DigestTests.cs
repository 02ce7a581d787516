using System.Text;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Replication;

/// <summary>The digest of what a server holds: the same where the data are the same, however they are kept, and different where they are not.</summary>
public sealed class DigestTests
{
    private const int CommandsPerRound = 4_000;

    [Test]
    public void A_replica_that_keeps_things_in_another_way_has_the_digest_of_its_primary([ValueSource(typeof(LongRun), nameof(LongRun.Seeds))] int seed, [Values(0, 200)] int packedBytes)
    {
        using EmbeddedServer primary = new();
        primary.Server.Settings.Encoding.PackedBytesMax = packedBytes;
        using EmbeddedServer early = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(early, primary);
        var random = new RandomCommands(seed);
        Run(primary, random);
        using EmbeddedServer late = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(late, primary);
        Run(primary, random);
        primary.Server.Store.PauseExpiry(true); // what is due stays as it is
        ReplicaGroup.AssertSame(primary, early, late);
    }

    [TestCase("SET s other")]
    [TestCase("PEXPIREAT s 99999999999999")]
    [TestCase("HSET h f other")]
    [TestCase("SADD t c")]
    [TestCase("LSET l 0 b")]
    [TestCase("RPOPLPUSH l l")]
    [TestCase("ZADD z 3 a")]
    [TestCase("ZPEXPIREAT z 99999999999999 MEMBERS 1 a")]
    [TestCase("RENAME s s2")]
    [TestCase("MOVE s 1")]
    [TestCase("DEL t")]
    [TestCase("SWAPDB 0 1")]
    public void Any_change_changes_it(string change)
    {
        using EmbeddedServer server = new();
        using var client = new TestClient(server.Server.Port);
        foreach (string command in (string[])["SET s v", "HSET h f v g w", "SADD t a b", "RPUSH l a b", "ZADD z 1 a 2 b"])
            client.Call(command.Split(' '));
        string before = DigestOf(client);
        Assert.That(DigestOf(client), Is.EqualTo(before));
        Assert.That(client.Call(change.Split(' ')), Does.Not.StartWith("ERR"));
        Assert.That(DigestOf(client), Is.Not.EqualTo(before));
    }

    [Test]
    public void A_primary_is_digested_while_clients_write()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port);
        using var stop = new CancellationTokenSource();
        var writing = TestThread.Begin(() =>
        {
            using var writer = new TestClient(primary.Server.Port);
            for (int i = 0; !stop.IsCancellationRequested; i++) writer.Call("SET", $"k{i % 100}", $"{i}");
        });
        try
        {
            using TestClient one = new(primary.Server.Port), other = new(replica.Server.Port);
            for (int i = 0; i < 20; i++)
            {
                Assert.That(one.Call("REPL", "DIGEST"), Does.StartWith("[token 1:"));
                Assert.That(other.Call("REPL", "DIGEST"), Does.StartWith("[token ").Or.StartWith("TRYAGAIN").Or.StartWith("LOADING"));
            }
        }
        finally
        {
            stop.Cancel();
            writing.Await();
        }
        ReplicaGroup.AssertSame(primary, replica);
    }

    [Test]
    public void Its_token_says_who_began_the_term()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer promoted = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(promoted, primary);
        using var client = new TestClient(promoted.Server.Port);
        Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        ReplicaGroup.AwaitRole(promoted, "master");
        string token = client.Call("REPL", "TOKEN");
        Assert.That(token, Does.Match("^[0-9]+:[0-9]+:[0-9a-f]{8}$"));
        Assert.That(client.Call("REPL", "DIGEST"), Does.Match("^.token [0-9]+:[0-9]+:" + token[^8..] + " "));
    }

    private static string DigestOf(TestClient client)
    {
        string reply = client.Call("REPL", "DIGEST");
        return reply[reply.IndexOf("keys", StringComparison.Ordinal)..];
    }

    private static void Run(EmbeddedServer server, RandomCommands random)
    {
        var text = new StringBuilder("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n");
        for (int i = 0; i < CommandsPerRound; i++) random.AddTo(text);
        text.Append("*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n");
        Assert.That(server.Send(text.ToString(), "+OK\r\n"), Is.EqualTo("+OK\r\n"));
    }
}

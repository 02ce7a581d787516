using System.Globalization;
using Garnet.Wire.Replication;
using NUnit.Framework;
using StackExchange.Redis;

namespace Garnet.Wire.Clients;

/// <summary>Reading one's own writes on a replica, as the guide shows it (website/docs/guide/replication.md).</summary>
[Parallelizable] // servers of its own
internal sealed class ReadYourWritesTests
{
    private const int Rounds = 50;

    [Test]
    public void StackExchange_reads_on_a_replica_what_it_wrote_on_the_primary()
    {
        using ReplicaServer first = new(keepsData: false), second = new(keepsData: false);
        second.Follow(first);
        using ConnectionMultiplexer toFirst = Connect(first), toSecond = Connect(second);
        IDatabase primary = toFirst.GetDatabase(), replica = toSecond.GetDatabase();
        for (int i = 0; i < Rounds; i++)
        {
            string written = i.ToString(CultureInfo.InvariantCulture);
            primary.StringSet("k", written);
            string token = (string)primary.Execute("REPL", "TOKEN")!;
            replica.Execute("REPL", "WAIT", token, "5000");
            Assert.That((string?)replica.StringGet("k"), Is.EqualTo(written));
        }
        RedisServerException early = Assert.Throws<RedisServerException>(() => replica.Execute("REPL", "WAIT", "4000000000:1", "1"))!;
        Assert.That(early.Message, Does.StartWith("TRYAGAIN"));
    }

    [Test]
    public void Redis_cli_reads_on_a_replica_what_it_wrote_on_the_primary()
    {
        _ = ClientRun.Find("redis-cli");
        using ReplicaServer first = new(keepsData: false), second = new(keepsData: false);
        second.Follow(first);
        Assert.That(Cli(first, "SET", "k", "v"), Is.EqualTo("OK"));
        string token = Cli(first, "REPL", "TOKEN");
        Assert.That(Cli(second, "REPL", "WAIT", token, "5000"), Is.EqualTo("OK"));
        Assert.That(Cli(second, "GET", "k"), Is.EqualTo("v"));
        Assert.That(Cli(first, "SET", "k", "w"), Is.EqualTo("OK"));
        Assert.That(Cli(second, "REPL", "BARRIER", "5000"), Does.Match("^[0-9]+:[0-9]+:[0-9a-f]{8}$"));
        Assert.That(Cli(second, "GET", "k"), Is.EqualTo("w"));
        Assert.That(Cli(second, "REPL", "DIGEST"), Is.EqualTo(Cli(first, "REPL", "DIGEST")));

        string Cli(ReplicaServer server, params string[] words) =>
            ClientRun.Of("redis-cli", ["-p", server.Port.ToString(CultureInfo.InvariantCulture), .. words], "").Output.TrimEnd('\n');
    }

    private static ConnectionMultiplexer Connect(ReplicaServer server) => ConnectionMultiplexer.Connect($"127.0.0.1:{server.Port}");
}

using System.Diagnostics;
using System.Globalization;
using System.Net;
using Garnet.Common.Test;
using Garnet.Wire.Clients;
using Garnet.Wire.Replication;
using NUnit.Framework;
using StackExchange.Redis;

namespace Garnet.Wire.Failover;

/// <summary>Clients that ask a Sentinel where the primary is, and go on with the next one.</summary>
[Parallelizable] // servers of its own
public sealed class SentinelClientTests
{
    private const int MissingCode = 77;
    private SentinelGroup? _group;

    [OneTimeSetUp]
    public void Start() => _group = new SentinelGroup(sentinels: 1, "", "", "");

    [OneTimeTearDown]
    public void Stop() => _group?.Dispose();

    [TestCase("sentinel.py")]
    [TestCase("sentinel.js")]
    public void A_client_follows_the_primary(string script)
    {
        string program = script.EndsWith(".js", StringComparison.Ordinal) ? ClientRun.Find("node") : File.Exists("/usr/bin/python3") ? "/usr/bin/python3" : ClientRun.Find("python3");
        string port = _group!.Sentinels[0].Address.Port.ToString(CultureInfo.InvariantCulture);
        using Process client = Process.Start(new ProcessStartInfo(program, [ClientRun.Script(script), port])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        Task<string> errors = client.StandardError.ReadToEndAsync();
        string? line = client.StandardOutput.ReadLine();
        if (line == "failover")
        {
            FailOver();
            client.StandardInput.WriteLine("done");
            client.StandardInput.Flush();
        }
        string rest = client.StandardOutput.ReadToEnd();
        client.WaitForExit();
        if (client.ExitCode == MissingCode) Assert.Ignore(line ?? "");
        Assert.That(client.ExitCode, Is.Zero, errors.InTime() + rest);
        Assert.That(line, Is.EqualTo("failover"));
    }

    [Test]
    public void StackExchange_Redis_follows_the_primary()
    {
        var options = new ConfigurationOptions { AbortOnConnectFail = false, ServiceName = SentinelGroup.Name };
        options.EndPoints.Add(_group!.Sentinels[0].Address);
        using ConnectionMultiplexer client = ConnectionMultiplexer.Connect(options);
        IDatabase database = client.GetDatabase();
        Assert.That(database.StringSet("se:s", "1"));
        ReplicaServer primary = FailOver();
        Assert.That(() => TrySet(database, "2"), Is.True.After(SentinelGroup.DeadlineMs, 20));
        using RespConnection connection = primary.Connect();
        Assert.That(connection.Call("GET", "se:s").Text, Is.EqualTo("2"), "it was written to the new primary");
    }

    [Test]
    public void A_replica_of_priority_0_is_not_promoted()
    {
        ReplicaServer never = _group!.Nodes.First(node => node != _group.Primary);
        using (RespConnection connection = never.Connect()) Assert.That(connection.Call("CONFIG", "SET", "replica-priority", "0").ToString(), Is.EqualTo("+OK"));
        Assert.That(() => SentinelGroup.Ask(_group.Sentinels[0], "SENTINEL", "REPLICAS", SentinelGroup.Name).ToString(), Does.Contain("\"slave-priority\" \"0\"").After(SentinelGroup.DeadlineMs, 50));
        for (int i = 0; i < 2; i++) Assert.That(FailOver(), Is.Not.SameAs(never));
        using (RespConnection connection = never.Connect()) Assert.That(connection.Call("CONFIG", "SET", "replica-priority", "100").ToString(), Is.EqualTo("+OK"));
    }

    // By the Sentinel's own command: nothing is broken.
    private ReplicaServer FailOver()
    {
        ReplicaServer old = _group!.Primary;
        Assert.That(() => SentinelGroup.Ask(_group.Sentinels[0], "SENTINEL", "FAILOVER", SentinelGroup.Name).ToString(), Is.EqualTo("+OK").After(SentinelGroup.DeadlineMs, 50));
        ReplicaServer next = _group.AwaitSwitch(old);
        _group.AwaitFollowers();
        return next;
    }

    private static bool TrySet(IDatabase database, string value)
    {
        try
        {
            return database.StringSet("se:s", value);
        }
        catch (Exception e) when (e is RedisException or TimeoutException)
        {
            return false; // the old primary is a replica now
        }
    }
}

namespace Garnet.Server.Test.Admission;

/// <summary>What is answered, shown and counted while a script has run for too long: by its own reactor, and by another.</summary>
public sealed class BesideScriptTests
{
    private const string Endless = "while true do end";

    [Test]
    public void Who_wants_no_replies_gets_none([Values(1, 2)] int reactors)
    {
        using EmbeddedServer server = Start(reactors);
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port);
        List<TestClient> silent = Clients(server), skipping = Clients(server);
        foreach (TestClient client in silent) client.Send("CLIENT", "REPLY", "OFF");
        foreach (TestClient client in skipping)
        {
            Assert.That(client.Call("ECHO", "first"), Is.EqualTo("first"));
            client.Send("CLIENT", "REPLY", "SKIP");
        }

        Eventually.Holds(() => other.Call("INFO", "commandstats").Contains($"cmdstat_client|reply:calls={silent.Count * 2}", StringComparison.Ordinal));
        RunEndless(runs, other);
        foreach (TestClient client in silent) client.Send("PING");
        foreach (TestClient client in skipping)
        {
            client.Send("ECHO", "skipped");
            Assert.That(client.Call("HELLO", "9"), Does.StartWith("NOPROTO"), "the next one's");
            Assert.That(client.Call("ECHO", "x"), Does.StartWith("BUSY"));
        }

        End(runs, other);
        foreach (TestClient client in silent)
        {
            client.Send("PING");
            Assert.That(client.Call("CLIENT", "REPLY", "ON"), Is.EqualTo("OK"));
        }

        foreach (TestClient client in (TestClient[])[.. silent, .. skipping])
        {
            Assert.That(client.Call("ECHO", "last"), Is.EqualTo("last"));
            client.Dispose();
        }
    }

    [Test]
    public void What_runs_is_seen_by_MONITOR_and_the_slow_log([Values(1, 2)] int reactors)
    {
        using EmbeddedServer server = Start(reactors);
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port), watches = new(server.Server.Port);
        other.Call("CONFIG", "SET", "slowlog-log-slower-than", "0");
        Assert.That(watches.Call("MONITOR"), Is.EqualTo("OK"));
        RunEndless(runs, other);
        other.Call("UNWATCH");
        End(runs, other);
        Assert.That(other.Call("SLOWLOG", "GET", "-1"), Does.Contain("[UNWATCH]").And.Contain("[SCRIPT KILL]"));
        var seen = new List<string>();
        while (seen.Count == 0 || !seen[^1].Contains("\"KILL\"", StringComparison.Ordinal)) seen.Add(watches.Read());
        Assert.That(seen, Has.Some.Contains("\"UNWATCH\""));
    }

    [Test]
    public void What_is_refused_counts_as_rejected_and_what_fails_as_failed([Values(1, 2)] int reactors)
    {
        using EmbeddedServer server = Start(reactors);
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port), late = new(server.Server.Port);
        RunEndless(runs, other);
        Assert.That(late.Call("GET", "a"), Does.StartWith("BUSY"));
        Assert.That(late.Call("AUTH", "nobody", "x"), Does.StartWith("WRONGPASS"));
        Assert.That(late.Call("MULTI"), Is.EqualTo("OK"));
        Assert.That(late.Call("SET", "a", "1"), Does.StartWith("BUSY"));
        Assert.That(late.Call("EXEC"), Does.StartWith("EXECABORT"));
        End(runs, other);
        string counted = other.Call("INFO", "commandstats");
        Assert.That(counted, Does.Match("cmdstat_get:calls=0,[^\r]*rejected_calls=1,failed_calls=0"));
        Assert.That(counted, Does.Match("cmdstat_set:calls=0,[^\r]*rejected_calls=1,failed_calls=0"));
        Assert.That(counted, Does.Match("cmdstat_exec:calls=0,[^\r]*rejected_calls=1,failed_calls=0"));
        Assert.That(counted, Does.Match("cmdstat_auth:calls=1,[^\r]*rejected_calls=0,failed_calls=1"));
    }

    [Test]
    public void A_subscriber_and_a_transaction_are_told_first_what_does_not_belong_there([Values(1, 2)] int reactors)
    {
        using EmbeddedServer server = Start(reactors);
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port), listens = new(server.Server.Port), late = new(server.Server.Port);
        listens.Call("SUBSCRIBE", "c");
        RunEndless(runs, other);
        Assert.That(listens.Call("GET", "a"), Does.StartWith("ERR Can't execute 'get'"));
        Assert.That(listens.Call("MULTI"), Does.StartWith("ERR Can't execute 'multi'"));
        Assert.That(listens.Call("PING"), Does.StartWith("BUSY"));
        Assert.That(late.Call("WATCH", "a"), Does.StartWith("BUSY"));
        Assert.That(late.Call("MULTI"), Is.EqualTo("OK"));
        Assert.That(late.Call("WATCH", "a"), Is.EqualTo("ERR WATCH inside MULTI is not allowed"));
        Assert.That(late.Call("DISCARD"), Is.EqualTo("OK"));
        End(runs, other);
    }

    private static EmbeddedServer Start(int reactors) => new(adjust: settings => (settings.Network.ReactorThreads, settings.Scripts.BusyMilliseconds) = (reactors, 20));

    // On every reactor.
    private static List<TestClient> Clients(EmbeddedServer server) => [.. Enumerable.Range(0, 4).Select(_ => new TestClient(server.Server.Port))];

    private static void RunEndless(TestClient runs, TestClient other)
    {
        runs.Send("EVAL", Endless, "0");
        Eventually.Holds(() => other.Call("PING").StartsWith("BUSY", StringComparison.Ordinal));
    }

    private static void End(TestClient runs, TestClient other)
    {
        Assert.That(other.Call("SCRIPT", "KILL"), Is.EqualTo("OK"));
        Assert.That(runs.Read(), Does.StartWith("ERR"));
    }
}

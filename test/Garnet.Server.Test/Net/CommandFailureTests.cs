using Garnet.Common.Time;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>A mistake of ours inside a command that has changed nothing costs its own client the connection, and nobody else anything.</summary>
internal sealed class CommandFailureTests
{
    [Test]
    public void A_command_that_fails_before_it_changed_anything_is_answered_counted_and_the_end_of_its_client_only()
    {
        var clock = new BrokenClock();
        using var server = new EmbeddedServer(adjust: static settings => settings.Inspect.SlowerThanMicroseconds = 0, clock: clock);
        using var other = new TestClient(server.Server.Port);
        Assert.That(other.Call("SET", "k", "v"), Is.EqualTo("OK"));
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("GET", "k"), Is.EqualTo("v"));
        clock.FailsIn = 2; // the first look is the round's, the second the command's
        Assert.That(client.Call("GET", "k"), Does.StartWith("ERR the command failed through a mistake of the server"));
        Assert.That(() => client.Call("PING"), Throws.InstanceOf<IOException>());
        Assert.That(other.Call("GET", "k"), Is.EqualTo("v"));
        Assert.That(other.Call("INFO", "stats"), Does.Contain("garnet_failed_commands:1"));
    }

    [Test]
    public void A_mistake_behind_a_change_has_no_answer_so_that_the_process_ends()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Network.ReactorThreads = 1);
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("SET", "k", "v"), Is.EqualTo("OK")); // the reactor stands behind it as it would if it failed there
        Assert.That(server.Server.Reactors.Single().Runner.Failures.TryAnswer(new InvalidOperationException("planted"), null!, 0), Is.False);
    }

    [TestCase("EVAL", "redis.call('SET', 'k', 'v') return redis.call('GET', 'k')", "0")]
    [TestCase("EVAL", "redis.call('SET', 'k', 'v') redis.call('GET', 'k') return redis.call('PING')", "0")]
    public void A_mistake_outside_of_the_parts_of_a_script_that_has_written_has_none_either(params string[] words)
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Network.ReactorThreads = 1);
        using var client = new TestClient(server.Server.Port);
        client.Call(words);
        Assert.That(server.Server.Reactors.Single().Runner.Failures.TryAnswer(new InvalidOperationException("planted"), null!, 0), Is.False);
    }

    [Test]
    public void A_mistake_outside_of_the_parts_of_a_transaction_that_has_written_has_none_either()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Network.ReactorThreads = 1);
        using var client = new TestClient(server.Server.Port);
        foreach (string[] words in (string[][])[["MULTI"], ["SET", "k", "v"], ["GET", "k"]]) client.Call(words);
        Assert.That(client.Call("EXEC"), Is.EqualTo("[OK v]"));
        Assert.That(server.Server.Reactors.Single().Runner.Failures.TryAnswer(new InvalidOperationException("planted"), null!, 0), Is.False);
    }

    [TestCase("FLUSHALL")]
    [TestCase("FLUSHDB", "SYNC")]
    [TestCase("SWAPDB", "0", "1")]
    [TestCase("EVAL", "redis.call('FLUSHALL')", "0")]
    public void G4_a_command_that_fails_with_the_turn_alone_gives_it_back(params string[] words)
    {
        var log = new RecordingLog();
        using var server = new EmbeddedServer(log);
        TestClient[] others = [.. Enumerable.Range(0, 4).Select(_ => new TestClient(server.Server.Port))]; // of each reactor some
        foreach (TestClient other in others) Assert.That(other.Call("SET", "k", "v"), Is.EqualTo("OK"));
        using var client = new TestClient(server.Server.Port);
        log.Holding = () =>
        {
            log.Holding = null;
            throw new InvalidOperationException("planted");
        };
        Assert.That(client.Call(words), Does.StartWith("ERR the command failed through a mistake of the server"));
        foreach (TestClient other in others)
        {
            Assert.That(other.Call("GET", "k"), Is.EqualTo("v"));
            other.Dispose();
        }
    }

    [Test]
    public void The_error_of_a_command_that_asks_for_too_much_is_kept_from_who_wants_no_replies()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        string name = new('a', 100_000);
        Assert.That(client.Call("CLIENT", "SETNAME", name), Does.StartWith("ERR"));
        client.Send("CLIENT", "REPLY", "SKIP");
        client.Send("CLIENT", "SETNAME", name);
        Assert.That(client.Call("ECHO", "next"), Is.EqualTo("next"));
        client.Send("CLIENT", "REPLY", "OFF");
        client.Send("CLIENT", "SETNAME", name);
        Assert.That(client.Call("CLIENT", "REPLY", "ON"), Is.EqualTo("OK"));
        Assert.That(client.Call("ECHO", "last"), Is.EqualTo("last"));
    }

    private sealed class BrokenClock : IClock
    {
        private int _failsIn;

        public int FailsIn
        {
            set => Volatile.Write(ref _failsIn, value);
        }

        public long UnixUs => SystemClock.Instance.UnixUs;
        public long UnixMs => SystemClock.Instance.UnixMs;

        public long MonotonicUs =>
            Volatile.Read(ref _failsIn) > 0 && Interlocked.Decrement(ref _failsIn) == 0 ? throw new InvalidOperationException("planted") : SystemClock.Instance.MonotonicUs;
    }
}

using Garnet.Aof.Format;
using Garnet.Aof.Test.Writing;
using NUnit.Framework;

namespace Garnet.Server.Test.Persistence;

/// <summary>What the append-only file could not read back is refused before it is done (L5, U22).</summary>
internal sealed class StepLimitTests
{
    private const int Limit = (int)LogLimits.StepBytesMaxLeast, Half = Limit / 2;

    [Test]
    public void A_value_that_the_log_does_not_take_is_refused_and_the_one_before_stays()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("SET", "k", new string('a', Limit - 100)), Is.EqualTo("OK"), "what fits is taken");
        Assert.That(client.Call("SET", "k", new string('b', Limit)), Does.StartWith("ERR a step of the append-only file").And.Contain($"limit of {Limit}"));
        Assert.That(client.Call("GET", "k"), Is.EqualTo(new string('a', Limit - 100)));
    }

    [Test]
    public void A_command_of_several_keys_is_refused_before_its_first()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("MSET", "a", new string('a', Half), "b", new string('b', Half), "c", new string('c', Half)), Does.StartWith("ERR a step"));
        Assert.That(client.Call("EXISTS", "a", "b", "c"), Is.EqualTo("0"));
    }

    [Test]
    public void A_transaction_whose_commands_are_too_long_together_is_refused_before_its_first()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        client.Call("MULTI");
        for (int i = 0; i < 3; i++) client.Call("SET", $"k{i}", new string('a', Half));
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT").And.Contain("a step of the append-only file"));
        Assert.That(client.Call("DBSIZE"), Is.EqualTo("0"));
    }

    [Test]
    public void In_a_script_the_call_that_would_be_too_much_fails_and_changes_nothing()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        string reply = client.Call("EVAL", "for i = 1, 5 do redis.call('SET', 'k' .. i, ARGV[1]) end", "0", new string('a', Half));
        Assert.That(reply, Does.StartWith("ERR a step of the append-only file"));
        Assert.That(client.Call("EXISTS", "k1", "k2", "k3"), Is.EqualTo("1"), "as in redis, what a script did before its error stays");
        Assert.That(client.Call("SET", "after", "1"), Is.EqualTo("OK"), "the next step has its own account, and nothing is locked");
    }

    [TestCase("COPY", "source", "copy")]
    [TestCase("RENAME", "source", "copy")]
    [TestCase("SORT", "source", "BY", "nosort", "STORE", "copy")]
    public void A_copy_that_is_too_long_leaves_source_and_target_as_they_were(params string[] command)
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 6; i++) Assert.That(client.Call("RPUSH", "source", new string((char)('a' + i), Half)), Is.EqualTo($"{i + 1}"));
        client.Call("SET", "copy", "before");
        string[] words = command[0] == "COPY" ? [.. command, "REPLACE"] : command;
        Assert.That(client.Call(words), Does.StartWith("ERR a step of the append-only file"));
        Assert.That(client.Call("GET", "copy"), Is.EqualTo("before"));
        Assert.That(client.Call("LLEN", "source"), Is.EqualTo("6"));
        client.Call("MULTI");
        client.Call(words);
        client.Call("SET", "third", "1");
        Assert.That(client.Call("EXEC"), Does.Contain("ERR a step").And.Contain("OK"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"), "locks taken inside are given back");
        Assert.That(client.Call("DEL", "source", "copy", "third"), Is.EqualTo("3"));
    }

    [Test]
    public void The_limit_may_be_set_while_it_runs_and_not_above_what_readers_take()
    {
        using EmbeddedServer server = Start();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("CONFIG", "SET", "aof-step-max-size", $"{LogLimits.StepBytesMaxMost + 1}"), Does.StartWith("ERR"));
        Assert.That(client.Call("CONFIG", "SET", "aof-step-max-size", $"{2 * Limit}"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "k", new string('b', Limit)), Is.EqualTo("OK"));
    }

    private static EmbeddedServer Start() => KeeperTests.Start(new MemoryDisk(), static settings => settings.Persistence.StepBytesMax = Limit);
}

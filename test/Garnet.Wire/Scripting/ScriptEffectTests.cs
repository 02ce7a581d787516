using Garnet.Wire.Persistence;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Scripting;

/// <summary>What scripts write and which functions there are, after a kill, from a snapshot and on a replica.</summary>
public sealed class ScriptEffectTests
{
    private const string Library = "#!lua name=lib\nredis.register_function('add', function(keys, args) return redis.call('incrby', keys[1], args[1]) end)\n"
        + "redis.register_function{function_name='look', callback=function(keys) return redis.call('get', keys[1]) end, flags={'no-writes'}}";

    [Test]
    public void Effects_and_functions_survive_a_kill([Values] bool snapshot)
    {
        using DataServer server = new("--appendfsync always");
        using (RespConnection connection = server.Connect())
        {
            Fill(connection);
            if (snapshot) Assert.That(connection.Call("SAVE").ToString(), Is.EqualTo("+OK"));
            Assert.That(connection.Call("FCALL", "add", "1", "n", "5").ToString(), Is.EqualTo(":15"));
        }
        server.Kill();
        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("MGET", "a", "b", "n").ToString(), Is.EqualTo("[ \"1\" \"2\" \"15\" ]"));
        Assert.That(again.Call("FCALL", "add", "1", "n", "1").ToString(), Is.EqualTo(":16"));
        Assert.That(again.Call("EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0").ToString(), Does.StartWith("-NOSCRIPT"), "the cache is not kept");
    }

    [Test]
    public void A_replica_has_effects_and_functions_and_runs_what_only_reads([Values] bool late)
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false);
        if (!late) replica.Follow(primary);
        using RespConnection first = primary.Connect();
        Fill(first);
        if (late) replica.Follow(primary);
        using RespConnection second = replica.Connect();
        RespNode token = first.Call("REPL", "TOKEN");
        Assert.That(second.Call("REPL", "WAIT", token.Text, "20000").ToString(), Is.EqualTo("+OK"));
        Assert.That(second.Call("FCALL_RO", "look", "1", "n").Text, Is.EqualTo("10"));
        Assert.That(second.Call("EVAL_RO", "return {redis.call('get','a'), redis.call('get','b')}", "0").ToString(), Is.EqualTo("[ \"1\" \"2\" ]"));
        Assert.That(second.Call("EVAL", "return redis.call('get','a')", "0").Text, Is.EqualTo("1"));
        Assert.That(second.Call("EVAL", "return redis.call('set','a',1)", "0").ToString(), Does.StartWith("-READONLY"));
        Assert.That(second.Call("FCALL", "add", "1", "n", "1").ToString(), Does.StartWith("-READONLY"));
        Assert.That(second.Call("FUNCTION", "FLUSH").ToString(), Does.StartWith("-READONLY"));
        first.Call("FUNCTION", "DELETE", "lib");
        Assert.That(second.Call("REPL", "WAIT", first.Call("REPL", "TOKEN").Text, "20000").ToString(), Is.EqualTo("+OK"));
        Assert.That(second.Call("FCALL_RO", "look", "1", "n").ToString(), Is.EqualTo("-ERR Function not found"));
    }

    [Test]
    public void A_dump_of_functions_goes_from_server_to_server()
    {
        using RespConnection reference = new(Servers.Redis.Address), ours = new(Servers.Ours.Address);
        foreach ((RespConnection from, RespConnection to) in new[] { (reference, ours), (ours, reference) })
        {
            from.Call("FUNCTION", "FLUSH");
            to.Call("FUNCTION", "FLUSH");
            from.Call("FUNCTION", "LOAD", Library);
            Assert.That(to.Call("FUNCTION", "RESTORE", from.Call("FUNCTION", "DUMP").Text).ToString(), Is.EqualTo("+OK"));
            Assert.That(to.Call("FCALL", "look", "1", "nothing").ToString(), Is.EqualTo("$-1"));
            Assert.That(to.Call("FUNCTION", "LIST", "WITHCODE").ToString(), Does.Contain("register_function"));
        }
        ours.Call("FUNCTION", "FLUSH");
        reference.Call("FUNCTION", "FLUSH");
    }

    private static void Fill(RespConnection connection)
    {
        Assert.That(connection.Call("FUNCTION", "LOAD", Library).Text, Is.EqualTo("lib"));
        connection.Call("EVAL", "redis.call('set','a',1) redis.call('flushall') redis.call('set','a',1) redis.call('incrby','n',10)", "0");
        connection.Call("EVAL", "redis.call('set','b',2) error('too late')", "0");
    }
}

using System.Text.RegularExpressions;
using Garnet.Server.Admission;
using Garnet.Server.Commands;

namespace Garnet.Server.Test.Admission;

/// <summary>Whatever brings a command, the same rules are asked in the same order, before anything of it has run.</summary>
public sealed partial class AdmissionTests
{
    [Test]
    public void The_table_in_the_architecture_is_the_list()
    {
        string text = File.ReadAllText(Path.Combine(Repository.Root, "ARCHITECTURE.md"));
        string[] columns = ["Client", "Queued", "Busy", "Declared", "Undeclared", "ScriptCall", "Woken", "Executed"];
        var wanted = AdmissionRules.Ordered.Select(rule =>
            $"| {rule.Name} | {string.Join(" | ", columns.Select(column => rule.Askers.HasFlag(Enum.Parse<Asker>(column)) ? "x" : " "))} |");
        var found = Row().Matches(text).Select(static match => match.Groups[1].Value);
        Assert.That(found, Is.EqualTo(wanted));
    }

    [Test]
    public void A_key_that_is_not_this_servers_is_refused_whoever_asks()
    {
        var gate = new KeyGate();
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Ownership = gate };
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("SET", "here", "1"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "moved", "1"), Does.StartWith("MOVED"));
        Assert.That(client.Call("MSET", "here", "2", "moved", "1"), Does.StartWith("MOVED"));
        Assert.That(client.Call("EVAL", "return redis.call('SET',KEYS[1],'3')", "1", "moved"), Does.StartWith("MOVED"), "a declared key");
        Assert.That(client.Call("EVAL", "return redis.call('SET','moved','3')", "0"), Does.StartWith("MOVED"), "one that is not declared");
        client.Call("MULTI");
        Assert.That(client.Call("GET", "moved"), Does.StartWith("MOVED"));
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT"));
        Assert.That(client.Call("GET", "here"), Is.EqualTo("1"), "nothing of what was refused has run");
        Assert.That(gate.Asked, Does.Contain("0 moved at once"));
    }

    [Test]
    public void A_key_that_is_not_at_hand_is_waited_for_before_any_lock_is_taken()
    {
        var gate = new KeyGate();
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Residency = gate };
        using var client = new TestClient(server.Server.Port);
        using var other = new TestClient(server.Server.Port);
        client.Send("SET", "cold-1", "1");
        Assert.That(other.Call("SET", "warm", "1"), Is.EqualTo("OK"), "others go on");
        gate.LetGo("cold-1");
        Assert.That(client.Read(), Is.EqualTo("OK"));
        foreach (string[] words in (string[][])[["MULTI"], ["SELECT", "3"], ["INCR", "cold-2"], ["INCR", "warm"], ["SELECT", "0"], ["INCR", "cold-3"]]) client.Call(words);
        client.Send("EXEC");
        Assert.That(other.Call("INCR", "warm"), Is.EqualTo("2"));
        gate.LetGo("cold-2");
        gate.LetGo("cold-3");
        Assert.That(client.Read(), Is.EqualTo("[OK 1 1 OK 1]"));
        Assert.That(gate.Asked, Does.Contain("3 cold-2").And.Contain("0 cold-3"), "in the database that SELECT will have chosen");
    }

    [Test]
    public void Of_a_script_the_keys_it_declares_are_waited_for_and_the_others_asked_about_at_the_call()
    {
        var gate = new KeyGate();
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Residency = gate };
        using var client = new TestClient(server.Server.Port);
        client.Send("EVAL", "redis.call('INCR','ran') return redis.call('INCR',KEYS[1])", "1", "cold-1");
        using var other = new TestClient(server.Server.Port);
        Assert.That(other.Call("GET", "ran"), Is.EqualTo("nil"));
        gate.LetGo("cold-1");
        Assert.That(client.Read(), Is.EqualTo("1"));
        Assert.That(client.Call("EVAL", "return redis.pcall('INCR','cold-2')['err']", "0"), Does.StartWith("TRYAGAIN"));
    }

    [Test]
    public void Who_has_no_right_is_refused_whoever_asks()
    {
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Permission = new NoIncrements() };
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("INCR", "a"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("EVAL", "return redis.call('INCR','a')", "0"), Does.StartWith("NOPERM"));
        client.Call("MULTI");
        Assert.That(client.Call("INCR", "a"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT"));
        Assert.That(client.Call("GET", "a"), Is.EqualTo("nil"));
        Assert.That(client.Call("ACL", "LOG"), Does.Contain("reason command").And.Contain("object incr").And.Contain("context lua").And.Contain("context multi"));
    }

    [Test]
    public void What_there_is_not_has_the_same_answer_where_rules_are_asked()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Security.DebugCommand = AccessScope.Yes);
        using var client = new TestClient(server.Server.Port);
        string[][] commands = [["DEBUG", "nosuch"], ["DEBUG"], ["CONFIG", "nosuch"], ["CONFIG"], ["COMMAND", "nosuch"], ["nosuch", "a"], ["GET"], ["DEBUG", "PROTOCOL"]];
        string[] plain = [.. commands.Select(command => client.Call(command))];
        server.Server.Context.Hooks = new AdmissionHooks { Permission = new Rights() };
        Assert.That(commands.Select(command => client.Call(command)), Is.EqualTo(plain));
    }

    [Test]
    public void A_right_that_is_taken_away_before_EXEC_discards_the_transaction()
    {
        var rights = new Rights();
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Permission = rights };
        using var client = new TestClient(server.Server.Port);
        foreach (string[] words in (string[][])[["MULTI"], ["SET", "a", "1"], ["INCR", "a"]]) client.Call(words);
        rights.Taken = "INCR";
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT").And.Contain("NOPERM"));
        Assert.That(client.Call("GET", "a"), Is.EqualTo("nil"), "nothing of it has run");
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"), "the transaction has ended");
        foreach (string[] words in (string[][])[["MULTI"], ["SET", "a", "1"]]) client.Call(words);
        rights.Taken = "EXEC";
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT").And.Contain("NOPERM"));
        rights.Taken = "INCR";
        foreach (string[] words in (string[][])[["MULTI"], ["SET", "a", "1"]]) client.Call(words);
        Assert.That(client.Call("EXEC"), Is.EqualTo("[OK]"));
    }

    [Test]
    public void A_key_in_another_database_is_asked_about_there()
    {
        var gate = new KeyGate();
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Ownership = gate };
        using var client = new TestClient(server.Server.Port);
        AssertAsked("COPY a b DB 3", "0 a", "3 b");
        AssertAsked("COPY a b DB 3 REPLACE DB 2", "0 a", "2 b");
        AssertAsked("COPY a b", "0 a", "0 b");
        AssertAsked("MOVE a 4", "0 a", "4 a");
        AssertAsked("COPY a b DB 99", "0 a", "0 b"); // it will answer with an error
        AssertAsked("MOVE a x", "0 a");
        Assert.That(client.Call("COPY", "a", "moved", "DB", "3"), Does.StartWith("MOVED"));
        foreach (string[] words in (string[][])[["MULTI"], ["SELECT", "5"], ["MOVE", "a", "6"]]) client.Call(words);
        AssertAsked("EXEC", "5 a", "6 a");

        void AssertAsked(string command, params string[] wanted)
        {
            gate.Asked.Clear();
            client.Call(command.Split(' '));
            Assert.That(gate.Asked, Is.EqualTo(wanted), command);
        }
    }

    [Test]
    public void A_setting_counts_for_the_next_command_of_the_same_pipeline()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Network.ReactorThreads = 1);
        using var client = new TestClient(server.Server.Port);
        string[] replies = client.Pipeline(1, ["SET", "a", "1"], ["CONFIG", "SET", "min-replicas-to-write", "1"], ["SET", "a", "2"], ["GET", "a"], ["CONFIG", "SET", "min-replicas-to-write", "0"], ["SET", "a", "3"]);
        Assert.That(replies, Is.EqualTo((string[])["OK", "OK", "NOREPLICAS Not enough good replicas to write.", "1", "OK", "OK"]));
        replies = client.Pipeline(1, ["CONFIG", "SET", "maxmemory", "1"], ["SET", "a", "4"], ["CONFIG", "SET", "maxmemory", "0"], ["SET", "a", "5"]);
        Assert.That(replies[1], Does.StartWith("OOM"));
        Assert.That(replies[3], Is.EqualTo("OK"));
    }

    [Test]
    public void Who_is_refused_is_counted_once()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("CONFIG", "SET", "min-replicas-to-write", "1");
        Assert.That(client.Call("SET", "a", "1"), Does.StartWith("NOREPLICAS"));
        Assert.That(client.Call("GET"), Does.StartWith("ERR wrong number"));
        Assert.That(client.Call("INCRBY", "a", "x"), Does.StartWith("NOREPLICAS"));
        client.Call("MULTI");
        Assert.That(client.Call("LPUSH", "a", "1"), Does.StartWith("NOREPLICAS"));
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT"));
        client.Call("CONFIG", "SET", "min-replicas-to-write", "0");
        Assert.That(client.Call("INCRBY", "a", "x"), Does.StartWith("ERR"));
        string counted = client.Call("INFO", "commandstats");
        Assert.That(counted, Does.Match("cmdstat_set:calls=0,[^\r]*rejected_calls=1,failed_calls=0"));
        Assert.That(counted, Does.Match("cmdstat_get:calls=0,[^\r]*rejected_calls=1,failed_calls=0"));
        Assert.That(counted, Does.Match("cmdstat_incrby:calls=1,[^\r]*rejected_calls=1,failed_calls=1"));
        Assert.That(counted, Does.Match("cmdstat_lpush:calls=0,[^\r]*rejected_calls=1,failed_calls=0"));
        Assert.That(counted, Does.Match("cmdstat_exec:calls=1,[^\r]*rejected_calls=0,failed_calls=1"));
        Assert.That(counted, Does.Match("cmdstat_multi:calls=1,[^\r]*rejected_calls=0,failed_calls=0"));
    }

    [Test]
    public void Who_has_waited_and_is_refused_then_is_counted_once()
    {
        var gate = new KeyGate();
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Residency = gate };
        using TestClient client = new(server.Server.Port), other = new(server.Server.Port);
        client.Send("SET", "cold", "1");
        Eventually.Holds(() => server.Server.Context.Clients().Any(static each => each.Parked));
        other.Call("CONFIG", "SET", "min-replicas-to-write", "1");
        gate.LetGo("cold");
        Assert.That(client.Read(), Does.StartWith("NOREPLICAS"));
        Assert.That(other.Call("INFO", "commandstats"), Does.Match("cmdstat_set:calls=0,[^\r]*rejected_calls=1,failed_calls=0"));
    }

    [Test]
    public void PFCOUNT_waits_for_the_end_of_a_pause_of_writes()
    {
        using var server = new EmbeddedServer();
        using TestClient client = new(server.Server.Port), other = new(server.Server.Port);
        other.Call("PFADD", "h", "a");
        other.Call("CLIENT", "PAUSE", "60000", "WRITE");
        client.Send("PFCOUNT", "h");
        Eventually.Holds(() => server.Server.Context.Clients().Any(static each => each.Parked));
        Assert.That(other.Call("GET", "a"), Is.EqualTo("nil"));
        Assert.That(other.Call("CLIENT", "UNPAUSE"), Is.EqualTo("OK"));
        Assert.That(client.Read(), Is.EqualTo("1"));
        const string refused = "ERR Write commands are not allowed from read-only scripts.";
        Assert.That(client.Call("EVAL_RO", "return redis.call('PFCOUNT','h')", "0"), Does.StartWith(refused));
        Assert.That(client.Call("EVAL", "#!lua flags=no-writes\nreturn redis.call('PFCOUNT','h')", "0"), Does.StartWith(refused));
        Assert.That(client.Call("EVAL", "return redis.call('PFCOUNT','h')", "0"), Is.EqualTo("1"));
        Assert.That(client.Call("COMMAND", "INFO", "PFCOUNT"), Does.Contain("[readonly may_replicate]"));
    }

    [Test]
    public void A_replica_that_may_not_serve_what_is_stale_runs_only_what_redis_does()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("CONFIG", "SET", "replica-serve-stale-data", "no");
        Assert.That(client.Call("REPLICAOF", "127.0.0.1", "1"), Is.EqualTo("OK"));
        string[][] refused =
        [
            ["EVAL", "return 1", "0"], ["EVAL_RO", "return 1", "0"], ["EVAL", "return redis.call('TIME')", "0"], ["EVAL", "return redis.call('PUBLISH','a','b')", "0"],
            ["MEMORY", "DOCTOR"], ["MEMORY", "STATS"], ["MEMORY", "PURGE"], ["MEMORY", "MALLOC-STATS"], ["MEMORY", "USAGE", "a"], ["GET", "a"],
        ];
        foreach (string[] command in refused)
            Assert.That(client.Call(command), Is.EqualTo("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."), string.Join(' ', command));
        Assert.That(client.Call("EVAL", "#!lua flags=no-writes,allow-stale\nreturn redis.call('ECHO','a')", "0"), Is.EqualTo("a"));
        Assert.That(client.Call("EVAL", "#!lua flags=no-writes,allow-stale\nreturn redis.call('GET','a')", "0"), Does.StartWith("ERR Can not execute the command on a stale replica"));
        Assert.That(client.Call("PUBLISH", "a", "b"), Is.EqualTo("0"));
        Assert.That(client.Call("MEMORY", "HELP"), Does.StartWith("[MEMORY"));
    }

    private sealed class Rights : IPermission
    {
        internal volatile string Taken = "";

        public unsafe AdmissionResult Ask(ref Call call, in Question question) =>
            call.Server.Commands.Specs[question.Entry->Id].Name == Taken ? AdmissionResult.Refused("NOPERM this user has no permissions to run the command") : AdmissionResult.Allowed;
    }

    private sealed class NoIncrements : IPermission
    {
        public unsafe AdmissionResult Ask(ref Call call, in Question question) =>
            call.Server.Commands.Specs[question.Entry->Id].Name == "INCR" ? AdmissionResult.Refused("NOPERM this user has no permissions to run the 'incr' command") : AdmissionResult.Allowed;
    }

    [GeneratedRegex(@"^(\| [a-z]+ (?:\| [x ] ){8}\|)$", RegexOptions.Multiline)]
    private static partial Regex Row();
}

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

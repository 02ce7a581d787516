using Garnet.Server.Commands;

namespace Garnet.Server.Test.Admission;

/// <summary>A command that has waited for a key is asked about again before it is served; and what is postponed keeps the order of its connection.</summary>
public sealed class WokenTests
{
    [Test]
    public void Who_waits_for_a_key_is_refused_once_it_is_another_servers([Values("BLMOVE here moved LEFT RIGHT 0", "BRPOPLPUSH here moved 0", "BLPOP moved here 0", "BLMPOP 0 2 moved here LEFT")] string command)
    {
        using var server = new EmbeddedServer();
        using TestClient client = Waiting(server, command), other = new(server.Server.Port);
        server.Server.Context.Hooks = new AdmissionHooks { Ownership = new KeyGate() };
        other.Call("RPUSH", "here", "1");
        Assert.That(client.Read(), Does.StartWith("MOVED"));
        Assert.That(other.Call("LRANGE", "here", "0", "-1"), Is.EqualTo("[1]"), "nothing was taken");
        Assert.That(server.Server.Context.Observers.Waits.Count, Is.Zero);
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void Who_waits_is_refused_once_he_has_no_right_and_the_next_is_served()
    {
        using var server = new EmbeddedServer();
        using TestClient client = Waiting(server, "BLPOP here 0"), next = Waiting(server, "BRPOP here 0", 2), other = new(server.Server.Port);
        server.Server.Context.Hooks = new AdmissionHooks { Permission = new Refusing("BLPOP") };
        other.Call("RPUSH", "here", "1");
        Assert.That(client.Read(), Does.StartWith("NOPERM"));
        Assert.That(next.Read(), Is.EqualTo("[here 1]"));
    }

    [Test]
    public void Who_waits_for_a_key_is_served_once_his_target_is_at_hand()
    {
        var gate = new KeyGate();
        using var server = new EmbeddedServer();
        using TestClient client = Waiting(server, "BLMOVE here cold LEFT RIGHT 0"), next = Waiting(server, "BLPOP here 0", 2), other = new(server.Server.Port);
        server.Server.Context.Hooks = new AdmissionHooks { Residency = gate };
        other.Call("RPUSH", "here", "1");
        Assert.That(next.Read(), Is.EqualTo("[here 1]"), "who came later is not held up");
        other.Call("RPUSH", "here", "2");
        Assert.That(other.Call("LRANGE", "here", "0", "-1"), Is.EqualTo("[2]"), "nothing was taken for who is held");
        gate.LetGo("cold");
        Assert.That(client.Read(), Is.EqualTo("2"));
        Assert.That(other.Call("LRANGE", "cold", "0", "-1"), Is.EqualTo("[2]"));
        Assert.That(server.Server.Context.Observers.Waits.Count, Is.Zero);
    }

    [Test]
    public void Who_is_held_still_times_out_and_can_be_unblocked()
    {
        using var server = new EmbeddedServer();
        using TestClient brief = Waiting(server, "BLMOVE here cold LEFT RIGHT 0.3"), client = Waiting(server, "BLMOVE there cold LEFT RIGHT 0", 2), other = new(server.Server.Port);
        var gate = new KeyGate();
        server.Server.Context.Hooks = new AdmissionHooks { Residency = gate };
        other.Call("RPUSH", "here", "1");
        other.Call("RPUSH", "there", "1");
        Assert.That(brief.Read(), Is.EqualTo("nil"));
        long id = server.Server.Context.Clients().Single(static waiting => waiting.Parked).Id;
        other.Call("CLIENT", "UNBLOCK", id.ToString(System.Globalization.CultureInfo.InvariantCulture), "ERROR");
        Assert.That(client.Read(), Does.StartWith("UNBLOCKED"));
        Assert.That(server.Server.Context.Observers.Waits.Count, Is.Zero);
        Assert.That(other.Call("LLEN", "here"), Is.EqualTo("1"));
    }

    [Test]
    public void What_is_sent_behind_a_postponed_command_waits_for_it()
    {
        var gate = new KeyGate();
        using var server = new EmbeddedServer();
        server.Server.Context.Hooks = new AdmissionHooks { Residency = gate };
        using var client = new TestClient(server.Server.Port);
        using var other = new TestClient(server.Server.Port);
        string[][] commands =
        [
            ["SET", "cold-1", "1"], ["APPEND", "order", "a"], ["MULTI"], ["INCR", "cold-2"], ["EXEC"], ["APPEND", "order", "b"],
            ["EVAL", "return redis.call('INCR',KEYS[1])", "1", "cold-3"], ["APPEND", "order", "c"],
        ];
        foreach (string[] command in commands)
            client.Send(command);
        Assert.That(other.Call("GET", "order"), Is.EqualTo("nil"));
        gate.LetGo("cold-1");
        Assert.That(Read(client, 4), Is.EqualTo("OK 1 OK QUEUED"));
        Assert.That(other.Call("GET", "order"), Is.EqualTo("a"));
        gate.LetGo("cold-2");
        Assert.That(Read(client, 2), Is.EqualTo("[1] 2"));
        Assert.That(other.Call("GET", "order"), Is.EqualTo("ab"));
        gate.LetGo("cold-3");
        Assert.That(Read(client, 2), Is.EqualTo("1 3"));
    }

    private static string Read(TestClient client, int replies) => string.Join(' ', Enumerable.Range(0, replies).Select(_ => client.Read()));

    // A client whose command waits, the last of so many.
    private static TestClient Waiting(EmbeddedServer server, string command, int waiting = 1)
    {
        var client = new TestClient(server.Server.Port);
        client.Send(command.Split(' '));
        Eventually.Holds(() => server.Server.Context.Clients().Count(static each => each.Parked) == waiting);
        return client;
    }

    private sealed class Refusing(string name) : IPermission
    {
        public unsafe AdmissionResult Ask(ref Call call, in Question question) =>
            call.Server.Commands.Specs[question.Entry->Id].Name == name ? AdmissionResult.Refused("NOPERM this user has no permissions to run the command") : AdmissionResult.Allowed;
    }
}

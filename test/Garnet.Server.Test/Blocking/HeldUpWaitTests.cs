using Garnet.Server.Test.Net;

namespace Garnet.Server.Test.Blocking;

/// <summary>Who waits for a key is served, or goes on waiting, though what else the command needs lies on the tier, or a script has run for too long.</summary>
internal sealed class HeldUpWaitTests
{
    private static readonly string s_long = new('v', 900);

    [TestCase("BLMOVE", "source", "target", "LEFT", "RIGHT", "0")]
    [TestCase("BRPOPLPUSH", "source", "target", "0")]
    public void A_user_with_fewer_rights_whose_target_is_on_the_tier_is_served(params string[] command)
    {
        using HangingStage stage = new();
        using TestClient waiting = stage.Connect();
        stage.Other.Call("ACL", "SETUSER", "user", "on", "nopass", "+@all", "-flushall", "~*");
        Assert.That(waiting.Call("AUTH", "user", "any"), Is.EqualTo("OK"));
        stage.Other.Call("RPUSH", "target", s_long);
        waiting.Send(command);
        Eventually.Holds(() => stage.Server.Context.Observers.Waits.Count == 1);
        stage.Demote("target");
        stage.Other.Call("RPUSH", "source", "x");
        Assert.That(waiting.Read(), Is.EqualTo("x"));
        Assert.That(stage.Other.Call("LLEN", "target"), Is.EqualTo("2"));
    }

    [Test]
    public void A_command_that_is_put_off_for_its_target_leaves_no_place_in_a_queue()
    {
        const int Times = 20, Pages = 200; // its root is not all that is read
        using HangingStage stage = new();
        using TestClient mover = stage.Connect();
        using (TestClient waiting = stage.Connect())
        {
            waiting.Send("BZPOPMIN", "source", "0");
            Eventually.Holds(() => stage.Server.Context.Observers.Waits.Count == 1);
            stage.Other.Call(["RPUSH", "target", .. Enumerable.Repeat(s_long, Pages)]);
            for (int i = 0; i < Times; i++)
            {
                stage.Demote("target");
                stage.Clock.Advance(HangingStage.TimeoutMs / 2); // what was read is kept for a moment
                stage.Other.Call("PING");
                stage.Other.Call("RPUSH", "source", $"x{i}");
                Assert.That(mover.Call("BLMOVE", "source", "target", "LEFT", "RIGHT", "1"), Is.EqualTo($"x{i}"));
            }
        }

        Eventually.Holds(() => stage.Server.Context.Observers.Waits.Count == 0);
        Assert.That(stage.Server.Context.Observers.Waits.Keys, Is.Zero);
    }

    [Test]
    public void A_consumer_that_is_due_while_a_script_runs_for_too_long_holds_up_nobody()
    {
        const int Looks = 20, LookMs = 500;
        TestClock clock = new();
        using var server = new EmbeddedServer(clock: clock);
        TestClient[] clients = [.. Enumerable.Range(0, 8).Select(_ => new TestClient(server.Server.Port))];
        TestClient[][] byReactor = [.. clients.GroupBy(ReactorOf).Select(static group => group.ToArray())];
        Assert.That(byReactor, Has.Length.EqualTo(2).And.All.Length.GreaterThanOrEqualTo(2), "connections go round");
        (TestClient runs, TestClient kills, TestClient waits, TestClient asks) = (byReactor[0][0], byReactor[0][1], byReactor[1][0], byReactor[1][1]);
        kills.Call("CONFIG", "SET", "busy-reply-threshold", "100");
        kills.Call("XADD", "s", "1-1", "f", "v");
        kills.Call("XGROUP", "CREATE", "s", "g", "0");
        kills.Call("XREADGROUP", "GROUP", "g", "other", "STREAMS", "s", ">");
        waits.Send("XREADGROUP", "GROUP", "g", "consumer", "BLOCK", "0", "CLAIM", "3000", "STREAMS", "s", ">");
        Eventually.Holds(() => server.Server.Context.Observers.Waits.Count == 1);
        runs.Send("EVAL", "while true do end", "0");
        Eventually.Holds(() => IsBusy(kills, clock));
        for (int i = 0; i < Looks; i++)
        {
            clock.Advance(LookMs);
            Assert.That(asks.Call("PING"), Does.StartWith("BUSY"));
        }

        Assert.That(asks.Call("SCRIPT", "KILL"), Is.EqualTo("OK"));
        Assert.That(runs.Read(), Does.StartWith("ERR"));
        Eventually.Holds(() =>
        {
            clock.Advance(LookMs);
            return asks.Call("XPENDING", "s", "g").Contains("consumer", StringComparison.Ordinal);
        });
        Assert.That(waits.Read(), Does.StartWith("[[s [[1-1"));
        Array.ForEach(clients, static client => client.Dispose());
    }

    private static bool IsBusy(TestClient client, TestClock clock)
    {
        clock.Advance(50);
        return client.Call("PING").StartsWith("BUSY", StringComparison.Ordinal);
    }

    private static string ReactorOf(TestClient client) => client.Call("CLIENT", "INFO").Split("io-thread=")[1].Split(' ')[0];
}

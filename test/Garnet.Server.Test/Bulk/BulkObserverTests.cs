using Garnet.Bulk;
using Garnet.Bulk.Native;

namespace Garnet.Server.Test.Bulk;

/// <summary>A value that went beside the connection is a change like any other to those who look on.</summary>
internal sealed class BulkObserverTests
{
    private const int Bytes = 70_000;

    [OneTimeSetUp]
    public void The_library_is_there()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
    }

    [Test]
    public void It_is_told_as_a_set_and_a_part_as_a_setrange()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet(), listener = bench.Connect();
        client.Call("CONFIG", "SET", "notify-keyspace-events", "E$gx");
        listener.Call("PSUBSCRIBE", "*");
        client.Call("BULK.PUT", "k", "1", "0", $"{Bytes}", "PX", "100000");
        client.Call("BULK.PUT", "k", "1", "0", $"{Bytes}", "AT", "7");
        client.Call("BULK.PUT", "k", "INLINE", "PX");
        client.Call("BULK.GET", "k", "1", "0", $"{Bytes}");
        client.Call("PUBLISH", "end", "k");
        List<string> told = [];
        while (told.Count == 0 || !told[^1].Contains(" end ", StringComparison.Ordinal))
            told.Add(listener.Read());
        Assert.That(told.Select(static line => line.Split(' ')[2].Split(':')[^1]), Is.EqualTo(new[] { "set", "expire", "setrange", "set", "end" }));
    }

    [Test]
    public void Who_has_read_the_key_is_told_and_who_watches_it_runs_nothing()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet(), other = bench.Connect(), watcher = bench.Connect();
        client.Call("SET", "k", "old");
        other.Call("HELLO", "3");
        other.Call("CLIENT", "TRACKING", "ON");
        other.Call("GET", "k");
        watcher.Call("WATCH", "k");
        watcher.Call("MULTI");
        watcher.Call("SET", "ran", "1");
        client.Call("BULK.PUT", "k", "1", "0", $"{Bytes}");
        Assert.That(watcher.Call("EXEC"), Is.EqualTo("nil"));
        other.Call("PING");
        Assert.That(other.Pushes, Is.EqualTo(new[] { "[invalidate [k]]" }));
    }

    [Test]
    public void Who_has_read_it_beside_the_connection_is_told_of_a_change_also_of_one_in_the_middle()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Connect(), other = bench.Connect();
        client.Call("HELLO", "3");
        Assert.That(bench.Hello(client), Does.StartWith("[version 1 "));
        BulkBench.Register(client, 1, bench.Region);
        client.Call("CLIENT", "TRACKING", "ON");
        other.Call("SET", "k", new string('v', Bytes));
        bench.Script(LoopFaultKind.Delay, 5);
        client.Send("BULK.GET", "k", "1", "0", $"{Bytes}");
        bench.AwaitRunning();
        other.Call("SET", "k", "new");
        bench.Advance(5);
        string[] heard = [client.Read(), client.Read()];
        Assert.That(heard, Has.One.EqualTo("[invalidate [k]]").And.One.StartsWith($"[len {Bytes} "));
    }

    [Test]
    public void It_is_refused_where_nothing_may_be_written_and_where_nothing_may_wait()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet();
        Assert.That(client.Call("EVAL", "return redis.call('BULK.PUT','k','INLINE','v')", "0"), Does.Contain("not allowed from script"));
        client.Call("MULTI");
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1"), Is.EqualTo("ERR Command not allowed inside a transaction"));
        client.Call("DISCARD");
        client.Call("SET", "fill", new string('f', 8 << 20));
        client.Call("CONFIG", "SET", "maxmemory", "1mb");
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1"), Does.StartWith("OOM"));
        client.Call("CONFIG", "SET", "maxmemory", "1gb");
        client.Call("REPLICAOF", "127.0.0.1", "1");
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1"), Does.StartWith("READONLY"));
        Assert.That(client.Call("EXISTS", "k"), Is.EqualTo("0"));
    }

    [Test]
    public void What_lacks_memory_in_the_end_leaves_the_old_value_and_nothing_behind()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet(), other = bench.Connect();
        client.Call("SET", "k", "old");
        client.Call("SET", "fill", new string('f', 8 << 20));
        bench.Script(LoopFaultKind.Delay, 5);
        client.Send("BULK.PUT", "k", "1", "0", $"{Bytes}");
        bench.AwaitRunning();
        other.Call("CONFIG", "SET", "maxmemory", "1mb");
        bench.Advance(5);
        Assert.That(client.Read(), Does.StartWith("OOM"));
        Assert.That(other.Call("GET", "k"), Is.EqualTo("old"));
        bench.AwaitIdle();
    }

    [Test]
    public void Conditions_are_judged_when_it_takes_effect()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet(), other = bench.Connect();
        other.Call("SET", "k", "old");
        string version = other.Call("DIGEST", "k");
        foreach ((string change, string answer) in new[] { ("SET k old", "[version"), ("SET k else", "BULKVER"), ("DEL k", "BULKVER") })
        {
            other.Call("SET", "k", "old");
            bench.Script(LoopFaultKind.Delay, 5);
            client.Send("BULK.PUT", "k", "1", "0", $"{Bytes}", "IFVER", version);
            bench.AwaitRunning();
            other.Call(change.Split(' '));
            bench.Advance(5);
            Assert.That(client.Read(), Does.StartWith(answer), change);
        }
    }

    [Test]
    public void The_user_of_a_key_needs_the_right_to_it_and_to_bulk()
    {
        using BulkBench bench = new();
        using TestClient admin = bench.Connect(), client = bench.Connect();
        admin.Call("ACL", "SETUSER", "u", "on", ">p", "%W~w*", "%R~r*", "%RW~b*", "+@bulk");
        client.Call("AUTH", "u", "p");
        Assert.That(client.Call("BULK.PUT", "w", "INLINE", "v"), Does.StartWith("[version"));
        Assert.That(client.Call("BULK.PUT", "w", "INLINE", "v", "AT", "1"), Does.StartWith("NOPERM"), "its answer says what the whole is");
        Assert.That(client.Call("BULK.PUT", "w", "INLINE", "v", "IFVER", new string('0', 16)), Does.StartWith("NOPERM"));
        Assert.That(client.Call("BULK.PUT", "b", "INLINE", "v", "AT", "1"), Does.StartWith("[version"));
        Assert.That(client.Call("BULK.GET", "w", "INLINE", "1"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("BULK.PUT", "r", "INLINE", "v"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("BULK.GET", "r", "INLINE", "1"), Is.EqualTo("nil"));
        Assert.That(client.Call("GET", "r"), Does.StartWith("NOPERM"));
    }
}

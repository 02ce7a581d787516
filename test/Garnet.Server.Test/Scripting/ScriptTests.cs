using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Test.Transactions;

namespace Garnet.Server.Test.Scripting;

/// <summary>What scripts may do to a server, and what of them others may see.</summary>
public sealed class ScriptTests
{
    private const string Increments = "for i = 1, 50 do redis.call('incr', KEYS[1]) redis.call('incr', KEYS[2]) end return redis.call('get', KEYS[1])";

    [Test]
    public void What_a_script_writes_is_one_batch_of_the_log_also_when_it_ends_in_an_error()
    {
        var log = new BatchingLog();
        using var server = new EmbeddedServer(log);
        using var client = new TestClient(server.Server.Port);
        client.Call("SET", "before", "1");
        client.Call("EVAL", "redis.call('set','a',1) redis.call('incr','b') redis.call('select',3) redis.call('set','c',1) return 1", "0");
        Assert.That(client.Call("EVAL", "redis.call('set','d',1) redis.call('incr','d') error('x')", "0"), Does.StartWith("ERR user_script:1: x"));
        client.Call("EVAL", "return redis.call('get','a')", "0");
        client.Call("SET", "between", "1");
        client.Call("EVAL", "redis.call('get','a') redis.call('flushall') redis.call('set','g',1)", "0");
        client.Call("MULTI");
        client.Call("SET", "e", "1");
        client.Call("EVAL", "return redis.call('set', 'f', 1)", "0");
        client.Call("EXEC");
        // A script joins the batch that is open; one that speaks of whole databases begins another.
        Assert.That(log.Batches(), Is.EqualTo(new List<string>[] { ["before", "a", "b", "c", "d", "d"], ["between"], ["", "g"], ["e", "f"] }));
    }

    [Test]
    public void Nobody_sees_a_script_half_done_or_loses_a_change([Values(1, 2)] int reactors)
    {
        using var server = new EmbeddedServer(adjust: settings => settings.Network.ReactorThreads = reactors);
        int port = server.Server.Port;
        using var done = new CancellationTokenSource();
        List<Task> writers = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(() => Repeat(port, 40, client => client.Call("EVAL", Increments, "2", "x", "y"))))];
        List<Task> others =
        [
            Task.Run(() => Until(port, client => Assert.That(Pair(client.Call("MGET", "x", "y")), Is.True, "half a script"), done.Token)),
            Task.Run(() => Until(port, static client => client.Call("EVAL_RO", "assert(redis.call('get','x') == redis.call('get','y')) return 1", "0"), done.Token)),
            Task.Run(() => Until(port, static client => client.Call("SET", "z", "1"), done.Token)),
        ];
        writers.AwaitAll();
        done.Cancel();
        others.AwaitAll();
        using var last = new TestClient(port);
        Assert.That(last.Call("MGET", "x", "y"), Is.EqualTo($"[{3 * 40 * 50} {3 * 40 * 50}]"));
    }

    // The script works the names out: no account is declared, and their locks are taken in whatever order they come.
    [Test]
    public void Transfers_between_undeclared_keys_keep_the_sum_for_everybody_who_looks([Values(1, 2)] int reactors)
    {
        const int Accounts = 100;
        const string Transfer = "local function name(i) return 'account:' .. i % 100 end for i = 1, 20 do "
            + "redis.call('decrby', name(ARGV[1] + i * 7), i) redis.call('incrby', name(ARGV[1] * 3 + i * 13), i) end return 1";
        const string Balanced = "local sum = 0 for i = 0, 99 do sum = sum + redis.call('get', 'account:' .. i) end return sum";
        // On a busy machine a script may take seconds: nobody is told so here.
        using var server = new EmbeddedServer(adjust: settings => (settings.Network.ReactorThreads, settings.Scripts.BusyMilliseconds) = (reactors, 0));
        int port = server.Server.Port;
        string[] names = [.. Enumerable.Range(0, Accounts).Select(static i => "account:" + i.ToString(CultureInfo.InvariantCulture))];
        using var first = new TestClient(port);
        first.Call(["MSET", .. names.SelectMany(static name => new[] { name, "1000" })]);
        using var done = new CancellationTokenSource();
        int seed = 0;
        List<Task> writers = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(() => Repeat(port, 150, client =>
            Assert.That(client.Call("EVAL", Transfer, "0", Interlocked.Increment(ref seed).ToString(CultureInfo.InvariantCulture)), Is.EqualTo("1")))))];
        List<Task> others =
        [
            Task.Run(() => Until(port, client => Assert.That(Sum(client.Call(["MGET", .. names])), Is.EqualTo(1000 * Accounts)), done.Token)),
            Task.Run(() => Until(port, static client => Assert.That(client.Call("EVAL_RO", Balanced, "0"), Is.EqualTo("100000")), done.Token)),
            Task.Run(() => Until(port, static client => Assert.That(client.Call("DBSIZE"), Is.EqualTo("100")), done.Token)),
            Task.Run(() => Until(port, static client => client.Call("EVAL", "redis.call('select', 3) redis.call('set', 'x', 1) return #redis.call('keys', '*')", "0"), done.Token)),
            Task.Run(() => Until(port, static client => Assert.That(client.Call("SWAPDB", "5", "6"), Is.EqualTo("OK")), done.Token)),
            Task.Run(() => Until(port, _ => Assert.That(Tsavorite.StoreCheck.Run(server.Server.Store), Is.Empty), done.Token)),
        ];
        try
        {
            writers.AwaitAll();
        }
        finally
        {
            done.Cancel();
            Task.WhenAll(others).ContinueWith(static _ => { }, TaskScheduler.Default).Await(); // none of them looks at a store that is gone
        }

        others.AwaitAll();
        Assert.That(Sum(first.Call(["MGET", .. names])), Is.EqualTo(1000 * Accounts));
        Assert.That(Tsavorite.StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void What_a_script_does_to_its_client_is_gone_when_it_ends()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("EVAL", "redis.call('select', 5) redis.setresp(3) KEYS = nil", "0");
        client.Call("SET", "here", "1");
        Assert.That(client.Call("EVAL", "redis.call('select', 5) return redis.call('exists', 'here')", "0"), Is.EqualTo("0"));
        Assert.That(client.Call("EVAL", "return #KEYS + #ARGV", "1", "k", "a"), Is.EqualTo("2"));
    }

    [Test]
    public void Blocked_clients_are_served_after_the_script_and_watched_keys_are_touched()
    {
        using var server = new EmbeddedServer();
        using TestClient client = new(server.Server.Port), blocked = new(server.Server.Port), watcher = new(server.Server.Port);
        blocked.Send("BLPOP", "list", "0");
        Eventually.Holds(() => client.Call("INFO", "clients").Contains("blocked_clients:1", StringComparison.Ordinal));
        watcher.Call("WATCH", "w");
        Assert.That(client.Call("EVAL", "redis.call('rpush','list','a','b') redis.call('set','w',1) return redis.call('llen','list')", "0"), Is.EqualTo("2"));
        Assert.That(blocked.Read(), Is.EqualTo("[list a]"));
        watcher.Call("MULTI");
        watcher.Call("GET", "w");
        Assert.That(watcher.Call("EXEC"), Is.EqualTo("nil"));
    }

    [Test]
    public void Others_hear_that_the_server_is_busy_and_can_stop_the_script([Values(1, 2)] int reactors, [Values(
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local co = coroutine.wrap(function() while true do end end) co()",
        "local function f() return f() end f()",
        "while true do pcall(redis.call, 'get', 'x') end",
        "table.sort({3,2,1}, function() while true do end end)",
        "('x'):gsub('x', function() while true do end end)")] string script)
    {
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.ReactorThreads = reactors;
            settings.Scripts.BusyMilliseconds = 20;
        });
        using TestClient runs = new(server.Server.Port), before = new(server.Server.Port), other = new(server.Server.Port);
        Assert.That(before.Call("SCRIPT", "KILL"), Is.EqualTo("NOTBUSY No scripts in execution right now."));
        runs.Send("EVAL", script, "0");
        Eventually.Holds(() => before.Call("PING").StartsWith("BUSY Redis is busy running a script. You can only call SCRIPT KILL", StringComparison.Ordinal));
        using var late = new TestClient(server.Server.Port);
        Assert.That(late.Call("GET", "x"), Does.StartWith("BUSY"));
        Assert.That(late.Call("EVAL", "return 1", "0"), Does.StartWith("BUSY"));
        Assert.That(other.Call("FUNCTION", "KILL"), Does.StartWith("BUSY"));
        Assert.That(other.Call("FUNCTION", "STATS"), Does.StartWith("BUSY"));
        Assert.That(other.Call("SHUTDOWN"), Does.StartWith("BUSY"));
        Assert.That(late.Call("SCRIPT", "KILL"), Is.EqualTo("OK"));
        Assert.That(runs.Read(), Does.StartWith("ERR").And.Contain("killed by user with SCRIPT KILL"));
        foreach (TestClient client in new[] { runs, before, other, late }) Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
        Assert.That(runs.Call("EVAL", "local n = 0 for i = 1, 100000 do n = n + i end return n", "0"), Is.EqualTo("5000050000"));
    }

    [Test]
    public void Beside_a_busy_function_all_are_told_how_many_there_are([Values(1, 3)] int reactors)
    {
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.ReactorThreads = reactors;
            settings.Scripts.BusyMilliseconds = 20;
        });
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port);
        runs.Call("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() while true do end end)");
        runs.Send("FCALL", "f", "0");
        Eventually.Holds(() => other.Call("PING").StartsWith("BUSY", StringComparison.Ordinal));
        // Its own thread keeps the words for others, once it sees that it is long; others may see that before.
        Eventually.Holds(() => other.Call("FUNCTION", "STATS").Contains("command [FCALL f 0]", StringComparison.Ordinal));
        for (int i = 0; i < 4; i++)
        {
            using var late = new TestClient(server.Server.Port); // on every reactor
            Assert.That(late.Call("FUNCTION", "STATS"), Does.StartWith("[running_script [name f command [FCALL f 0] ").And.EndsWith(" engines [LUA [libraries_count 1 functions_count 1]]]"));
        }

        Assert.That(other.Call("FUNCTION", "KILL"), Is.EqualTo("OK"));
        Assert.That(runs.Read(), Does.Contain("killed by user"));
    }

    [Test]
    public void EXEC_while_a_script_is_busy_ends_the_transaction([Values(1, 2)] int reactors)
    {
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.ReactorThreads = reactors;
            settings.Scripts.BusyMilliseconds = 20;
        });
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port);
        List<TestClient> clients = [.. Enumerable.Range(0, 4).Select(_ => new TestClient(server.Server.Port))]; // on every reactor
        foreach (TestClient client in clients)
        {
            client.Call("MULTI");
            client.Call("SET", "x", "1");
        }

        runs.Send("EVAL", "while true do end", "0");
        Eventually.Holds(() => other.Call("PING").StartsWith("BUSY", StringComparison.Ordinal));
        foreach (TestClient client in clients)
        {
            Assert.That(client.Call("EXEC"), Is.EqualTo("EXECABORT Transaction discarded because of: BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."));
            Assert.That(client.Call("DISCARD"), Is.EqualTo("ERR DISCARD without MULTI"));
        }

        Assert.That(other.Call("SCRIPT", "KILL"), Is.EqualTo("OK"));
        runs.Read();
        foreach (TestClient client in clients)
        {
            Assert.That(client.Call("GET", "x"), Is.EqualTo("nil"));
            client.Dispose();
        }
    }

    [Test]
    public void A_transaction_that_is_begun_while_a_script_is_busy_keeps_what_may_run_beside_it([Values(1, 2)] int reactors)
    {
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.ReactorThreads = reactors;
            settings.Scripts.BusyMilliseconds = 20;
        });
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port), late = new(server.Server.Port);
        runs.Send("EVAL", "while true do end", "0");
        Eventually.Holds(() => other.Call("PING").StartsWith("BUSY", StringComparison.Ordinal));
        Assert.That(late.Call("MULTI"), Is.EqualTo("OK"));
        Assert.That(late.Call("SCRIPT", "KILL"), Is.EqualTo("QUEUED"));
        Assert.That(other.Call("PING"), Does.StartWith("BUSY"), "it was not run");
        Assert.That(late.Call("SHUTDOWN", "NOSAVE"), Does.EndWith("not allowed inside a transaction"));
        Assert.That(late.Call("DISCARD"), Is.EqualTo("OK"));
        Assert.That(late.Call("SCRIPT", "KILL"), Is.EqualTo("OK"));
        runs.Read();
    }

    [Test]
    public void A_script_that_has_written_cannot_be_stopped_but_the_server_can([Values(1, 2)] int reactors)
    {
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.ReactorThreads = reactors;
            settings.Scripts.BusyMilliseconds = 20;
        });
        using TestClient runs = new(server.Server.Port), other = new(server.Server.Port);
        runs.Send("EVAL", "redis.call('set','a',1) while true do end", "0");
        Eventually.Holds(() => other.Call("PING").StartsWith("BUSY", StringComparison.Ordinal));
        Assert.That(other.Call("SCRIPT", "KILL"), Does.StartWith("UNKILLABLE"));
        other.Send("SHUTDOWN", "NOSAVE");
        Assert.That(server.Server.Completion.Wait(TimeSpan.FromSeconds(60)), Is.True);
    }

    [Test]
    public void Functions_are_loaded_by_every_reactor_and_by_a_server_that_reads_them_back()
    {
        using var server = new EmbeddedServer();
        List<TestClient> clients = [.. Enumerable.Range(0, 4).Select(_ => new TestClient(server.Server.Port))];
        Assert.That(clients[0].Call("FUNCTION", "LOAD", "#!lua name=one\nredis.register_function('f', function(keys, args) return 1 end)"), Is.EqualTo("one"));
        foreach (TestClient client in clients) Assert.That(client.Call("FCALL", "f", "0"), Is.EqualTo("1"));
        clients[1].Call("FUNCTION", "LOAD", "REPLACE", "#!lua name=one\nredis.register_function('f', function(keys, args) return 2 end)");
        clients[2].Call("FLUSHALL");
        foreach (TestClient client in clients) Assert.That(client.Call("FCALL", "f", "0"), Is.EqualTo("2"));
        Assert.That(clients[0].Call("DBSIZE"), Is.EqualTo("0"));
        clients[3].Call("FUNCTION", "DELETE", "one");
        foreach (TestClient client in clients)
        {
            Assert.That(client.Call("FCALL", "f", "0"), Is.EqualTo("ERR Function not found"));
            client.Dispose();
        }
    }

    private static bool Pair(string reply)
    {
        string[] values = reply.Trim('[', ']').Split(' ');
        return values[0] == values[1];
    }

    private static void Repeat(int port, int times, Action<TestClient> act)
    {
        using var client = new TestClient(port);
        for (int i = 0; i < times; i++) act(client);
    }

    private static void Until(int port, Action<TestClient> act, CancellationToken end)
    {
        using var client = new TestClient(port);
        while (!end.IsCancellationRequested) act(client);
    }

    private static long Sum(string reply) => reply.Trim('[', ']').Split(' ').Sum(static value => long.Parse(value, CultureInfo.InvariantCulture));
}

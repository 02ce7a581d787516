using System.Globalization;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Transactions;

/// <summary>What others may see of a transaction, in memory and in the log: all of it, or nothing.</summary>
[NonParallelizable] // readers and writers have to meet
public sealed class TransactionTests
{
    private const int Accounts = 16, Total = Accounts * 1000, Clients = 4;

    [Test]
    public void What_a_transaction_writes_is_one_batch_of_the_log()
    {
        var log = new BatchingLog();
        using var server = new EmbeddedServer(log);
        using var client = new TestClient(server.Server.Port);
        client.Call("SET", "before", "1");
        Queue(client, "MSET a 1 b 2 c 3", "INCR d", "APPEND e x", "DEL a", "RENAME b f", "SELECT 3", "SET g 1", "GET g");
        Assert.That(client.Call("EXEC"), Does.StartWith("[OK 1 1 1 OK OK"));
        client.Call("SET", "after", "1");
        Assert.That(log.Batches(), Is.EqualTo(new List<string>[] { ["before"], ["a", "b", "c", "d", "e", "a", "f", "b", "g"], ["after"] }));
    }

    [Test]
    public void Whole_databases_in_a_transaction_stand_in_the_same_batch_in_their_order()
    {
        var log = new BatchingLog();
        using var server = new EmbeddedServer(log);
        using var client = new TestClient(server.Server.Port);
        server.Server.Settings.Security.DebugCommand = AccessScope.Yes;
        Queue(client, "SET a 1", "FLUSHDB", "SET b 1", "SWAPDB 0 1", "GET b", "SET c 1", "FLUSHALL SYNC", "SET d 1", "COPY d e DB 2");
        Assert.That(client.Call("EXEC"), Is.EqualTo("[OK OK OK OK nil OK OK OK 1]"));
        Assert.That(log.Batches(), Is.EqualTo(new List<string>[] { ["a", "", "b", "", "c", "", "d", "e"] }));
        Queue(client, "KEYS *", "DBSIZE", "INFO keyspace", "MEMORY STATS", "DEBUG CHECK", "CONFIG RESETSTAT");
        Assert.That(client.Call("EXEC"), Does.StartWith("[[d] 1 # Keyspace"));
        Assert.That(log.Batches(), Has.Count.EqualTo(1), "what only looks writes nothing");
    }

    [Test]
    public void A_refused_transaction_writes_nothing()
    {
        var log = new BatchingLog();
        using var server = new EmbeddedServer(log);
        using var client = new TestClient(server.Server.Port);
        client.Call("WATCH", "w");
        client.Call("SET", "w", "1");
        Queue(client, "SET a 1");
        Assert.That(client.Call("EXEC"), Is.EqualTo("nil"));
        Queue(client, "SET a 1");
        client.Call("SET", "a");
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT"));
        Assert.That(log.Batches(), Is.EqualTo(new List<string>[] { ["w"] }));
    }

    [Test]
    public void What_a_transaction_makes_of_little_does_not_take_memory_without_end()
    {
        const int MiB = 1 << 20, EmptyMiB = 4, LimitMiB = 64, BoundMiB = LimitMiB + LimitMiB / 8 + 64 + EmptyMiB, Unions = 40;
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = (long)LimitMiB * MiB);
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 16; i++)
            client.Call(["SADD", "members", .. Enumerable.Range(0, 16).Select(n => $"{i}.{n}.".PadRight(MiB / 32, 'm'))]);
        Queue(client, [.. Enumerable.Range(0, Unions).Select(static i => $"SUNIONSTORE copy{i} members"), "PING"]);
        string replies = client.Call("EXEC");
        Assert.That(replies, Does.StartWith("[256 ").And.Contain("OOM command not allowed").And.EndsWith("PONG]"));
        Assert.That(server.Server.Store.Figures().PeakBytes, Is.LessThan((long)BoundMiB * MiB));
    }

    // Transfers by queued increments and by WATCH, readers that add up in a transaction, and whoever holds everything.
    [Test]
    public void Readers_never_see_half_a_transfer([ValueSource(typeof(LongRun), nameof(LongRun.Seeds))] int seed)
    {
        using var server = new EmbeddedServer();
        int port = server.Server.Port;
        Fill(port);
        long moved = 0, swaps = 0, sums = 0;
        using var done = new CancellationTokenSource();
        List<Task> writers = [.. Enumerable.Range(0, Clients).Select(i => Run(() => Transfer(port, seed * 100 + i, ref moved)))];
        List<Task> others =
        [
            Run(() => Until(port, client => Sum(client, ref sums), done.Token)),
            Run(() => Until(port, client => SwapTwice(client, ref swaps), done.Token)),
            Run(() => Until(port, client => Assert.That(Keys(client), Is.EqualTo(Accounts)), done.Token)),
        ];
        writers.AwaitAll();
        done.Cancel();
        others.AwaitAll();
        using var last = new TestClient(port);
        Sum(last, ref sums);
        Assert.That(moved, Is.GreaterThan(Clients * 100), "the test moved little");
        Assert.That(Math.Min(swaps, sums), Is.GreaterThan(10), "the others did little");
    }

    [Test]
    public void Who_reads_without_a_transaction_after_its_first_change_sees_its_last([Values] bool transaction)
    {
        using var server = new EmbeddedServer();
        int port = server.Server.Port;
        using var done = new CancellationTokenSource();
        Task[] readers = [.. Enumerable.Range(0, Clients).Select(_ => Run(() => Until(port, SeesBoth, done.Token)))];
        using var client = new TestClient(port);
        for (int i = 0; i < 3000; i++)
        {
            if (transaction)
            {
                Queue(client, $"SET first {i}", $"SET middle {i}", $"SET last {i}");
                client.Call("EXEC");
            }
            else
            {
                client.Call("MSET", "first", $"{i}", "middle", $"{i}", "last", $"{i}");
            }
        }

        done.Cancel();
        readers.AwaitAll();
    }

    [Test]
    public void Whoever_watches_wins_at_most_once_per_value()
    {
        using var server = new EmbeddedServer();
        int port = server.Server.Port;
        long wins = 0;
        Task[] all = [.. Enumerable.Range(0, Clients).Select(_ => Run(() => Increment(port, ref wins)))];
        all.AwaitAll();
        using var client = new TestClient(port);
        Assert.That(client.Call("GET", "n"), Is.EqualTo(wins.ToString(CultureInfo.InvariantCulture)));
        Assert.That(wins, Is.GreaterThan(100));
    }

    [Test]
    public void A_connection_that_goes_leaves_nothing_watched()
    {
        using var server = new EmbeddedServer();
        using (var client = new TestClient(server.Server.Port))
        {
            client.Call("WATCH", "a", "b", "a");
            Queue(client, "SET a 1");
            Assert.That(server.Server.Context.Observers.Watches.Keys, Is.EqualTo(2));
            Assert.That(server.Server.Context.Observers.Listeners.Watchers.IsOn);
        }

        Eventually.Holds(() => !server.Server.Context.Observers.Listeners.Watchers.IsOn); // the last thing that ends
        Assert.That((server.Server.Context.Observers.Watches.Keys, server.Server.Context.Observers.Watches.Clients), Is.EqualTo((0L, 0)));
    }

    [Test]
    public void Who_queues_or_watches_more_than_the_query_limit_is_closed()
    {
        using var server = new EmbeddedServer();
        server.Send("CONFIG SET client-query-buffer-limit 1mb\r\n", "+OK\r\n");
        using var queues = new TestClient(server.Server.Port);
        queues.Call("MULTI");
        string value = new('v', 10_000);
        Assert.That(() => { while (true) queues.Call("SET", "k", value); }, Throws.InstanceOf<IOException>());
        using var watches = new TestClient(server.Server.Port);
        int key = 0;
        Assert.That(() => { while (true) watches.Call("WATCH", "k" + key++); }, Throws.InstanceOf<IOException>());
        Assert.That(key, Is.InRange(1000, 20_000));
        using var fine = new TestClient(server.Server.Port);
        Assert.That(fine.Call("GET", "k"), Is.EqualTo("nil"));
        Eventually.Holds(() => server.Server.Context.Observers.Watches.Clients == 0);
    }

    [Test]
    public void A_reply_over_the_output_limit_is_an_error_and_closes_the_client_after_all_commands_ran()
    {
        using var server = new EmbeddedServer();
        server.Send("CONFIG SET client-output-buffer-limit \"normal 4mb 0 0\"\r\n", "+OK\r\n");
        using var client = new TestClient(server.Server.Port);
        client.Call("SET", "big", new string('v', 1 << 20));
        Queue(client, [.. Enumerable.Repeat("GET big", 1000), "SET last 1"]);
        string reply = client.Call("EXEC");
        Assert.That(reply[..10] + reply[^80..], Does.StartWith("[vvv").And.EndWith("beyond the limit of 4194304; the command has run OK]"));
        Assert.That(() => client.Call("PING"), Throws.InstanceOf<IOException>());
        using var other = new TestClient(server.Server.Port);
        Assert.That(other.Call("GET", "last"), Is.EqualTo("1"));
    }

    [Test]
    public void Commands_that_would_wait_answer_at_once_in_a_transaction()
    {
        using var server = new EmbeddedServer();
        server.Server.Settings.Security.DebugCommand = AccessScope.Yes;
        using var client = new TestClient(server.Server.Port);
        Queue(client, "DEBUG SLEEP 1000", "WAITAOF 0 1 0", "CLIENT PAUSE 100000 WRITE", "SET k v", "CLIENT UNPAUSE");
        Assert.That(client.Call("EXEC"), Is.EqualTo("[OK [0 0] OK OK OK]"));
    }

    private static void Queue(TestClient client, params string[] commands)
    {
        Assert.That(client.Call("MULTI"), Is.EqualTo("OK"));
        foreach (string command in commands) Assert.That(client.Call(command.Split(' ')), Is.EqualTo("QUEUED"), command);
    }

    private static void SeesBoth(TestClient client)
    {
        client.Send("GET", "first"); // in one round, so that little time passes
        client.Send("GET", "last");
        string first = client.Read(), last = client.Read();
        Assert.That(last == "nil" ? -1 : Number(last), Is.GreaterThanOrEqualTo(first == "nil" ? -1 : Number(first)));
        string[] all = client.Call("MGET", "last", "middle", "first", "last").Trim('[', ']').Split(' ');
        Assert.That(all, Is.All.EqualTo(all[0]));
    }

    private static Task Run(Action body) => Task.Factory.StartNew(body, TaskCreationOptions.LongRunning);

    private static void Until(int port, Action<TestClient> step, CancellationToken done)
    {
        using var client = new TestClient(port);
        while (!done.IsCancellationRequested) step(client);
    }

    private static void Fill(int port)
    {
        using var client = new TestClient(port);
        for (int i = 0; i < Accounts; i++) client.Call("SET", "account" + i, (Total / Accounts).ToString(CultureInfo.InvariantCulture));
    }

    private static void Transfer(int port, int seed, ref long moved)
    {
        var random = new Random(seed);
        using var client = new TestClient(port);
        for (int i = 0; i < 1500; i++)
        {
            string from = "account" + random.Next(Accounts), to = "account" + random.Next(Accounts), amount = random.Next(100).ToString(CultureInfo.InvariantCulture);
            if (random.Next(2) == 0)
            {
                Queue(client, $"DECRBY {from} {amount}", $"INCRBY {to} {amount}");
                Assert.That(client.Call("EXEC"), Does.StartWith("["));
                Interlocked.Increment(ref moved);
            }
            else if (from != to && TransferWatching(client, from, to, long.Parse(amount, CultureInfo.InvariantCulture)))
            {
                Interlocked.Increment(ref moved);
            }
        }
    }

    private static bool TransferWatching(TestClient client, string from, string to, long amount)
    {
        client.Call("WATCH", from, to);
        long source = Number(client.Call("GET", from)), target = Number(client.Call("GET", to));
        Queue(client, $"SET {from} {source - amount}", $"SET {to} {target + amount}");
        return client.Call("EXEC") == "[OK OK]";
    }

    private static void Increment(int port, ref long wins)
    {
        using var client = new TestClient(port);
        for (int i = 0; i < 500; i++)
        {
            client.Call("WATCH", "n");
            string now = client.Call("GET", "n");
            Queue(client, $"SET n {(now == "nil" ? 0 : Number(now)) + 1}");
            if (client.Call("EXEC") == "[OK]") Interlocked.Increment(ref wins);
        }
    }

    private static void Sum(TestClient client, ref long sums)
    {
        Queue(client, [.. Enumerable.Range(0, Accounts).Select(static i => "GET account" + i)]);
        string reply = client.Call("EXEC");
        Assert.That(reply.Trim('[', ']').Split(' ').Sum(Number), Is.EqualTo(Total));
        Assert.That(client.Call(["MGET", .. Enumerable.Range(0, Accounts).Select(static i => "account" + i)]), Does.StartWith("["));
        Interlocked.Increment(ref sums);
    }

    private static void SwapTwice(TestClient client, ref long swaps)
    {
        Queue(client, "SWAPDB 0 1", "DBSIZE", "SWAPDB 0 1", "DBSIZE");
        Assert.That(client.Call("EXEC"), Is.EqualTo($"[OK 0 OK {Accounts}]"));
        Interlocked.Increment(ref swaps);
    }

    private static int Keys(TestClient client)
    {
        Queue(client, "KEYS account*");
        return client.Call("EXEC").Trim('[', ']').Split(' ').Length;
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}

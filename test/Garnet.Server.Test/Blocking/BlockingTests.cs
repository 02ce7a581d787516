using System.Globalization;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Families.Lists;
using Garnet.Server.Test.Transactions;

namespace Garnet.Server.Test.Blocking;

/// <summary>Who waits for a key is served in the order of arrival, by whoever writes it, and leaves nothing behind.</summary>
public sealed class BlockingTests
{
    [Test]
    public void Ten_thousand_who_wait_for_one_key_are_served_in_order([Values(1, 7)] int elementsAtOnce)
    {
        const int Waiting = 10_000, Connections = 500;
        using var server = new EmbeddedServer();
        WaitTable waits = server.Server.Context.Observers.Waits;
        // Places in the queue are what counts, not sockets: each connection is one of many that would wait.
        List<TestClient> clients = [.. Enumerable.Range(0, Connections).Select(_ => new TestClient(server.Server.Port))];
        using var pusher = new TestClient(server.Server.Port);
        int pushed = 0;
        for (int round = 0; round < Waiting / Connections; round++)
        {
            for (int i = 0; i < Connections; i++)
            {
                clients[i].Send("BLPOP", "q", "0");
                int wanted = i + 1;
                Eventually.Holds(() => server.Server.Context.Clients().Count(static client => client.Parked) == wanted); // counted, it may not be in the queue yet
            }

            for (int i = 0; i < Connections;)
            {
                int some = Math.Min(elementsAtOnce, Connections - i);
                pusher.Call(["RPUSH", "q", .. Enumerable.Range(pushed, some).Select(Text)]);
                pushed += some;
                i += some;
            }

            for (int i = 0; i < Connections; i++)
                Assert.That(clients[i].Read(), Is.EqualTo($"[q {Text((round * Connections) + i)}]"));
        }

        Assert.That(pusher.Call("EXISTS", "q"), Is.EqualTo("0"));
        Assert.That(waits.Count, Is.Zero);
        clients.ForEach(static client => client.Dispose());
    }

    [Test]
    public void Ten_thousand_places_in_a_queue_are_served_by_one_push()
    {
        const int Waiting = 9_000;
        using var server = new EmbeddedServer(adjust: static settings => settings.Network.ClientsMax = Waiting + 10);
        List<TestClient> clients = [];
        try
        {
            for (int i = 0; i < Waiting; i++)
                clients.Add(new TestClient(server.Server.Port));
            string[] ids = [.. clients.Select(static client => client.Call("CLIENT", "ID"))]; // who is answered has been taken in
            Dictionary<string, Connection> served = server.Server.Context.Clients().ToDictionary(static client => Text((int)client.Id));
            for (int i = 0; i < Waiting; i++)
            {
                Connection connection = served[ids[i]];
                clients[i].Send("BLPOP", "q", "0");
                Eventually.Holds(() => connection.Parked); // counted, it may not be in the queue yet
            }

            Assert.That(server.Server.Context.Observers.Waits.Count, Is.EqualTo(Waiting));

            using var pusher = new TestClient(server.Server.Port);
            Assert.That(pusher.Call(["RPUSH", "q", .. Enumerable.Range(0, Waiting + 1).Select(Text)]), Is.EqualTo(Text(Waiting + 1)));
            Assert.That(pusher.Call("LRANGE", "q", "0", "-1"), Is.EqualTo($"[{Text(Waiting)}]"), "all were served before the pusher's next command");
            for (int i = 0; i < Waiting; i++)
                Assert.That(clients[i].Read(), Is.EqualTo($"[q {Text(i)}]"));
        }
        finally
        {
            clients.ForEach(static client => client.Dispose());
        }
    }

    [Test]
    public void A_connection_that_closes_while_it_waits_leaves_nothing_behind()
    {
        using var server = new EmbeddedServer();
        using var pusher = new TestClient(server.Server.Port);
        using var other = new TestClient(server.Server.Port);
        var leaving = new TestClient(server.Server.Port);
        leaving.Send("BLPOP", "a", "b", "0");
        Await(server, 1);
        other.Send("BLPOP", "b", "0");
        Await(server, 2);
        leaving.Dispose();
        Await(server, 1);
        pusher.Call("RPUSH", "a", "1");
        Assert.That(pusher.Call("LLEN", "a"), Is.EqualTo("1"));
        pusher.Call("RPUSH", "b", "2");
        Assert.That(other.Read(), Is.EqualTo("[b 2]"));
        Await(server, 0);
        Assert.That(server.Server.Context.Observers.Listeners.Waiters.IsOn, Is.False, "nobody listens to the store any more");
    }

    [Test]
    public void Client_unblock_ends_a_wait_as_asked()
    {
        using var server = new EmbeddedServer();
        using var admin = new TestClient(server.Server.Port);
        using var waiting = new TestClient(server.Server.Port);
        string id = waiting.Call("CLIENT", "ID");
        Assert.That(admin.Call("CLIENT", "UNBLOCK", id), Is.EqualTo("0"));
        waiting.Send("BLMOVE", "a", "b", "LEFT", "LEFT", "0");
        Await(server, 1); // in the queue; it is parked an instant later
        Assert.That(() => admin.Call("CLIENT", "UNBLOCK", id), Is.EqualTo("1").After(60_000, 1));
        Assert.That(waiting.Read(), Is.EqualTo("nil"));
        waiting.Send("BZPOPMIN", "a", "0");
        Await(server, 1);
        Assert.That(() => admin.Call("CLIENT", "UNBLOCK", id, "ERROR"), Is.EqualTo("1").After(60_000, 1));
        Assert.That(waiting.Read(), Is.EqualTo("UNBLOCKED client unblocked via CLIENT UNBLOCK"));
        waiting.Send("WAIT", "1", "0");
        Eventually.Holds(() => admin.Call("CLIENT", "UNBLOCK", id) == "1");
        Assert.That(waiting.Read(), Is.EqualTo("0"));
        Await(server, 0);
    }

    [Test]
    public void Who_waits_for_a_limited_time_is_counted()
    {
        using var server = new EmbeddedServer();
        using TestClient patient = new(server.Server.Port), limited = new(server.Server.Port), other = new(server.Server.Port);
        patient.Send("BLPOP", "q", "0");
        limited.Send("BLPOP", "q", "1000");
        Eventually.Holds(() => other.Call("INFO", "clients").Contains("blocked_clients:2", StringComparison.Ordinal));
        Assert.That(other.Call("INFO", "clients"), Does.Contain("clients_in_timeout_table:1\r\n"));
        other.Call("RPUSH", "q", "a", "b");
        Assert.That(limited.Read(), Does.StartWith("[q "));
        Assert.That(other.Call("INFO", "clients"), Does.Contain("clients_in_timeout_table:0\r\n"));
    }

    [Test]
    public void What_is_served_is_logged_as_what_it_did()
    {
        var log = new BatchingLog();
        using var server = new EmbeddedServer(log);
        using var pusher = new TestClient(server.Server.Port);
        using var waiting = new TestClient(server.Server.Port);
        waiting.Send("BLMOVE", "a", "b", "LEFT", "LEFT", "0");
        Await(server, 1);
        pusher.Call("RPUSH", "a", "1", "2");
        Assert.That(waiting.Read(), Is.EqualTo("1"));
        Assert.That(log.Batches().SelectMany(static batch => batch), Is.EqualTo(new[] { "a", "b", "a" }));
    }

    [Test]
    public void Who_waits_when_the_server_becomes_a_replica_is_told_and_closed()
    {
        using EmbeddedServer primary = new(), server = new();
        using TestClient waiting = new(server.Server.Port), admin = new(server.Server.Port);
        waiting.Send("BLPOP", "q", "0");
        Await(server, 1);
        Assert.That(admin.Call("REPLICAOF", "127.0.0.1", Text(primary.Server.Port)), Is.EqualTo("OK"));
        Assert.That(waiting.Read(), Does.StartWith("UNBLOCKED"));
        Assert.That(() => waiting.Read(), Throws.InstanceOf<IOException>());
        Await(server, 0);
    }

    [Test]
    public void A_waiting_command_takes_two_hundred_bytes_at_most()
    {
        const int Count = 1000;
        var queue = new KeyQueue(0, "q"u8, 1);
        var kept = new object[Count];
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < Count; i++)
        {
            var wait = new KeyWait<ListTake>(new ListTake(true, false, 1)) { Client = null! };
            wait.Places = new WaitPlace(wait, queue);
            kept[i] = wait;
        }

        Assert.That((GC.GetAllocatedBytesForCurrentThread() - before) / Count, Is.InRange(1, 200));
        GC.KeepAlive(kept);
    }

    // Whoever pops, every element is handed out once, and those who wait get theirs while others push and pop from two threads.
    [Test]
    public void Every_element_is_served_once([Values(1, 2)] int seed)
    {
        const int PerPusher = 3000, Pushers = 3, Waiters = 6;
        using var server = new EmbeddedServer();
        int port = server.Server.Port;
        var taken = new System.Collections.Concurrent.ConcurrentBag<string>();
        var random = new Random(seed);
        int[] seeds = [.. Enumerable.Range(0, Pushers).Select(_ => random.Next())];
        TestThread[] waiters = TestThread.Begin(Waiters, i => Take(port, i, taken));
        TestThread.Join(TestThread.Begin(Pushers, i => Push(port, i, PerPusher, new Random(seeds[i]))));
        using (var end = new TestClient(port))
        {
            Eventually.Holds(() => end.Call("EXISTS", "x", "y") == "0");
            end.Call(["RPUSH", "stop", .. Enumerable.Repeat("stop", Waiters)]);
        }

        TestThread.Join(waiters);
        Assert.That(taken.Count, Is.EqualTo(PerPusher * Pushers));
        Assert.That(taken.Distinct().Count(), Is.EqualTo(PerPusher * Pushers));
    }

    private static void Take(int port, int number, System.Collections.Concurrent.ConcurrentBag<string> taken)
    {
        using var client = new TestClient(port);
        while (true)
        {
            string reply = number % 2 == 0 ? client.Call("BLPOP", "x", "y", "stop", "0") : client.Call("BRPOP", "y", "x", "stop", "0");
            if (reply == "[stop stop]") return;
            taken.Add(reply[3..^1]);
        }
    }

    private static void Push(int port, int number, int count, Random random)
    {
        using var client = new TestClient(port);
        for (int i = 0; i < count;)
        {
            string key = random.Next(2) == 0 ? "x" : "y";
            int some = Math.Min(random.Next(1, 4), count - i);
            string[] elements = [.. Enumerable.Range(i, some).Select(n => $"{number}-{n}")];
            i += some;
            if (random.Next(3) == 0)
            {
                client.Call("MULTI");
                client.Call(["RPUSH", key, .. elements]);
                client.Call("EXEC");
            }
            else
            {
                client.Call(["RPUSH", key, .. elements]);
            }
        }
    }

    private static void Await(EmbeddedServer server, int waits) => Eventually.Holds(() => server.Server.Context.Observers.Waits.Count == waits, $"{waits} wait");

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

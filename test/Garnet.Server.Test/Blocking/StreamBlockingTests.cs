using System.Globalization;

namespace Garnet.Server.Test.Blocking;

/// <summary>Who waits for a stream: readers all get what comes, consumers of a group each something else, in order of arrival.</summary>
public sealed class StreamBlockingTests
{
    private const int Clients = 20;

    [Test]
    public void Every_reader_gets_the_entry()
    {
        using var server = new EmbeddedServer();
        using var writer = new TestClient(server.Server.Port);
        List<TestClient> readers = Waiting(server, static _ => ["XREAD", "BLOCK", "0", "STREAMS", "other", "s", "$", "$"]);
        writer.Call("XADD", "s", "1-1", "f", "v");
        foreach (TestClient reader in readers)
        {
            Assert.That(reader.Read(), Is.EqualTo("[[s [[1-1 [f v]]]]]"));
            reader.Dispose();
        }

        Await(server, 0);
        Assert.That(server.Server.Context.Observers.Listeners.Waiters.IsOn, Is.False, "nobody listens to the store any more");
    }

    [Test]
    public void A_reader_whose_id_is_not_reached_waits_on_while_others_behind_it_are_served()
    {
        using var server = new EmbeddedServer();
        using var writer = new TestClient(server.Server.Port);
        List<TestClient> readers = Waiting(server, static i => ["XREAD", "BLOCK", "0", "STREAMS", "s", i % 2 == 0 ? "9-9" : "1-1"]);
        writer.Call("XADD", "s", "5-5", "f", "v");
        for (int i = 1; i < Clients; i += 2) Assert.That(readers[i].Read(), Is.EqualTo("[[s [[5-5 [f v]]]]]"));
        Assert.That(server.Server.Context.Observers.Waits.Count, Is.EqualTo(Clients / 2));
        writer.Call("XADD", "s", "10-0", "f", "v");
        for (int i = 0; i < Clients; i += 2) Assert.That(readers[i].Read(), Is.EqualTo("[[s [[10-0 [f v]]]]]"));
        readers.ForEach(static reader => reader.Dispose());
        Await(server, 0);
    }

    [Test]
    public void Consumers_of_a_group_get_one_entry_each_in_order_of_arrival()
    {
        using var server = new EmbeddedServer();
        using var writer = new TestClient(server.Server.Port);
        writer.Call("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM");
        List<TestClient> consumers = Waiting(server, static i => ["XREADGROUP", "GROUP", "g", "c" + Text(i), "COUNT", "1", "BLOCK", "0", "STREAMS", "s", ">"]);
        writer.Call("MULTI");
        for (int i = 0; i < Clients; i++) writer.Call("XADD", "s", "1-" + Text(i + 1), "n", Text(i));
        writer.Call("EXEC");
        for (int i = 0; i < Clients; i++)
        {
            Assert.That(consumers[i].Read(), Is.EqualTo($"[[s [[1-{Text(i + 1)} [n {Text(i)}]]]]]"));
            consumers[i].Dispose();
        }

        Assert.That(writer.Call("XPENDING", "s", "g"), Does.StartWith($"[{Text(Clients)} 1-1 1-{Text(Clients)} "));
        Await(server, 0);
    }

    [Test]
    public void What_ends_group_stream_or_kind_ends_the_wait_of_a_consumer_and_not_of_a_reader([Values("XGROUP DESTROY s g", "DEL s", "RENAME s t", "SET s v", "FLUSHALL", "SWAPDB 0 1", "PEXPIRE s 0")] string end)
    {
        using var server = new EmbeddedServer();
        using TestClient writer = new(server.Server.Port), consumer = new(server.Server.Port), reader = new(server.Server.Port);
        writer.Call("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM");
        consumer.Send("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">");
        Await(server, 1);
        reader.Send("XREAD", "BLOCK", "0", "STREAMS", "s", "$");
        Await(server, 2);
        writer.Call(end.Split(' '));
        Assert.That(consumer.Read(), Does.StartWith(end.StartsWith("SET", StringComparison.Ordinal) ? "WRONGTYPE" : "NOGROUP No such key 's' or consumer group 'g'"));
        Await(server, 1);
        writer.Call("DEL", "s");
        writer.Call("XADD", "s", "7-7", "f", "v");
        Assert.That(reader.Read(), Is.EqualTo("[[s [[7-7 [f v]]]]]"));
    }

    [Test]
    public void A_stream_that_is_renamed_or_copied_to_what_is_waited_for_serves([Values("RENAME", "COPY")] string how)
    {
        using var server = new EmbeddedServer();
        using TestClient writer = new(server.Server.Port), reader = new(server.Server.Port);
        reader.Send("XREAD", "BLOCK", "0", "STREAMS", "wanted", "$");
        Await(server, 1);
        for (int i = 1; i < 300; i++) writer.Call("XADD", "made", "1-" + Text(i), "f", Text(i));
        writer.Call(how, "made", "wanted");
        Assert.That(reader.Read(), Does.StartWith("[[wanted [[1-1 [f 1]] [1-2 [f 2]]"));
    }

    // Consumers of one group take from two streams while three threads add: what is added is delivered once.
    [Test]
    public void Every_entry_is_delivered_once()
    {
        const int Writers = 3, Consumers = 6, PerWriter = 1000;
        using var server = new EmbeddedServer();
        int port = server.Server.Port;
        using var admin = new TestClient(port);
        foreach (string stream in (string[])["x", "y"]) admin.Call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM");
        var taken = new System.Collections.Concurrent.ConcurrentBag<string>();
        TestThread[] consumers = TestThread.Begin(Consumers, i => Consume(port, "c" + Text(i), taken));
        TestThread.Join(TestThread.Begin(Writers, i => Write(port, i, PerWriter)));
        for (int i = 0; i < Consumers; i++) admin.Call("XADD", "x", "*", "n", "stop");
        TestThread.Join(consumers);
        Assert.That(admin.Call("XREADGROUP", "GROUP", "g", "last", "STREAMS", "x", "y", ">", ">"), Does.Not.Contain("stop"));
        long left = admin.Call("XREADGROUP", "GROUP", "g", "last", "STREAMS", "x", "y", "0", "0").Split("[n ").Length - 1;
        Assert.That(taken.Count + left, Is.EqualTo(PerWriter * Writers));
        Assert.That(taken.Distinct().Count(), Is.EqualTo(taken.Count));
    }

    private static void Consume(int port, string name, System.Collections.Concurrent.ConcurrentBag<string> taken)
    {
        using var client = new TestClient(port);
        while (true)
        {
            string reply = client.Call("XREADGROUP", "GROUP", "g", name, "COUNT", "1", "BLOCK", "0", "STREAMS", "x", "y", ">", ">");
            string[] values = [.. reply.Split("[n ").Skip(1).Select(static entry => entry[..entry.IndexOf(']')])];
            foreach (string value in values.Where(static value => value != "stop")) taken.Add(value);
            if (values.Contains("stop")) return;
        }
    }

    private static void Write(int port, int number, int count)
    {
        using var client = new TestClient(port);
        for (int i = 0; i < count; i++) client.Call("XADD", i % 2 == 0 ? "x" : "y", "*", "n", Text((number * count) + i));
    }

    private static List<TestClient> Waiting(EmbeddedServer server, Func<int, string[]> command)
    {
        List<TestClient> clients = [];
        for (int i = 0; i < Clients; i++)
        {
            clients.Add(new TestClient(server.Server.Port));
            clients[i].Send(command(i));
            Await(server, i + 1);
        }

        return clients;
    }

    private static void Await(EmbeddedServer server, int count) =>
        Assert.That(SpinWait.SpinUntil(() => server.Server.Context.Observers.Waits.Count == count, TimeSpan.FromSeconds(20)), Is.True, $"{count} wait");

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

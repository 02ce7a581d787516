using System.Globalization;
using System.Text;
using Garnet.Common.Test;
using Garnet.Wire;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>What every transport owes its clients: the bytes, all of them, in order.</summary>
[TestFixture(Route.Epoll)]
[TestFixture(Route.Sockets)]
[TestFixture(Route.Tls)]
internal sealed class TransportTests(Route route)
{
    private const int Seed = 20_260_401;

    private TestServer _server = null!;

    [SetUp]
    public void Start() => _server = new TestServer(route);

    [TearDown]
    public void Stop() => _server.Dispose();

    [Test]
    public void A_client_connects_and_is_answered()
    {
        using RespConnection client = _server.Connect();
        Assert.That(client.Call("ECHO", "hello").ToString(), Is.EqualTo("\"hello\""));
        Assert.That(client.Call("SET", "k", "\0\r\n\xFF").ToString(), Is.EqualTo("+OK"));
        Assert.That(client.Call("GET", "k").Text, Is.EqualTo("\0\r\n\xFF"));
    }

    [Test]
    public void A_pipeline_cut_anywhere_gets_the_same_replies()
    {
        Random random = new(Seed);
        (byte[] bytes, List<string> wanted) = Pipeline(random, 300);
        for (int round = 0; round < 20; round++)
        {
            using RespConnection client = _server.Connect();
            client.Call("FLUSHALL");
            for (int at = 0; at < bytes.Length;)
            {
                int part = Math.Min(random.Next(1, random.Next(2) == 0 ? 40 : 4000), bytes.Length - at);
                client.Send(bytes.AsSpan(at, part));
                at += part;
            }
            AssertReplies(client, wanted, $"seed {Seed}, round {round}");
        }
    }

    [Test]
    public void Bytes_that_come_one_by_one_make_the_same_commands()
    {
        (byte[] bytes, List<string> wanted) = Pipeline(new Random(Seed), 100);
        using RespConnection client = _server.Connect();
        client.SendSplit(bytes);
        AssertReplies(client, wanted, "byte by byte");
    }

    [Test]
    public void Commands_sent_before_a_half_close_are_all_answered()
    {
        using RespConnection client = _server.Connect();
        client.Send(Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("PING\r\n", 1000))));
        client.EndSending();
        for (int i = 0; i < 1000; i++) Assert.That(client.Read().ToString(), Is.EqualTo("+PONG"));
        Assert.That(client.ReadsEnd());
    }

    [Test]
    public void Replies_the_socket_could_not_take_still_come_after_a_half_close()
    {
        using RespConnection client = _server.Connect();
        string value = new('v', 4 << 20);
        client.Call("SET", "big", value);
        for (int i = 0; i < 10; i++) client.Send(RespConnection.Encode("GET", "big"));
        client.EndSending();
        for (int i = 0; i < 10; i++) Assert.That(client.Read().Text, Has.Length.EqualTo(value.Length));
        Assert.That(client.ReadsEnd());
    }

    [Test]
    public void Connections_broken_off_at_any_point_leave_nothing_behind()
    {
        using RespConnection witness = _server.Connect();
        for (int i = 0; i < 200; i++)
        {
            RespConnection client = _server.Connect();
            if (i % 4 > 0) client.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nva"u8);
            if (i % 4 > 1) client.Send("lue\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"u8);
            if (i % 4 > 2) client.Send("$$$"u8);
            client.Reset();
        }
        Assert.That(witness.Call("PING").ToString(), Is.EqualTo("+PONG"));
        _server.AwaitClients(1);
    }

    [Test]
    public void A_value_of_64_MiB_comes_back()
    {
        byte[] value = new byte[64 << 20];
        new Random(Seed).NextBytes(value);
        using RespConnection client = _server.Connect();
        client.Send(RespConnection.Encode("SET"u8.ToArray(), "big"u8.ToArray(), value));
        Assert.That(client.Read().ToString(), Is.EqualTo("+OK"));
        client.Send(RespConnection.Encode("GET", "big"));
        RespNode reply = client.Read();
        Assert.That(Encoding.Latin1.GetBytes(reply.Text).AsSpan().SequenceEqual(value));
    }

    [Test]
    public void A_big_value_between_small_commands_keeps_the_order()
    {
        using RespConnection client = _server.Connect();
        string small = string.Concat(Enumerable.Repeat("*0\r\n*1\r\n$4\r\nPING\r\n\r\nECHO \"a b\"\r\n", 5000));
        string value = new('x', 3 << 20);
        byte[] bytes = Encoding.Latin1.GetBytes($"{small}*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${value.Length}\r\n{value}\r\n{small}");
        Task sending = Task.Run(() => client.Send(bytes));
        for (int turn = 0; turn < 2; turn++)
        {
            for (int i = 0; i < 5000; i++)
            {
                Assert.That(client.Read().ToString(), Is.EqualTo("+PONG"));
                Assert.That(client.Read().ToString(), Is.EqualTo("\"a b\""));
            }
            if (turn == 0) Assert.That(client.Read().ToString(), Is.EqualTo("+OK"));
        }
        sending.Await();
    }

    [TestCase(10)]
    [TestCase(10_000)]
    public void Ten_thousand_commands_written_before_anything_is_read_are_all_answered(int valueBytes)
    {
        using RespConnection client = _server.Connect();
        client.Call("SET", "k", new string('v', valueBytes));
        byte[] get = RespConnection.Encode("GET", "k"), count = RespConnection.Encode("INCR", "n");
        byte[] bytes = [.. Enumerable.Range(0, 5_000).SelectMany(_ => get.Concat(count))];
        client.Send(bytes);
        for (int i = 1; i <= 5_000; i++)
        {
            Assert.That(client.Read().Text, Has.Length.EqualTo(valueBytes));
            Assert.That(client.Read().Text, Is.EqualTo(i.ToString(CultureInfo.InvariantCulture)));
        }
    }

    [Test]
    public void Own_messages_come_in_their_place_among_the_replies()
    {
        using RespConnection client = _server.Connect();
        client.Call("HELLO", "3");
        client.Call("SUBSCRIBE", "c");
        StringBuilder sent = new();
        for (int i = 0; i < 1000; i++) sent.Append(CultureInfo.InvariantCulture, $"ECHO before{i}\r\nPUBLISH c m{i}\r\nECHO after{i}\r\n");
        client.Send(Encoding.ASCII.GetBytes(sent.ToString()));
        for (int i = 0; i < 1000; i++)
        {
            Assert.That(client.Read().Text, Is.EqualTo($"before{i}"));
            RespNode one = client.Read(), other = client.Read();
            Assert.That(new[] { one.ToString(), other.ToString() }, Is.EquivalentTo(new[] { ":1", $">[ \"message\" \"c\" \"m{i}\" ]" }));
            Assert.That(client.Read().Text, Is.EqualTo($"after{i}"));
        }
    }

    [Test]
    public void Messages_of_others_arrive_whole_and_in_order_between_replies()
    {
        using RespConnection listener = _server.Connect(), publisher = _server.Connect();
        listener.Call("HELLO", "3");
        listener.Call("SUBSCRIBE", "c");
        Task publishing = Task.Run(() =>
        {
            for (int i = 0; i < 3000; i++) publisher.Send(RespConnection.Encode("PUBLISH", "c", i.ToString(CultureInfo.InvariantCulture)));
            for (int i = 0; i < 3000; i++) Assert.That(publisher.Read().ToString(), Is.EqualTo(":1"));
        });
        int messages = 0, replies = 0;
        for (int i = 0; i < 3000; i++) listener.Send(RespConnection.Encode("ECHO", "e" + i.ToString(CultureInfo.InvariantCulture)));
        while (messages + replies < 6000)
        {
            RespNode node = listener.Read();
            if (node.Kind == '>') Assert.That(node.Items![2].Text, Is.EqualTo((messages++).ToString(CultureInfo.InvariantCulture)));
            else Assert.That(node.Text, Is.EqualTo("e" + (replies++).ToString(CultureInfo.InvariantCulture)));
        }
        publishing.Await();
    }

    [Test]
    public void Connections_on_both_reactors_count_together()
    {
        RespConnection[] clients = [.. Enumerable.Range(0, 8).Select(_ => _server.Connect())];
        Parallel.ForEach(clients, client =>
        {
            byte[] hundred = [.. Enumerable.Repeat(RespConnection.Encode("INCR", "shared"), 100).SelectMany(bytes => bytes)];
            long last = 0;
            for (int turn = 0; turn < 20; turn++)
            {
                client.Send(hundred);
                for (int i = 0; i < 100; i++)
                {
                    long now = long.Parse(client.Read().Text, CultureInfo.InvariantCulture);
                    Assert.That(now, Is.GreaterThan(last));
                    last = now;
                }
            }
        });
        Assert.That(_server.Server.Reactors.Select(reactor => reactor.ConnectionCount), Is.All.EqualTo(4));
        Assert.That(clients[0].Call("GET", "shared").Text, Is.EqualTo("16000"));
        foreach (RespConnection client in clients) client.Dispose();
    }

    private static (byte[] Bytes, List<string> Replies) Pipeline(Random random, int commands)
    {
        MemoryStream bytes = new();
        List<string> replies = [];
        Dictionary<string, string> model = [];
        for (int i = 0; i < commands; i++)
        {
            string key = "k" + random.Next(20).ToString(CultureInfo.InvariantCulture);
            string value = new((char)random.Next(1, 256), random.Next(10) == 0 ? random.Next(30_000) : random.Next(30));
            switch (random.Next(5))
            {
                case 0:
                    bytes.Write(RespConnection.Encode("SET", key, value));
                    model[key] = value;
                    replies.Add("+OK");
                    break;
                case 1:
                    bytes.Write(RespConnection.Encode("GET", key));
                    replies.Add(model.TryGetValue(key, out string? there) ? Quoted.Quote(there) : "$-1");
                    break;
                case 2:
                    bytes.Write("ECHO \"in \\x41 line\"\r\n"u8);
                    replies.Add("\"in A line\"");
                    break;
                case 3:
                    bytes.Write("\r\n*0\r\n*-1\r\n"u8);
                    break;
                default:
                    bytes.Write(RespConnection.Encode("ECHO", value));
                    replies.Add(Quoted.Quote(value));
                    break;
            }
        }
        return (bytes.ToArray(), replies);
    }

    private static void AssertReplies(RespConnection client, List<string> wanted, string when)
    {
        for (int i = 0; i < wanted.Count; i++)
        {
            string got = client.Read().ToString();
            if (got != wanted[i]) Assert.That(got, Is.EqualTo(wanted[i]), $"{when}, reply {i}");
        }
        Assert.That(client.HasMore, Is.False, when);
    }
}

using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Test.Net;

/// <summary>Values that are sent from where they lie in the store: in order with all other replies, whole, and let go of whatever becomes of the client.</summary>
public sealed class ValueInPlaceTests
{
    private const int Length = 3 << 20, LongLength = 16 << 20; // the second is more than sockets take
    private static readonly string Old = new('o', Length), Long = new('o', LongLength), Other = new('n', LongLength);

    private static readonly string[][] Mixed =
    [
        ["PING"], ["GET", "k"], ["GET", "short"], ["GET", "k"], ["GET", "k"], ["ECHO", "between"], ["GET", "none"], ["GET", "list"], ["GETRANGE", "k", "0", "9"],
        ["EVAL", "return redis.call('GET', KEYS[1])", "1", "k"], ["GET", "k"], ["MULTI"], ["GET", "k"], ["PING"], ["EXEC"], ["GET", "k"], ["STRLEN", "k"],
    ];

    [Test]
    public void Replies_stand_in_the_order_of_their_commands([Values(2, 3)] int protocol, [Values(1, 3)] int times)
    {
        using EmbeddedServer server = Filled();
        using TestClient client = new(server.Server.Port);
        client.Call("HELLO", protocol == 2 ? "2" : "3");
        string nil = client.Call("GET", "none"), wrong = client.Call("GET", "list");
        string[] replies = client.Pipeline(times, Mixed);
        string[] wanted =
        [
            "PONG", Old, "v", Old, Old, "between", nil, wrong, Old[..10], Old, Old, "OK", "QUEUED", "QUEUED", $"[{Old} PONG]", Old, "3145728",
        ];
        string[] all = [.. Enumerable.Repeat(wanted, times).SelectMany(static one => one)];
        Assert.That(replies.Select(static one => one.Length), Is.EqualTo(all.Select(static one => one.Length)));
        Assert.That(replies.SequenceEqual(all), Is.True);
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void A_reader_gets_the_value_that_there_was_when_it_asked([Values("SET", "DEL", "FLUSHALL", "APPEND", "EXPIRE")] string change)
    {
        using EmbeddedServer server = Filled();
        using TestClient slow = new(server.Server.Port), other = new(server.Server.Port);
        for (int round = 0; round < 3; round++)
        {
            other.Call("SET", "k", Long);
            slow.Send("GET", "k");
            slow.Send("GET", "k");
            slow.Send("PING");
            Eventually.Holds(() => Waits(other), "its socket is full");
            string[] words = change switch
            {
                "SET" => ["SET", "k", Other], "APPEND" => ["APPEND", "k", "n"], "EXPIRE" => ["PEXPIRE", "k", "0"], "FLUSHALL" => ["FLUSHALL"], _ => ["DEL", "k"],
            };
            other.Call(words);
            for (int i = 0; i < 2; i++) other.Call("SET", "fill" + i, Other);
            Assert.That(slow.Read() == Long, Is.True, "whole");
            string second = slow.Read();
            Assert.That(second == Long || second == change switch
            {
                "SET" => Other, "APPEND" => Long + "n", _ => "nil",
            }, Is.True, "as it was at one moment");
            Assert.That(slow.Read(), Is.EqualTo("PONG"));
            other.Call("DEL", "fill0", "fill1");
        }

        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void Memory_is_back_when_a_reader_leaves_in_the_middle()
    {
        using EmbeddedServer server = Filled();
        using TestClient other = new(server.Server.Port);
        other.Call("DEL", "k");
        for (int i = 0; i < 4; i++)
        {
            other.Call("SET", "k", Long);
            using TestClient slow = new(server.Server.Port);
            slow.Send("GET", "k");
            Eventually.Holds(() => Waits(other), "its socket is full");
            other.Call("DEL", "k");
            Assert.That(Used(server), Is.GreaterThan(LongLength), "it is still looked at");
        }

        Eventually.Holds(() => Used(server) < Length / 2, "nobody looks at it any more");
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void What_a_client_asked_not_to_be_told_is_not_sent()
    {
        using EmbeddedServer server = Filled();
        using TestClient client = new(server.Server.Port);
        client.Send("CLIENT", "REPLY", "SKIP");
        client.Send("GET", "k");
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
        client.Send("CLIENT", "REPLY", "OFF");
        client.Send("GET", "k");
        Assert.That(client.Call("CLIENT", "REPLY", "ON"), Is.EqualTo("OK"));
        Assert.That(client.Call("GET", "k") == Old, Is.True);
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void Whoever_may_not_get_so_much_is_told_so()
    {
        using EmbeddedServer server = Filled();
        using TestClient client = new(server.Server.Port);
        client.Call("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0");
        Assert.That(client.Call("GET", "k"), Does.StartWith("ERR the reply of"));
        Assert.That(client.IsAtEnd(), Is.True);
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    [Test]
    public void A_large_reply_is_in_the_log_of_large_replies([Values("1048576", "1000")] string threshold)
    {
        using EmbeddedServer server = Filled();
        using TestClient client = new(server.Server.Port);
        client.Call("CONFIG", "SET", "commandlog-reply-larger-than", threshold);
        client.Call("COMMANDLOG", "RESET", "large-reply");
        client.Call("GET", "k");
        Assert.That(client.Call("COMMANDLOG", "GET", "-1", "large-reply"), Does.Contain(" 3145740 [GET k]"));
    }

    [Test]
    public void A_queue_gives_what_was_put_into_it_in_order_and_holds_one_value()
    {
        using var store = new Store(new StoreSettings { MemoryLimitBytes = 64 << 20 });
        using StoreSession session = store.OpenSession();
        store.Namespaces.Id(0);
        byte[] bytes = [.. Enumerable.Range(0, Length).Select(static i => (byte)(i * 7))];
        unsafe
        {
            fixed (byte* start = bytes)
            {
                KeyRef key = store.Key(start, 4, 0);
                var set = new Garnet.Types.Strings.SetValue { Value = start, Length = Length };
                session.Modify(in key, ref set);
                Assert.That(PinnedValue.TryTake(session, in key, out PinnedValue value), Is.True);
                ReplyQueue queue = default;
                queue.Append(start, 5);
                queue.Append(value, 3);
                queue.Append(start + 5, 4);
                Assert.That(queue.Count, Is.EqualTo(5 + Length - 3 + 4));
                var read = new List<byte>();
                while (queue.Count > 0)
                {
                    byte* front = queue.Front(out int count);
                    int some = Math.Max(1, count / 2);
                    read.AddRange(new ReadOnlySpan<byte>(front, some));
                    queue.Drop(some);
                    Assert.That(queue.HasValue, Is.EqualTo(read.Count < 5 + Length - 3));
                }

                Assert.That(read.SequenceEqual([.. bytes[..5], .. bytes[3..], .. bytes[5..9]]), Is.True);
                queue.Append(start, 2);
                Assert.That(queue.Count, Is.EqualTo(2));
                queue.Free();
                Assert.That(StoreCheck.Run(store), Is.Empty);
            }
        }
    }

    private static bool Waits(TestClient other) => other.Call("CLIENT", "LIST").Contains("oll=1", StringComparison.Ordinal);

    private static long Used(EmbeddedServer server) => server.Server.Store.Figures().UsedBytes - server.Server.Store.Figures().FixedBytes;

    private static EmbeddedServer Filled()
    {
        var server = new EmbeddedServer(adjust: static settings => settings.Network.ReactorThreads = 1);
        using TestClient client = new(server.Server.Port);
        client.Call("SET", "k", Old);
        client.Call("SET", "short", "v");
        client.Call("RPUSH", "list", "a");
        return server;
    }
}

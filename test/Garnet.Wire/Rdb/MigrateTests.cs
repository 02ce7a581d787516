using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using NUnit.Framework;

namespace Garnet.Wire.Rdb;

/// <summary>MIGRATE moves keys between servers of ours and of Redis; nobody waits for it, and nobody's change is lost by it.</summary>
[Parallelizable] // its servers are its own
internal sealed class MigrateTests
{
    private readonly Dictionary<(ServerSide, string), ServerProcess> _kept = []; // those that no test leaves other than it found them

    [OneTimeTearDown]
    public void Stop()
    {
        foreach (ServerProcess server in _kept.Values) server.Dispose();
    }

    [Test]
    public void A_value_of_each_kind_goes_to_another_server_and_back([ValueSource(typeof(Values), nameof(Values.Kinds))] string kind, [Values(5, 20_000)] int size, [Values("Ours Ours", "Ours Redis", "Redis Ours")] string way)
    {
        ServerSide from = Enum.Parse<ServerSide>(way.Split(' ')[0]), to = Enum.Parse<ServerSide>(way.Split(' ')[1]);
        ServerProcess source = Kept(from, "source"), target = Kept(to, "target");
        using RespConnection at = new(source.Address), other = new(target.Address);
        at.Call("FLUSHALL");
        other.Call("FLUSHALL");
        Values.Fill(at, "k", kind, size);
        string wanted = Values.Digest(at, "k");
        at.Call("PEXPIREAT", "k", "4000000000000");
        Assert.That(at.Call(To(target, "k")).ToString(), Is.EqualTo("+OK"));
        Assert.That(at.Call("EXISTS", "k").ToString(), Is.EqualTo(":0"));
        Assert.That(Values.Digest(other, "k"), Is.EqualTo(wanted));
        Assert.That(double.Parse(other.Call("PEXPIRETIME", "k").Text, CultureInfo.InvariantCulture), Is.EqualTo(4e12).Within(5000));
    }

    [Test]
    public void Many_keys_options_and_refusals_are_those_of_Redis([Values] ServerSide to)
    {
        using ServerProcess redis = Start(ServerSide.Redis), ours = Start(ServerSide.Ours), target = Start(to, "--requirepass secret");
        using RespConnection other = new(target.Address);
        other.Call("AUTH", "secret");
        string[][] commands =
        [
            ["MSET", "a", "1", "b", "2", "c", "3", "d", "4"], To(target, "a"), To(target, "a", "AUTH", "wrong"), To(target, "none"), To(target, "a", "AUTH", "secret"), ["EXISTS", "a"],
            ["SET", "a", "5"], To(target, "a", "AUTH", "secret"), To(target, "a", "COPY", "REPLACE", "AUTH2", "default", "secret"), ["GET", "a"],
            To(target, "", "AUTH", "secret", "KEYS", "a", "b", "none", "c"), ["EXISTS", "a", "b", "c"], To(target, "", "REPLACE", "AUTH", "secret", "KEYS", "a", "none"), ["EXISTS", "a", "b", "c"],
            To(target, "", "KEYS", "x", "y"), To(target, "d", "KEYS", "a"), To(target, "d", "NONSENSE"), To(target, "d", "AUTH"), ["MIGRATE", "127.0.0.1", $"{target.Address.Port}", "d", "x", "5000"], ["MIGRATE", "127.0.0.1", $"{target.Address.Port}", "d", "0", "x"],
            ["MIGRATE", "127.0.0.1", $"{target.Address.Port}", "d", "99", "5000", "AUTH", "secret"], ["MIGRATE", "127.0.0.1", "1", "d", "0", "500"], ["MIGRATE", "127.0.0.1", $"{target.Address.Port}", "d"],
            ["EXISTS", "d"], ["COMMAND", "GETKEYS", .. To(target, "", "COPY", "KEYS", "x", "y")], ["COMMAND", "GETKEYS", .. To(target, "x")],
        ];
        List<string>[] replies = [[], []];
        foreach ((ServerProcess source, List<string> to) side in ((ServerProcess, List<string>)[])[(redis, replies[0]), (ours, replies[1])])
        {
            other.Call("FLUSHALL");
            using RespConnection at = new(side.source.Address);
            foreach (string[] command in commands)
            {
                at.Send(RespConnection.Encode(command));
                side.to.Add($"{string.Join(' ', command)}: {at.Read()} {other.Call("MGET", "a", "b", "c", "d")}");
            }
        }
        for (int i = 0; i < commands.Length; i++) Assert.That(replies[1][i], Is.EqualTo(replies[0][i]));
    }

    [Test]
    public void A_reply_that_is_to_be_skipped_is_skipped_although_the_command_waits()
    {
        using ServerProcess source = Start(ServerSide.Ours), target = Start(ServerSide.Ours);
        using RespConnection at = new(source.Address), other = new(target.Address);
        at.Call("SET", "k", "v");
        at.Send(RespConnection.Encode("CLIENT", "REPLY", "SKIP"));
        at.Send(RespConnection.Encode(To(target, "k")));
        Assert.That(at.Call("EXISTS", "k").ToString(), Is.EqualTo(":0"));
        Assert.That(other.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    // Of the second time it was taken for one that was deleted meanwhile, and deleted there.
    [TestCase("k")]
    [TestCase("k", "REPLACE")]
    [TestCase("k", "COPY", "REPLACE")]
    public void A_key_that_is_named_twice_is_there_in_the_end(string key, params string[] options)
    {
        using ServerProcess source = Start(ServerSide.Ours), target = Start(ServerSide.Ours);
        using RespConnection at = new(source.Address), other = new(target.Address);
        at.Call("MSET", key, "v", "other", "w");
        Assert.That(at.Call(To(target, "", [.. options, "KEYS", key, "other", key, "none", key])).ToString(), Is.EqualTo("+OK"));
        Assert.That(other.Call("MGET", key, "other").Items!.Select(static one => one.Text), Is.EqualTo(["v", "w"]));
        Assert.That(at.Call("EXISTS", key, "other").ToString(), Is.EqualTo(options.Contains("COPY") ? ":2" : ":0"));
    }

    [Test]
    public void A_target_that_is_not_named_gets_nothing()
    {
        using ServerProcess source = Start(ServerSide.Ours, "--enable-protected-configs yes"), target = Start(ServerSide.Ours);
        using RespConnection at = new(source.Address), other = new(target.Address);
        at.Call("SET", "k", "v");
        foreach (string targets in (string[])["", "elsewhere", $"127.0.0.1:{target.Address.Port + 1}", $"localhost:{target.Address.Port}", "127.0.0.", "12*"])
        {
            Assert.That(at.Call("CONFIG", "SET", "migrate-targets", targets).ToString(), Is.EqualTo("+OK"));
            Assert.That(at.Call(To(target, "k")).ToString(), Is.EqualTo($"-ERR migrate-targets does not name 127.0.0.1:{target.Address.Port}: nothing was sent"));
        }
        Assert.That(at.Call("EXISTS", "k").ToString(), Is.EqualTo(":1"));
        foreach (string targets in (string[])[$"elsewhere:1 127.0.0.1:{target.Address.Port}", "elsewhere 127.0.0.1", "*"])
        {
            at.Call("CONFIG", "SET", "migrate-targets", targets);
            Assert.That(at.Call(To(target, "k", "COPY", "REPLACE")).ToString(), Is.EqualTo("+OK"), targets);
        }
        Assert.That(other.Call("GET", "k").Text, Is.EqualTo("v"));
        using ServerProcess plain = Start(ServerSide.Ours);
        using RespConnection refused = new(plain.Address);
        Assert.That(refused.Call("CONFIG", "SET", "migrate-targets", "").ToString(), Does.StartWith("-ERR CONFIG SET failed"));
    }

    [Test]
    public void A_target_that_does_not_answer_stops_nobody_else()
    {
        using Move move = new("v", timeoutMs: 1500);
        using Socket accepted = move.Target.AcceptSocket();
        Assert.That(move.Other.Call("APPEND", "k", "w").ToString(), Is.EqualTo(":2"), "meanwhile");
        Assert.That(move.Client.HasMore, Is.False);
        Assert.That(move.Client.Read().ToString(), Is.EqualTo("-IOERR error or timeout reading to target instance"));
        Assert.That(move.Client.Call("GET", "k").ToString(), Is.EqualTo("\"vw\""));
    }

    [Test]
    public void What_others_change_meanwhile_arrives_too([Values("APPEND", "DEL")] string change)
    {
        using Move move = new("v", timeoutMs: 5000);
        string first = Serve(move.Target, () => move.Other.Call(change == "DEL" ? ["DEL", "k"] : ["APPEND", "k", "w"]));
        string second = Serve(move.Target, static () => { });
        Assert.That(move.Client.Read().ToString(), Is.EqualTo("+OK"));
        Assert.That(first, Does.Contain("RESTORE").And.Not.Contain("REPLACE"));
        Assert.That(second, change == "DEL" ? Does.Contain("DEL") : Does.Contain("vw").And.Contain("REPLACE"));
        Assert.That(move.Client.Call("EXISTS", "k").ToString(), Is.EqualTo(":0"));
    }

    [Test]
    public void A_key_that_goes_on_changing_stays_and_the_reply_says_so()
    {
        using Move move = new("0", timeoutMs: 5000);
        for (int i = 0; i < 5; i++) Serve(move.Target, () => move.Other.Call("INCR", "k"));
        Assert.That(move.Client.Read().ToString(), Does.StartWith("-TRYAGAIN a key kept changing"));
        Assert.That(move.Client.Call("GET", "k").ToString(), Is.EqualTo("\"5\""));
    }

    // It went to the server itself: written there, it was still what was sent, and was deleted.
    [Test]
    public void A_key_that_is_sent_to_the_server_itself_stays([Values("k", "")] string key)
    {
        using ServerProcess server = Start(ServerSide.Ours);
        using RespConnection client = new(server.Address);
        client.Call("MSET", "k", "v", "other", "w");
        Assert.That(client.Call(To(server, key, key == "" ? ["REPLACE", "KEYS", "k", "other"] : ["REPLACE"])).ToString(), Does.StartWith("-TRYAGAIN a key kept changing"));
        Assert.That(client.Call("MGET", "k", "other").Items!.Select(static one => one.Text), Is.EqualTo(["v", "w"]));
        Assert.That(Watched(client), Is.Zero, "and nothing is watched any more");
    }

    // As where the target moves the same key here at the same time: the same value, and yet another's.
    [Test]
    public void A_key_that_is_written_meanwhile_with_what_was_sent_is_not_deleted([Values(1, 5)] int times)
    {
        using Move move = new("v", timeoutMs: 5000);
        for (int i = 0; i < times; i++) Serve(move.Target, () => move.Other.Call("SET", "k", "v"));
        if (times < 5)
            Assert.That(Serve(move.Target, static () => { }), Does.Contain("REPLACE"));
        Assert.That(move.Client.Read().ToString(), times < 5 ? Is.EqualTo("+OK") : Does.StartWith("-TRYAGAIN a key kept changing"));
        Assert.That(move.Client.Call("EXISTS", "k").ToString(), Is.EqualTo(times < 5 ? ":0" : ":1"));
    }

    // The second found it gone when it came to its end, and deleted it there; what a copy had read made an old value of the newest, which only the target had then.
    [Test]
    public void One_client_at_a_time_sends_a_key([Values("MIGRATE", "MIGRATE COPY")] string first)
    {
        bool copies = first.EndsWith("COPY", StringComparison.Ordinal);
        using Move move = new("v", timeoutMs: 5000, copies ? ["COPY"] : []);
        string sent = Serve(move.Target, () =>
        {
            Assert.That(move.Other.Call("SET", "k", copies ? "newest" : "v").ToString(), Is.EqualTo("+OK"));
            Assert.That(move.Again().ToString(), Is.EqualTo(Move.Refused));
        });
        Assert.That(sent, Does.Contain("RESTORE"));
        if (!copies)
            Assert.That(Serve(move.Target, static () => { }), Does.Contain("REPLACE"), "it was written, if with the same");
        Assert.That(move.Client.Read().ToString(), Is.EqualTo("+OK"));
        move.Other.Send(RespConnection.Encode(move.Command("REPLACE")));
        if (copies)
            Assert.That(Serve(move.Target, static () => { }), Does.Contain("newest").And.Contain("REPLACE"), "a copy deletes nothing");
        Assert.That(move.Other.Read().ToString(), Is.EqualTo(copies ? "+OK" : "+NOKEY"));
    }

    // The target does what it has been sent whoever sent it: a newer value that came there meanwhile was lost by it.
    [Test]
    public void What_a_client_that_has_gone_was_sending_is_free_when_the_target_has_heard_of_it([Values("MIGRATE", "MIGRATE COPY")] string first, [Values("CLIENT KILL", "close")] string end)
    {
        using Move move = new("v", timeoutMs: 60_000, first.EndsWith("COPY", StringComparison.Ordinal) ? ["COPY"] : []);
        Serve(move.Target, () =>
        {
            move.EndClient(end);
            Assert.That(move.Other.Call("SET", "k", "newest").ToString(), Is.EqualTo("+OK"));
            Assert.That((move.Again().ToString(), Watched(move.Other)), Is.EqualTo((Move.Refused, 1)));
        });
        Assert.That(SpinWait.SpinUntil(() => Watched(move.Other) == 0, 60_000), Is.True);
        move.Other.Send(RespConnection.Encode(move.Command("REPLACE")));
        Assert.That(Serve(move.Target, static () => { }), Does.Contain("newest"));
        Assert.That(move.Other.Read().ToString(), Is.EqualTo("+OK"));
    }

    [Test]
    public void What_a_client_that_has_gone_was_sending_is_free_when_the_target_is_silent_for_its_time()
    {
        using Move move = new("v", timeoutMs: 500);
        using Socket mute = move.Target.AcceptSocket();
        move.EndClient("CLIENT KILL");
        Assert.That(SpinWait.SpinUntil(() => Watched(move.Other) == 0, 60_000), Is.True);
        Assert.That(move.Other.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    // Of what it has read nothing more is sent: a piece is large where many values became so meanwhile.
    [Test]
    public void A_client_that_goes_in_the_middle_of_a_piece_sends_no_more_of_it()
    {
        const int Long = 16 << 20; // more than two sockets hold
        using Move move = new("v", timeoutMs: 60_000);
        Serve(move.Target, static () => { });
        Assert.That(move.Client.Read().ToString(), Is.EqualTo("+OK"));
        move.Target.Server.ReceiveBufferSize = 64 << 10;
        move.Client.Call("MSET", "k", "v", "l", "v");
        move.Client.Send(RespConnection.Encode([.. move.Command()[..3], "", "0", "60000", "KEYS", "k", "l"]));
        Serve(move.Target, () => move.Other.Call("MSET", "k", new string('v', Long), "l", new string('w', Long)), keys: 2);
        using Socket second = move.Target.AcceptSocket();
        second.ReceiveTimeout = 60_000;
        Assert.That(SpinWait.SpinUntil(() => second.Available > 16 << 10, 60_000), Is.True, "the first is on its way");
        move.EndClient("CLIENT KILL");
        second.Send("+OK\r\n+OK\r\n+OK\r\n"u8);
        byte[] bytes = new byte[1 << 20];
        long got = 0;
        for (int count; (count = second.Receive(bytes)) > 0;) got += count;
        Assert.That(got, Is.InRange(Long, Long + 4096));
        Assert.That(SpinWait.SpinUntil(() => Watched(move.Other) == 0, 60_000), Is.True);
        Assert.That(move.Other.Call("EXISTS", "k", "l").ToString(), Is.EqualTo(":2"));
    }

    // Its pieces are fetched in the middle of the end of the command, which then goes on where it was.
    [Test]
    public void A_collection_that_changes_and_goes_to_the_tier_meanwhile_is_sent_again()
    {
        const int Fields = 3000;
        using ServerProcess source = Start(ServerSide.Ours, "--maxmemory 64mb --tier-path . --tier-size 64mb"), target = Start(ServerSide.Ours);
        using RespConnection at = new(source.Address), beside = new(source.Address), other = new(target.Address);
        at.Call("SET", "k", "v");
        at.CallAll(Enumerable.Range(0, Fields).Select(static i => (string[])["HSET", "h", $"field{i}", $"a value of some length {i}"]));
        other.Call("CLIENT", "PAUSE", "60000", "WRITE");
        at.Send(RespConnection.Encode(To(target, "", "KEYS", "k", "h")));
        Assert.That(SpinWait.SpinUntil(() => Watched(beside) == 2, 60_000), Is.True);
        beside.Call("SET", "k", "w");
        beside.Call("HSET", "h", "field7", "changed");
        beside.Call("TIER.DEMOTE", "h");
        other.Call("CLIENT", "UNPAUSE");
        Assert.That(at.Read().ToString(), Is.EqualTo("+OK"));
        Assert.That((at.Call("EXISTS", "k", "h").ToString(), Watched(beside)), Is.EqualTo((":0", 0)));
        Assert.That((other.Call("HGET", "h", "field7").Text, other.Call("HLEN", "h").ToString(), other.Call("GET", "k").Text), Is.EqualTo(("changed", $":{Fields}", "w")));
    }

    [Test]
    public void What_is_no_host_is_an_error([Values("", "x")] string letter)
    {
        using ServerProcess source = Start(ServerSide.Ours);
        using RespConnection at = new(source.Address);
        at.Call("SET", "k", "v");
        Assert.That(at.Call("MIGRATE", string.Concat(Enumerable.Repeat(letter, 300)), "1", "k", "0", "5000").ToString(), Does.StartWith("-IOERR error or timeout "));
        Assert.That((at.Call("GET", "k").Text, Watched(at)), Is.EqualTo(("v", 0)));
    }

    // Reading and deleting them in one step took two seconds for 200,000 keys, in which the core served nobody else.
    [Test]
    public void Many_keys_go_in_pieces_and_what_others_do_meanwhile_to_those_that_have_not_gone_counts([Values] bool copies)
    {
        const int Keys = 5000;
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"key:{i}")];
        using ServerProcess source = Start(ServerSide.Ours), target = Start(ServerSide.Ours);
        using RespConnection at = new(source.Address), beside = new(source.Address), other = new(target.Address);
        at.Call(["MSET", .. names.SelectMany(static name => (string[])[name, "v"])]);
        at.Call("SET", names[7], new string('v', 3 << 20));
        other.Call("CLIENT", "PAUSE", "60000", "WRITE");
        string[] options = copies ? ["COPY"] : [];
        at.Send(RespConnection.Encode(To(target, "", [.. options, "KEYS", .. names, "none", names[0], names[^1]])));
        Assert.That(SpinWait.SpinUntil(() => other.Call("CLIENT", "LIST").Text.Contains("cmd=restore", StringComparison.Ordinal), 60_000), Is.True);
        Assert.That(Watched(beside), Is.EqualTo(8), "those of the first piece, which is as large as one may be");
        beside.Call("DEL", names[^2]);
        beside.Call("APPEND", names[^1], "w");
        other.Call("CLIENT", "UNPAUSE");
        Assert.That(at.Read().ToString(), Is.EqualTo("+OK"));
        Assert.That((at.Call("DBSIZE").ToString(), other.Call("DBSIZE").ToString()), Is.EqualTo((copies ? $":{Keys - 1}" : ":0", $":{Keys - 1}")));
        Assert.That((other.Call("STRLEN", names[7]).ToString(), other.Call("GET", names[^1]).Text), Is.EqualTo(($":{3 << 20}", "vw")));
        Assert.That((Watched(beside), at.Call(To(target, "", ["KEYS", .. names.Select(static name => "no " + name)])).ToString()), Is.EqualTo((0, "+NOKEY")));
    }

    [Test]
    public void What_the_target_refuses_of_many_keys_stays_and_all_others_go_as_in_Redis([Values(10, 3000)] int refused)
    {
        const int Keys = 5000;
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"key:{i}")];
        string[] replies = [.. ((ServerSide[])[ServerSide.Redis, ServerSide.Ours]).Select(side =>
        {
            using ServerProcess source = Start(side), target = Start(ServerSide.Redis);
            using RespConnection at = new(source.Address), other = new(target.Address);
            at.Call(["MSET", .. names.SelectMany(static name => (string[])[name, "v"])]);
            other.Call("SET", names[refused], "there");
            string reply = at.Call(To(target, "", ["KEYS", .. names])).ToString();
            return $"{reply} {at.Call("DBSIZE")} {at.Call("EXISTS", names[refused])} {other.Call("DBSIZE")} {at.Call(To(target, "", ["REPLACE", "KEYS", .. names]))} {at.Call("DBSIZE")}";
        })];
        Assert.That(replies[1], Is.EqualTo(replies[0]).And.Contain("BUSYKEY"));
    }

    // The pieces that have gone are not here any more, and nothing of the rest is lost.
    [Test]
    public void A_target_that_goes_between_two_pieces_leaves_the_rest_here()
    {
        const int Keys = 5000;
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"key:{i}")];
        using Move move = new("v", timeoutMs: 5000);
        Serve(move.Target, static () => { });
        Assert.That(move.Client.Read().ToString(), Is.EqualTo("+OK"));
        move.Client.Call(["MSET", .. names.SelectMany(static name => (string[])[name, "v"])]);
        move.Client.Send(RespConnection.Encode(["MIGRATE", "127.0.0.1", $"{((IPEndPoint)move.Target.LocalEndpoint).Port}", "", "0", "5000", "KEYS", .. names]));
        int taken = TakeAll(move.Target);
        move.Target.Stop();
        Assert.That(move.Client.Read().ToString(), Does.StartWith("-IOERR error or timeout"));
        Assert.That((move.Client.Call("DBSIZE").ToString(), Watched(move.Client)), Is.EqualTo(($":{Keys - taken}", 0)));
        Assert.That(taken, Is.InRange(1, Keys - 1));
    }

    // Cold ones are fetched a piece at a time, none by a wait that holds up the core.
    [Test]
    public void Many_keys_on_a_tier_are_moved_without_a_wait_of_the_core()
    {
        const int Keys = 3000;
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"key:{i}")];
        using ServerProcess source = Start(ServerSide.Ours, "--maxmemory 64mb --tier-path . --tier-size 64mb"), target = Start(ServerSide.Ours);
        using RespConnection at = new(source.Address), other = new(target.Address);
        at.Call(["MSET", .. names.SelectMany(static name => (string[])[name, new string('v', 3000)])]);
        at.CallAll(names.Select(static name => (string[])["TIER.DEMOTE", name]));
        Assert.That(at.Call(To(target, "", ["KEYS", .. names])).ToString(), Is.EqualTo("+OK"));
        Assert.That((at.Call("DBSIZE").ToString(), other.Call("DBSIZE").ToString()), Is.EqualTo((":0", $":{Keys}")));
        Assert.That(at.Call("INFO", "tiering").Text, Does.Contain("tier_waits:0\r\n").And.Not.Contain("tier_postponed_commands:0\r\n"));
    }

    private static int Watched(RespConnection client) =>
        int.Parse(client.Call("INFO", "clients").Text.Split("total_watched_keys:")[1].Split('\r')[0], CultureInfo.InvariantCulture);

    /// <summary>A client that has begun to move "k" to a target which the test plays, and another client of the same server.</summary>
    private sealed class Move : IDisposable
    {
        private readonly ServerProcess _server = Start(ServerSide.Ours);

        public const string Refused = "-TRYAGAIN another MIGRATE is sending one of the keys; retry";
        private readonly int _timeoutMs;

        public Move(string value, int timeoutMs, params string[] options)
        {
            _timeoutMs = timeoutMs;
            Target.Start();
            Client = new RespConnection(_server.Address);
            Other = new RespConnection(_server.Address);
            Client.Call("SET", "k", value);
            Client.Send(RespConnection.Encode(Command(options)));
        }

        public TcpListener Target { get; } = new(IPAddress.Loopback, 0);
        public RespConnection Client { get; }
        public RespConnection Other { get; }

        public string[] Command(params string[] options) => ["MIGRATE", "127.0.0.1", $"{((IPEndPoint)Target.LocalEndpoint).Port}", "k", "0", $"{_timeoutMs}", .. options];
        public RespNode Again() => Other.Call(Command("REPLACE"));

        // Returns when the server knows of it.
        public void EndClient(string how)
        {
            if (how == "close")
                Client.Dispose();
            else
                Other.Call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            Assert.That(SpinWait.SpinUntil(() => !Other.Call("CLIENT", "LIST").Text.Contains("cmd=migrate", StringComparison.Ordinal), 60_000), Is.True);
        }

        public void Dispose()
        {
            Client.Dispose();
            Other.Dispose();
            _server.Dispose();
            Target.Dispose();
        }
    }

    // Takes SELECT and as many more requests as there are keys, lets something happen, and says OK to all; what was received.
    private static string Serve(TcpListener listener, Action meanwhile, int keys = 1)
    {
        using Socket client = listener.AcceptSocket();
        byte[] bytes = new byte[1 << 16];
        string text = "";
        while (!IsWhole(text, keys)) text += Encoding.Latin1.GetString(bytes, 0, client.Receive(bytes));
        meanwhile();
        for (int i = 0; i <= keys; i++) client.Send("+OK\r\n"u8);
        return text;
    }

    // Says OK to all that comes on one connection, and counts what is given to it.
    private static int TakeAll(TcpListener listener)
    {
        using Socket client = listener.AcceptSocket();
        byte[] bytes = new byte[1 << 16];
        int requests = 0;
        for (int count; (count = client.Receive(bytes)) > 0;)
        {
            int some = bytes.AsSpan(0, count).Count("*"u8);
            requests += some;
            for (int i = 0; i < some; i++) client.Send("+OK\r\n"u8);
        }
        return requests - 1; // SELECT
    }

    private static bool IsWhole(string text, int keys)
    {
        int at = text.LastIndexOf('*');
        if (text.Count(static letter => letter == '*') <= keys) return false;
        string[] lines = at < 0 ? [] : text[at..].Split("\r\n");
        if (!text.Contains("RESTORE", StringComparison.Ordinal) && !text.Contains("DEL", StringComparison.Ordinal)) return false;
        return lines.Length >= 2 && text.EndsWith("\r\n", StringComparison.Ordinal) && lines.Length - 2 >= 2 * int.Parse(lines[0][1..], CultureInfo.InvariantCulture);
    }

    private static string[] To(ServerProcess target, string key, params string[] options) => ["MIGRATE", "127.0.0.1", $"{target.Address.Port}", key, "0", "5000", .. options];

    private ServerProcess Kept(ServerSide side, string part)
    {
        if (!_kept.TryGetValue((side, part), out ServerProcess? server)) _kept.Add((side, part), server = Start(side));
        return server;
    }

    private static ServerProcess Start(ServerSide side, string flags = "")
    {
        _ = Servers.Of(side); // skips with the reason when it is not there
        return (side == ServerSide.Ours ? ServerProcess.TryStartOurs(flags.Length > 0 ? flags : "--databases 16") : ServerProcess.TryStartRedis(flags)) ?? throw new IgnoreException("not installed");
    }
}

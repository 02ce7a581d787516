using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>The limit of a client's class holds for what the client gets, in whatever form it asked, and for nothing else.</summary>
[NonParallelizable] // replies as long as they may be want the cores and the memory
internal sealed class ReplyLimitTests
{
    private const int NormalLimit = 1 << 20, PubSubLimit = 3 << 20, Pieces = 50;
    private const string Relay = "redis.call('SET','before','1') local r = redis.call(unpack(ARGV)) redis.call('SET','after','1') return r";
    private const string Reads = "redis.call('SET','before','1') local r = redis.call(unpack(ARGV)) redis.call('SET','after','1') return #r";

    public enum Way
    {
        Plain,
        Exec,
        Script,
        Function,
        ScriptInExec,
    }

    [Test]
    public void What_is_sent_is_judged([Values] Way way, [Values] bool listens, [Values] bool onePiece, [Values] bool above)
    {
        var lines = new RecordedLines();
        using EmbeddedServer server = Start(lines);
        int limit = listens ? PubSubLimit : NormalLimit, bytes = above ? limit * 2 : limit / 2;
        using TestClient client = Client(server, listens);
        string[] read = Fill(server, onePiece, bytes);
        string reply = Run(client, way, read);
        if (!above)
        {
            Assert.That(reply.Count(static letter => letter == 'v'), Is.EqualTo(bytes / Pieces * Pieces), Short(reply));
            Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
            return;
        }

        Assert.That(Short(reply), Does.StartWith(way is Way.Exec or Way.ScriptInExec ? "[OK ERR the reply of " : "ERR the reply of ").And.Contain($"beyond the limit of {limit}; the command has run"));
        if (way is Way.Exec or Way.ScriptInExec) Assert.That(reply, Does.EndWith(" OK]"));
        Assert.That(() => client.Call("PING"), Throws.InstanceOf<IOException>());
        using var other = new TestClient(server.Server.Port);
        if (way != Way.Plain) Assert.That(other.Call("GET", "after"), Is.EqualTo("1"));
        Assert.That(other.Call("INFO", "stats"), Does.Contain("client_output_buffer_limit_disconnections:1\r\n"));
        Assert.That(lines.All.Where(static line => line.Contains("repl", StringComparison.Ordinal) && line.Contains("127.0.0.1", StringComparison.Ordinal)), Has.One.Contains($"beyond the limit of {limit}").And.None.Contains("waiting"));
    }

    [Test]
    public void What_a_script_reads_is_not([Values(Way.Script, Way.Function, Way.ScriptInExec)] Way way, [Values] bool listens, [Values] bool onePiece)
    {
        using EmbeddedServer server = Start();
        using TestClient client = Client(server, listens);
        int bytes = PubSubLimit * 2;
        string[] read = Fill(server, onePiece, bytes);
        string length = onePiece ? $"{bytes / Pieces * Pieces}" : $"{Pieces}";
        Assert.That(Run(client, way, read, Reads), Is.EqualTo(way == Way.ScriptInExec ? $"[OK {length} OK]" : length));
        Assert.That(client.Call("GET", "after"), Is.EqualTo("1"));
    }

    [Test]
    public void What_a_script_reads_has_the_memory_of_scripts_for_its_limit([Values] bool listens, [Values] bool onePiece, [Values("call", "pcall")] string call)
    {
        using EmbeddedServer server = Start(adjust: static settings => settings.Scripts.MemoryBytesMax = 2 << 20);
        using TestClient client = Client(server, listens);
        string[] read = Fill(server, onePiece, 2_500_000);
        Assert.That(client.Call(["EVAL", Reads.Replace("redis.call(unpack", $"redis.{call}(unpack", StringComparison.Ordinal), "0", .. read]), Does.StartWith("ERR ").And.Contain("not enough memory"));
        Assert.That(client.Call("MGET", "before", "after"), Is.EqualTo("[1 nil]"));
        Assert.That(client.Call(["EVAL", "local ok, e = pcall(redis.call, unpack(ARGV)) redis.call('SET','after',tostring(ok)) return {ok and 1 or 0, #redis.call('GET','before')}", "0", .. read]), Is.EqualTo("[0 1]"));
        Assert.That(client.Call("GET", "after"), Is.EqualTo("false"));
    }

    [Test]
    public void A_subscriber_reads_more_in_a_script_than_it_may_get_by_default()
    {
        using var server = new EmbeddedServer();
        using TestClient client = Client(server, listens: true);
        using var other = new TestClient(server.Server.Port);
        string value = new('v', 1_000_000);
        for (int i = 0; i < 40; i++) other.Call("RPUSH", "list", value);
        Assert.That(client.Call("EVAL", "local n=#redis.call('LRANGE',KEYS[1],0,-1) redis.call('SET','after',1) return n", "1", "list"), Is.EqualTo("40"));
        Assert.That(client.Call("GET", "after"), Is.EqualTo("1"));
    }

    [TestCase("GET", "one")]
    [TestCase("GETRANGE", "one", "0", "-1")]
    [TestCase("DUMP", "one")]
    [TestCase("HGET", "hash", "field")]
    [TestCase("MGET", "one", "one")]
    [TestCase("LINDEX", "list", "0")]
    [TestCase("LPOP", "list")]
    [TestCase("BLPOP", "list", "0")]
    [TestCase("BLMOVE", "list", "list", "LEFT", "LEFT", "0")]
    [TestCase("SORT", "numbers", "BY", "nosort", "GET", "on*")]
    public void A_reply_of_one_piece_is_refused_as_one_of_many(params string[] words)
    {
        using EmbeddedServer server = Start();
        using TestClient client = Client(server, listens: false);
        string value = string.Concat(Enumerable.Range(0, 200_000).Select(static i => $"{i * 7919L,10}"));
        client.Call("SET", "one", value);
        client.Call("HSET", "hash", "field", value);
        client.Call("RPUSH", "list", value);
        client.Call("RPUSH", "numbers", "e");
        Assert.That(client.Call("ECHO", "x"), Is.EqualTo("x"));
        Assert.That(Short(client.Call(words)), Does.StartWith("ERR ").And.Contain($"{NormalLimit}"));
        if (words[0] != "SORT") Assert.That(() => client.Call("PING"), Throws.InstanceOf<IOException>());
    }

    [Test]
    public void What_waits_for_one_large_element_is_refused_it([Values("BLPOP", "BLMOVE")] string command)
    {
        using EmbeddedServer server = Start();
        using TestClient client = Client(server, listens: false), other = Client(server, listens: false);
        client.Send(command == "BLPOP" ? ["BLPOP", "q", "0"] : ["BLMOVE", "q", "r", "LEFT", "LEFT", "0"]);
        Eventually.Holds(() => other.Call("INFO", "clients").Contains("blocked_clients:1", StringComparison.Ordinal));
        other.Call("RPUSH", "q", new string('v', NormalLimit * 2));
        Assert.That(client.Read(), Does.StartWith("ERR the reply of "));
        Assert.That(client.Read, Throws.InstanceOf<IOException>());
    }

    [Test]
    public void A_transaction_whose_errors_alone_are_too_long_is_one_error()
    {
        const int Commands = 20_000;
        var lines = new RecordedLines();
        using EmbeddedServer server = Start(lines);
        using TestClient client = Client(server, listens: false);
        client.Call("SET", "one", new string('v', NormalLimit * 2));
        Assert.That(client.Call("MULTI"), Is.EqualTo("OK"));
        client.Pipeline(Commands, ["GET", "one"]);
        client.Call("SET", "after", "1");
        Assert.That(client.Call("EXEC"), Does.StartWith("ERR the reply of ").And.Contain($"beyond the limit of {NormalLimit}"));
        Assert.That(client.Read, Throws.InstanceOf<IOException>());
        using var other = new TestClient(server.Server.Port);
        Assert.That(other.Call("GET", "after"), Is.EqualTo("1"));
        Assert.That(lines.All, Has.One.Contains("beyond the limit"), "one line per client");
    }

    [Test]
    public void In_a_transaction_the_part_that_makes_it_too_long_for_a_small_limit_is_an_error()
    {
        using EmbeddedServer server = Start();
        using TestClient client = Client(server, listens: false);
        client.Call("CONFIG", "SET", "client-output-buffer-limit", "normal 100kb 0 0");
        client.Call("SET", "one", new string('v', 50_000));
        Assert.That(client.Call("MULTI"), Is.EqualTo("OK"));
        client.Pipeline(8, ["GET", "one"]);
        client.Call("SET", "after", "1");
        string reply = client.Call("EXEC");
        Assert.That(reply.Count(static letter => letter == 'v'), Is.LessThanOrEqualTo(6 * 50_000), "replies up to 256 KiB leave at once");
        Assert.That(reply[^200..], Does.EndWith("ERR the reply of 50010 bytes, with what stands before it, is beyond the limit of 102400; the command has run OK]"));
        Assert.That(client.Read, Throws.InstanceOf<IOException>());
        using var other = new TestClient(server.Server.Port);
        Assert.That(other.Call("GET", "after"), Is.EqualTo("1"));
    }

    [Test]
    public void A_script_whose_reply_has_no_end_is_ended_by_the_memory_of_scripts_whatever_its_client_may_get()
    {
        using EmbeddedServer server = Start(adjust: static settings => settings.Scripts.MemoryBytesMax = 4 << 20);
        using TestClient client = Client(server, listens: false);
        Assert.That(client.Call("EVAL", "local t = {1} for i = 1, 200 do t = {t, t} end return t", "0"), Does.StartWith("ERR the reply of the script is larger than script-memory-limit"));
    }

    [Test]
    public void Replies_before_it_stay_and_are_named_where_they_make_it_too_long()
    {
        using EmbeddedServer server = Start();
        using TestClient client = Client(server, listens: false);
        client.Call("SET", "small", new string('v', 250_000));
        client.Call("SET", "large", new string('w', 900_000));
        string[] replies = client.Pipeline(1, ["GET", "small"], ["GET", "large"]);
        Assert.That(replies[0], Has.Length.EqualTo(250_000));
        Assert.That(replies[1], Has.Length.EqualTo(900_000).Or.StartsWith($"ERR the reply of 900011 bytes, with what stands before it, is beyond the limit of {NormalLimit}"));
    }

    [Test]
    public void A_reply_that_nobody_gets_is_not_judged([Values] Way way, [Values] bool onePiece)
    {
        using EmbeddedServer server = Start();
        using TestClient client = Client(server, listens: false);
        string[] read = Fill(server, onePiece, NormalLimit * 2);
        string[] words = way is Way.Script or Way.ScriptInExec ? ["EVAL", Relay, "0", .. read] : read;
        client.Send("CLIENT", "REPLY", "OFF");
        if (way is Way.Exec or Way.ScriptInExec) client.Send("MULTI");
        client.Send(words);
        if (way is Way.Exec or Way.ScriptInExec) client.Send("EXEC");
        Assert.That(client.Call("CLIENT", "REPLY", "ON"), Is.EqualTo("OK"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
    }

    private static EmbeddedServer Start(RecordedLines? lines = null, Action<ServerSettings>? adjust = null) =>
        new(adjust: settings =>
        {
            settings.Network.OutputBufferLimits = (OutputBufferLimits)OutputBufferLimits.Default.Parse($"normal {NormalLimit} 0 0 pubsub {PubSubLimit} 0 0", out _)!;
            adjust?.Invoke(settings);
        }, lines: lines);

    private static TestClient Client(EmbeddedServer server, bool listens)
    {
        var client = new TestClient(server.Server.Port);
        client.Call("HELLO", "3");
        if (!listens) return client;
        client.Send("SUBSCRIBE", "ch");
        client.Read();
        return client;
    }

    // Returns what reads it.
    private static string[] Fill(EmbeddedServer server, bool onePiece, int bytes)
    {
        using var filler = new TestClient(server.Server.Port);
        string piece = new('v', bytes / Pieces);
        filler.Call("SET", "one", string.Concat(Enumerable.Repeat(piece, Pieces)));
        filler.Call(["RPUSH", "many", .. Enumerable.Repeat(piece, Pieces)]);
        return onePiece ? ["GET", "one"] : ["LRANGE", "many", "0", "-1"];
    }

    private static string Short(string reply) => reply.Length <= 400 ? reply : reply[..200] + ".." + reply[^200..];

    private static string Run(TestClient client, Way way, string[] read, string script = Relay)
    {
        string[] words = read;
        if (way is Way.Script or Way.ScriptInExec) words = ["EVAL", script, "0", .. read];
        if (way == Way.Function)
        {
            client.Call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('relay', function(KEYS, ARGV) " + script + " end)");
            words = ["FCALL", "relay", "0", .. read];
        }

        if (way is not (Way.Exec or Way.ScriptInExec)) return client.Call(words);
        foreach (string[] command in (string[][])[["MULTI"], ["SET", "first", "1"], words, ["SET", "after", "1"]]) client.Call(command);
        return client.Call("EXEC");
    }
}

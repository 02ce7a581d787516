namespace Garnet.Server.Test.Admission;

/// <summary>
/// Where a command's keys stand behind words, the keys that the rules are asked about are those that it comes to: in whatever order its options come, and whatever the keys,
/// groups and patterns are called, be it as an option is.
/// </summary>
public sealed class KeysBehindWordsTests
{
    private const int Calls = 400, Seed = 27_111;

    private static readonly string[] Names =
        ["STREAMS", "GROUP", "COUNT", "BLOCK", "CLAIM", "NOACK", "STORE", "STOREDIST", "GET", "BY", "LIMIT", "WEIGHTS", "AGGREGATE", "KEYS", "a"];

    private readonly Random _random = new(Seed);
    private readonly KeyGate _gate = new();
    private EmbeddedServer _server = null!;
    private TestClient _client = null!;

    [SetUp]
    public void Start()
    {
        _server = new EmbeddedServer();
        _client = new TestClient(_server.Server.Port);
    }

    [TearDown]
    public void Stop()
    {
        _client.Dispose();
        _server.Dispose();
    }

    [Test]
    public void Streams_that_are_read_are_those_asked_about([Values] bool isGroup)
    {
        foreach (string name in Names)
        {
            _client.Call("XADD", name, "1-1", "f", "v");
            foreach (string group in Names) _client.Call("XGROUP", "CREATE", name, group, "0");
        }

        Watch();
        for (int i = 0; i < Calls; i++)
        {
            List<string[]> options = [["COUNT", "7"], ["BLOCK", "1"]];
            if (isGroup) options.AddRange([["GROUP", Name(), Name()], ["NOACK"], ["COUNT", "8"]]);
            string[] keys = [.. Enumerable.Range(0, _random.Next(1, 4)).Select(_ => Name()).Distinct()];
            string[] command = [isGroup ? "XREADGROUP" : "XREAD", .. Shuffled(options), "STREAMS", .. keys, .. keys.Select(static _ => "0")];
            Expect(command, reply => Heads(reply));
        }
    }

    [Test]
    public void What_SORT_stores_in_is_asked_about()
    {
        _client.Call("RPUSH", "from", "2", "1");
        Watch();
        for (int i = 0; i < Calls; i++)
        {
            List<string[]> options = [["BY", Name()], ["GET", Name()], ["GET", Name()], ["LIMIT", "0", "2"], ["ALPHA"], ["STORE", Name()], ["STORE", Name()]];
            Expect(["SORT", "from", .. Shuffled(options)], _ => Stored());
        }
    }

    [Test]
    public void What_GEORADIUS_stores_in_is_asked_about([Values] bool isByMember)
    {
        _client.Call("GEOADD", "from", "1", "1", "STORE");
        Watch();
        string[] start = isByMember ? ["GEORADIUSBYMEMBER", "from", "STORE", "9", "km"] : ["GEORADIUS", "from", "1", "1", "9", "km"];
        for (int i = 0; i < Calls; i++)
            Expect([.. start, .. Shuffled([["COUNT", "3"], ["ASC"], ["STORE", Name()], ["STOREDIST", Name()]])], _ => Stored());
    }

    [Test]
    public void What_is_united_is_asked_about()
    {
        foreach (string name in Names) _client.Call("ZADD", name, "1", name);
        Watch();
        for (int i = 0; i < Calls; i++)
        {
            string[] keys = [.. Enumerable.Range(0, _random.Next(1, 4)).Select(_ => Name()).Distinct()];
            List<string[]> options = [["WEIGHTS", .. keys.Select(static _ => "2")], ["AGGREGATE", "SUM"]];
            Expect(["ZUNION", $"{keys.Length}", .. keys, .. Shuffled(options)], static reply => reply.Trim('[', ']').Split(' '));
        }
    }

    [Test]
    public void A_number_of_keys_that_the_rules_do_not_understand_is_refused([Values("01", "0x1", "+1", " 1")] string number)
    {
        _client.Call("SET", "moved", "1");
        Watch();
        Assert.That(_client.Call("BULK.MGET", number, "moved", "INLINE", "0", "10"), Does.StartWith("ERR there are 1 to"));
        foreach (string[] command in (string[][])[["ZUNION", number, "moved"], ["SINTERCARD", number, "moved"], ["LMPOP", number, "moved", "LEFT"], ["MSETEX", number, "moved", "2"]])
            Assert.That(_client.Call(command), Does.StartWith("ERR"), command[0]);
    }

    [Test]
    public void A_user_comes_to_no_stream_by_the_order_of_options()
    {
        _client.Call("XADD", "z1", "1-1", "secret", "v");
        _client.Call("XGROUP", "CREATE", "z1", "STREAMS", "0");
        _client.Call("ACL", "SETUSER", "v", "reset", "on", "nopass", "+@all", "~a*", "~STREAMS");
        using var user = new TestClient(_server.Server.Port);
        user.Call("AUTH", "v", "any");
        foreach (string options in (string[])["COUNT 1", "BLOCK 1", "COUNT 1 BLOCK 1", "NOACK NOACK", "NOACK COUNT 1"])
        {
            string[] command = ["XREADGROUP", .. options.Split(' '), "GROUP", "STREAMS", "a1", "STREAMS", "z1", ">"];
            Assert.That(user.Call(command), Does.StartWith("NOPERM"), options);
            Assert.That(user.Call(["EVAL", $"return redis.call({string.Join(',', command.Select(static word => $"'{word}'"))})", "0"]), Does.StartWith("ERR").Or.StartsWith("NOPERM"), options);
            Assert.That(_client.Call(["ACL", "DRYRUN", "v", .. command]), Does.Contain("no permissions to access the 'z1' key"), options);
            Assert.That(_client.Call(["COMMAND", "GETKEYS", .. command]), Is.EqualTo("[z1]"), options);
        }
    }

    private void Watch() => _server.Server.Context.Hooks = new Commands.AdmissionHooks { Ownership = _gate };

    private string Name() => Names[_random.Next(Names.Length)];

    private string[] Shuffled(List<string[]> options)
    {
        string[][] order = [.. options];
        _random.Shuffle(order);
        return [.. order.SelectMany(static words => words)];
    }

    // The keys asked about are those that the command says it came to.
    private void Expect(string[] command, Func<string, IEnumerable<string>> touched)
    {
        _gate.Asked.Clear();
        string reply = _client.Call(command);
        string[] asked = [.. _gate.Asked.Select(static line => line.Split(' ')[1]).Where(static key => key != "from")];
        Assert.That(reply, Does.Not.StartWith("ERR"), string.Join(' ', command));
        Assert.That(asked, Is.EquivalentTo(touched(reply)), string.Join(' ', command));
    }

    private string[] Stored()
    {
        string[] stored = [.. _client.Call("KEYS", "*").Trim('[', ']').Split(' ').Where(static key => key != "from")];
        foreach (string key in stored) _client.Call("DEL", key);
        return stored;
    }

    // The first words of what a reply has in its rows.
    private static IEnumerable<string> Heads(string reply)
    {
        int depth = 0;
        for (int i = 0; i < reply.Length; i++)
        {
            depth += reply[i] switch { '[' => 1, ']' => -1, _ => 0 };
            if (reply[i] == '[' && depth == 2) yield return reply[(i + 1)..].Split(' ', ']')[0];
        }
    }
}

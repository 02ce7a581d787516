using System.Globalization;
using Garnet.Common.Test;

namespace Garnet.Server.Test;

/// <summary>Client-side caching where transcripts do not reach: ids, many clients at once, eviction.</summary>
public sealed class TrackingTests
{
    private const int Keys = 20, Readers = 3, Writers = 2;
    private static readonly int WritesEach = LongRun.IsWanted ? 3_000 : 500;

    // As redis-server 7.0.15 answers: the first that overlaps with any is named, and with it the first held one, or else the first behind it.
    [TestCase("a a", "'a' overlaps with another provided prefix 'a'")]
    [TestCase("ab a", "'ab' overlaps with another provided prefix 'a'")]
    [TestCase("a b ab", "'a' overlaps with another provided prefix 'ab'")]
    [TestCase("c ca a ac", "'c' overlaps with another provided prefix 'ca'")]
    [TestCase("abc x ab a", "'abc' overlaps with another provided prefix 'ab'")]
    [TestCase("x xy fo", "'x' overlaps with another provided prefix 'xy'")]
    [TestCase("y fo f", "'fo' overlaps with an existing prefix 'foo'")]
    [TestCase("b ba a ab", "'b' overlaps with an existing prefix 'bar'")]
    [TestCase("y f", "'f' overlaps with an existing prefix 'foo'")]
    [TestCase("foo", "'foo' overlaps with an existing prefix 'foo'")]
    public void Prefixes_that_overlap_are_named_as_in_redis(string prefixes, string expected)
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("HELLO", "3");
        client.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "foo", "PREFIX", "bar");
        Assert.That(client.Call(["CLIENT", "TRACKING", "ON", "BCAST", .. prefixes.Split(' ').SelectMany(static prefix => new[] { "PREFIX", prefix })]),
            Does.Contain($"ERR Prefix {expected}. Prefixes for a single client must not overlap."));
    }

    [Test]
    public void A_RESP2_client_is_told_through_its_redirection()
    {
        using var server = new EmbeddedServer();
        using var reader = new TestClient(server.Server.Port);
        using var listener = new TestClient(server.Server.Port);
        string id = listener.Call("CLIENT", "ID");
        Assert.That(listener.Call("SUBSCRIBE", "__redis__:invalidate"), Is.EqualTo("[subscribe __redis__:invalidate 1]"));
        Assert.That(reader.Call("CLIENT", "TRACKING", "ON", "REDIRECT", id), Is.EqualTo("OK"));
        Assert.That(reader.Call("CLIENT", "GETREDIR"), Is.EqualTo(id));
        reader.Call("GET", "k");
        reader.Call("SET", "k", "1");
        Assert.That(listener.Read(), Is.EqualTo("[message __redis__:invalidate [k]]"));
        reader.Call("FLUSHALL");
        Assert.That(listener.Read(), Is.EqualTo("[message __redis__:invalidate nil]"));
    }

    [Test]
    public void A_broken_redirection_is_told_and_shown()
    {
        using var server = new EmbeddedServer();
        using var reader = new TestClient(server.Server.Port);
        using var target = new TestClient(server.Server.Port);
        reader.Call("HELLO", "3");
        string id = target.Call("CLIENT", "ID");
        reader.Call("CLIENT", "TRACKING", "ON", "REDIRECT", id);
        reader.Call("GET", "k");
        Assert.That(reader.Call("CLIENT", "KILL", "ID", id), Is.EqualTo("1"));
        Eventually.Holds(() => reader.Call("CLIENT", "LIST", "ID", id) == "txt:");
        reader.Call("SET", "k", "1");
        Assert.That(reader.Read(), Is.EqualTo($"[tracking-redir-broken {id}]"));
        Assert.That(reader.Call("CLIENT", "TRACKINGINFO"), Does.Contain("broken_redirect"));
    }

    [Test]
    public void Nobody_keeps_a_stale_value([Values("", "BCAST")] string mode)
    {
        using var server = new EmbeddedServer();
        var caches = new Dictionary<string, string>[Readers];
        using var stopReading = new CancellationTokenSource();
        Task[] readers = [.. Enumerable.Range(0, Readers).Select(i => Task.Run(() => caches[i] = ReadUntil(server.Server.Port, mode, i, stopReading.Token)))];
        Task[] writers = [.. Enumerable.Range(0, Writers).Select(i => Task.Run(() => Write(server.Server.Port, i)))];
        writers.AwaitAll();
        stopReading.Cancel();
        readers.AwaitAll();
        using var check = new TestClient(server.Server.Port);
        foreach (Dictionary<string, string> cache in caches)
        {
            Assert.That(cache, Is.Not.Empty);
            foreach ((string key, string value) in cache) Assert.That(value, Is.EqualTo(check.Call("GET", key)), key);
        }
    }

    [Test]
    public void Evicted_and_expired_keys_are_told_and_the_table_is_bounded()
    {
        using var server = new EmbeddedServer();
        using var reader = new TestClient(server.Server.Port);
        reader.Call("HELLO", "3");
        reader.Call("CLIENT", "TRACKING", "ON");
        reader.Call("SET", "e", "1", "PX", "1");
        reader.Call("GET", "e");
        Assert.That(reader.Pushes.Count > 0 ? reader.Pushes[0] : reader.Read(), Is.EqualTo("[invalidate [e]]"));
        reader.Pushes.Clear();
        reader.Call("CONFIG", "SET", "tracking-table-max-keys", "10");
        for (int i = 0; i < 50; i++) reader.Call("GET", "key" + i);
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.EqualTo(10));
        reader.Call("PING");
        Assert.That(reader.Pushes, Has.Count.EqualTo(40));
        reader.Call("CLIENT", "TRACKING", "OFF");
        Assert.That((server.Server.Context.Observers.Tracker.Keys, server.Server.Context.Observers.Tracker.Items, server.Server.Context.AsksRules), Is.EqualTo((0L, 0L, false)));
    }

    [Test]
    public void Any_key_may_be_the_one_that_is_forgotten_and_a_lower_limit_counts_at_once()
    {
        using var server = new EmbeddedServer();
        using var reader = new TestClient(server.Server.Port);
        using var other = new TestClient(server.Server.Port);
        reader.Call("HELLO", "3");
        reader.Call("CLIENT", "TRACKING", "ON");
        other.Call("CONFIG", "SET", "tracking-table-max-keys", "10");
        for (int i = 0; i < 10; i++) reader.Call("GET", "old" + i);
        for (int i = 0; i < 1000; i++) reader.Call("GET", "new" + i);
        Assert.That(reader.Pushes.Count(static message => message.StartsWith("[invalidate [old", StringComparison.Ordinal)), Is.EqualTo(10), "else those that came first stay for ever");
        reader.Pushes.Clear();
        other.Call("CONFIG", "SET", "tracking-table-max-keys", "4");
        for (int i = 0; i < 6; i++) Assert.That(reader.Read(), Does.StartWith("[invalidate [new"));
        // The first of them may be what the last GET has driven out, told behind its reply: then there is one more to come.
        Eventually.Holds(() => (server.Server.Context.Observers.Tracker.Keys, server.Server.Context.Observers.Tracker.Items) == (4L, 4L));
        other.Call("CONFIG", "SET", "tracking-table-max-keys", "0");
        reader.Call(["MGET", .. Enumerable.Range(0, 1000).Select(static i => "more" + i)]);
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.EqualTo(1004));
    }

    [Test]
    public void Long_names_are_fewer()
    {
        const int NameBytes = 4_000;
        using var server = new EmbeddedServer();
        using var reader = new TestClient(server.Server.Port);
        reader.Call("HELLO", "3");
        reader.Call("CLIENT", "TRACKING", "ON");
        reader.Call("CONFIG", "SET", "tracking-table-max-keys", "10000");
        for (int i = 0; i < 400; i++) reader.Call("GET", new string('k', NameBytes - 3) + i.ToString("d3", CultureInfo.InvariantCulture));
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.EqualTo(10_000 * 128 / NameBytes).Within(1));
        long keys = server.Server.Context.Observers.Tracker.Keys;
        reader.Call("PING"); // behind what the last of them has told
        reader.Pushes.Clear();
        string longest = new('x', 129_000);
        Assert.That((reader.Call("GET", longest), reader.Call("PING"), reader.Pushes.Single()), Is.EqualTo(("nil", "PONG", $"[invalidate [{longest}]]")));
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.EqualTo(keys), "it takes nobody's place");
        reader.Call("CLIENT", "TRACKING", "OFF");
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.Zero);
    }

    [Test]
    public void A_hundred_thousand_keys_read_at_once_are_all_told()
    {
        const int Many = 100_000;
        using var server = new EmbeddedServer();
        using var reader = new TestClient(server.Server.Port);
        using var writer = new TestClient(server.Server.Port);
        reader.Call("HELLO", "3");
        reader.Call("CLIENT", "TRACKING", "ON");
        string[] keys = [.. Enumerable.Range(0, Many).Select(static i => "key:" + i)];
        reader.Call(["MGET", .. keys]);
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.EqualTo(Many));
        writer.Call(["MSET", .. keys.SelectMany(static key => new[] { key, "v" })]);
        HashSet<string> told = [];
        while (told.Count < Many) told.Add(reader.Read());
        Assert.That(told.SetEquals(keys.Select(static key => $"[invalidate [{key}]]")));
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.Zero);
    }

    [Test]
    public void A_hundred_thousand_prefixes_tell_what_begins_with_them()
    {
        const int Many = 100_000;
        using var server = new EmbeddedServer();
        using var listener = new TestClient(server.Server.Port);
        using var other = new TestClient(server.Server.Port);
        using var writer = new TestClient(server.Server.Port);
        foreach (TestClient client in new[] { listener, other }) client.Call("HELLO", "3");
        Assert.That(listener.Call(["CLIENT", "TRACKING", "ON", "BCAST", .. Enumerable.Range(0, Many).SelectMany(static i => new[] { "PREFIX", $"p{i}:" })]), Is.EqualTo("OK"));
        Assert.That(listener.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "p7:x"), Does.Contain("overlaps with an existing prefix 'p7:'"));
        Assert.That(listener.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "p5"), Does.Contain("overlaps with an existing prefix 'p5"));
        for (int i = 0; i < 300; i++) Assert.That(listener.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", $"q{i}:"), Is.EqualTo("OK"));
        other.Call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "p77");
        Assert.That(server.Server.Context.Observers.Tracker.PrefixCount, Is.EqualTo(Many + 301));
        writer.Call("MSET", "p77:a", "1", "p77:b", "1", "p", "1", "q299:x", "1", "z", "1", "p99999:", "1");
        Assert.That(new[] { listener.Read(), listener.Read(), listener.Read() }, Is.EqualTo(new[] { "[invalidate [p77:a p77:b]]", "[invalidate [p99999:]]", "[invalidate [q299:x]]" }));
        Assert.That(other.Read(), Is.EqualTo("[invalidate [p77:a p77:b]]"));
        listener.Call("CLIENT", "TRACKING", "OFF");
        Assert.That(server.Server.Context.Observers.Tracker.PrefixCount, Is.EqualTo(1));
        other.Call("RESET");
        Assert.That(server.Server.Context.Observers.Tracker.PrefixCount, Is.Zero);
    }

    [Test]
    public void A_thousand_clients_are_told_of_a_key()
    {
        using var server = new EmbeddedServer();
        using var writer = new TestClient(server.Server.Port);
        TestClient[] readers = [.. Enumerable.Range(0, 1000).Select(_ => new TestClient(server.Server.Port))];
        foreach (TestClient reader in readers)
        {
            reader.Call("HELLO", "3");
            reader.Call("CLIENT", "TRACKING", "ON");
            reader.Call("GET", "k");
        }

        Assert.That((server.Server.Context.Observers.Tracker.Clients, server.Server.Context.Observers.Tracker.Keys, server.Server.Context.Observers.Tracker.Items), Is.EqualTo((1000, 1L, 1000L)));
        writer.Call("SET", "k", "v");
        foreach (TestClient reader in readers) Assert.That(reader.Read(), Is.EqualTo("[invalidate [k]]"));
        writer.Call("FLUSHALL");
        foreach (TestClient reader in readers)
        {
            Assert.That(reader.Read(), Is.EqualTo("[invalidate nil]"));
            reader.Dispose();
        }
    }

    [Test]
    public void Who_does_not_read_what_he_is_told_is_closed_at_his_limit()
    {
        using var server = new EmbeddedServer();
        using var slow = new TestClient(server.Server.Port);
        using var writer = new TestClient(server.Server.Port);
        slow.Call("HELLO", "3");
        slow.Call("CLIENT", "TRACKING", "ON", "BCAST");
        writer.Call("CONFIG", "SET", "client-output-buffer-limit", "normal 1048576 0 0");
        string[][] commands = [.. Enumerable.Range(0, 1000).Select(static i => new[] { "SET", $"key:{i}:{new string('x', 100)}", "v" })];
        int written = 0;
        while (server.Server.Context.Observers.Tracker.Clients > 0 && written < 1_000_000)
        {
            writer.Pipeline(1, commands);
            written += commands.Length;
        }

        Assert.That(server.Server.Context.Observers.Tracker.Clients, Is.Zero, "it holds what a million keys are called");
        Assert.That(writer.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void Clients_of_a_replica_are_told_what_the_primary_changes_and_that_it_is_emptied()
    {
        using EmbeddedServer primary = new();
        using var writer = new TestClient(primary.Server.Port);
        writer.Call("SET", "k", "1");
        using EmbeddedServer replica = Replication.ReplicaGroup.ReplicaOf(primary.Server.Port);
        Replication.ReplicaGroup.CatchUp(replica, primary);
        using TestClient reader = new(replica.Server.Port), listener = new(replica.Server.Port);
        foreach (TestClient client in new[] { reader, listener }) client.Call("HELLO", "3");
        reader.Call("CLIENT", "TRACKING", "ON");
        listener.Call("CLIENT", "TRACKING", "ON", "BCAST");
        Assert.That(reader.Call("GET", "k"), Is.EqualTo("1"));
        foreach (string[] command in new[] { new[] { "SET", "k", "2" }, ["PEXPIREAT", "k", "1"] })
        {
            writer.Call(command);
            Assert.That((reader.Read(), listener.Read()), Is.EqualTo(("[invalidate [k]]", "[invalidate [k]]")));
            reader.Call("GET", "k");
        }

        foreach (string flush in new[] { "FLUSHALL", "FLUSHDB", "SWAPDB 0 1" })
        {
            writer.Call("SET", "k", "3");
            Assert.That((reader.Read(), listener.Read()), Is.EqualTo(("[invalidate [k]]", "[invalidate [k]]")));
            Assert.That(reader.Call("GET", "k"), Is.EqualTo("3"));
            writer.Call(flush.Split(' '));
            Assert.That((reader.Read(), listener.Read()), Is.EqualTo(("[invalidate nil]", "[invalidate nil]")));
            Assert.That(reader.Call("GET", "k"), Is.EqualTo("nil"));
        }
    }

    [Test]
    public void Who_swaps_databases_tells_everybody_that_what_he_holds_is_worth_nothing()
    {
        using var server = new EmbeddedServer();
        using TestClient writer = new(server.Server.Port), reader = new(server.Server.Port), listener = new(server.Server.Port);
        foreach (TestClient client in new[] { reader, listener }) client.Call("HELLO", "3");
        reader.Call("CLIENT", "TRACKING", "ON");
        listener.Call("CLIENT", "TRACKING", "ON", "BCAST");
        foreach (string[][] commands in new[] { new[] { new[] { "SWAPDB", "0", "1" } }, [["MULTI"], ["SWAPDB", "0", "1"], ["EXEC"]], [["EVAL", "redis.call('SWAPDB', 0, 1)", "0"]] })
        {
            reader.Call("GET", "k");
            writer.Call("SWAPDB", "0", "0"); // changes nothing
            foreach (string[] command in commands) writer.Call(command);
            Assert.That((reader.Read(), listener.Read()), Is.EqualTo(("[invalidate nil]", "[invalidate nil]")));
        }

        Assert.That((reader.Pushes.Count, listener.Pushes.Count, server.Server.Context.Observers.Tracker.Keys), Is.EqualTo((0, 0, 0L)));
    }

    [Test]
    public void Of_a_key_that_is_renamed_the_old_name_is_told_first([Values] bool replaces, [Values("RENAME", "RENAMENX")] string command)
    {
        if (replaces && command == "RENAMENX") return; // does nothing
        using var server = new EmbeddedServer();
        using TestClient writer = new(server.Server.Port), reader = new(server.Server.Port);
        reader.Call("HELLO", "3");
        writer.Call("SET", "old", "1");
        if (replaces) writer.Call("SET", "new", "2");
        reader.Call("CLIENT", "TRACKING", "ON");
        reader.Call("MGET", "new", "old");
        writer.Call(command, "old", "new");
        Assert.That((reader.Read(), reader.Read()), Is.EqualTo(("[invalidate [old]]", "[invalidate [new]]")));
    }

    [Test]
    public void Of_a_script_that_only_reads_the_keys_are_remembered_that_it_has_read()
    {
        using var server = new EmbeddedServer();
        using var reader = new TestClient(server.Server.Port);
        reader.Call("HELLO", "3");
        reader.Call("CLIENT", "TRACKING", "ON", "NOLOOP");
        reader.Call("EVAL_RO", "return redis.call('GET', KEYS[2])", "2", "given", "read");
        Assert.That(server.Server.Context.Observers.Tracker.Keys, Is.EqualTo(1));
    }

    private static void Write(int port, int seed)
    {
        using var client = new TestClient(port);
        var random = new Random(seed);
        for (int i = 0; i < WritesEach; i++)
        {
            string key = "key" + random.Next(Keys);
            switch (random.Next(8))
            {
                case 0:
                    client.Call("DEL", key);
                    break;
                case 1:
                    client.Call("MSET", key, "m" + i, "key" + random.Next(Keys), "m" + i);
                    break;
                case 2 when i % 400 == 0:
                    client.Call("FLUSHALL");
                    break;
                default:
                    client.Call("SET", key, seed.ToString(CultureInfo.InvariantCulture) + ":" + i);
                    break;
            }
        }
    }

    private static Dictionary<string, string> ReadUntil(int port, string mode, int seed, CancellationToken stop)
    {
        var cache = new Dictionary<string, string>();
        using var client = new TestClient(port);
        client.OnPush = message => Forget(cache, message);
        client.Call("HELLO", "3");
        if (mode.Length > 0) client.Call("CLIENT", "TRACKING", "ON", mode);
        else client.Call("CLIENT", "TRACKING", "ON");
        var random = new Random(seed + 100);
        while (!stop.IsCancellationRequested)
        {
            string key = "key" + random.Next(Keys);
            if (cache.ContainsKey(key)) client.Call("PING");
            else Keep(cache, client, key);
        }

        for (int i = 0; i < Keys; i++)
            if (!cache.ContainsKey("key" + i)) Keep(cache, client, "key" + i);
        for (int i = 0; i < 3; i++) client.Call("PING"); // what is under way arrives before the second answer
        return cache;
    }

    // In broadcast mode a message may come between the request and its reply: the reply is then not kept, as clients do it.
    private static void Keep(Dictionary<string, string> cache, TestClient client, string key)
    {
        cache[key] = "asked";
        string value = client.Call("GET", key);
        if (cache.ContainsKey(key)) cache[key] = value;
    }

    private static void Forget(Dictionary<string, string> cache, string message)
    {
        if (message == "[invalidate nil]") cache.Clear();
        else
            foreach (string key in message[("[invalidate [".Length)..^2].Split(' ')) cache.Remove(key);
    }
}

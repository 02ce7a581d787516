using System.Globalization;
using Garnet.Server.Test.Net;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Commands that read many values on the tier, or any: they are put off meanwhile, keep the order of their connection, and count once.</summary>
internal sealed class TieredWalkTests
{
    private const int Keys = 3000;
    private string _path = "";

    [SetUp]
    public void Make() => _path = Directory.CreateTempSubdirectory("garnet-walk").FullName;

    [TearDown]
    public void Remove() => Directory.Delete(_path, recursive: true);

    [Test]
    public void KEYS_is_put_off_wherever_it_comes_to_the_tier_and_goes_on_there()
    {
        using var server = Cold();
        using var client = new TestClient(server.Server.Port);
        long before = Figure(client, "tier_postponed_commands");
        string[] replies = client.Pipeline(1, ["KEYS", "*"], ["SET", "behind", "it"], ["KEYS", "key:1*"], ["GET", "behind"]);
        Assert.That(replies[0].Trim('[', ']').Split(' '), Is.EquivalentTo(Enumerable.Range(0, Keys).Select(static i => $"key:{i}")));
        Assert.That(replies[2].Trim('[', ']').Split(' '), Is.EquivalentTo(Enumerable.Range(0, Keys).Select(static i => $"key:{i}").Where(static key => key[4] == '1')));
        Assert.That((replies[1], replies[3]), Is.EqualTo(("OK", "it")));
        Assert.That(Figure(client, "tier_postponed_commands") - before, Is.GreaterThan(2 * Keys / 200), "it waits for some dozens at a time");
    }

    [Test]
    public void In_a_transaction_and_in_a_script_KEYS_is_whole_too()
    {
        using var server = Cold();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("EVAL", "return #redis.call('KEYS', '*')", "0"), Is.EqualTo($"{Keys}"));
        client.Call("MULTI");
        client.Call("KEYS", "*");
        Assert.That(client.Call("EXEC").Trim('[', ']').Split(' '), Has.Length.EqualTo(Keys));
    }

    [TestCase("transaction")]
    [TestCase("script")]
    [TestCase("function")]
    public void SCAN_RANDOMKEY_and_DBSIZE_over_the_tier_answer_as_in_memory_also_in_a(string kind)
    {
        const int Hashes = 40;
        using var server = Cold();
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < Hashes; i++)
        {
            client.Call("HSET", $"hash:{i}", "field", "value");
            Assert.That(client.Call("TIER.DEMOTE", $"hash:{i}"), Is.EqualTo("1"));
        }
        client.Call("FUNCTION", "LOAD", "#!lua name=walks\nredis.register_function{function_name='run',callback=function(keys, args) return redis.call(unpack(args)) end,flags={'no-writes'}}");
        string Call(params string[] words)
        {
            if (kind == "script")
                return client.Call(["EVAL", "return redis.call(unpack(ARGV))", "0", .. words]);
            if (kind == "function")
                return client.Call(["FCALL", "run", "0", .. words]);
            client.Call("MULTI");
            client.Call(words);
            return client.Call("EXEC")[1..^1];
        }
        string[] Walk(params string[] terms)
        {
            List<string> seen = [];
            string cursor = "0";
            do
            {
                string[] reply = Call(["SCAN", cursor, "COUNT", "100", .. terms]).Split(' ', 2);
                cursor = reply[0].Trim('[', ']');
                seen.AddRange(reply[1].Trim('[', ']').Split(' ', StringSplitOptions.RemoveEmptyEntries));
            }
            while (cursor != "0");
            return [.. seen];
        }
        string[] strings = [.. Enumerable.Range(0, Keys).Select(static i => $"key:{i}")], hashes = [.. Enumerable.Range(0, Hashes).Select(static i => $"hash:{i}")];
        Assert.That(Walk(), Is.EquivalentTo((string[])[.. strings, .. hashes]));
        Assert.That(Walk("TYPE", "hash"), Is.EquivalentTo(hashes));
        Assert.That(Walk("TYPE", "string", "MATCH", "key:12*"), Is.EquivalentTo(strings.Where(static key => key.StartsWith("key:12", StringComparison.Ordinal))));
        Assert.That(Walk("TYPE", "hash", "MATCH", "key:*"), Is.Empty);
        Assert.That(Call("DBSIZE"), Is.EqualTo($"{Keys + Hashes}"));
        Assert.That(Enumerable.Range(0, 20).Select(_ => Call("RANDOMKEY")).ToHashSet(), Is.SubsetOf((string[])[.. strings, .. hashes]));
        Assert.That(Figure(client, "tier_cold_records"), Is.GreaterThan((Keys + Hashes) / 2), "it was read where it lies, and stayed");
    }

    // What is read ahead of a walk is no more than is kept until its turn, or it is read again and again.
    [TestCase("KEYS")]
    [TestCase("SCAN")]
    [TestCase("KEYS in EXEC")]
    [TestCase("KEYS in EVAL")]
    public void A_walk_reads_each_long_value_once(string way)
    {
        const int Long = 40;
        using var server = new EmbeddedServer(clock: new TestClock(), adjust: settings => // what was read is kept for a tenth of a second, which a busy machine may take
        {
            settings.Memory.MaxMemoryBytes = 64 << 20;
            (settings.Tier.Path, settings.Tier.SizeBytes, settings.Tier.Promotion) = (_path, 256 << 20, Tsavorite.TierPromotion.No);
        });
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 3 << 20);
        for (int i = 0; i < Long; i++)
        {
            client.Call("SET", $"long:{i}", value);
            Assert.That(client.Call("TIER.DEMOTE", $"long:{i}"), Is.EqualTo("1"));
        }
        long before = Figure(client, "tier_reads");
        Assert.That(Names(client, way), Is.EquivalentTo(Enumerable.Range(0, Long).Select(static i => $"long:{i}")));
        Assert.That(Figure(client, "tier_reads") - before, Is.EqualTo(Long));
    }

    private static List<string> Names(TestClient client, string way)
    {
        if (way == "KEYS")
            return [.. client.Call("KEYS", "*").Trim('[', ']').Split(' ')];
        if (way == "KEYS in EVAL")
            return [.. client.Call("EVAL", "return redis.call('KEYS', '*')", "0").Trim('[', ']').Split(' ')];
        if (way == "KEYS in EXEC")
            return [.. client.Pipeline(1, ["MULTI"], ["KEYS", "*"], ["EXEC"])[2].Trim('[', ']').Split(' ')];
        List<string> names = [];
        string cursor = "0";
        do
        {
            string[] reply = client.Call("SCAN", cursor).Split(' ', 2);
            cursor = reply[0].Trim('[', ']');
            names.AddRange(reply[1].Trim('[', ']').Split(' ', StringSplitOptions.RemoveEmptyEntries));
        }
        while (cursor != "0");
        return names;
    }

    [Test]
    public void Many_KEYS_at_a_time_are_whole_too()
    {
        using var server = Cold();
        TestClient[] clients = [.. Enumerable.Range(0, 20).Select(_ => new TestClient(server.Server.Port))];
        long before = Figure(clients[0], "tier_postponed_commands"), waits = Figure(clients[0], "tier_waits");
        foreach (TestClient client in clients) client.Send("KEYS", "*");
        foreach (TestClient client in clients) Assert.That(client.Read().Trim('[', ']').Split(' '), Is.Unique.And.Length.EqualTo(Keys));
        Assert.That(Figure(clients[0], "tier_waits") - waits, Is.Zero, "the core waits for none of them");
        // What one has read another finds; so how often each is put off goes by who runs when.
        Assert.That(Figure(clients[0], "tier_postponed_commands") - before, Is.GreaterThanOrEqualTo(clients.Length), "each is put off, however many there are");
        foreach (TestClient client in clients) client.Dispose();
    }

    [Test]
    public void RANDOMKEY_is_put_off()
    {
        const int Calls = 50;
        using var server = Cold();
        using var client = new TestClient(server.Server.Port);
        long before = Figure(client, "tier_postponed_commands");
        HashSet<string> seen = [.. Enumerable.Range(0, Calls).Select(_ => client.Call("RANDOMKEY"))];
        Assert.That((seen.All(static key => key.StartsWith("key:", StringComparison.Ordinal)), seen.Count > Calls / 2), Is.EqualTo((true, true)));
        Assert.That(Figure(client, "tier_postponed_commands") - before, Is.GreaterThan(Calls / 2));
    }

    [Test]
    public void TIER_PROMOTE_of_a_large_key_is_put_off_for_each_part()
    {
        const int Fields = 60_000, TriesMax = 3;
        using var server = Cold();
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 300);
        foreach (int[] some in Enumerable.Range(0, Fields).Chunk(2000))
            client.Call(["HSET", "large", .. some.SelectMany(i => (string[])[$"f{i}", value])]);
        Assert.That(int.Parse(client.Call("TIER.DEMOTE", "large"), CultureInfo.InvariantCulture), Is.GreaterThan((TriesMax + 1) * 1024));
        long before = Figure(client, "tier_postponed_commands");
        Assert.That(client.Call("TIER.PROMOTE", "large"), Is.EqualTo("OK"));
        Assert.That(Figure(client, "tier_postponed_commands") - before, Is.GreaterThan(TriesMax));
        Assert.That(client.Call("TIER.WHERE", "large"), Does.Contain("chunks_tier 0"));
    }

    [Test]
    public void A_client_that_leaves_in_the_middle_of_KEYS_is_none_of_the_others_business()
    {
        using var server = Cold();
        for (int i = 0; i < 20; i++)
        {
            using var leaver = new TestClient(server.Server.Port);
            leaver.Send("KEYS", "*");
        }
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("KEYS", "*").Trim('[', ']').Split(' '), Has.Length.EqualTo(Keys));
    }

    [Test]
    public void What_is_put_off_counts_its_hits_and_misses_once()
    {
        const int Asked = 2000;
        using var server = Cold();
        using var client = new TestClient(server.Server.Port);
        (long hits, long misses) = (Figure(client, "keyspace_hits"), Figure(client, "keyspace_misses"));
        client.Call(["MGET", "none", .. Enumerable.Range(0, Asked).Select(static i => $"key:{i}"), "neither"]);
        Assert.That((Figure(client, "keyspace_hits") - hits, Figure(client, "keyspace_misses") - misses), Is.EqualTo((Asked, 2)));
        client.Call(["EXISTS", "none", .. Enumerable.Range(Asked, Keys - Asked).Select(static i => $"key:{i}")]);
        Assert.That((Figure(client, "keyspace_hits") - hits, Figure(client, "keyspace_misses") - misses), Is.EqualTo((Keys, 3)));
    }

    // Together they go through more than a command may gather, none of them does.
    [TestCase("GET", 700, 120_000)]
    [TestCase("HGETALL", 20, 4_000_000)]
    public void A_script_may_go_through_more_of_the_tier_than_one_command(string command, int keys, int bytes)
    {
        const int FieldBytes = 1000;
        using var server = new EmbeddedServer(clock: new TestClock(), adjust: settings =>
        {
            settings.Memory.MaxMemoryBytes = 24 << 20;
            (settings.Tier.Path, settings.Tier.SizeBytes, settings.Tier.Promotion) = (_path, 256 << 20, TierPromotion.No);
        });
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < keys; i++)
        {
            if (command == "GET")
                client.Call("SET", $"key:{i}", new string('v', bytes));
            else
                client.Call(["HSET", $"key:{i}", .. Enumerable.Range(0, bytes / FieldBytes).SelectMany(static i => (string[])[$"field {i}", new string('v', FieldBytes)])]);
            Assert.That(client.Call("TIER.DEMOTE", $"key:{i}"), Is.Not.EqualTo("0"));
        }
        string script = $"local all = 0\nfor i = 0, {keys - 1} do all = all + #redis.call('{command}', 'key:' .. i) end\nreturn all";
        int each = command == "GET" ? bytes : bytes / FieldBytes * 2;
        Assert.That(client.Call("EVAL", script, "0"), Is.EqualTo($"{keys * each}"));
        Assert.That(Figure(client, "tier_waits"), Is.GreaterThanOrEqualTo(keys), "nobody knew before which keys it would name");
    }

    // A copy of what was found until then is what whoever asked for it frees.
    [TestCase(SetOperation.Intersection)]
    [TestCase(SetOperation.Difference)]
    public void What_several_sets_have_in_common_is_owned_though_the_step_is_put_off_midway(SetOperation operation)
    {
        const int Members = 5000;
        using var server = Cold();
        using var client = new TestClient(server.Server.Port);
        client.Call(["SADD", "set", .. Enumerable.Range(0, Members).Select(static i => $"member {i}".PadRight(60, 'm'))]);
        client.Call("COPY", "set", "other");
        if (operation == SetOperation.Difference)
            client.Call("DEL", "other");
        client.Call("TIER.DEMOTE", "set");
        int found = 0;
        for (int waits = 0; found == 0 && TryPutOff(server, operation, waits, out found); waits++) { }
        Assert.That(found, Is.GreaterThan(0).And.LessThan(Members), "some time it had come to a part of them");
    }

    // False if it came to its end without being put off.
    private static unsafe bool TryPutOff(EmbeddedServer server, SetOperation operation, int waits, out int found)
    {
        using StoreSession session = server.Server.Store.OpenSession();
        int asked = 0;
        session.Tier!.MayPostpone = () => ++asked > waits; // before that it waits where it is
        uint ns = server.Server.Store.Namespaces.Id(0);
        fixed (byte* names = "setother"u8)
        {
            KeyRef[] keys = [server.Server.Store.Key(names, 3, ns), server.Server.Store.Key(names + 3, 5, ns)];
            using var algebra = new MemberAlgebra(session, keys, operation);
            session.Lock(keys);
            bool isPutOff = false;
            try
            {
                algebra.TryRun();
            }
            catch (ColdMissException)
            {
                isPutOff = true;
            }
            session.Unlock();
            if (isPutOff)
                session.Tier.GiveUp(session.Tier.TakeWanted());
            found = algebra.Found().Count;
            return isPutOff;
        }
    }

    // A server all of whose keys lie on its tier.
    private EmbeddedServer Cold()
    {
        var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Memory.MaxMemoryBytes = 64 << 20;
            (settings.Tier.Path, settings.Tier.SizeBytes) = (_path, 64 << 20);
        });
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 100);
        foreach (int[] some in Enumerable.Range(0, Keys).Chunk(500))
            client.Call(["MSET", .. some.SelectMany(i => (string[])[$"key:{i}", value])]);
        client.Pipeline(1, [.. Enumerable.Range(0, Keys).Select(static i => (string[])["TIER.DEMOTE", $"key:{i}"])]);
        Assert.That(Figure(client, "tier_cold_records"), Is.EqualTo(Keys));
        return server;
    }

    private static long Figure(TestClient client, string name) => long.Parse(
        client.Call("INFO", "everything").Split(name + ":")[1].Split('\r')[0], CultureInfo.InvariantCulture);
}

using System.Globalization;
using Garnet.Common.Test;

namespace Garnet.Server.Test;

/// <summary>
/// SCAN, HSCAN, SSCAN, ZSCAN and KEYS while what they walk over goes to the tier and comes back, by a seed: keys and elements that are there from the
/// beginning to the end are answered, none is that was never there, a value is its field's own, and the walk ends.
/// </summary>
internal sealed class TieredScanTests
{
    private const int Stay = 400, Come = 1200, Rounds = 6, RoundsOfOnePage = 60, ChangesMax = 40, CallsMax = 5_000;
    private string _path = "";

    [SetUp]
    public void Make() => _path = Directory.CreateTempSubdirectory("garnet-scan").FullName;

    [TearDown]
    public void Remove() => Directory.Delete(_path, recursive: true);

    [Test]
    public void All_that_stays_is_answered_whatever_moves_meanwhile([Values("HSCAN", "SSCAN", "ZSCAN", "SCAN", "KEYS")] string walk, [ValueSource(typeof(LongRun), nameof(LongRun.Seeds))] int seed)
    {
        TestContext.Out.WriteLine($"seed {seed}");
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Memory.MaxMemoryBytes = 64 << 20;
            (settings.Tier.Path, settings.Tier.SizeBytes) = (_path, 64 << 20);
        });
        using var client = new TestClient(server.Server.Port);
        var random = new Random(seed);
        HashSet<string> there = [];
        Change(client, walk, there, [.. Enumerable.Range(0, Stay).Select(static i => Name("stay", i))], adds: true);
        Move(client, walk, there, random, all: true);
        for (int round = 0; round < (walk == "KEYS" ? RoundsOfOnePage : Rounds); round++)
        {
            bool grows = round % 2 == 0;
            HashSet<string> ever = [.. there], seen = [];
            string cursor = "0";
            int calls = 0;
            do
            {
                (cursor, string[] page) = Page(client, walk, cursor, random);
                seen.UnionWith(page);
                int from = random.Next(Come);
                string[] some = [.. Enumerable.Range(from, random.Next(ChangesMax)).Select(static i => Name("come", i))];
                Change(client, walk, there, some, grows);
                Move(client, walk, there, random, all: random.Next(30) == 0);
                ever.UnionWith(there);
                Assert.That(++calls, Is.LessThan(CallsMax), $"seed {seed}: it ends");
            }
            while (cursor != "0");
            Assert.That(Enumerable.Range(0, Stay).Select(static i => Name("stay", i)).Except(seen), Is.Empty, $"seed {seed} round {round}: not answered");
            Assert.That(seen.Except(ever), Is.Empty, $"seed {seed} round {round}: never there");
        }

        long[] went = [.. ((string[])["demoted", "returned"]).Select(name => Figure(client, $"tier_{name}_records"))];
        Assert.That(went, Has.All.GreaterThan(20), "it went to and fro");
    }

    private static (string Cursor, string[] Names) Page(TestClient client, string walk, string cursor, Random random)
    {
        if (walk == "KEYS")
            return ("0", Names(walk, client.Call("KEYS", "*")));
        string count = random.Next(1, 40).ToString(CultureInfo.InvariantCulture);
        string[] reply = client.Call(walk == "SCAN" ? [walk, cursor, "COUNT", count] : [walk, "key", cursor, "COUNT", count]).Split(' ', 2);
        return (reply[0].Trim('['), Names(walk, reply[1]));
    }

    // Of fields and members with a value, those whose value is theirs; the others under a name that nobody has.
    private static string[] Names(string walk, string reply)
    {
        string[] words = reply.Trim('[', ']').Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return walk is not ("HSCAN" or "ZSCAN") ? words
            : [.. words.Chunk(2).Select(pair => pair[1] == Value(walk, pair[0]) ? pair[0] : $"{pair[0]} with {pair[1]}")];
    }

    // Long enough that a collection of them has some dozens of pieces.
    private static string Name(string kind, int number) => $"{kind}{number}".PadRight(60, '.');

    private static string Value(string walk, string name) => walk == "HSCAN" ? $"value-of-{name}" : name[4..].TrimEnd('.');

    private static void Change(TestClient client, string walk, HashSet<string> there, string[] names, bool adds)
    {
        if (names.Length == 0)
            return;
        string[] words = (walk, adds) switch
        {
            ("HSCAN", true) => ["HSET", "key", .. names.SelectMany(name => (string[])[name, Value(walk, name)])],
            ("HSCAN", false) => ["HDEL", "key", .. names],
            ("SSCAN", _) => [adds ? "SADD" : "SREM", "key", .. names],
            ("ZSCAN", true) => ["ZADD", "key", .. names.SelectMany(name => (string[])[Value(walk, name), name])],
            ("ZSCAN", false) => ["ZREM", "key", .. names],
            (_, true) => ["MSET", .. names.SelectMany(static name => (string[])[name, $"value-of-{name}"])],
            _ => ["DEL", .. names],
        };
        client.Call(words);
        if (adds) there.UnionWith(names);
        else there.ExceptWith(names);
    }

    // A collection as a whole, of which some pieces come back when they are changed; or some of the keys.
    private static void Move(TestClient client, string walk, HashSet<string> there, Random random, bool all)
    {
        bool hasOneKey = walk is "HSCAN" or "SSCAN" or "ZSCAN";
        string[] keys = hasOneKey ? ["key"] : all ? [.. there] : [.. there.Where(_ => random.Next(50) == 0)];
        string move = !all && random.Next(3) == 0 ? "TIER.PROMOTE" : "TIER.DEMOTE";
        client.Pipeline(1, [.. keys.Select(key => (string[])[move, key])]);
    }

    private static long Figure(TestClient client, string name) => long.Parse(
        client.Call("INFO", "everything").Split(name + ":")[1].Split('\r')[0], CultureInfo.InvariantCulture);
}

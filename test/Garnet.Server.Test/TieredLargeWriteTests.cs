using System.Diagnostics;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Large writes beside a tier, where nothing may be evicted: each is answered before its patience is over, with all of it or nothing.</summary>
internal sealed class TieredLargeWriteTests
{
    // Below what a write waits for room at most, which is what a write must not come to.
    private static readonly TimeSpan Promptly = TimeSpan.FromSeconds(8);
    private string _path = "";

    [SetUp]
    public void Make() => _path = Directory.CreateTempSubdirectory("garnet-tiered-large").FullName;

    [TearDown]
    public void Remove() => Directory.Delete(_path, recursive: true);

    [TestCase(100_000, 130_000)]
    [TestCase(100_000, 160_000)]
    [TestCase(120_000, 100_000)]
    public void A_write_to_a_large_key_on_the_tier_is_answered_though_what_is_dead_lies_thin(int keys, int more)
    {
        const int Fields = 20_000, DeadEvery = 11;
        using var server = Server(64 << 20, 256 << 20);
        using var client = new TestClient(server.Server.Port);
        string field = new('f', 100), value = new('v', 400);
        Assert.That(client.Call(["HSET", "k", .. Pairs("a", Fields, field)]), Is.EqualTo($"{Fields}"));
        foreach (int[] some in Enumerable.Range(0, keys).Chunk(1000))
            Assert.That(client.Call(["MSET", .. some.SelectMany(i => (string[])[$"s{i}", value])]), Is.EqualTo("OK"));
        client.Call(["DEL", .. Enumerable.Range(0, keys / DeadEvery).Select(static i => $"s{i * DeadEvery}")]);
        client.Call("TIER.DEMOTE", "k");
        string reply = Timed(client, ["HSET", "k", .. Pairs("b", more, field)]);
        Assert.That(reply, Is.EqualTo($"{more}").Or.StartsWith("OOM"));
        Assert.That(client.Call("HLEN", "k"), Is.EqualTo($"{Fields + (reply == $"{more}" ? more : 0)}"));
    }

    [Test]
    public void A_write_about_as_large_as_the_limit_is_answered_at_once([Values] bool isFilled)
    {
        const int Limit = 24 << 20, Bytes = 1000, Keys = 40_000, Step = 256 << 10;
        using var server = Server(Limit, 256 << 20);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', Bytes);
        foreach (int[] some in Enumerable.Range(0, isFilled ? Keys : 0).Chunk(100))
            Assert.That(client.Call(["MSET", .. some.SelectMany(i => (string[])[$"s{i}", value])]), Is.EqualTo("OK"));
        int refused = 0, written = 0;
        for (int bytes = Limit * 5 / 8; bytes < Limit * 7 / 8; bytes += Step)
        {
            string reply = Timed(client, ["HSET", "large", .. Pairs("f", bytes / Bytes, value)]);
            Assert.That(reply, Is.EqualTo($"{bytes / Bytes}").Or.StartsWith("OOM"));
            Assert.That(client.Call("HLEN", "large"), Is.EqualTo(reply.StartsWith("OOM", StringComparison.Ordinal) ? "0" : reply));
            _ = client.Call("DEL", "large") == "1" ? written++ : refused++;
        }
        Assert.That((written > 0, refused > 0), Is.EqualTo((true, true)));
    }

    // What they change comes back from the tier first, and grows.
    [TestCase("HSET", "HPEXPIRE", "k", "100000000", "FIELDS")]
    [TestCase("HSET", "HGETEX", "k", "PX", "100000000", "FIELDS")]
    [TestCase("HSET", "HPERSIST", "k", "FIELDS")]
    [TestCase("ZADD", "ZPEXPIRE", "k", "100000000", "MEMBERS")]
    public void Many_entries_on_the_tier_get_times_where_memory_is_full(string add, params string[] command)
    {
        const int Entries = 40_000, Keys = 60_000, Rounds = 4;
        using var server = Server(32 << 20, 512 << 20);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 100), large = new('x', 1000);
        foreach (int[] some in Enumerable.Range(0, Entries).Chunk(2000))
            client.Call([add, "k", .. some.SelectMany(i => add == "HSET" ? (string[])[$"f{i}", value] : [$"{i}", $"f{i}"])]);
        foreach (int[] some in Enumerable.Range(0, Keys).Chunk(100))
            Assert.That(client.Call(["MSET", .. some.SelectMany(i => (string[])[$"s{i}", large])]), Is.EqualTo("OK"));
        if (command[0] == "HPERSIST")
            client.Call(["HPEXPIRE", "k", "100000000", "FIELDS", $"{Entries}", .. Enumerable.Range(0, Entries).Select(static i => $"f{i}")]);
        for (int round = 0; round < Rounds; round++)
        {
            client.Call("TIER.DEMOTE", "k");
            string[] names = [.. Enumerable.Range(0, Entries).Where(i => i % Rounds == round).Select(static i => $"f{i}")];
            Assert.That(Timed(client, [.. command, $"{names.Length}", .. names]), Does.Not.StartWith("OOM").And.Not.StartWith("ERR"));
        }
    }

    // They come back to memory to be changed, and together they are more than it.
    [TestCase("HPEXPIRE", "k", "100000000", "FIELDS")]
    [TestCase("HGETEX", "k", "PX", "100000000", "FIELDS")]
    public void Entries_larger_than_memory_get_no_time_at_all(params string[] command)
    {
        const int Entries = 30_000;
        using var server = Server(32 << 20, 512 << 20);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 2000);
        foreach (int[] some in Enumerable.Range(0, Entries).Chunk(500))
            Assert.That(client.Call(["HSET", "k", .. some.SelectMany(i => (string[])[$"f{i}", value])]), Is.EqualTo("500"));
        client.Call("TIER.DEMOTE", "k");
        string[] names = [.. Enumerable.Range(0, Entries).Select(static i => $"f{i}")];
        Assert.That(client.Call([.. command, $"{names.Length}", .. names]), Does.StartWith("OOM"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"), "one answer has come");
        foreach (string[] some in names.Chunk(1000))
            Assert.That(client.Call(["HPTTL", "k", "FIELDS", $"{some.Length}", .. some]), Does.Match(@"^\[(-1 ?)+\]$"));
    }

    // Nothing of it has to be in memory at a time: what goes is taken piece by piece, and what nothing becomes of is only looked at.
    [TestCase("2", "HPEXPIREAT", "k", "1", "FIELDS")]
    [TestCase("v+", "HGETEX", "k", "PXAT", "1", "FIELDS")]
    [TestCase("-1", "HPERSIST", "k", "FIELDS")]
    [TestCase("0", "HPEXPIRE", "k", "100000000", "XX", "FIELDS")]
    [TestCase("v+", "HGETEX", "k", "PERSIST", "FIELDS")]
    public void Entries_larger_than_memory_go_or_stay_as_they_are(string each, params string[] command)
    {
        const int Entries = 24_000;
        using var server = Server(32 << 20, 512 << 20);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 2000);
        string[] names = [.. Enumerable.Range(0, Entries).Select(static i => $"f{i}")];
        foreach (string[] some in names.Chunk(500))
            Assert.That(client.Call(["HSET", "k", .. some.SelectMany(name => (string[])[name, value])]), Is.EqualTo("500"));
        client.Call("TIER.DEMOTE", "k");
        Assert.That(client.Call([.. command, $"{Entries}", .. names]), Does.Match($@"^\[({each} ?){{{Entries}}}\]$"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"), "one answer has come");
        Assert.That(client.Call("HLEN", "k"), Is.EqualTo(command.Contains("1") ? "0" : $"{Entries}"));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    // What it takes to memory to be removed there goes again meanwhile: what is dead does not stay to the end of the change.
    [TestCase("HSET", "HDEL", "k")]
    [TestCase("SADD", "SREM", "k")]
    [TestCase("ZADD", "ZREMRANGEBYRANK", "k", "5", "-5")]
    [TestCase("RPUSH", "LTRIM", "k", "-20", "-10")]
    [TestCase("XADD", "XTRIM", "k", "MAXLEN", "5")]
    public void What_removes_most_of_a_collection_larger_than_memory_takes_little_beyond_it(string add, params string[] command)
    {
        const int Entries = 40_000, Limit = 24 << 20;
        using var server = Server(Limit, 512 << 20);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 2000);
        string[] names = [.. Enumerable.Range(0, Entries).Select(i => add is "SADD" or "ZADD" or "RPUSH" ? $"{i}{value}" : $"f{i}")];
        foreach (int[] some in Enumerable.Range(0, Entries).Chunk(500))
        {
            if (add == "XADD")
                client.Pipeline(1, [.. some.Select(_ => (string[])["XADD", "k", "*", "f", value])]);
            else
                client.Call([add, "k", .. some.SelectMany(i => add switch { "HSET" => (string[])[names[i], value], "ZADD" => [$"{i}", names[i]], _ => [names[i]] })]);
        }

        client.Call("TIER.DEMOTE", "k");
        string[] removed = command[0] is "HDEL" or "SREM" ? names[5..] : [];
        Assert.That(client.Call([.. command, .. removed]), Does.Not.StartWith("ERR").And.Not.StartWith("OOM"));
        Assert.That(server.Server.Store.Figures().PeakBytes, Is.LessThan(Limit * 5L / 2));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    // All are looked at, and few of them change.
    [TestCase("HPEXPIRE", "k", "200000000", "XX", "FIELDS")]
    [TestCase("HPERSIST", "k", "FIELDS")]
    public void Few_of_entries_larger_than_memory_change(params string[] command)
    {
        const int Entries = 24_000, Every = 400;
        using var server = Server(32 << 20, 512 << 20);
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 2000);
        string[] names = [.. Enumerable.Range(0, Entries).Select(static i => $"f{i}")];
        string[] timed = [.. names.Where(static (_, i) => i % Every == 0)];
        foreach (string[] some in names.Chunk(500))
            client.Call(["HSET", "k", .. some.SelectMany(name => (string[])[name, value])]);
        client.Call(["HPEXPIRE", "k", "100000000", "FIELDS", $"{timed.Length}", .. timed]);
        client.Call("TIER.DEMOTE", "k");
        string reply = client.Call([.. command, $"{Entries}", .. names]);
        Assert.That(reply.Trim('[', ']').Split(' ').Count(static answer => answer == "1"), Is.EqualTo(timed.Length), reply[..Math.Min(reply.Length, 80)]);
    }

    private EmbeddedServer Server(long memoryBytes, long tierBytes) => new(adjust: settings =>
    {
        settings.Memory.MaxMemoryBytes = memoryBytes;
        (settings.Tier.Path, settings.Tier.SizeBytes) = (_path, tierBytes);
    });

    private static string Timed(TestClient client, string[] words)
    {
        long began = Stopwatch.GetTimestamp();
        string reply = client.Call(words);
        TimeSpan took = Stopwatch.GetElapsedTime(began);
        Assert.That(took, Is.LessThan(Promptly), reply);
        return reply;
    }

    private static IEnumerable<string> Pairs(string name, int count, string value) => Enumerable.Range(0, count).SelectMany(i => (string[])[$"{name}{i}", value]);
}

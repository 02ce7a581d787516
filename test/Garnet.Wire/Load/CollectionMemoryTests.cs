using System.Globalization;
using NUnit.Framework;

namespace Garnet.Wire.Load;

/// <summary>What collections take in memory, beside the reference in the same run.</summary>
[Parallelizable] // its servers are its own
internal sealed class CollectionMemoryTests
{
    private const int AtOnce = 500, GateEntries = 100_000, MeasuredEntries = 1_000_000, ValuesSeed = 5, RestMs = 20_000, LookMs = 600;
    private const double GateRatio = 0.75; // memory is taken in larger steps than entries: with more of them it comes to 0.65 and less

    // By kind: the command that adds entry i, and entries in one of them.
    private static readonly Dictionary<string, (Func<Random, int, string[]> Add, int EntriesEach)> s_kinds = new()
    {
        ["one hash"] = (static (random, i) => ["HSET", "h", $"field:{i}", Digits(random, 10)], 1),
        ["hashes of 10 fields"] = (static (random, i) =>
            ["HSET", $"user:{i}", .. Enumerable.Range(0, 10).SelectMany(field => (string[])[$"field{field}", Digits(random, 8)])], 10),
        ["one list"] = (static (random, _) => ["RPUSH", "l", Digits(random, 16)], 1),
        ["one set of integers"] = (static (_, i) => ["SADD", "s", Text(i * 7L)], 1),
        ["sets of 100 integers"] = (static (random, i) => ["SADD", $"s:{i / 100}", Text(random.Next(1_000_000_000))], 1),
        ["one set of strings"] = (static (_, i) => ["SADD", "s", $"member:{i:D9}"], 1),
        ["sorted sets of 100"] = (static (random, i) => ["ZADD", $"z:{i / 100}", Text(random.Next(1_000_000)), $"member:{i:D9}"], 1),
        ["one sorted set"] = (static (random, i) => ["ZADD", "z", Text(random.Next(1_000_000)), $"member:{i:D9}"], 1),
    };

    private ServerPair _pair = null!;

    private static string[] Kinds => [.. s_kinds.Keys];

    [OneTimeSetUp]
    public void Start() => _pair = new ServerPair();

    [OneTimeTearDown]
    public void Stop() => _pair?.Dispose();

    // Of the others some do not take less, and some cannot (RESULTS, memory of collections).
    [TestCase("one hash")]
    [TestCase("one set of integers")]
    [TestCase("one set of strings")]
    [TestCase("one sorted set")]
    public void An_entry_takes_clearly_less_than_in_the_reference(string kind) => Assert.That(Compare(kind, GateEntries), Is.LessThan(GateRatio));

    [TestCaseSource(nameof(Kinds)), Explicit("measures")]
    public void Measure(string kind) => Compare(kind, MeasuredEntries);

    private double Compare(string kind, int entries)
    {
        double reference = BytesEach(ServerSide.Redis, kind, entries), ours = BytesEach(ServerSide.Ours, kind, entries);
        TestContext.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"| {kind} | {ours:F1} | {reference:F1} | {ours / reference:F2} |"));
        return ours / reference;
    }

    private double BytesEach(ServerSide side, string kind, int entries)
    {
        using RespConnection client = new(_pair.Of(side).Address);
        client.Call("FLUSHALL");
        client.Call("SET", "warm", "v");
        AwaitRest(client);
        (Func<Random, int, string[]> add, int each) = s_kinds[kind];
        Random random = new(ValuesSeed);
        double before = InfoFigures.Memory(client);
        for (int i = 0; i < entries; i += AtOnce)
        {
            client.Send([.. Enumerable.Range(i, AtOnce).SelectMany(n => RespConnection.Encode(add(random, n)))]);
            for (int n = 0; n < AtOnce; n++) client.Read();
        }
        AwaitRest(client);
        double bytes = InfoFigures.Memory(client) - before;
        client.Call("FLUSHALL");
        return bytes / entries / each;
    }

    // What was flushed goes and what growth left behind is cleaned once nobody writes; movers look every half second at least.
    private static void AwaitRest(RespConnection client)
    {
        double last = double.MaxValue;
        Assert.That(() => (last, last = InfoFigures.Memory(client)) is var (then, now) && now >= then, Is.True.After(RestMs, LookMs));
    }

    private static string Digits(Random random, int count) => new(random.GetItems<char>("0123456789abcdef", count));

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}

using System.Globalization;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Differential;

/// <summary>Random commands must get the same bytes from both servers. GARNET_WIRE_SEED and GARNET_WIRE_COUNT choose the stream: with CI=true 550,000 steps.</summary>
[Parallelizable] // its servers are its own
internal sealed class DifferentialTests
{
    private const int DefaultCount = 5_000, CountInCi = 50_000, ResetEvery = 500, DifferencesMax = 25;

    private static int Seed { get; } = Read("GARNET_WIRE_SEED", 20_250_607);

    private static int Count { get; } = Read("GARNET_WIRE_COUNT", LongRun.IsWanted ? CountInCi : DefaultCount);

    private ServerPair _pair = null!;
    private Mirror _mirror = null!;

    [OneTimeSetUp]
    public void Start()
    {
        _pair = new ServerPair();
        _mirror = new Mirror();
    }

    [OneTimeTearDown]
    public void Stop()
    {
        _mirror?.Dispose();
        _pair?.Dispose();
    }

    [TearDown]
    public void AllAlike() => _mirror.Check();

    [Test]
    public void Random_commands_get_the_same_bytes([Values(2, 3)] int protocol)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using Twins twins = new(_pair.Redis.Address, _mirror.Address, KnownDifferences.Load(), protocol) { BeforeReset = _mirror.Check };
        CommandStream stream = new(Seed + protocol);
        List<string> differences = [];
        for (int i = 0; i < Count / 2 && differences.Count < DifferencesMax; i++)
        {
            if (i % ResetEvery == 0) twins.Reset();
            string? difference = twins.Differ(stream.Next());
            if (difference is null) continue;
            differences.Add(difference);
            twins.Reset();
        }
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");
    }

    /// <summary>The sizes up to which a collection lies in one record: nothing does, what is tiny does, as set by default.</summary>
    [Test]
    public void Random_commands_on_collections_get_the_same_replies([Values(2, 3)] int protocol, [Values(0, 100, 1024)] int packedBytes)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using RespConnection settings = new(_mirror.Address);
        using Twins twins = new(_pair.Redis.Address, _mirror.Address, KnownDifferences.Load(), protocol) { BeforeReset = _mirror.Check };
        settings.Call("CONFIG", "SET", "collection-packed-bytes", packedBytes.ToString(CultureInfo.InvariantCulture));
        CollectionStream stream = new(new Random(Seed + protocol + packedBytes));
        List<string> differences = [];
        for (int i = 0; i < Count / 2 && differences.Count < DifferencesMax; i++)
        {
            if (i % (2 * ResetEvery) == 0) twins.Reset();
            string? difference = twins.Differ(stream.Next());
            if (difference is null) continue;
            differences.Add(difference);
            twins.Reset();
        }
        settings.Call("CONFIG", "SET", "collection-packed-bytes", "1024");
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");
    }

    [Test]
    public void Random_commands_on_bits_get_the_same_bytes([Values(2, 3)] int protocol)
    {
        BitStream stream = new(new Random(Seed + protocol));
        Assert.That(Differences(protocol, Count / 4, stream.Next), Is.Empty, $"GARNET_WIRE_SEED={Seed}");
    }

    [Test]
    public void Random_commands_on_derived_types_get_the_same_bytes([Values(2, 3)] int protocol, [Values("loglog", "geo", "sort", "common")] string what)
    {
        DerivedStream stream = new(new Random(Seed + protocol));
        Func<string[]> next = what switch { "loglog" => stream.LogLog, "geo" => stream.Geo, "common" => stream.Common, _ => stream.Sort };
        Assert.That(Differences(protocol, Count / 8, next), Is.Empty, $"GARNET_WIRE_SEED={Seed}");
    }

    [Test]
    public void Random_commands_on_streams_get_the_same_bytes([Values(2, 3)] int protocol, [Values(3, 100)] int nodeEntries)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using Twins twins = new(_pair.Redis.Address, _mirror.Address, KnownDifferences.Load(), protocol) { BeforeReset = _mirror.Check };
        StreamStream stream = new(new Random(Seed + protocol + nodeEntries));
        List<string> differences = [];
        twins.Differ("CONFIG", "SET", "stream-node-max-entries", nodeEntries.ToString(CultureInfo.InvariantCulture));
        for (int i = 0; i < Count / 2 && differences.Count < DifferencesMax; i++)
        {
            string? difference = i % ResetEvery == 0 ? null : twins.Differ(stream.Next());
            if (difference is not null) differences.Add(difference);
            if (difference is null && i % ResetEvery != 0) continue;
            twins.Reset();
            stream.Reset();
            twins.Differ("SET", "str", "v");
        }
        twins.Differ("CONFIG", "SET", "stream-node-max-entries", "100");
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");
    }

    [Test]
    public void Random_scripts_get_the_same_bytes([Values(2, 3)] int protocol)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using Twins twins = new(_pair.Redis.Address, _mirror.Address, KnownDifferences.Load(), protocol) { BeforeReset = _mirror.Check };
        ScriptStream stream = new(Seed + protocol);
        List<string> differences = [];
        for (int i = 0; i < Count && differences.Count < DifferencesMax; i++)
        {
            if (i % ResetEvery == 0) twins.Reset();
            if (twins.Differ(stream.Next()) is not { } difference) continue;
            differences.Add(difference);
            twins.Reset();
        }
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");
    }

    [Test]
    public void Random_programs_take_the_same_course()
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        ProgramStream stream = new(Seed);
        Assert.That(Differences(2, Count / 2, stream.Next), Is.Empty, $"GARNET_WIRE_SEED={Seed}");
    }

    [Test]
    public void Random_transactions_of_two_clients_get_the_same_bytes([Values(2, 3)] int protocol)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        KnownDifferences known = KnownDifferences.Load();
        using Twins one = new(_pair.Redis.Address, _mirror.Address, known, protocol) { BeforeReset = _mirror.Check }, other = new(_pair.Redis.Address, _mirror.Address, known, protocol) { BeforeReset = _mirror.Check };
        TransactionStream stream = new(Seed + protocol);
        List<string> differences = [], story = [];
        for (int i = 0; i < Count / 2 && differences.Count < DifferencesMax; i++)
        {
            if (i % ResetEvery == 0) Reset();
            (bool first, string[] words) = stream.Next();
            story.Add($"{(first ? 'A' : 'B')} {string.Join(' ', words.Select(Quoted.Quote))}");
            string? difference = (first ? one : other).Differ(words);
            if (difference is null) continue;
            differences.Add($"{difference}\n  after:\n    {string.Join("\n    ", story.TakeLast(40))}");
            Reset();
        }
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");

        void Reset()
        {
            story.Clear();
            one.Reset();
            other.Reset();
        }
    }

    // Without x: when a key whose time has come is removed in the background is each server's own affair.
    [TestCase("g$lshzetdmnKE")]
    [TestCase("$mE")]
    public void Random_commands_and_transactions_tell_the_same_events(string classes)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        KnownDifferences known = KnownDifferences.Load();
        using Twins one = new(_pair.Redis.Address, _mirror.Address, known, 2) { BeforeReset = _mirror.Check }, other = new(_pair.Redis.Address, _mirror.Address, known, 2) { BeforeReset = _mirror.Check };
        using EventListener reference = new(_pair.Redis.Address, classes), ours = new(_mirror.Address, classes);
        TransactionStream stream = new(Seed);
        List<string> differences = [], story = [];
        for (int i = 0; i < Count / 4 && differences.Count < DifferencesMax; i++)
        {
            (bool first, string[] words) = stream.Next();
            if (words[0] == "SCAN") continue; // Redis calls an expired key that it walks over missed
            story.Add($"{(first ? 'A' : 'B')} {string.Join(' ', words.Select(Quoted.Quote))}");
            (first ? one : other).Differ(words); // the replies are another test's
            string wanted = reference.Heard(), got = ours.Heard();
            if (i % ResetEvery == 0 || wanted != got)
            {
                if (wanted != got) differences.Add($"reference\n      {wanted}\n    ours\n      {got}\n  after:\n    {string.Join("\n    ", story.TakeLast(20))}");
                one.Reset();
                other.Reset();
                story.Clear();
            }
        }
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");
    }

    // Without m: what a command that fails has looked for in vain is not told (a known difference).
    [Test]
    public void Random_commands_on_collections_tell_the_same_events()
    {
        CollectionStream stream = new(new Random(Seed));
        TellTheSame(Count / 4, "g$lshznKE", stream.Next, static name => name == "SCAN", reset: null, after: null);
    }

    // Not those of reads for a group that give nothing: whether they make a consumer, and tell of it, is a known difference.
    [Test]
    public void Random_commands_on_streams_tell_the_same_events()
    {
        StreamStream stream = new(new Random(Seed));
        string[][] consumers = [.. from key in new[] { "x1", "x2", "x3" } from name in new[] { "g1", "g2" } from consumer in new[] { "c1", "c2", "c3" } select (string[])["XGROUP", "CREATECONSUMER", key, name, consumer]];
        TellTheSame(Count / 8, "gtnKE", stream.Next, static _ => false, stream.Reset, name => name == "XGROUP" ? consumers : []);
    }

    // Sends both servers the same commands, and after each those that `after` names for it, and compares what their listeners hear.
    private void TellTheSame(int count, string classes, Func<string[]> next, Predicate<string> skips, Action? reset, Func<string, string[][]>? after)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using Twins twins = new(_pair.Redis.Address, _pair.Ours.Address, KnownDifferences.Load(), 2);
        using EventListener reference = new(_pair.Redis.Address, classes), ours = new(_pair.Ours.Address, classes);
        List<string> differences = [];
        for (int i = 0; i < count && differences.Count < DifferencesMax; i++)
        {
            string[] words = next();
            if (skips(words[0])) continue;
            twins.Differ(words); // the replies are another test's
            string wanted = reference.Heard(), got = ours.Heard();
            if (wanted != got) differences.Add($"{string.Join(' ', words.Take(12).Select(Quoted.Quote))}\n    reference {wanted}\n    ours      {got}");
            if (i % ResetEvery == 0 || wanted != got)
            {
                twins.Reset();
                reset?.Invoke();
            }
            if (after?.Invoke(words[0]) is not { Length: > 0 } more) continue;
            foreach (string[] command in more) twins.Differ(command);
            reference.Heard();
            ours.Heard();
        }
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");
    }

    [Test]
    public void A_whole_scan_finds_every_key_of_a_full_database([Values(ServerSide.Redis, ServerSide.Ours)] ServerSide side)
    {
        using RespConnection connection = new(_pair.Of(side).Address);
        connection.Call("FLUSHALL");
        HashSet<string> wanted = [.. Enumerable.Range(0, 3000).Select(i => "key:" + i.ToString(CultureInfo.InvariantCulture))];
        foreach (string key in wanted) connection.Call("SET", key, "v");
        HashSet<string> found = [];
        string cursor = "0";
        do
        {
            RespNode page = connection.Call("SCAN", cursor, "COUNT", "50");
            cursor = page.Items![0].Text;
            foreach (RespNode key in page.Items[1].Items!) found.Add(key.Text);
        }
        while (cursor != "0");
        Assert.That(found.SetEquals(wanted), $"{found.Count} of {wanted.Count}");
    }

    [Test]
    public void Random_subscriptions_get_the_same_messages([Values(2, 3)] int protocol)
    {
        Random random = new(Seed);
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using Subscriber reference = new(_pair.Redis.Address, protocol), ours = new(_pair.Ours.Address, protocol);
        for (int i = 0; i < 400; i++)
        {
            string[] command = NextSubscription(random);
            Assert.That(ours.Run(command), Is.EqualTo(reference.Run(command)), $"GARNET_WIRE_SEED={Seed}: {string.Join(' ', command)}");
        }
    }

    private List<string> Differences(int protocol, int count, Func<string[]> next)
    {
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using Twins twins = new(_pair.Redis.Address, _pair.Ours.Address, KnownDifferences.Load(), protocol);
        List<string> differences = [];
        for (int i = 0; i < count && differences.Count < DifferencesMax; i++)
        {
            if (i % (2 * ResetEvery) == 0) twins.Reset();
            if (twins.Differ(next()) is not { } difference) continue;
            differences.Add(difference);
            twins.Reset();
        }
        return differences;
    }

    private static string[] NextSubscription(Random random)
    {
        string channel = new[] { "a", "b", "ab", "", "x\r\n" }[random.Next(5)];
        string pattern = new[] { "*", "a*", "?", "[ab]", "b" }[random.Next(5)];
        return random.Next(8) switch
        {
            0 => ["SUBSCRIBE", channel],
            1 => ["UNSUBSCRIBE", channel],
            2 => ["PSUBSCRIBE", pattern],
            3 => ["PUNSUBSCRIBE", pattern],
            4 => ["SSUBSCRIBE", channel],
            5 => ["SUNSUBSCRIBE", channel],
            6 => ["SPUBLISH", channel, "shard"],
            _ => ["PUBLISH", channel, "hello"],
        };
    }

    private static int Read(string variable, int otherwise) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), CultureInfo.InvariantCulture, out int value) ? value : otherwise;
}

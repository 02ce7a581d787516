using System.Globalization;
using Garnet.Common.Test;
using Garnet.Wire.Tiering;
using NUnit.Framework;

namespace Garnet.Wire.Differential;

/// <summary>
/// Collections of which most pieces lie on a tier get the same replies as redis-server, which keeps all in memory: whole in one record, in many, and half
/// here, half there; alone, in transactions and in scripts. A replica with a tier of its own holds the same. GARNET_WIRE_SEED and GARNET_WIRE_COUNT choose the stream.
/// </summary>
[Parallelizable] // its servers are its own
internal sealed class ColdDifferentialTests
{
    private const int DefaultCount = 400, CountInCi = 3_000, ResetEvery = 400, LookEvery = 3, DifferencesMax = 10, StoryMax = 12;

    private static int Seed { get; } = Read("GARNET_WIRE_SEED", 20_261_127);

    private static int Count { get; } = Read("GARNET_WIRE_COUNT", LongRun.IsWanted ? CountInCi : DefaultCount);

    private readonly HashSet<string> _halfCold = [];
    private TierScratch _tier = null!, _replicaTier = null!;
    private ServerProcess _redis = null!;
    private Mirror _mirror = null!;

    [OneTimeSetUp]
    public void Start()
    {
        _ = (Servers.Ours, Servers.Redis); // skips with the reason when one is not there
        _redis = ServerProcess.TryStartRedis()!;
        (_tier, _replicaTier) = (new TierScratch(memory: "32mb", size: "32mb"), new TierScratch(memory: "32mb", size: "32mb"));
        _mirror = new Mirror(_tier.Flags, _replicaTier.Flags);
    }

    [OneTimeTearDown]
    public void Stop()
    {
        _mirror?.Dispose();
        _tier?.Dispose();
        _replicaTier?.Dispose();
        _redis?.Dispose();
    }

    /// <summary>The sizes up to which a collection lies in one record: nothing does, what is tiny does, as set by default.</summary>
    [Test]
    public void Commands_on_collections_on_a_tier_get_the_same_replies([Values(2, 3)] int protocol, [Values(0, 100, 1024)] int packedBytes)
    {
        int seed = Seed + protocol + packedBytes;
        TestContext.Out.WriteLine($"GARNET_WIRE_SEED={Seed}");
        using RespConnection mover = new(_mirror.Address), replicaMover = new(_mirror.ReplicaAddress);
        using Twins twins = new(_redis.Address, _mirror.Address, KnownDifferences.Load(), protocol) { BeforeReset = _mirror.Check };
        mover.Call("CONFIG", "SET", "collection-packed-bytes", packedBytes.ToString(CultureInfo.InvariantCulture));
        mover.Call("TIER.RESET");
        _halfCold.Clear();
        Random random = new(seed);
        ColdStream stream = new(random);
        List<string> differences = [], story = [];
        for (int i = 0; i < Count && differences.Count < DifferencesMax; i++)
        {
            if (i % ResetEvery == 0) Begin();
            foreach (string[] move in stream.Moves()) Move(mover, move, story);
            if (i % LookEvery == 0) Look(mover, replicaMover, random);
            (ColdStep kind, string[][] commands) = stream.Next();
            story.Add($"{kind}: {string.Join("; ", commands.Select(Words))}");
            if (Differ(twins, kind, commands) is not { } difference) continue;
            differences.Add($"step {i}, {kind}: {difference}\n  after:\n    {string.Join("\n    ", story.TakeLast(StoryMax))}");
            Begin();
        }
        mover.Call("CONFIG", "SET", "collection-packed-bytes", "1024");
        Assert.That(differences, Is.Empty, $"GARNET_WIRE_SEED={Seed}\n{string.Join("\n", differences)}");
        AssertItWasCold(mover);

        void Begin()
        {
            twins.Reset();
            story.Clear();
            foreach (string[] words in stream.Begin()) twins.Differ(words);
            foreach (string name in ColdStream.Names) Move(mover, ["TIER.DEMOTE", name], story);
            foreach (string[] words in ColdStream.OneEach) twins.Differ(words);
            Look(mover, replicaMover, random);
        }
    }

    private static string? Differ(Twins twins, ColdStep kind, string[][] commands)
    {
        if (kind == ColdStep.Alone) return twins.Differ(commands[0]);
        if (kind != ColdStep.Transaction) return twins.DifferInScript(commands, kind == ColdStep.Script ? ColdStream.Names : []);
        return ((string[][])[["MULTI"], .. commands, ["EXEC"]]).Select(words => twins.Differ(words)).ToArray().FirstOrDefault(static one => one is not null);
    }

    private static void Move(RespConnection mover, string[] move, List<string> story)
    {
        RespNode reply = mover.Call(move);
        Assert.That(reply.Kind, Is.Not.EqualTo('-'), $"{Words(move)}: {reply}");
        if (reply.Text is not ("0" or "-1")) story.Add(Words(move));
    }

    // Which types have been found with pieces on both sides; and the replica's tier gets something to do as well.
    private void Look(RespConnection mover, RespConnection replicaMover, Random random)
    {
        mover.Send([.. ColdStream.Names.SelectMany(static name => RespConnection.Encode("TIER.WHERE", name))]);
        RespNode[] places = [.. ColdStream.Names.Select(_ => mover.Read())];
        foreach ((string name, RespNode place) in ColdStream.Names.Zip(places))
        {
            if (place is { Items: [_, _, _, { Text: not "0" }, _, { Text: not "0" }] }) _halfCold.Add(mover.Call("TYPE", name).Text);
        }

        replicaMover.Call("TIER.DEMOTE", ColdStream.Names[random.Next(ColdStream.Names.Length)]);
    }

    private void AssertItWasCold(RespConnection mover)
    {
        Dictionary<string, long> figures = ((string[])["tier_demoted_records", "tier_returned_records", "tier_promoted_records", "tier_postponed_commands"]).ToDictionary(static name => name, name => mover.Tiering(name));
        TestContext.Out.WriteLine(string.Join(", ", figures) + "; half cold: " + string.Join(", ", _halfCold));
        Assert.That(figures.Values, Has.All.GreaterThan(20), string.Join(", ", figures));
        Assert.That(_halfCold, Is.SupersetOf((string[])["hash", "set", "list", "zset", "stream"]), "pieces in memory and on the tier");
    }

    private static string Words(string[] words) => string.Join(' ', words.Take(StoryMax).Select(Quoted.Quote)) + (words.Length > StoryMax ? $" … ({words.Length})" : "");

    private static int Read(string variable, int otherwise) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), CultureInfo.InvariantCulture, out int value) ? value : otherwise;
}

using Garnet.Media;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>A store over a tier, with small segments on both.</summary>
internal static class TieredBench
{
    public static StoreSettings Settings(Garnet.Media.IMedium medium) => Bench.Tiny() with { Tier = medium, TierSegmentBytes = 32 << 10 };

    /// <summary>All that was not read since the last time but one goes to the tier.</summary>
    public static void Demote(this Bench bench) => bench.Store.Tiers!.DemoteAll();

    public static TierFigures Tier(this Bench bench) => bench.Store.Figures().Tier!;

    /// <summary>Puts keys with random values of that length on the tier: k0, k1, …</summary>
    public static void Cold(this Bench bench, int keys, int bytes)
    {
        for (int i = 0; i < keys; i++) bench.Set("k" + i, Value(i, bytes));
        bench.Demote();
        Assert.That(bench.Tier().Records, Is.GreaterThanOrEqualTo(keys));
    }

    /// <summary>True if the key can be read; an error is no.</summary>
    public static bool Has(this Bench bench, string key)
    {
        try
        {
            return bench.Get(key) is not null;
        }
        catch (Garnet.Common.GarnetException)
        {
            return false;
        }
    }

    public static byte[] Value(int seed, int bytes)
    {
        byte[] value = new byte[bytes];
        new Random(seed).NextBytes(value);
        return value;
    }

    /// <summary>Of a tier whose segments snapshots may name.</summary>
    public static StoreSettings KeptSettings(SimulatedMedium medium) => Settings(medium) with { TierId = new MediumId(0, 7) };

    /// <summary>3,000 keys in database 0, every tenth with an expiry, 200 in database 3; a tenth of them in memory.</summary>
    public static Bench Filled(SimulatedMedium medium, out SortedDictionary<string, string> content)
    {
        Bench bench = new(KeptSettings(medium));
        uint other = bench.Store.Namespaces.Id(3);
        for (int i = 0; i < 3000; i++) bench.Set("k" + i, Value(i, i % 200), 0, i % 10 == 0 ? 9_000_000 + i : 0, (ulong)i);
        for (int i = 0; i < 200; i++) bench.Set("o" + i, Value(i, i * 40), other);
        bench.Demote();
        for (int i = 0; i < 3000; i += 11) bench.Set("k" + i, Value(i, 50), 0, i % 10 == 0 ? 9_000_000 + i : 0);
        content = Content.Of(bench.Store);
        return bench;
    }

    /// <summary>How often segments are pinned, in all.</summary>
    public static unsafe int Pins(this Bench bench)
    {
        ColdLayers segments = bench.Store.Core.Tier!.Segments;
        int pins = 0;
        foreach (uint number in segments.Numbers) pins += segments[number]->Pins;
        return pins;
    }

    /// <summary>Lets what is under way end and what is kept grow old; nothing that belongs to a read is left.</summary>
    public static void ExpectNothingUnderWay(this Bench bench)
    {
        SessionTier tier = bench.Session.Tier!;
        for (int round = 0; round < 100 && (tier.Pending > 0 || tier.Keeps); round++)
        {
            tier.Poll(bench.NowMs);
            bench.NowMs += 50;
        }
        Assert.That((tier.Pending, tier.Keeps, bench.Pins()), Is.EqualTo((0, false, 0)));
    }
}

namespace Tsavorite.Test.Tiers;

/// <summary>A store over a tier, with small segments on both.</summary>
internal static class TieredBench
{
    public static StoreSettings Settings(SimulatedMedium medium) => Bench.Tiny() with { Tier = medium, TierSegmentBytes = 32 << 10 };

    /// <summary>All that was not read since the last time but one goes to the tier.</summary>
    public static void Demote(this Bench bench) => bench.Store.Tiers!.DemoteAll();

    public static TierFigures Tier(this Bench bench) => bench.Store.Figures().Tier!;
}

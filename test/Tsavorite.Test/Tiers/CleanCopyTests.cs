using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>A record that came back from the tier and has not changed leaves memory without a write (store.C13).</summary>
internal sealed class CleanCopyTests
{
    private const int Keys = 500;

    [Test]
    public void What_came_back_and_did_not_change_leaves_again_without_a_write()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(Keys, 300);
        for (int i = 0; i < Keys; i += 5) Promote(bench, "k" + i);
        Assert.That(bench.Tier().Promoted, Is.EqualTo(Keys / 5));
        long written = bench.Tier().WrittenBytes, records = bench.Tier().Records;
        bench.Demote();
        Assert.That((bench.Tier().WrittenBytes, bench.Tier().Records), Is.EqualTo((written, records + (Keys / 5))));
        for (int i = 0; i < Keys; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 300)), $"k{i}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private static void Promote(Bench bench, string key)
    {
        for (int read = 0; read < 3; read++) bench.Get(key);
    }
}

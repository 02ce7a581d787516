using Garnet.Media;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>Which segments of a tier are rewritten, and when not.</summary>
internal sealed class ColdCleanerTests
{
    private const int Keys = 200, Left = 20;

    [Test]
    public void A_segment_that_was_rewritten_and_is_still_there_is_left_alone_for_a_second()
    {
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { Partitions = 1 });
        bench.Cold(Keys, 100);
        for (int i = Left; i < Keys; i++) bench.Delete("k" + i);
        bench.ExpectNothingUnderWay();
        Span<byte> all = medium.At(0, (int)medium.Bytes);
        all[all.IndexOf(TieredBench.Value(7, 100)) + 50] ^= 1; // it stays where it is: nobody knows whose it is
        using ColdWriter writer = new(bench.Store.Core, bench.Store.Core.Tier!);
        using ColdCleaner cleaner = new(bench.Store.Core, bench.Store.Core.Tier!, writer, writer);
        Assert.That((cleaner.Compact(bench.Store.Core.Tier!.Segments.Bottom, bench.NowMs), bench.Tier().SegmentReads), Is.EqualTo((true, 1)), "what can be moved has moved");
        Assert.That((cleaner.Compact(bench.Store.Core.Tier!.Segments.Bottom, bench.NowMs + 999), bench.Tier().SegmentReads), Is.EqualTo((false, 1)));
        Assert.That((cleaner.Compact(bench.Store.Core.Tier!.Segments.Bottom, bench.NowMs + 1000), bench.Tier().SegmentReads), Is.EqualTo((false, 2)));
    }

    [Test]
    public void What_a_snapshot_names_is_not_rewritten_while_much_waits_for_the_next()
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { TierId = new MediumId(0, 7) });
        Fill(bench, "named", 5 * Keys);
        Fill(bench, "gone", 8 * Keys);
        Snapshot(bench, 1);
        for (int i = 0; i < 8 * Keys; i++) bench.Delete("gone" + i);
        for (int i = Left; i < 5 * Keys; i++) bench.Delete("named" + i);
        bench.ExpectNothingUnderWay();
        using ColdWriter writer = new(bench.Store.Core, bench.Store.Core.Tier!);
        using ColdCleaner cleaner = new(bench.Store.Core, bench.Store.Core.Tier!, writer, writer);
        Assert.That(bench.Store.Names!.WantsSnapshot, "much is free but for its name");
        Assert.That((cleaner.Compact(bench.Store.Core.Tier!.Segments.Bottom, bench.NowMs), bench.Tier().Compacted), Is.EqualTo((false, 0)), "all is named");
        Fill(bench, "fresh", Keys);
        for (int i = 1; i < Keys; i++) bench.Delete("fresh" + i);
        bench.ExpectNothingUnderWay();
        Assert.That((cleaner.Compact(bench.Store.Core.Tier!.Segments.Bottom, bench.NowMs), bench.Tier().Compacted), Is.EqualTo((true, 1)), "what has no name is free at once");
        Snapshot(bench, 2);
        Snapshot(bench, 3);
        Assert.That(bench.Store.Names.WantsSnapshot, Is.False);
        Assert.That((cleaner.Compact(bench.Store.Core.Tier!.Segments.Bottom, bench.NowMs += 2000), bench.Tier().Compacted), Is.EqualTo((true, 1 + Left)), "named, but nothing waits");
    }

    /// <summary>As where the role ends in which this server decides what goes: a segment that is just being read for that is given up no more.</summary>
    [TestCase(EvictionPolicy.AllKeysLru)]
    [TestCase(EvictionPolicy.AllKeysRandom)]
    [TestCase(EvictionPolicy.VolatileTtl)]
    public void Nothing_more_is_removed_once_that_has_been_stopped_in_the_middle_of_a_round(EvictionPolicy policy)
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < Keys; i++) bench.Set("k" + i, TieredBench.Value(i, 100), 0, bench.NowMs + 1000);
        bench.Demote();
        using ColdWriter writer = new(bench.Store.Core, bench.Store.Core.Tier!);
        using ColdCleaner cleaner = new(bench.Store.Core, bench.Store.Core.Tier!, writer, writer) { MayRemove = true };
        medium.BeforeTransfer = () => cleaner.StopRemoving();
        cleaner.Evict(policy, bench.NowMs);
        cleaner.Evict(policy, bench.NowMs + 2000); // all of it has expired, too
        Assert.That((bench.Tier().SegmentReads > 0, bench.Tier().Evicted, bench.Tier().Expired), Is.EqualTo((true, 0, 0)));
        medium.BeforeTransfer = static () => { };
        cleaner.MayRemove = true;
        cleaner.Evict(policy, bench.NowMs + 4000);
        Assert.That(bench.Tier().Evicted + bench.Tier().Expired, Is.Positive);
    }

    private static void Fill(Bench bench, string name, int keys)
    {
        for (int i = 0; i < keys; i++) bench.Set(name + i, TieredBench.Value(i, 100));
        bench.Demote();
    }

    private static void Snapshot(Bench bench, int number)
    {
        NamingList.Of(bench.Store, $"{number}");
        bench.Store.Names!.Published($"{number}", $"{number - 1}");
    }
}

using Garnet.Common.Test;
using Garnet.Load.Traffic;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>
/// What of reads memory answers over a tier that holds eight times as much: the store itself, its movers stepped and its time given, under keys drawn by zipf 0.99. Where each
/// read was answered is told by the counters, which are proved meanwhile.
/// </summary>
internal sealed class HitRatioTests
{
    private const int Keys = 30_000, Bytes = 500, Warm = 300_000, Counted = 100_000, RightAfter = 30_000;
    private const long MemoryBytes = 3 << 20, MediumBytes = 48 << 20;

    /// <summary>An exact LFU remembers each read since the beginning; two bits of a word and a clock do not. Measured: 1.1 points less than it.</summary>
    private const double BehindLfuMax = 0.0145;

    /// <summary>Measured: 0.2 points less after the scan than before.</summary>
    private const double LostByScanMax = 0.01;

    /// <summary>
    /// Share of what comes back that leaves again without having been read. Measured: 25 %, and 35 % where cold counters fell a third as fast (ColdAging): of the keys that zipf draws twice in a
    /// while most are not drawn a third time in the next.
    /// </summary>
    private const double WastedMax = 0.30;

    /// <summary>A key that was read once a moment ago is read the second time by the scan. Measured: 0.03 %, and 0.3 % where cold counters fell a third as fast.</summary>
    private const double PromotedByScanMax = 0.002;

    [Test]
    public void A_scan_of_all_that_lies_on_the_tier_drives_out_nothing_that_is_read()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium);
        KeyStream stream = new(Keys, KeyOrder.Zipf);
        CountedReads reads = new(bench, Keys);
        reads.ShareOf(stream.Next, Warm);
        (uint from, double wastedBefore) = (stream.Drawn, reads.BeginPromotions());
        double before = reads.ShareOf(stream.Next, Counted), wasted = reads.WastedShare();
        long inMemory = Keys - bench.Tier().Records;
        double lfu = stream.ShareOfCounted(inMemory, from);
        (long promoted, int scanned) = (bench.Tier().Promoted, 0);
        for (uint key = 0; key < Keys; key++)
        {
            if (!reads.IsCold(key)) continue;
            reads.Read(key);
            scanned++;
        }
        double promotedByScan = (double)(bench.Tier().Promoted - promoted) / scanned, after = reads.ShareOf(stream.Next, RightAfter);
        TestContext.Out.WriteLine($"{inMemory} of {Keys} keys in memory: {before:P2} of the reads, an exact LFU {lfu:P2}; wasted {wasted:P1} (when warm {wastedBefore:P1}); "
            + $"{scanned} scanned, {promotedByScan:P2} of them came back; {after:P2} right after");
        Assert.That(inMemory, Is.InRange(Keys / 10, Keys / 6));
        Assert.That(before, Is.GreaterThan(lfu - BehindLfuMax));
        Assert.That(after, Is.GreaterThan(before - LostByScanMax));
        Assert.That(promotedByScan, Is.LessThan(PromotedByScanMax));
        Assert.That(wasted, Is.LessThan(WastedMax));
        Assert.That(medium.Reads, Is.EqualTo(bench.Tier().Reads + bench.Tier().SegmentReads), "nothing was read beside what is counted");
        Assert.That(bench.Session.Hits, Is.EqualTo(Warm + Counted + RightAfter + scanned));
        TierFunnel.Expect(bench.Tier());
    }

    private static Bench Filled(SimulatedMedium medium)
    {
        Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = MemoryBytes, IndexBuckets = 64 });
        for (int i = 0; i < Keys; i++)
        {
            Assert.That(bench.Set("k" + i, TieredBench.Value(i, Bytes)), Is.EqualTo(Outcome.Done));
            if (i % CountedReads.PerStep == 0) bench.StepUntilIdle();
        }
        return bench;
    }
}

using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Walks of several clients of one session over long values on the tier: each is read for all that wait for it.</summary>
internal sealed class WalksTogetherTests
{
    private const int Keys = 40, RoundsMax = 20_000;
    private const int TriesMax = 3; // a server waits where it stands after so many

    [Test]
    public void Walks_beside_each_other_read_each_value_about_once([Values(1, 2, 8)] int walks, [Values(20_000, 40_000, 150_000)] int bytes)
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = Open(medium, keptBytesMax: 300_000);
        bench.Cold(Keys, bytes);
        Walk[] walkers = [.. Enumerable.Range(0, walks).Select(_ => new Walk())];
        Run(bench, walkers);
        Assert.That(walkers.Select(static walk => walk.Shown), Is.All.GreaterThanOrEqualTo(Keys));
        Assert.That(walkers.Max(static walk => walk.MostTries), Is.LessThanOrEqualTo(TriesMax));
        Assert.That(bench.Tier().Reads, Is.InRange(Keys, Keys * 3 / 2));
    }

    [Test]
    public void Walks_at_different_places_do_not_drive_out_what_others_wait_for([Values(20_000, 40_000)] int bytes)
    {
        const int Walks = 4;
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = Open(medium, keptBytesMax: 300_000);
        bench.Cold(Keys, bytes);
        Walk[] walkers = [.. Enumerable.Range(0, Walks).Select(static number => new Walk(begins: number * 7))];
        Run(bench, walkers);
        Assert.That(walkers.Max(static walk => walk.MostTries), Is.LessThanOrEqualTo(TriesMax));
        Assert.That(bench.Tier().Reads, Is.LessThanOrEqualTo(Walks * Keys), "each at most what it would need alone");
    }

    [Test]
    public void Long_values_do_not_drive_out_the_short_ones_that_walks_wait_for([Values(1, 2, 6)] int walks, [Values(250_000, 400_000)] int bytes, [Values(1, 60)] int roundMs)
    {
        const int Long = 12, Short = 4000;
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = Open(medium, keptBytesMax: 300_000);
        for (int i = 0; i < Short; i++) bench.Set("s" + i, TieredBench.Value(i, 300));
        bench.Cold(Long, bytes);
        int records = (int)bench.Tier().Records;
        Walk[] walkers = [.. Enumerable.Range(0, walks).Select(static number => new Walk(begins: number * 7))];
        Run(bench, walkers, roundMs);
        Assert.That(walkers.Max(static walk => walk.MostTries), Is.LessThanOrEqualTo(TriesMax));
        Assert.That(bench.Tier().Reads, Is.LessThanOrEqualTo(walks * records * 5L / 4), "each about what it would need alone, at most");
        Assert.That(bench.Tier().ReadBytes, Is.LessThanOrEqualTo(walks * 2L * ((Long * bytes) + (Short * 4096L))));
    }

    [Test]
    public void What_a_walk_has_passed_is_still_there_for_a_look_that_waits_for_it()
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = Open(medium, keptBytesMax: 300_000);
        bench.Cold(Keys, 40_000);
        SessionTier tier = bench.Session.Tier!;
        Walk walk = new();
        int asked = 0;
        ColdWait? waits = null;
        for (int round = 0; round < RoundsMax && (!walk.IsDone || asked < Keys); round++, bench.NowMs++)
        {
            tier.Poll(bench.NowMs);
            walk.Step(bench);
            if (asked == Keys || (waits is not null && tier.Awaits(waits)))
                continue;
            try
            {
                waits = null;
                Assert.That(bench.Get("k" + asked), Is.EqualTo(TieredBench.Value(asked, 40_000)));
                asked++;
            }
            catch (ColdMissException)
            {
                waits = tier.TakeWanted();
            }
        }
        Assert.That((walk.IsDone, walk.Shown, asked), Is.EqualTo((true, Keys, Keys)));
        Assert.That(bench.Tier().Reads, Is.LessThanOrEqualTo(2 * Keys), "one for each who asks at most");
        tier.MayPostpone = null;
    }

    [Test]
    public void Long_values_of_one_bucket_are_read_once_for_a_walk_though_together_they_are_more_than_is_kept([Values(1, 3)] int walks)
    {
        const int Long = 4;
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = Open(medium, keptBytesMax: 300_000, hashMask: 0); // all keys lie in one bucket
        bench.Cold(Long, 200_000);
        Walk[] walkers = [.. Enumerable.Range(0, walks).Select(_ => new Walk())];
        Run(bench, walkers);
        Assert.That(walkers.Select(static walk => walk.Shown), Is.All.EqualTo(Long));
        Assert.That(walkers.Max(static walk => walk.MostTries), Is.EqualTo(1));
        Assert.That(bench.Tier().Reads, Is.EqualTo(Long));
    }

    private static Bench Open(SimulatedMedium medium, long keptBytesMax, ulong hashMask = ulong.MaxValue)
    {
        Bench bench = new(TieredBench.Settings(medium) with { HashMask = hashMask });
        bench.Store.Core.Tier!.KeptBytesMax = keptBytesMax;
        bench.Store.Promotion = TierPromotion.No;
        bench.Session.Tier!.MayPostpone = static () => true;
        return bench;
    }

    private static void Run(Bench bench, Walk[] walks, int roundMs = 1)
    {
        SessionTier tier = bench.Session.Tier!;
        for (int round = 0; round < RoundsMax && !walks.All(static walk => walk.IsDone); round++, bench.NowMs += roundMs)
        {
            tier.Poll(bench.NowMs);
            foreach (Walk walk in walks) walk.Step(bench);
        }
        Assert.That(walks.Select(static walk => walk.IsDone), Is.All.True, "it ends");
        tier.MayPostpone = null;
    }

    // As a server walks for a client: it is put off where it stands, and comes again once what it has come to need not be waited for.
    private sealed class Walk(int begins = 0)
    {
        private int _rounds;
        private ColdWait? _waits;
        private ulong _cursor;
        private int _tries;
        private Count _shown;

        public bool IsDone { get; private set; }
        public int Shown => _shown.Records;
        public int MostTries { get; private set; }

        public void Step(Bench bench)
        {
            SessionTier tier = bench.Session.Tier!;
            if (_rounds++ < begins)
                return;
            while (!IsDone && (_waits is null || !tier.Awaits(_waits)))
            {
                ulong from = _cursor;
                try
                {
                    _cursor = bench.Session.ScanPart(0, _cursor, 8, ref _shown);
                    IsDone = _cursor == 0;
                    _tries = _cursor == from ? _tries : 0;
                    _waits = null;
                }
                catch (ColdMissException)
                {
                    _waits = tier.TakeWanted();
                    MostTries = Math.Max(MostTries, ++_tries);
                    return;
                }
            }
        }
    }

    private struct Count : IRead
    {
        public int Records;

        public void Look(in RecordView record) => Records++;
    }
}

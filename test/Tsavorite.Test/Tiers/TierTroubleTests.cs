using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What people are told of a tier in trouble: once when it begins, and once when it ends.</summary>
internal sealed class TierTroubleTests
{
    private const int Eio = 5, Rounds = 50;

    private sealed class Told : ITierObserver
    {
        public List<string> Lines { get; } = [];

        public void OnReadFailed(string why, string remedy, long failures) => Lines.Add($"read {failures}");

        public void OnOwing(string? why) => Lines.Add(why is null ? "answers" : "answers not");

        public void OnGivenUp(string why, long records) => Lines.Add($"given up {records}");

        public void OnWriting(string? failure) => Lines.Add(failure is null ? "writes" : "writes no more");

        public void OnBudget(bool isSpent) => Lines.Add(isSpent ? "spent" : "due");

        public void OnFull(bool isFull) => Lines.Add(isFull ? "full" : "room");
    }

    [Test]
    public void A_medium_that_takes_no_writes_for_a_while()
    {
        using SimulatedMedium medium = new(8 << 20);
        Told told = new();
        using Bench bench = Small(medium, told);
        bool fails = true;
        medium.FailsWrite = _ => fails ? Eio : 0;
        Fill(bench);
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(told.Lines, Is.EqualTo((string[])["writes no more"]));
        fails = false;
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(told.Lines, Is.EqualTo((string[])["writes no more", "writes"]));
    }

    /// <summary>A failed write is tried again a second later; the clock is set back meanwhile.</summary>
    [Test]
    public void A_clock_that_is_set_back_does_not_keep_the_movers_from_trying_again()
    {
        const long HourMs = 3600_000;
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Small(medium, new Told());
        bool fails = true;
        medium.FailsWrite = _ => fails ? Eio : 0;
        bench.NowMs += 2 * HourMs;
        Fill(bench);
        Step(bench);
        fails = false;
        bench.NowMs -= HourMs;
        for (int i = 0; i < 3; i++) Step(bench);
        Assert.That(bench.Tier().Demoted, Is.Positive);
    }

    [Test]
    public void A_medium_that_is_full()
    {
        using SimulatedMedium medium = new(512 << 10);
        Told told = new();
        using Bench bench = Small(medium, told);
        Fill(bench);
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(told.Lines, Is.EqualTo((string[])["full"]));
        for (int i = 0; i < Keys; i++) bench.Delete("k" + i);
        Fill(bench, Keys / 20);
        for (int i = 0; i < 5; i++) Step(bench);
        Assert.That((bench.Tier().FreeBytes > medium.Bytes / 2, told.Lines.Count), Is.EqualTo((true, 1)), "it may be full again in a moment");
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(told.Lines, Is.EqualTo((string[])["full", "room"]));
    }

    [Test]
    public void A_medium_that_may_be_written_to_so_much_a_day()
    {
        const int PerDay = 256 << 10, DayMs = 24 * 60 * 60 * 1000, OfARound = 2 << 20;
        using SimulatedMedium medium = new(64 << 20);
        Told told = new();
        using Bench bench = Small(medium, told);
        bench.Store.LimitTierWrites(0, PerDay);
        Fill(bench);
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(told.Lines, Is.EqualTo((string[])["spent"]));
        Assert.That((bench.Session.Room.Ensure(0), bench.Session.Room.IsComing), Is.EqualTo((false, false)), "nobody is to wait for room");
        Assert.That(bench.Tier().HeldBack, Is.Positive);
        Assert.That(bench.Tier().WrittenBytes, Is.InRange(PerDay, PerDay + OfARound));
        for (int day = 0; day < 10; day++)
        {
            bench.NowMs += DayMs;
            Step(bench);
        }
        Fill(bench);
        Assert.That(told.Lines[1], Is.EqualTo("due"));
        Assert.That(bench.Tier().WrittenBytes, Is.LessThan((11 * PerDay) + OfARound));
    }

    [Test]
    public void What_somebody_wants_moved_is_moved_though_no_more_may_be_written()
    {
        const int LongBytes = 100 << 10;
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = Small(medium, new Told());
        bench.Store.LimitTierWrites(0, 1);
        Fill(bench);
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(bench.Tier().HeldBack, Is.Positive);
        for (int i = 0; i < Keys; i++) bench.Delete("k" + i);
        for (int i = 0; i < Rounds; i++) Step(bench);
        bench.Set("short", "value");
        bench.Set("long", new string('v', LongBytes));
        foreach (string key in new[] { "short", "long" })
        {
            DemotionRequest request = bench.Session.Tier!.Demote(bench.Key(key), bench.NowMs)!;
            Step(bench);
            Assert.That((request.IsDone, request.Moved), Is.EqualTo((true, 1)), key);
        }
    }

    // Dead room between what lives, which the cleaner does not take, is not on its way to anybody.
    [TestCase(64 << 20, 1L)]
    [TestCase(512 << 10, 0L)]
    public void Whoever_may_evict_finds_room_though_nothing_goes_to_the_tier(int mediumBytes, long perDay)
    {
        const int Written = 60_000, StepsMax = 20;
        using SimulatedMedium medium = new(mediumBytes);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, Policy = EvictionPolicy.AllKeysLru });
        bench.Store.LimitTierWrites(0, perDay);
        Random random = new(1);
        int most = 0;
        for (int i = 0; i < Written; i++)
        {
            int steps = 0;
            for (; !bench.Session.Room.Ensure(0) && steps < StepsMax; steps++)
            {
                Assert.That(bench.Session.Room.IsComing, Is.True, "else something is evicted");
                bench.Store.StepMovers(++bench.NowMs);
            }
            most = Math.Max(most, steps);
            Assert.That(bench.Set("k" + random.Next(Keys), new string('v', random.Next(50, 900))), Is.EqualTo(Outcome.Done), $"write {i}");
        }
        Assert.That(most, Is.LessThan(StepsMax));
    }

    // store.C13
    [Test]
    public void What_the_tier_has_as_it_is_leaves_memory_though_nothing_may_be_written()
    {
        const int Clean = 300;
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = Small(medium, new Told());
        for (int i = 0; i < Clean * 2; i++) bench.Set("c" + i, TieredBench.Value(i, 300));
        bench.Demote();
        bench.Store.LimitTierWrites(0, 1);
        for (int i = 0; i < Keys && bench.Tier().HeldBack == 0; i++)
        {
            bench.Set("k" + i, new string('v', 400));
            bench.Store.StepMovers(++bench.NowMs);
        }
        for (int i = 0; i < Keys; i++) bench.Delete("k" + i);
        for (int i = 0; i < Rounds; i++) Step(bench);
        for (int i = 0; i < Clean * 2; i += 2) bench.Session.Tier!.Promote(bench.Key("c" + i), bench.NowMs); // of a segment in which nothing lives nothing is left
        long written = bench.Tier().WrittenBytes;
        Assert.That(bench.Tier().DemotedClean, Is.Zero);
        for (int i = 0; bench.Session.Room.Ensure(400); i++) bench.Set("n" + i, new string('v', 400));
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(bench.Tier().DemotedClean, Is.InRange(Clean * 9 / 10, Clean));
        Assert.That((bench.Tier().WrittenBytes, bench.Session.Room.Ensure(400)), Is.EqualTo((written, true)));
        for (int i = 0; i < Clean * 2; i++) Assert.That(bench.Get("c" + i), Is.EqualTo(TieredBench.Value(i, 300)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    // Of 2 MiB some 64 KiB are kept free.
    [TestCase(EvictionPolicy.NoEviction, 64 << 20)]
    [TestCase(EvictionPolicy.AllKeysLru, 64 << 20)]
    [TestCase(EvictionPolicy.AllKeysLru, 512 << 10)]
    public void A_step_that_needs_more_room_than_is_kept_free_gets_it(EvictionPolicy policy, int mediumBytes)
    {
        const int Needed = 500 << 10, StepsMax = 100;
        using SimulatedMedium medium = new(mediumBytes);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, Policy = policy });
        for (int i = 0; i < Keys; i++)
        {
            for (int steps = 0; !bench.Session.Room.Ensure(0) && steps < StepsMax; steps++) bench.Store.StepMovers(++bench.NowMs);
            Assert.That(bench.Set("k" + i, new string('v', 400)), Is.EqualTo(Outcome.Done), $"write {i}");
        }
        for (int i = 0; i < Rounds; i++) Step(bench);
        bool hasRoom = false;
        for (int steps = 0; !(hasRoom = bench.Session.Room.Ensure(Needed)) && steps < StepsMax; steps++) bench.Store.StepMovers(++bench.NowMs);
        Assert.That(hasRoom, Is.True);
        Assert.That(bench.Session.Room.Ensure(64 << 20), Is.False, "more than there ever is");
        long before = bench.Tier().Demoted;
        for (int i = 0; i < Rounds; i++) Step(bench);
        Assert.That(bench.Tier().Demoted, Is.EqualTo(before), "which drives nothing out");
    }

    [Test]
    public void Values_that_cannot_be_read()
    {
        using SimulatedMedium medium = new(8 << 20);
        Told told = new();
        using Bench bench = Small(medium, told);
        for (int i = 0; i < 100; i++) bench.Set("k" + i, "value");
        bench.Demote();
        medium.FailsRead = static _ => Eio;
        for (int i = 0; i < 20; i++)
        {
            bench.NowMs += 1000;
            Assert.That(() => bench.Text("k" + i), Throws.Exception);
        }
        Assert.That(told.Lines, Is.EqualTo((string[])["read 1", "read 2", "read 4", "read 8", "read 16"]));
    }

    private const int Keys = 20_000;

    private static Bench Small(SimulatedMedium medium, Told told) =>
        new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, TierObserver = told });

    private static void Fill(Bench bench, int keys = Keys)
    {
        for (int i = 0; i < keys && bench.Set("k" + i, new string('v', 400)) == Outcome.Done; i++)
        {
            // until memory is full
        }
    }

    private static void Step(Bench bench)
    {
        bench.NowMs += 1100;
        bench.Session.Tier!.Poll(bench.NowMs); // what it has fetched is pinned until it is given up
        bench.Store.StepMovers(bench.NowMs);
    }
}

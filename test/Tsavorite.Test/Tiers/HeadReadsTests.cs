using Garnet.Common;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Of a record whose value nobody asks for only the head is kept: so many are at hand together that are no more than their names.</summary>
internal sealed class HeadReadsTests
{
    private const int Keys = 3000, Bytes = 4000; // more than the values that are kept for a step

    private static Bench Cold(SimulatedMedium medium)
    {
        Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 32 << 20 });
        bench.Cold(Keys, Bytes);
        return bench;
    }

    private static ColdWait Foresee(Bench bench, bool headDoes)
    {
        SessionTier tier = bench.Session.Tier!;
        for (int i = 0; i < Keys; i++) Assert.That(tier.Foresee(bench.Key("k" + i), headDoes), Is.True);
        tier.EndNamed();
        tier.BeginReads();
        ColdWait wait = tier.TakeWanted();
        while (tier.Awaits(wait)) tier.Poll(bench.NowMs);
        return wait;
    }

    [Test]
    public void Many_cold_keys_are_removed_by_one_read_each_and_nothing_comes_back_for_it()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Cold(medium);
        bench.Session.Tier!.MayPostpone = static () => false;
        Assert.That(Foresee(bench, headDoes: true).IsTooMuch, Is.False);
        for (int i = 0; i < Keys; i++) Assert.That(bench.Delete("k" + i), Is.EqualTo(Outcome.Done));
        TierFigures figures = bench.Tier();
        Assert.That((figures.Reads, figures.Waits, figures.Returned, figures.Records), Is.EqualTo((Keys, 0, 0, 0)));
        Assert.That(bench.Session.Count(0), Is.Zero);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        bench.ExpectNothingUnderWay();
    }

    [Test]
    public void What_is_set_whatever_it_was_takes_the_place_of_a_head()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Cold(medium);
        bench.Session.Tier!.MayPostpone = static () => false;
        Foresee(bench, headDoes: true);
        byte[] value = TieredBench.Value(1, 100);
        for (int i = 0; i < Keys; i++)
        {
            PutWhole put = new() { Value = value };
            Assert.That(bench.Session.Modify(bench.Key("k" + i), ref put), Is.EqualTo(Outcome.Done));
        }

        TierFigures figures = bench.Tier();
        Assert.That((figures.Reads, figures.Waits, figures.Returned, figures.Records), Is.EqualTo((Keys, 0, 0, 0)));
        for (int i = 0; i < Keys; i += 7) Assert.That(bench.Get("k" + i), Is.EqualTo(value));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Whoever_asks_for_the_value_reads_it_once_more()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Cold(medium);
        bench.Session.Tier!.MayPostpone = static () => false;
        Foresee(bench, headDoes: true);
        for (int i = 0; i < Keys; i += 100) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, Bytes)));
        Assert.That(bench.Tier().Reads, Is.EqualTo(Keys + (Keys / 100)));
        for (int i = 0; i < Keys; i += 100) Assert.That(bench.Delete("k" + i), Is.EqualTo(Outcome.Done), "and its head is there still, or comes again");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        bench.ExpectNothingUnderWay();
    }

    [Test]
    public void Somebody_who_wants_the_value_while_it_is_on_its_way_has_it_kept()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Cold(medium);
        SessionTier tier = bench.Session.Tier!;
        Assert.That(tier.Foresee(bench.Key("k1"), headDoes: true), Is.True);
        tier.BeginReads();
        ColdWait first = tier.TakeWanted();
        Assert.That(tier.Foresee(bench.Key("k1")), Is.True);
        tier.BeginReads();
        ColdWait second = tier.TakeWanted();
        while (tier.Awaits(first) | tier.Awaits(second)) tier.Poll(bench.NowMs);
        Assert.That((bench.Get("k1"), bench.Tier().Reads), Is.EqualTo((TieredBench.Value(1, Bytes), 1L)));
    }

    [Test]
    public void A_step_that_names_more_than_is_kept_for_one_is_told_so_and_the_rest_is_not_read()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Cold(medium);
        Assert.That(Foresee(bench, headDoes: false).IsTooMuch, Is.True);
        for (int i = 0; i < 1000 && bench.Session.Tier!.Pending > 0; i++) bench.Session.Tier!.Poll(bench.NowMs);
        Assert.That(bench.Tier().Reads, Is.LessThan(Keys - 500));
        bench.ExpectNothingUnderWay();
    }

    [Test]
    public void Of_long_records_what_the_device_has_not_got_is_not_read_either_once_nobody_waits_for_it()
    {
        const int Long = 20, LongBytes = 1 << 20;
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 32 << 20 });
        bench.Cold(Long, LongBytes);
        SessionTier tier = bench.Session.Tier!;
        for (int i = 0; i < Long; i++) tier.Foresee(bench.Key("k" + i));
        tier.BeginReads();
        tier.GiveUp(tier.TakeWanted());
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().Reads, Is.LessThan(Long / 2));
        Assert.That(bench.Get($"k{Long - 1}"), Is.EqualTo(TieredBench.Value(Long - 1, LongBytes)), "whoever comes later has it");
    }

    [Test]
    public void As_many_are_at_hand_whose_values_are_so_short_that_all_of_them_is_kept()
    {
        const int NameBytes = 4000, AtOnce = 500; // names alone are more than the values that are kept for a step
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 32 << 20 });
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"k{i}".PadRight(NameBytes, 'n'))];
        foreach (string[] some in names.Chunk(AtOnce))
        {
            foreach (string name in some) bench.Set(name, TieredBench.Value(1, 4));
            bench.Demote();
        }
        SessionTier tier = bench.Session.Tier!;
        tier.MayPostpone = static () => false;
        foreach (string name in names) Assert.That(tier.Foresee(bench.Key(name), headDoes: true), Is.True);
        tier.EndNamed();
        tier.BeginReads();
        ColdWait wait = tier.TakeWanted();
        while (tier.Awaits(wait)) tier.Poll(bench.NowMs);
        Assert.That(wait.IsTooMuch, Is.False);
        foreach (string name in names) Assert.That(bench.Delete(name), Is.EqualTo(Outcome.Done));
        Assert.That((bench.Tier().Reads, bench.Tier().Waits, bench.Tier().Records), Is.EqualTo(((long)Keys, 0L, 0L)));
        bench.ExpectNothingUnderWay();
    }

    [Test]
    public void So_many_bytes_of_heads_are_kept_for_one_step_and_twice_as_many_of_all()
    {
        const int Fits = 820, TooMany = 860, More = 60; // 48 MiB, with what each takes besides, are 834
        using SimulatedMedium medium = new(128 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 32 << 20, TierSegmentBytes = 1 << 20 });
        foreach (int[] some in Enumerable.Range(0, (2 * Fits) + More).Chunk(100))
        {
            foreach (int i in some) bench.Set(LongName(i), TieredBench.Value(1, 4));
            bench.Demote();
        }
        bench.Session.Tier!.MayPostpone = static () => false;
        Assert.That(Lacks(bench, 0, TooMany, out ColdWait tooMany), Is.GreaterThan(Fits));
        Assert.That(tooMany.IsTooMuch, Is.True);
        bench.ExpectNothingUnderWay();
        foreach ((int first, int count) in ((int, int)[])[(0, Fits), (Fits, Fits), (2 * Fits, More)])
        {
            Assert.That(Lacks(bench, first, count, out ColdWait wait), Is.GreaterThan(count * 9 / 10));
            Assert.That(wait.IsTooMuch, Is.False);
        }
        Assert.That(Lacks(bench, 0, Fits, out _), Is.InRange(More / 4, More), "of the first some have gone");
        bench.ExpectNothingUnderWay();
    }

    private static string LongName(int number) => $"k{number}".PadRight(60_000, 'n');

    // How many of so many names are not at hand, once they are.
    private static int Lacks(Bench bench, int first, int count, out ColdWait wait)
    {
        SessionTier tier = bench.Session.Tier!;
        int lacks = Enumerable.Range(first, count).Count(i => tier.Foresee(bench.Key(LongName(i)), headDoes: true));
        tier.EndNamed();
        tier.BeginReads();
        wait = tier.TakeWanted();
        while (tier.Awaits(wait)) tier.Poll(bench.NowMs);
        tier.Poll(bench.NowMs);
        return lacks;
    }

    // Of one in several segments too, for which there is room for one at a time only.
    [Test]
    public void Long_records_are_removed_by_their_heads()
    {
        const int Long = 20, LongBytes = 1 << 20;
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 32 << 20 });
        bench.Cold(Long, LongBytes);
        SessionTier tier = bench.Session.Tier!;
        tier.MayPostpone = static () => false;
        for (int i = 0; i < Long; i++) tier.Foresee(bench.Key("k" + i), headDoes: true);
        tier.EndNamed();
        tier.BeginReads();
        ColdWait wait = tier.TakeWanted();
        while (tier.Awaits(wait)) tier.Poll(bench.NowMs);
        for (int i = 0; i < Long; i++) Assert.That(bench.Delete("k" + i), Is.EqualTo(Outcome.Done));
        Assert.That((wait.IsTooMuch, bench.Tier().Waits, bench.Tier().Reads, bench.Tier().Records), Is.EqualTo((false, 0L, (long)Long, 0L)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        bench.ExpectNothingUnderWay();
    }

    [Test]
    public void A_turn_that_waits_in_place_for_one_after_the_other_is_ended_though_the_device_answers()
    {
        using HangingDiskStage stage = new();
        stage.Bench.Cold(40, Bytes);
        (stage.Tier.MayPostpone, stage.Tier.Turn, stage.Medium.TakesUs) = (static () => false, static () => 1, 900_000);
        int done = 0;
        while (done < 40 && stage.Bench.Has("k" + done)) done++;
        Assert.That((done, stage.Tier.Waited, stage.Figures.LateReads), Is.EqualTo((12, 12, 0)));
        Assert.That(() => stage.Bench.Get("k" + done), Throws.TypeOf<GarnetException>().With.Message.Contains("the command has waited in place for too many others"));
        stage.Tier.Turn = static () => 2;
        Assert.That(stage.Bench.Has("k30"), Is.True, "another is not ended");
        stage.Medium.TakesUs = 0;
    }

    [Test]
    public void Who_waits_in_place_does_not_stand_behind_what_others_are_put_off_for()
    {
        const int Others = 1000, TakesUs = 100_000; // of all of them together, 64 at a time, longer than anybody is waited for in place
        using HangingDiskStage stage = new();
        stage.Bench.Cold(Others + 1, Bytes);
        (stage.Tier.MayPostpone, stage.Medium.TakesUs) = (static () => false, TakesUs);
        for (int i = 0; i < Others; i++) stage.Tier.Foresee(stage.Bench.Key("k" + i));
        stage.Tier.BeginReads();
        ColdWait others = stage.Tier.TakeWanted();
        Assert.That(stage.Bench.Has("k" + Others), Is.True);
        Assert.That((stage.Tier.Waited, stage.NowUs), Is.EqualTo((1, (2 * TakesUs) + 1)));
        stage.Medium.TakesUs = 0;
        while (stage.Tier.Awaits(others)) stage.Pass(TakesUs);
    }

    // What has been begun goes on: eight parts of others are on their way, and then what is left of the one that was begun last.
    [Test]
    public void Nor_does_who_waits_for_a_record_of_several_parts()
    {
        const int Others = 30, LongBytes = 300_000, TakesUs = 100_000;
        using HangingDiskStage stage = new(static settings => settings with { MemoryLimitBytes = 32 << 20 });
        stage.Bench.Cold(Others + 1, LongBytes);
        (stage.Tier.MayPostpone, stage.Medium.TakesUs) = (static () => false, TakesUs);
        for (int i = 0; i < Others; i++) stage.Tier.Foresee(stage.Bench.Key("k" + i));
        stage.Tier.BeginReads();
        ColdWait others = stage.Tier.TakeWanted();
        Assert.That(stage.Bench.Get("k" + Others), Is.EqualTo(TieredBench.Value(Others, LongBytes)));
        Assert.That((stage.Tier.Waited, stage.NowUs), Is.EqualTo((1, (3 * TakesUs) + 1)));
        stage.Medium.TakesUs = 0;
        while (stage.Tier.Awaits(others)) stage.Pass(TakesUs);
        for (int i = 0; i <= Others; i++) Assert.That(stage.Bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, LongBytes)));
    }
}

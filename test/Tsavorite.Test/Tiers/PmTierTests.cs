using Garnet.Aof.Test.Pm;
using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>A tier in persistent memory, alone and over a disk: how it is read, what goes on to the disk, and what a power cut leaves of it.</summary>
internal sealed class PmTierTests
{
    private const int Segment = 32 << 10, SegmentsMin = 16;

    [Test]
    public void What_lies_there_is_read_where_it_lies_and_nobody_is_put_off([Values(TierParts.Memory, TierParts.MemoryOverDisk)] TierParts parts)
    {
        using MappedTier tier = new(parts, 8 << 20, 4 << 20);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        int[] sizes = [0, 1, 100, 3_900, 4_000, 4_096, 5_000, 8_192, 28_000];
        for (int i = 0; i < 900; i++) bench.Set("k" + i, TieredBench.Value(i, sizes[i % sizes.Length] / (1 + (i / 90))));
        bench.Demote();
        bench.Session.Tier!.MayPostpone = static () => true;
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < 900; i++)
                Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, sizes[i % sizes.Length] / (1 + (i / 90)))), $"k{i}");
        }
        TierFigures figures = bench.Tier();
        Assert.That((figures.Memory!.Reads > 800, figures.Reads == figures.Memory.Reads, figures.ReadBytes, figures.Postponed), Is.EqualTo((true, true, 0, 0)));
        Assert.That(tier.Disk?.Reads ?? 0, Is.Zero);
        Assert.That(bench.Session.Tier.Foresee(bench.Key("k5")), Is.False, "it is at hand");
        bench.ExpectNothingUnderWay();
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_record_comes_back_from_it_only_when_it_is_read_as_often_as_can_be_told()
    {
        using MappedTier tier = new(TierParts.Memory, 0, 4 << 20);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Cold(100, 100);
        for (int read = 1; read <= 3; read++) bench.Get("k7");
        Assert.That((bench.Tier().Promoted, bench.Tier().RejectedFrequency), Is.EqualTo((0, 3)));
        Assert.That(bench.Get("k7"), Is.EqualTo(TieredBench.Value(7, 100)));
        Assert.That(bench.Tier().Promoted, Is.EqualTo(1));
    }

    [Test]
    public void A_writer_has_the_record_in_memory_first_and_what_lay_there_is_dead()
    {
        using MappedTier tier = new(TierParts.Memory, 0, 4 << 20);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Cold(100, 100);
        bench.Append("k7", [1, 2, 3]);
        Assert.That(bench.Get("k7"), Is.EqualTo((byte[])[.. TieredBench.Value(7, 100), 1, 2, 3]));
        Assert.That((bench.Tier().Returned, bench.Tier().Records), Is.EqualTo((1, 99)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void What_was_read_has_a_second_chance_and_the_rest_goes_on_to_the_disk()
    {
        using MappedTier tier = new(TierParts.MemoryOverDisk, 8 << 20, SegmentsMin * Segment);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Cold(300, 500);
        Assert.That(bench.Tier().Memory!.Records, Is.EqualTo(300), "while it has room all goes there");
        for (int i = 0; i < 300; i += 3) bench.Get("k" + i);
        for (int i = 0; bench.Tier().Memory!.MovedDown == 0 && i < 2000; i += 100)
        {
            for (int j = i; j < i + 100; j++) bench.Set("m" + j, TieredBench.Value(j, 500));
            bench.Demote();
            bench.Store.StepMovers(bench.NowMs += 1000);
        }
        Assert.That(bench.Tier().Memory!.MovedDown, Is.Positive);
        int readThere = Enumerable.Range(0, 300).Count(i => i % 3 == 0 && IsThere(bench, "k" + i)), others = Enumerable.Range(0, 300).Count(i => i % 3 != 0 && IsThere(bench, "k" + i));
        Assert.That((readThere > 80, others < 200), Is.EqualTo((true, true)), "those that were read stay, but for some whose read was forgotten meanwhile (ColdAging)");
        for (int i = 0; i < 300; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 500)), $"k{i}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_full_memory_lets_all_go_on_to_the_disk_and_a_full_disk_is_a_full_tier()
    {
        using MappedTier tier = new(TierParts.MemoryOverDisk, 1 << 20, SegmentsMin * Segment);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        for (int i = 0; i < 4000; i++) bench.Set("k" + i, TieredBench.Value(i, 500));
        bench.Demote();
        TierFigures figures = bench.Tier();
        Assert.That((figures.FreeBytes / Segment, figures.Memory!.FreeBytes / Segment), Is.EqualTo((4, 2)), "but for what compaction needs, in each");
        for (int i = 0; i < 4000; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 500)), $"k{i}");
        for (int i = 0; i < 3000; i++) bench.Delete("k" + i);
        bench.ExpectNothingUnderWay();
        for (int i = 0; i < 100; i++) bench.Store.StepMovers(bench.NowMs += 1000);
        Assert.That(bench.Tier().Memory!.FreeBytes, Is.GreaterThan(4 * Segment));
        for (int i = 3000; i < 4000; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 500)), $"k{i}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public unsafe void A_bit_that_flips_there_is_an_error_and_never_another_value()
    {
        PmSim memory = new(new byte[1 << 20]);
        using LayeredMedium medium = new(null, new PmMedium(memory));
        using Bench bench = new(TieredBench.Settings(medium) with { TierId = new MediumId(0, 7) });
        bench.Cold(100, 100);
        int at;
        fixed (byte* all = memory.At(0, (int)memory.Bytes))
        {
            at = new Span<byte>(all, (int)memory.Bytes).IndexOf(TieredBench.Value(7, 100));
            all[at + 50] ^= 1;
        }
        Assert.That(() => bench.Get("k7"), Throws.TypeOf<GarnetException>().With.Message.Contains("cannot be read"));
        Assert.That(bench.Get("k8"), Is.EqualTo(TieredBench.Value(8, 100)));
        Assert.That(bench.Tier().ReadFailures, Is.Positive);
        string[] told = bench.Tier().LastFailure!.Split(": ")[0].Split(", offset ");
        Assert.That(told[0], Is.EqualTo($"segment {at / Segment} of tier-00000000000000000000000000000007.pm in persistent memory"), "where to look");
        Assert.That(int.Parse(told[1], System.Globalization.CultureInfo.InvariantCulture), Is.InRange(at - 64, at - 1), "the record's place in that file");
    }

    [Test]
    public void What_a_snapshot_names_is_there_whatever_of_unfenced_lines_a_power_cut_keeps([Values] bool overDisk, [Range(0, 11)] int seed)
    {
        Assert.That(FaultAfterPowerCut(overDisk, seed), Is.Null);
    }

    [Test]
    public void A_segment_whose_lines_are_not_fenced_is_seen_by_that()
    {
        foreach (bool comesFirst in (bool[])[false, true])
        {
            bool isSeen = Enumerable.Range(0, 12).Any(seed => FaultAfterPowerCut(false, seed, range => new WrongFences(range, comesFirst)) is not null);
            Assert.That(isSeen, comesFirst ? "the fence comes before what it is for" : "there is none");
        }
    }

    [Test]
    public void What_snapshots_name_counts_as_room_that_comes_and_memory_stays_in_use()
    {
        const int Segments = 64, Cold = 1500;
        using MappedTier tier = new(TierParts.MemoryOverDisk, 32 << 20, Segments * Segment);
        using Bench bench = new(TieredBench.Settings(tier.Medium) with { TierId = new MediumId(0, 7) });
        Snapshots snapshots = new(bench.Store);
        bench.Cold(Cold, 1000);
        snapshots.Take();
        int written = 0;
        Assert.That(bench.Store.Names!.WantsSnapshot, Is.False, "there is room");
        for (int round = 0; round < 400 && !bench.Store.Names.WantsSnapshot; round++, written += 40)
        {
            for (int i = 0; i < Cold && bench.Store.Core.Tier!.PassedBytes == 0; i += 5) bench.Get("k" + i); // a fifth is read, again and again, but not so often that it comes back
            bench.ExpectNothingUnderWay();
            Fill(bench, written, 40);
        }
        Assert.That(bench.Store.Names.WantsSnapshot, "room in memory waits for nothing else");
        for (int i = 0; i < 200; i++) bench.Store.StepMovers(bench.NowMs += 1000);
        TierMemoryFigures memory = bench.Tier().Memory!;
        Assert.That(memory.MovedDown, Is.InRange(1, Cold / 4), "what comes is counted: no more goes on than is needed");
        int stayed = Enumerable.Range(0, Cold / 5).Count(i => IsThere(bench, "k" + (5 * i)));
        Assert.That(stayed, Is.GreaterThan(Cold / 5 * 3 / 4), "of those that are read");
        long free = memory.FreeBytes;
        Assert.That(bench.Store.Core.Tier!.PassedBytes, Is.GreaterThanOrEqualTo(bench.Store.Core.Arena.Used), "as much has gone past as a snapshot writes");
        snapshots.Take();
        for (int i = 0; i < 20; i++) bench.Store.StepMovers(bench.NowMs += 1000);
        Assert.That((bench.Store.Core.Tier.Segments.Memory!.Kept > 0, bench.Store.Names.WantsSnapshot), Is.EqualTo((true, false)), "the one before names them, and another would cost more than it wins");
        snapshots.Take();
        Assert.That(bench.Tier().Memory!.FreeBytes, Is.GreaterThan(free + (Segments / 32 * Segment)), "it has come");
        bench.Store.StepMovers(bench.NowMs += 1000);
        Assert.That(bench.Store.Names.WantsSnapshot, Is.False);
        for (int i = 0; i < Cold; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 1000)), $"k{i}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void What_comes_to_persistent_memory_in_a_moment_drives_out_as_much_and_not_all_of_it()
    {
        const int Segments = 64, Cold = 1500, More = 60, Times = 10;
        using MappedTier tier = new(TierParts.MemoryOverDisk, 32 << 20, Segments * Segment);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Cold(Cold, 1000);
        Fill(bench, 0, 600); // it is full, and some has gone on
        for (int i = 0; i < Cold; i += 20) bench.Get("k" + i); // some of each segment stay where it sinks
        bench.ExpectNothingUnderWay();
        for (int i = 0; i < More * Times; i++)
        {
            bench.Set("n" + i, TieredBench.Value(i, 1000));
            if (i % More == 0) bench.Demote();
            bench.Store.Tiers!.Step(bench.NowMs += 1);
        }
        long left = bench.Tier().Memory!.Records, all = Segments * Segment / 1040L;
        Assert.That(left, Is.GreaterThan(all * 3 / 4), $"of {all} that there is room for");
    }

    [Test]
    public void What_a_snapshot_that_runs_may_still_read_counts_as_room_that_comes()
    {
        const int Segments = 64, Cold = 1500;
        using MappedTier tier = new(TierParts.MemoryOverDisk, 32 << 20, Segments * Segment);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Cold(Cold, 1000);
        using (StoreSnapshot snapshot = bench.Store.BeginSnapshot(new SnapshotOptions()))
        {
            Fill(bench, 0, 400);
            for (int i = 0; i < 200; i++) bench.Store.StepMovers(bench.NowMs += 1000);
            Assert.That(bench.Tier().Memory!.MovedDown, Is.InRange(1, Cold / 4));
        }
        Assert.That(bench.Tier().Memory!.FreeBytes, Is.AtLeast(Segments / 16 * Segment), "it has come");
    }

    [Test]
    public unsafe void A_long_record_that_came_before_there_was_a_disk_goes_on_to_it_and_what_is_damaged_stays([Values] bool harmed)
    {
        const int Longs = 3, LongBytes = 900_000, Batch = 150, Rounds = 40;
        PmSim first = new(new byte[13 << 18]);
        StoreSettings settings = TieredBench.Settings(new LayeredMedium(null, new PmMedium(first))) with { TierId = new MediumId(0, 7) };
        NamingList list;
        using (Bench bench = new(settings))
        {
            for (int i = 0; i < Longs; i++) bench.Set("long" + i, TieredBench.Value(i, LongBytes));
            bench.Demote();
            Assert.That(bench.Tier().Records, Is.EqualTo(Longs));
            list = NamingList.Of(bench.Store);
        }
        using SimulatedMedium disk = new(16 << 20);
        PmSim memory = new(first.Image(1));
        if (harmed)
        {
            fixed (byte* all = memory.At(0, (int)memory.Bytes))
                all[new Span<byte>(all, (int)memory.Bytes).IndexOf(TieredBench.Value(1, LongBytes).AsSpan(LongBytes / 2, 1000))] ^= 1;
        }
        using Bench again = new(settings with { Tier = new LayeredMedium(disk, new PmMedium(memory)) });
        Assert.That(list.Load(again.Store), Is.EqualTo(LoadOutcome.Done));
        again.Store.Names!.Published("none", null); // nothing names them any more
        int written = 0, left = harmed ? 1 : 0;
        for (; written < Rounds * Batch && RunsThere(again) > left; written += Batch) Fill(again, written, Batch);
        Assert.That(RunsThere(again), Is.EqualTo(left));
        again.ExpectNothingUnderWay();
        for (int i = 0; i < Longs; i++)
        {
            if (harmed && i == 1)
                Assert.That(() => again.Get("long1"), Throws.TypeOf<GarnetException>());
            else
                Assert.That(again.Get("long" + i), Is.EqualTo(TieredBench.Value(i, LongBytes)), $"long{i}");
        }
        for (int i = 0; i < written; i++) Assert.That(again.Get("m" + i), Is.EqualTo(TieredBench.Value(i, 1000)), $"m{i}");
        again.ExpectNothingUnderWay();
        Assert.That(again.Tier().ReadFailures, harmed ? Is.Positive : Is.Zero);
        if (!harmed)
            Assert.That(StoreCheck.Run(again.Store), Is.Empty); // it reads all there is
    }

    [Test]
    public void While_nothing_may_be_written_to_the_disk_records_go_to_memory_for_as_long_as_it_has_room()
    {
        using MappedTier tier = new(TierParts.MemoryOverDisk, 8 << 20, 2 << 20);
        using Bench bench = new(TieredBench.Settings(tier.Medium) with { MemoryLimitBytes = 4 << 20 });
        bench.Store.LimitTierWrites(0, 1);
        bench.Store.Core.Tier!.Budget.Spend(1 << 30);
        int keys = 0;
        FillMemory(bench, ref keys);
        bench.StepUntilIdle();
        Assert.That((bench.Store.Arena.Used < bench.Store.Arena.LowMark, bench.Tier().HeldBack), Is.EqualTo((true, 0L)));
        for (int round = 0; round < 60 && bench.Tier().HeldBack == 0; round++)
        {
            FillMemory(bench, ref keys);
            bench.StepUntilIdle();
        }
        ColdLayers parts = bench.Store.Core.Tier.Segments;
        for (int i = 0; i < 50; i++) bench.Store.StepMovers(bench.NowMs);
        Assert.That((bench.Tier().HeldBack > 0, parts.Memory!.Free), Is.EqualTo((true, bench.Store.Core.Tier.ReserveOf(parts.Memory))));
        Assert.That(parts.Disk!.Live.Records, Is.LessThan(Segment / 300), "no more than the round that came to the end of it");
        bench.Store.LimitTierWrites(0, 0);
    }

    private static void FillMemory(Bench bench, ref int keys)
    {
        for (; bench.Store.Arena.Used < bench.Store.Arena.LowMark; keys++) bench.Set("k" + keys, TieredBench.Value(keys, 300));
    }

    [Test]
    public void A_step_over_all_that_lies_there_keeps_no_more_of_it_than_others_do()
    {
        const int Cold = 12_000;
        using MappedTier tier = new(TierParts.Memory, 0, 4 << 20);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Cold(Cold, 50);
        int most = 0;
        Counting visitor = new(() => most = Math.Max(most, bench.Pins()));
        Assert.That(bench.Session.Scan(bench.Store.Namespaces.Id(0), 0, int.MaxValue, ref visitor), Is.Zero, "in one step");
        Assert.That(visitor.Seen, Is.EqualTo(Cold));
        Assert.That(most, Is.InRange(KeptReads.PlacedMax / 2, KeptReads.PlacedMax + 256));
        for (int i = 0; i < Cold; i++) bench.Get("k" + i); // nor do steps one after the other
        Assert.That(bench.Pins(), Is.InRange(KeptReads.PlacedMax / 2, KeptReads.PlacedMax + 256));
    }

    [Test]
    public void What_somebody_still_reads_counts_as_room_that_comes()
    {
        const int Segments = 64, Cold = 1500;
        using MappedTier tier = new(TierParts.MemoryOverDisk, 32 << 20, Segments * Segment);
        using Bench bench = new(TieredBench.Settings(tier.Medium));
        bench.Cold(Cold, 1000);
        for (int i = 0; i < Cold; i++) bench.Get("k" + i); // kept, since nobody polls
        Fill(bench, 0, 400);
        for (int i = 0; i < 200; i++) bench.Store.StepMovers(bench.NowMs += 1000);
        Assert.That(bench.Tier().Memory!.MovedDown, Is.InRange(1, Cold / 4));
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().Memory!.FreeBytes, Is.AtLeast(Segments / 16 * Segment), "it has come");
    }

    private static void Fill(Bench bench, int from, int count)
    {
        for (int i = from; i < from + count; i++) bench.Set("m" + i, TieredBench.Value(i, 1000));
        bench.Demote();
        for (int i = 0; i < 20; i++) bench.Store.StepMovers(bench.NowMs += 1000);
    }

    // Long records in persistent memory.
    private static unsafe int RunsThere(Bench bench)
    {
        ColdSegments memory = bench.Store.Core.Tier!.Segments.Memory!;
        int runs = 0;
        for (uint number = memory.Before + 1; number <= memory.Last; number++)
            runs += memory[number]->State == ColdState.Sealed && memory[number]->Parts > 1 && memory[number]->Live == 1 ? 1 : 0;
        return runs;
    }

    private static bool IsThere(Bench bench, string key) => bench.Session.Tier!.Where(bench.Key(key), bench.NowMs).IsInPersistentMemory;

    // What is wrong after a start with what a power cut has left: refused, or another value; null if nothing is.
    private static string? FaultAfterPowerCut(bool overDisk, int seed, Func<PmSim, IPmRange>? wrap = null)
    {
        const int MemoryBytes = 512 << 10;
        using SimulatedMedium? disk = overDisk ? new(4 << 20) : null;
        PmSim memory = new(new byte[MemoryBytes]);
        StoreSettings settings = TieredBench.Settings(new LayeredMedium(disk, new PmMedium(wrap?.Invoke(memory) ?? memory))) with { TierId = new MediumId(0, 7) };
        using Bench bench = new(settings);
        for (int i = 0; i < 500; i++) bench.Set("k" + i, TieredBench.Value(i, 400 + (i % 300)));
        bench.Demote();
        for (int i = 0; i < 20; i++) bench.Store.StepMovers(bench.NowMs += 1000);
        SortedDictionary<string, string> then = Content.Of(bench.Store);
        NamingList list = NamingList.Of(bench.Store);
        for (int i = 0; i < (seed % 2) * 200; i++) bench.Set("later" + i, TieredBench.Value(i, 400)); // what nobody has named yet
        bench.Demote();
        PmSim found = new(memory.Image(seed));
        disk?.Crash(seed);
        using Store again = new(settings with { Tier = new LayeredMedium(disk, new PmMedium(found)) });
        try
        {
            LoadOutcome outcome = list.Load(again);
            return outcome != LoadOutcome.Done ? outcome.ToString() : Content.Of(again).SequenceEqual(then) ? null : "another value";
        }
        catch (GarnetException e)
        {
            return e.Message;
        }
    }

    private struct Counting(Action looked) : IRead
    {
        public int Seen;

        public void Look(in RecordView record)
        {
            if (++Seen % 100 == 0)
                looked();
        }
    }

    // As a server's: each is published, and the one before stays as the way back.
    private sealed class Snapshots(Store store)
    {
        private int _taken;

        public void Take()
        {
            NamingList.Of(store, $"{++_taken}");
            store.Names!.Published($"{_taken}", $"{_taken - 1}");
        }
    }
}

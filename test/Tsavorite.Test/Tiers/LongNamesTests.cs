using System.Runtime.InteropServices;
using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>Snapshots that name runs of segments (store.C9, store.C10), and what their tables may lie about.</summary>
public sealed class LongNamesTests
{
    private const int Segment = 32 << 10, Page = 4096, Part = Segment - Page, Keys = 8, RunOfKey = 4;
    private const int Bytes = (3 * Part) + 500; // four segments
    private const long MediumBytes = 4 << 20;

    [Test]
    public void A_start_goes_on_with_runs_without_reading_them()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        Assert.That((list.ReferenceCount, list.RecordCount, Rows(list).Length), Is.EqualTo((Keys + 20L, 0L, (Keys * RunOfKey) + 1)));
        medium.Crash(3);
        using Store again = new(Settings(medium));
        Assert.That(list.Load(again), Is.EqualTo(LoadOutcome.Done));
        Assert.That(again.Figures().Tier!.Reads, Is.Zero);
        Assert.That(again.Figures().Tier!.FreeBytes, Is.EqualTo(bench.Tier().FreeBytes));
        Assert.That(Content.Of(again), Is.EqualTo(then));
        Assert.That(StoreCheck.Run(again), Is.Empty);
    }

    [Test]
    public void A_run_that_a_snapshot_names_waits_as_a_whole_for_the_one_after_the_next()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store, "first");
        bench.Store.Names!.Published("first", null);
        for (int i = 0; i < Keys; i++) bench.Delete("k" + i);
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().KeptBytes, Is.EqualTo(Keys * RunOfKey * (long)Segment));
        Assert.That(bench.Store.Names.WantsSnapshot, "most of the tier waits for one");
        for (int i = 0; i < Keys; i++) bench.Set("n" + i, TieredBench.Value(i + 100, Bytes));
        bench.Demote();
        using (Store before = new(Settings(medium)))
        {
            Assert.That(list.Load(before, "first"), Is.EqualTo(LoadOutcome.Done));
            Assert.That(Content.Of(before), Is.EqualTo(then), "nothing was put in the place of what is named");
        }
        NamingList.Of(bench.Store, "second");
        bench.Store.Names.Published("second", null);
        Assert.That(bench.Tier().KeptBytes, Is.Zero);
    }

    [Test]
    public void A_start_keeps_what_the_snapshot_before_names_though_it_does_not_load_it()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out SortedDictionary<string, string> then);
        NamingList first = NamingList.Of(bench.Store, "first");
        bench.Store.Names!.Published("first", null);
        for (int i = 0; i < Keys; i += 2) bench.Delete("k" + i);
        NamingList second = NamingList.Of(bench.Store, "second");
        bench.Store.Names.Published("second", "first");
        using (Bench again = new(Settings(medium)))
        {
            Assert.That(first.Open(again.Store, "first", isLoaded: false)!.End(), Is.Null);
            Assert.That(second.Load(again.Store, "second"), Is.EqualTo(LoadOutcome.Done));
            Assert.That(StoreCheck.Run(again.Store), Is.Empty);
            Assert.That(again.Tier().KeptBytes, Is.EqualTo(Keys / 2 * RunOfKey * (long)Segment));
            for (int i = 0; i < 12; i++) again.Set("n" + i, TieredBench.Value(i, Bytes));
            again.Demote();
            Assert.That(again.Get("k1"), Is.EqualTo(TieredBench.Value(1, Bytes)));
        }
        using Store before = new(Settings(medium));
        Assert.That(first.Load(before, "first"), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(before), Is.EqualTo(then));
    }

    [Test]
    public void A_cut_has_the_record_once_whatever_becomes_of_it_meanwhile([Range(0, 12)] int at, [Values] bool names)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(Settings(medium));
        for (int i = 0; i < Keys; i++) bench.Set("k" + i, TieredBench.Value(i, Bytes));
        if (at % 2 == 0) bench.Demote();
        SortedDictionary<string, string> then = Content.Of(bench.Store);
        NamingList list = new();
        using (StoreSnapshot snapshot = bench.Store.BeginSnapshot(new SnapshotOptions { NamesSegments = names, BucketsPerHold = 1, HoldsPerStep = 1 }))
        {
            for (int step = 0; snapshot.Step(list); step++)
            {
                if (step != at) continue;
                for (int i = 0; i < Keys; i++)
                {
                    if (i % 3 == 0) bench.Append("k" + i, [1]);
                    if (i % 3 == 1) bench.Delete("k" + i);
                }
                bench.Demote();
            }
            Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Whole));
            if (names) bench.Store.Names!.TryKeep("one", snapshot);
        }
        using Store again = new(names ? Settings(medium) : Bench.Tiny());
        Assert.That(list.Load(again), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(again), Is.EqualTo(then));
        Assert.That(list.Records.TrueForAll(static block => block.Length < 2 * Bytes), "one at a time");
    }

    [Test]
    public void What_another_wrote_is_read_and_put_in_record_by_record()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        list.ExpectElsewhere(Settings(medium), medium, then);
    }

    [Test]
    public void What_cannot_be_read_of_one_run_costs_its_key_and_no_other([Values(0, 1, 3)] int part, [Values] bool isCleared)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        SegmentRow row = Rows(list).Where(static row => row.IsFollower(Segment) || row.IsRun(Segment)).Where(row => (row.IsRun(Segment) ? 0 : row.Records) == part).ElementAt(2);
        Span<byte> all = medium.At((long)row.Number * Segment, Segment);
        if (isCleared) all.Clear();
        else all[Page + 200] ^= 1;
        ColdLosses losses = new();
        using Bench again = new(Settings(medium));
        NamedSegments named = new(again.Store) { Losses = losses };
        foreach (byte[] block in list.Segments) Assert.That(named.Add(block, BlockOrigin.Own));
        Assert.That(named.Open("one", isLoaded: true));
        using (SnapshotLoader loader = new(again.Store))
        {
            foreach (byte[] block in list.References) Assert.That(named.Load(block, BlockOrigin.Own, loader), Is.EqualTo(LoadOutcome.Done));
        }
        Assert.That(named.End(), Is.Null);
        Assert.That((losses.Keys, losses.Others.Count, losses.Segments.Count), Is.EqualTo((1L, isCleared ? 1 : 0, 1)));
        int there = 0;
        for (int i = 0; i < Keys; i++)
        {
            byte[]? value = again.Get("k" + i);
            Assert.That(value, Is.Null.Or.EqualTo(TieredBench.Value(i, Bytes)));
            there += value is null ? 0 : 1;
        }
        Assert.That(there, Is.EqualTo(Keys - 1));
        Assert.That(StoreCheck.Run(again.Store), Is.Empty);
        NamingList next = NamingList.Of(again.Store, "two"); // as a repair does
        using Store mended = new(Settings(medium));
        Assert.That(next.Load(mended, "two"), Is.EqualTo(LoadOutcome.Done));
        Assert.That(mended.Count(mended.Namespaces.Id(0)), Is.EqualTo(Keys + 20 - 1));
    }

    [Test]
    public void A_run_of_which_one_segment_is_another_is_refused_at_a_start([Values(0, 1, 3)] int part)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        uint number = Rows(list).First(row => row.IsRun(Segment) ? part == 0 : row.IsFollower(Segment) && row.Records == part).Number;
        medium.At((long)number * Segment, Page).Clear();
        using Store again = new(Settings(medium));
        Assert.That(() => list.Load(again), Throws.TypeOf<GarnetException>().With.Message.Contains($"segment {number}"));
    }

    /// <summary>What is harmed of the rows of a run; all of it under right checksums.</summary>
    public enum Lie
    {
        FirstIsMissing,
        LastIsMissing,
        MiddleIsMissing,
        AllBehindAreMissing,
        TwoWithOnePlace,
        OtherLife,
        OtherDatabase,
        NumberOfAnother,
        BehindItself,
        BehindNone,
        BehindOneThatIsNoRun,
        NumberOutOfRange,
        ShortInTheMiddle,
        FirstIsPlain,
        LastIsPlain,
    }

    [Test]
    public void A_table_whose_runs_do_not_fit_together_is_refused_and_nobody_gets_anothers_bytes([Values] Lie lie, [Values] bool isForeign)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        List<SegmentRow> rows = [.. Rows(list)];
        int first = rows.FindIndex(static row => row.IsRun(Segment));
        Tell(lie, rows, first);
        byte[] table = [.. list.Segments[0][..SegmentTable.HeadBytes], .. MemoryMarshal.AsBytes(CollectionsMarshal.AsSpan(rows))];
        list.Segments.Clear();
        list.Segments.Add(table);
        using Bench again = new(Settings(medium) with { ValueCheck = isForeign ? new Believer() : null });
        bool isLoaded = IsLoaded(list, again.Store, isForeign ? BlockOrigin.Foreign : BlockOrigin.Own);
        bool isShort = lie == Lie.LastIsMissing && !isForeign; // a run of three is possible: that it lacks something is seen by its record
        Assert.That(isLoaded, Is.EqualTo(isShort), $"{lie}");
        int errors = 0;
        for (int i = 0; isShort && i < Keys; i++)
        {
            try
            {
                Assert.That(again.Get("k" + i), Is.EqualTo(TieredBench.Value(i, Bytes)));
            }
            catch (GarnetException)
            {
                errors++;
            }
        }
        Assert.That(errors, Is.EqualTo(isShort ? 1 : 0));
    }

    [Test]
    public void A_flipped_bit_of_the_table_or_a_reference_gives_nobody_anothers_value()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        Random random = new(11);
        int refused = 0, loaded = 0;
        for (int round = 0; round < 300; round++)
        {
            List<byte[]> blocks = round % 3 == 0 ? list.References : list.Segments;
            byte[] block = blocks[0];
            int at = random.Next(block.Length);
            byte bit = (byte)(1 << random.Next(8));
            block[at] ^= bit;
            using (Bench again = new(Settings(medium) with { ValueCheck = round % 2 == 0 ? new Believer() : null }))
            {
                bool isLoaded = IsLoaded(list, again.Store, round % 2 == 0 ? BlockOrigin.Foreign : BlockOrigin.Own);
                (refused, loaded) = isLoaded ? (refused, loaded + 1) : (refused + 1, loaded);
                for (int i = 0; isLoaded && i < Keys; i++) Assert.That(IsRightOrNone(again, i), $"round {round}, byte {at}, bit {bit}, key {i}");
            }
            block[at] ^= bit;
        }
        Assert.That(Math.Min(refused, loaded), Is.GreaterThan(30));
    }

    private static bool IsLoaded(NamingList list, Store store, BlockOrigin origin)
    {
        try
        {
            return list.Load(store, origin: origin) == LoadOutcome.Done;
        }
        catch (GarnetException)
        {
            return false;
        }
    }

    private static bool IsRightOrNone(Bench bench, int key)
    {
        try
        {
            return bench.Get("k" + key) is not { } value || value.AsSpan().SequenceEqual(TieredBench.Value(key, Bytes));
        }
        catch (GarnetException)
        {
            return true;
        }
    }

    private static void Tell(Lie lie, List<SegmentRow> rows, int first)
    {
        Span<SegmentRow> run = CollectionsMarshal.AsSpan(rows)[first..(first + RunOfKey)];
        switch (lie)
        {
            case Lie.FirstIsMissing: rows.RemoveAt(first); break;
            case Lie.LastIsMissing: rows.RemoveAt(first + RunOfKey - 1); break;
            case Lie.MiddleIsMissing: rows.RemoveAt(first + 2); break;
            case Lie.AllBehindAreMissing: rows.RemoveRange(first + 1, RunOfKey - 1); break;
            case Lie.TwoWithOnePlace: run[2].Records = 1; break;
            case Lie.OtherLife: run[2].Life++; break;
            case Lie.OtherDatabase: run[2].Database++; break;
            case Lie.NumberOfAnother: run[2].Number = run[1].Number; break;
            case Lie.BehindItself: run[2].Named = (int)run[2].Number; break;
            case Lie.BehindNone: run[2].Named = 1_000_000; break;
            case Lie.BehindOneThatIsNoRun: run[1].Named = (int)rows.Find(static row => row.Band == 0).Number; break;
            case Lie.NumberOutOfRange: run[3].Number = 1_000_000; break;
            case Lie.ShortInTheMiddle: run[1].Used -= 16; break;
            case Lie.FirstIsPlain: run[0].Band = 0; break;
            case Lie.LastIsPlain: run[3].Band = 0; break;
        }
    }

    private static SegmentRow[] Rows(NamingList list) =>
        [.. list.Segments.SelectMany(static block => MemoryMarshal.Cast<byte, SegmentRow>(block.AsSpan(SegmentTable.HeadBytes)).ToArray())];

    private static StoreSettings Settings(SimulatedMedium medium) => TieredBench.Settings(medium) with { TierId = new MediumId(0, 7) };

    private static Bench Filled(SimulatedMedium medium, out SortedDictionary<string, string> content)
    {
        Bench bench = new(Settings(medium));
        for (int i = 0; i < Keys; i++) bench.Set("k" + i, TieredBench.Value(i, Bytes), 0, i % 2 == 0 ? 9_000_000 : 0);
        for (int i = 0; i < 20; i++) bench.Set("s" + i, TieredBench.Value(i, 90));
        bench.Demote();
        content = Content.Of(bench.Store);
        return bench;
    }
}

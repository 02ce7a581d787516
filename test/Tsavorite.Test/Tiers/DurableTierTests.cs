using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>Snapshots that name what lies on a tier, and stores that go on with it (store.C9).</summary>
public sealed class DurableTierTests
{
    private const long MediumBytes = 8 << 20;
    private const int Segment = 32 << 10, Page = 4096;
    private const int DatabaseColumn = 11; // of the numbers of a row of the table

    [Test]
    public void What_lies_on_the_tier_is_named_and_a_start_puts_it_back_without_reading_it()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        Assert.That(list.ReferenceCount, Is.GreaterThan(2500), "what is sealed is named");
        Assert.That(list.RecordCount, Is.LessThan(700), "what is in memory is copied");
        medium.Crash(1);
        using Store again = new(TieredBench.KeptSettings(medium));
        LoadUnread(list, again);
        Assert.That((again.Count(again.Namespaces.Id(0)), again.CountWithExpiry(again.Namespaces.Id(0)), again.Count(again.Namespaces.Id(3))), Is.EqualTo((3000L, 300L, 200L)));
        AssertHolds(again, then);
    }

    [Test]
    public void What_has_lain_there_for_longest_is_given_up_first_after_a_start_too()
    {
        const int Group = 2400, Bytes = 300, KeysMax = 40_000, Given = 50;
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        string[] groups = ["gone", "old", "young"];
        foreach (string group in groups)
        {
            for (int i = 0; i < Group; i++) bench.Set(group + i, TieredBench.Value(i, Bytes));
            bench.Demote();
            for (int i = 0; i < Group && group == "old"; i++) bench.Delete("gone" + i); // so that what comes last lies in segments with lower numbers
        }
        NamingList list = NamingList.Of(bench.Store);
        using Bench again = new(TieredBench.KeptSettings(medium) with { MemoryLimitBytes = 1 << 20, Policy = EvictionPolicy.AllKeysLru });
        LoadUnread(list, again.Store);
        again.Store.Promotion = TierPromotion.No;
        for (int i = 0; i < KeysMax && again.Tier().Evicted < Given; i++)
        {
            do
                again.Store.StepMovers(++again.NowMs);
            while (!again.Session.Room.Ensure(400) && again.Session.Room.IsComing);
            again.Set("n" + i, TieredBench.Value(i, Bytes));
        }
        int[] left = [.. groups.Select(group => Enumerable.Range(0, Group).Count(i => again.Has(group + i)))];
        Assert.That(again.Tier().Evicted, Is.GreaterThanOrEqualTo(Given));
        Assert.That(left, Is.EqualTo((int[])[0, Group - (int)again.Tier().Evicted, Group]));
    }

    [Test]
    public void Numbers_of_databases_that_were_swapped_and_flushed_stand_for_what_they_did()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out _);
        bench.Store.Namespaces.Flush(0, wait: false);
        uint fresh = bench.Store.Namespaces.Id(0);
        for (int i = 0; i < 500; i++) bench.Set("f" + i, TieredBench.Value(i, 90), fresh);
        bench.Store.Namespaces.Swap(0, 3);
        bench.Demote();
        SortedDictionary<string, string> then = Content.Of(bench.Store);
        NamingList list = NamingList.Of(bench.Store);
        using Store again = new(TieredBench.KeptSettings(medium));
        again.Namespaces.Id(9); // others have been looked up before
        LoadUnread(list, again);
        Assert.That((again.Count(again.Namespaces.Id(3)), again.Count(again.Namespaces.Id(0)), again.Count(again.Namespaces.Id(9))), Is.EqualTo((500L, 200L, 0L)));
        AssertHolds(again, then);
    }

    [Test]
    public void A_cut_is_what_it_was_whatever_moves_while_it_is_handed_out_and_afterwards()
    {
        for (int seed = 1; seed <= 5; seed++)
        {
            using SimulatedMedium medium = new(MediumBytes);
            using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
            Random random = new(seed);
            NamingList list = NamingList.Of(bench.Store, "one", _ => Churn(bench, random));
            for (int i = 0; i < 3000; i++) Churn(bench, random);
            Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
            medium.Crash(seed);
            using Store again = new(TieredBench.KeptSettings(medium));
            Assert.That(list.Load(again), Is.EqualTo(LoadOutcome.Done), $"seed {seed}");
            Assert.That(Content.Of(again), Is.EqualTo(then), $"seed {seed}");
            Assert.That(StoreCheck.Run(again), Is.Empty, $"seed {seed}");
        }
    }

    [Test]
    public void Segments_that_a_snapshot_names_wait_for_the_one_after_the_next()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out _);
        NamingList.Of(bench.Store, "first");
        bench.Store.Names!.Published("first", null);
        for (int i = 0; i < 3000; i++) bench.Delete("k" + i);
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().KeptBytes, Is.GreaterThan(0));
        NamingList.Of(bench.Store, "second");
        bench.Store.Names.Published("second", "first");
        Assert.That(bench.Tier().KeptBytes, Is.GreaterThan(0), "the one before is the way back");
        NamingList.Of(bench.Store, "third");
        bench.Store.Names.Published("third", "second");
        Assert.That(bench.Tier().KeptBytes, Is.Zero);
    }

    [Test]
    public void A_tier_full_of_what_snapshots_name_gives_nothing_of_it_away_and_asks_for_one()
    {
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        for (int i = 0; i < 1200; i++) bench.Set("k" + i, TieredBench.Value(i, 1000));
        bench.Demote();
        SortedDictionary<string, string> then = Content.Of(bench.Store);
        NamingList list = NamingList.Of(bench.Store);
        bench.Store.Names!.Published("one", null);
        for (int round = 0; round < 6; round++)
        {
            for (int i = 0; i < 1200; i++) bench.Set("k" + i, TieredBench.Value(i + round, 900));
            bench.Demote();
            for (int i = 0; i < 20; i++) bench.Store.StepMovers(bench.NowMs += 2000);
        }
        Assert.That(bench.Store.Names.WantsSnapshot);
        using Store again = new(TieredBench.KeptSettings(medium));
        Assert.That(list.Load(again), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(again), Is.EqualTo(then));
    }

    [Test]
    public void A_tier_that_was_full_of_what_snapshots_name_takes_values_again_once_there_is_less()
    {
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        int keys = 0;
        for (; bench.Tier().FreeBytes > 3 * (32 << 10); bench.Demote())
        {
            for (int end = keys + 20; keys < end; keys++) bench.Set("k" + keys, TieredBench.Value(keys, 1000));
        }
        int snapshots = 0;
        Snapshot(bench.Store);
        for (int i = 0; i < keys; i += 2) bench.Delete("k" + i);
        bench.ExpectNothingUnderWay();
        for (int round = 0; round < 200; round++)
        {
            bench.Store.StepMovers(bench.NowMs += 2000);
            bench.Store.Tiers!.Step(bench.NowMs);
            if (bench.Store.Names!.WantsSnapshot) Snapshot(bench.Store);
        }
        Assert.That(bench.Tier().FreeBytes, Is.GreaterThan((2 << 20) / 20), "what is dead lies in segments that are named");
        Snapshot(bench.Store);
        for (int i = 1; i < keys / 8; i += 2) bench.Delete("k" + i);
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().KeptBytes, Is.InRange(1, (2 << 20) / 10));
        bench.Store.StepMovers(bench.NowMs += 2000);
        Assert.That(bench.Store.Names!.WantsSnapshot, Is.False, "there is room: a segment that waits is no reason");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);

        void Snapshot(Store store)
        {
            NamingList.Of(store, $"{++snapshots}");
            store.Names!.Published($"{snapshots}", $"{snapshots - 1}");
        }
    }

    [Test]
    public void As_many_databases_as_there_are_by_default_lie_apart_and_are_named()
    {
        const int Databases = 16, Keys = 60;
        using SimulatedMedium medium = new(2 * MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        for (int i = 0; i < Keys * Databases; i++) bench.Set("k" + i, TieredBench.Value(i, 100), bench.Store.Namespaces.Id(i % Databases));
        bench.Demote();
        NamingList list = NamingList.Of(bench.Store);
        Assert.That(list.ReferenceCount, Is.EqualTo(Keys * Databases));
        using Store again = new(TieredBench.KeptSettings(medium));
        LoadUnread(list, again);
    }

    [Test]
    public void Databases_that_were_flushed_leave_nothing_open_that_others_would_have_to_share()
    {
        const int Flushes = 60, Keys = 40;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        int[] sizes = [60, 5_000, 9_000, 20_000];
        for (int i = 0; i < Flushes; i++)
        {
            foreach (int bytes in sizes) bench.Set("k" + bytes, TieredBench.Value(i, bytes), bench.Store.Namespaces.Id(i % 3));
            bench.Demote();
            bench.Store.Namespaces.Flush(i % 3, wait: true);
        }
        bench.Store.Tiers!.Step(bench.NowMs);
        Assert.That(bench.Tier().FreeBytes, Is.EqualTo(bench.Tier().SizeBytes), "nothing lies there, and all of it is free");
        for (int i = 0; i < Keys; i++) bench.Set("k" + i, TieredBench.Value(i, 100), bench.Store.Namespaces.Id(i % 3));
        bench.Demote();
        NamingList list = NamingList.Of(bench.Store);
        Assert.That((list.ReferenceCount, list.RecordCount), Is.EqualTo((Keys, 0)));
    }

    [Test]
    public void The_snapshot_before_can_be_loaded_while_both_are_there()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList first = NamingList.Of(bench.Store, "first");
        bench.Store.Names!.Published("first", null);
        Random random = new(7);
        for (int i = 0; i < 2000; i++) Churn(bench, random);
        NamingList second = NamingList.Of(bench.Store, "second");
        bench.Store.Names.Published("second", "first");
        for (int i = 0; i < 2000; i++) Churn(bench, random);
        using (Store newest = new(TieredBench.KeptSettings(medium)))
        {
            Assert.That(second.Load(newest, "second"), Is.EqualTo(LoadOutcome.Done));
            Assert.That(StoreCheck.Run(newest), Is.Empty);
        }
        using Store previous = new(TieredBench.KeptSettings(medium));
        Assert.That(first.Load(previous, "first"), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(previous), Is.EqualTo(then));
    }

    [Test]
    public void Who_looks_for_parts_that_expire_reads_only_segments_that_may_have_some()
    {
        using SimulatedMedium medium = new(MediumBytes);
        StoreSettings settings = TieredBench.KeptSettings(medium) with { ValueCheck = new Believer() };
        using Bench bench = new(settings);
        for (int i = 0; i < 2000; i++) bench.Set("k" + i, "plain".PadRight(100));
        bench.Demote();
        for (int i = 0; i < 50; i++) bench.Set("t" + i, "timed" + i);
        bench.Demote();
        NamingList list = NamingList.Of(bench.Store);
        using Store again = new(settings);
        LoadUnread(list, again);
        Assert.That(Timed(bench.Store), Is.EquivalentTo(Enumerable.Range(0, 50).Select(static i => "t" + i)));
        Assert.That(Timed(again), Is.EquivalentTo(Enumerable.Range(0, 50).Select(static i => "t" + i)));
        Assert.That(again.Figures().Tier!.Reads, Is.LessThan(200), "not those of the other segments");
    }

    [Test]
    public void A_tier_that_is_not_the_one_named_is_refused()
    {
        using SimulatedMedium medium = new(MediumBytes), empty = new(MediumBytes), small = new(96 << 10);
        using Bench bench = TieredBench.Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        Refuses(list, TieredBench.KeptSettings(empty), "are not those that are named");
        Refuses(list, TieredBench.KeptSettings(small), "smaller");
        Refuses(list, TieredBench.KeptSettings(medium) with { TierId = new MediumId(0, 8) }, "another server");
        Refuses(list, Bench.Tiny(), "there is no tier");
        medium.At(1 * (32 << 10), 64).Clear();
        Refuses(list, TieredBench.KeptSettings(medium), "segment 1");
    }

    [Test]
    public void A_copy_from_when_a_segment_was_still_being_filled_is_refused()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        Move(bench, 0, 3);
        byte[] older = medium.At(0, (int)MediumBytes).ToArray();
        Move(bench, 3, 6);
        NamingList list = NamingList.Of(bench.Store);
        Assert.That(list.ReferenceCount, Is.EqualTo(6));
        older.CopyTo(medium.At(0, older.Length));
        Refuses(list, TieredBench.KeptSettings(medium), "are not those that are named (segment 1)");
    }

    [Test]
    public void A_segment_whose_last_page_was_never_written_is_refused_and_one_with_a_harmed_bit_there_is_not([Values] bool isShared)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        Move(bench, 0, isShared ? 6 : 1, isShared ? 900 : 15_000);
        NamingList list = NamingList.Of(bench.Store);
        Span<byte> last = medium.At(Segment + (isShared ? 5 : 3) * Page, Page);
        last[20] ^= 1;
        using (Bench again = new(TieredBench.KeptSettings(medium)))
        {
            Assert.That(list.Load(again.Store), Is.EqualTo(LoadOutcome.Done));
            Assert.That(() => again.Get(isShared ? "k5" : "k0"), Throws.TypeOf<GarnetException>());
            Assert.That(isShared ? again.Get("k0") : [], Is.Not.Null);
        }
        last.Clear();
        Refuses(list, TieredBench.KeptSettings(medium), "are not those that are named (segment 1)");
    }

    [Test]
    public void A_segment_that_the_medium_failed_to_write_to_its_end_is_copied_and_not_named()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        Move(bench, 0, 3);
        medium.FailsWrite = static _ => 5;
        Move(bench, 3, 4, moved: 0);
        medium.FailsWrite = static _ => 0;
        Move(bench, 4, 6);
        SortedDictionary<string, string> then = Content.Of(bench.Store);
        NamingList list = NamingList.Of(bench.Store);
        Assert.That((list.ReferenceCount, list.RecordCount), Is.EqualTo((2L, 4L)));
        using Store again = new(TieredBench.KeptSettings(medium));
        Assert.That(list.Load(again), Is.EqualTo(LoadOutcome.Done));
        AssertHolds(again, then);
    }

    [Test]
    public void A_tier_smaller_than_what_the_snapshot_before_names_is_refused_with_the_size_it_needs()
    {
        using SimulatedMedium medium = new(MediumBytes), small = new(96 << 10);
        using Bench bench = TieredBench.Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        using Store store = new(TieredBench.KeptSettings(small));
        GarnetException refusal = Assert.Throws<GarnetException>(() => list.Open(store, "before", isLoaded: false))!;
        Assert.That(refusal.Message, Does.Contain("the snapshot before names").And.Match("Set tier-size to [0-9]{6,} bytes"));
    }

    [Test]
    public void A_table_of_segments_of_another_size_is_refused_and_no_way_back()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        StoreSettings other = TieredBench.KeptSettings(medium) with { TierSegmentBytes = 64 << 10 };
        Refuses(list, other, "bytes each");
        using Store store = new(other);
        list.Open(store, "before", isLoaded: false);
        Assert.That(store.Names!.Has("before"), Is.False);
    }

    [Test]
    public void A_damaged_head_is_told_and_a_damaged_record_is_an_error_for_its_key_only()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        medium.At((1 * (32 << 10)) + 20, 1)[0] ^= 1;
        medium.At(ColdAddress.Offset(BitConverter.ToUInt64(list.References[0])) + 20, 1)[0] ^= 1; // of a record that is named
        using Bench again = new(TieredBench.KeptSettings(medium));
        Assert.That(list.Load(again.Store), Is.EqualTo(LoadOutcome.Done));
        int failures = 0, answers = 0;
        for (int i = 0; i < 3000; i++)
        {
            try
            {
                if (again.Get("k" + i) is not null) answers++;
            }
            catch (GarnetException)
            {
                failures++;
            }
        }
        Assert.That((failures, answers), Is.EqualTo((1, 2999)));
    }

    // A directory that was copied or moved, or whose owner was set anew: its seal does not open.
    [Test]
    public void What_another_has_written_is_judged_where_it_lies_and_stays_there()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        long cold = bench.Store.Core.Tier!.Segments.Live.Records;
        Believer check = new();
        using Store store = new(TieredBench.KeptSettings(medium) with { ValueCheck = check });
        Assert.That(list.Load(store, origin: BlockOrigin.Foreign), Is.EqualTo(LoadOutcome.Done));
        Assert.That((store.Core.Tier!.Segments.Live.Records, LostOf(store, then)), Is.EqualTo((cold, 0)));
        Assert.That(cold, Is.GreaterThan(100));
    }

    [Test]
    public void A_reference_that_is_named_twice_is_one_record()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        long cold = bench.Store.Core.Tier!.Segments.Live.Records;
        list.References.Add(list.References[0][..ColdNames.ReferenceBytes]);
        using Store store = new(TieredBench.KeptSettings(medium) with { ValueCheck = new Believer() });
        Assert.That(list.Load(store, origin: BlockOrigin.Foreign), Is.EqualTo(LoadOutcome.Done));
        Assert.That((store.Core.Tier!.Segments.Live.Records, LostOf(store, then)), Is.EqualTo((cold - 1, 0)), "the second is read by its key, and takes the place of the first");
    }

    [Test]
    public void A_table_or_reference_that_says_what_cannot_be_is_refused_and_nothing_falls_over()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        Random random = new(3);
        int refused = 0, loaded = 0;
        for (int i = 0; i < 400; i++)
        {
            (bool isTable, bool isForeign) = (i % 2 == 0, i % 4 > 1);
            NamingList harmed = new();
            harmed.Records.AddRange(list.Records);
            harmed.References.AddRange(list.References.Select(static block => (byte[])block.Clone()));
            harmed.Segments.AddRange(list.Segments.Select(static block => (byte[])block.Clone()));
            byte[] block = isTable ? harmed.Segments[0] : harmed.References[random.Next(harmed.References.Count)];
            int at = random.Next(block.Length);
            block[at] ^= (byte)(1 << random.Next(8));
            using Store store = new(TieredBench.KeptSettings(medium) with { ValueCheck = isForeign ? new Believer() : null });
            if (!IsLoaded(harmed, store, isForeign ? BlockOrigin.Foreign : BlockOrigin.Own))
            {
                refused++;
                continue;
            }
            loaded++;
            // A table says of which database a segment's keys are, a reference where one key is: who says it under a right checksum is believed. Nobody is given another's value.
            int most = !isTable ? 1 : (at - SegmentTable.HeadBytes) % SegmentRow.Bytes / sizeof(int) == DatabaseColumn ? int.MaxValue : 0;
            Assert.That(LostOf(store, then), Is.LessThanOrEqualTo(most), $"round {i}, byte {at} of {(isTable ? "the table" : "references")}");
        }
        Assert.That(Math.Min(refused, loaded), Is.GreaterThan(60));
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

    [Test]
    public unsafe void A_table_in_which_a_database_has_two_numbers_or_two_have_one_is_refused([Values] bool reads, [Values] bool twoHaveOne)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        Span<SegmentRow> rows = System.Runtime.InteropServices.MemoryMarshal.Cast<byte, SegmentRow>(list.Segments[0].AsSpan(SegmentTable.HeadBytes));
        (rows[0].Namespace, rows[0].Database) = twoHaveOne ? (rows[0].Namespace, 9) : (99u, rows[0].Database);
        using Store again = new(TieredBench.KeptSettings(medium));
        NamedSegments named = new(again) { Losses = reads ? new ColdLosses() : null };
        Assert.That((named.Add(list.Segments[0], BlockOrigin.Own), named.Open("one", isLoaded: true)), Is.EqualTo((true, false)));
    }

    [Test]
    public void A_record_that_is_referred_to_twice_is_found_in_the_end()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out _);
        NamingList list = NamingList.Of(bench.Store);
        list.References.Add(list.References[0][..ColdNames.ReferenceBytes]);
        using Store again = new(TieredBench.KeptSettings(medium));
        Assert.That(list.Load(again), Is.EqualTo(LoadOutcome.Damaged));
    }

    [Test]
    public void What_expires_while_a_snapshot_runs_expires_in_a_store_that_is_loaded_from_it()
    {
        const int Timed = 300;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        for (int i = 0; i < Timed; i++) bench.Set("t" + i, TieredBench.Value(i, 100), 0, bench.NowMs + 1000);
        bench.Demote();
        NamingList list = NamingList.Of(bench.Store, between: _ => bench.Store.Tiers!.Step(bench.NowMs += 2000));
        Assert.That((bench.Store.Count(0), list.ReferenceCount), Is.EqualTo((0, Timed)), "it is in the cut");
        using Bench again = new(TieredBench.KeptSettings(medium));
        LoadUnread(list, again.Store);
        Assert.That(again.Store.Count(0), Is.EqualTo(Timed));
        for (int round = 0; round < 100; round++) again.Store.Tiers!.Step(bench.NowMs);
        Assert.That((again.Store.Count(0), again.Tier().Expired), Is.EqualTo((0, Timed)));
    }

    [Test]
    public void A_snapshot_whose_names_cannot_be_made_durable_does_not_count_and_the_next_copies()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        medium.SyncError = 5;
        Assert.That(() => NamingList.Of(bench.Store), Throws.InvalidOperationException);
        medium.SyncError = 0;
        NamingList list = NamingList.Of(bench.Store, "two");
        Assert.That(list.ReferenceCount, Is.Zero);
        using Store copy = new(Bench.Tiny());
        Assert.That(list.Load(copy), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(copy), Is.EqualTo(then));
    }

    // How many keys have no answer, or an error for one; all others have what they had.
    private static unsafe int LostOf(Store store, SortedDictionary<string, string> then)
    {
        int lost = 0;
        using StoreSession session = store.OpenSession();
        session.NowMs = 1_000_000;
        CopyOut found = new();
        foreach ((string name, string content) in then)
        {
            int colon = name.IndexOf(':', StringComparison.Ordinal);
            byte[] key = [.. Convert.FromHexString(name[(colon + 1)..]), .. new byte[SnapshotLoader.SlackBytes]];
            uint ns = store.Namespaces.Id(name[0] - '0');
            fixed (byte* at = key)
            {
                if (IsThere(session, store.Key(at, key.Length - SnapshotLoader.SlackBytes, ns), ref found))
                    Assert.That($"{found.Kind} {found.ExpireAtMs} {found.ETag} {Convert.ToHexString(found.Span)}", Is.EqualTo(content), name);
                else
                    lost++;
            }
        }
        return lost;
    }

    private static bool IsThere(StoreSession session, KeyRef key, ref CopyOut found)
    {
        try
        {
            return session.Read(key, ref found) == Outcome.Done;
        }
        catch (GarnetException)
        {
            return false; // its reference names another place
        }
    }

    // No record is read: the words are all that is put back.
    private static void LoadUnread(NamingList list, Store store)
    {
        Assert.That(list.Load(store), Is.EqualTo(LoadOutcome.Done));
        Assert.That(store.Figures().Tier!.Reads, Is.Zero);
    }

    private static unsafe List<string> Timed(Store store)
    {
        using StoreSession session = store.OpenSession();
        TimedKeys keys = new([]);
        ulong cursor = 0;
        do cursor = new TimedPass(store).Scan(session, store.Namespaces.Id(0), cursor, 10, ref keys);
        while (cursor != 0);
        return [.. keys.Found.Distinct()];
    }

    private static void AssertHolds(Store store, SortedDictionary<string, string> then)
    {
        Assert.That(Content.Of(store), Is.EqualTo(then));
        Assert.That(StoreCheck.Run(store), Is.Empty);
    }

    private static void Refuses(NamingList list, StoreSettings settings, string why)
    {
        using Store store = new(settings);
        GarnetException refusal = Assert.Throws<GarnetException>(() => list.Load(store))!;
        Assert.That(refusal.Message, Does.Contain(why));
    }

    // One by one, as TIER.DEMOTE does: the segment stays open, and each record has pages of its own.
    private static void Move(Bench bench, int from, int to, int bytes = 900, int moved = 1)
    {
        for (int i = from; i < to; i++)
        {
            bench.Set("k" + i, TieredBench.Value(i, bytes));
            DemotionRequest request = bench.Session.Tier!.Demote(bench.Key("k" + i), bench.NowMs)!;
            bench.Store.Tiers!.Step(bench.NowMs);
            Assert.That(request.Moved, Is.EqualTo(moved));
        }
    }

    private static void Churn(Bench bench, Random random)
    {
        int i = random.Next(3000);
        if (random.Next(3) == 0) bench.Set("k" + i, "later");
        else if (random.Next(3) == 0) bench.Delete("k" + i);
        else bench.Get("k" + i);
        if (random.Next(60) == 0) bench.Demote();
        if (random.Next(40) == 0) bench.Store.StepMovers(bench.NowMs += 2000);
    }

    private readonly struct TimedKeys(List<string> found) : IRead
    {
        public List<string> Found => found;

        public void Look(in RecordView record)
        {
            string key = System.Text.Encoding.ASCII.GetString(record.KeySpan);
            if (key[0] == 't') found.Add(key);
        }
    }
}

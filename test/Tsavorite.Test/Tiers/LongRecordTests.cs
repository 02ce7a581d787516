using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>Records that no segment of the tier takes alone (store.C10).</summary>
public sealed class LongRecordTests
{
    private const int Segment = 32 << 10, Page = 4096, Part = Segment - Page, HeadBytes = 26; // with the place for a time, of a record whose key has two bytes
    private const int Long = 5 * Part + 100, Eio = 5;
    private const long MediumBytes = 8 << 20;

    [Test]
    public void Every_length_about_that_of_a_segment_goes_and_comes_back_as_it_was()
    {
        int[] lengths = [.. new[] { 1, 2, 3, 8 }.SelectMany(static parts => new[] { -16, -1, 0, 1, 16, Page - 1, Page, Page + 1 }
            .Select(more => (parts * Part) - HeadBytes + more))];
        foreach (int bytes in lengths)
        {
            using SimulatedMedium medium = new(MediumBytes);
            using Bench bench = new(TieredBench.Settings(medium));
            bench.Set("k0", TieredBench.Value(bytes, bytes));
            bench.Demote();
            TierFigures moved = bench.Tier();
            int segments = (bytes + HeadBytes + Part - 1) / Part;
            Assert.That((moved.Demoted, moved.Records, moved.DemotedBytes), Is.EqualTo((1L, 1L, (long)bytes + HeadBytes)), $"{bytes}");
            Assert.That(moved.SizeBytes - moved.FreeBytes, Is.EqualTo(segments * (long)Segment), $"{bytes}");
            Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
            Assert.That(bench.Get("k0"), Is.EqualTo(TieredBench.Value(bytes, bytes)), $"{bytes}");
            Assert.That(bench.Tier().Reads, Is.EqualTo(1 + 1), "the check's and the reader's");
            Assert.That(bench.Append("k0", [7, 8, 9]), Is.EqualTo(Outcome.Done));
            Assert.That(bench.Get("k0"), Is.EqualTo((byte[])[.. TieredBench.Value(bytes, bytes), 7, 8, 9]), $"{bytes}");
            Assert.That(bench.Tier().Records, Is.Zero);
            bench.ExpectNothingUnderWay();
            Assert.That(bench.Tier().FreeBytes, Is.EqualTo(bench.Tier().SizeBytes), "all of the run is free again, and together");
        }
    }

    /// <summary>Only a few such are kept at a time: one that went by the clock alone kept the next from being read until a clock that had been set back had caught up.</summary>
    [Test]
    public void One_that_was_read_is_given_up_also_where_the_clock_is_set_back()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long));
        bench.Demote();
        SessionTier tier = bench.Session.Tier!;
        Assert.That(tier.Foresee(bench.Key("k0")));
        tier.BeginReads();
        while (tier.Pending > 0) tier.Poll(bench.NowMs);
        tier.Poll(bench.NowMs);
        Assert.That(tier.Keeps);
        tier.Poll(bench.NowMs - 3600_000);
        Assert.That(tier.Keeps, Is.False);
    }

    [Test]
    public void One_that_is_changed_while_it_is_written_stays_and_its_copy_is_given_up([Range(1, 6)] int write, [Values] LateChange change)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(1, Long), 0, change == LateChange.Prolonged ? bench.NowMs + 1_000 : 0);
        bench.Set("k1", TieredBench.Value(2, Long));
        int writes = 0;
        medium.FailsWrite = _ =>
        {
            if (++writes == write)
                Do(bench, change);
            return 0;
        };
        DemotionRequest request = bench.Session.Tier!.Demote(bench.Key("k0"), bench.NowMs)!;
        bench.Store.Tiers!.Step(bench.NowMs);
        byte[]? wanted = Wanted(change);
        bool comesAfterAll = change is LateChange.Neighbour || wanted is not null; // the next pass takes it as it is then
        Assert.That((writes >= write, request.Moved), Is.EqualTo((true, comesAfterAll ? 1 : 0)));
        Assert.That(bench.Tier().Stillborn, Is.EqualTo(change == LateChange.Neighbour ? 0 : 1));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        Assert.That(bench.Get("k0"), Is.EqualTo(wanted));
        Assert.That(bench.Last.ExpireAtMs, Is.EqualTo(change is LateChange.Expiry or LateChange.Prolonged ? bench.NowMs + 1_000_000 : 0));
        Assert.That(bench.Get("k1"), Is.EqualTo(change == LateChange.Neighbour ? "new"u8.ToArray() : TieredBench.Value(2, Long)));
    }

    [Test]
    public void A_root_or_a_chunk_that_an_edit_changes_where_it_lies_meanwhile_keeps_the_change([Range(1, 6)] int write, [Values] bool isChunk)
    {
        const int Chunk = 4;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        FlipEdit flip = new() { Chunk = isChunk ? Chunk : FlipEdit.NoChunk, RootBytes = isChunk ? 8 : Long };
        bench.Session.Edit(bench.Key("k0"), ref flip);
        ChunkEdit fill = new() { Number = Chunk, Bytes = new byte[Long] };
        if (isChunk) bench.Session.Edit(bench.Key("k0"), ref fill);
        int writes = 0;
        medium.FailsWrite = _ =>
        {
            if (++writes == write) bench.Session.Edit(bench.Key("k0"), ref flip);
            return 0;
        };
        DemotionRequest request = bench.Session.Tier!.Demote(bench.Key("k0"), bench.NowMs)!;
        bench.Store.Tiers!.Step(bench.NowMs);
        Assert.That((writes > write, request.Moved > 0, bench.Tier().Stillborn), Is.EqualTo((true, true, 1L)));
        ChunkCopy copy = new() { Number = Chunk };
        LastByte root = default;
        bench.Session.Read(bench.Key("k0"), ref root);
        if (isChunk) bench.Session.Examine(bench.Key("k0"), ref copy);
        Assert.That(isChunk ? copy.Bytes![^1] : root.Byte, Is.EqualTo(1));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private struct LastByte : IRead
    {
        public byte Byte;

        public void Look(in RecordView record) => Byte = record.ValueSpan[^1];
    }

    [Test]
    public void One_that_is_changed_whenever_it_is_copied_is_not_copied_for_ever_and_keeps_eviction_from_nobody()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 1 << 20 });
        bench.Set("k0", TieredBench.Value(0, 1_000_000));
        int changes = 0;
        medium.FailsWrite = _ =>
        {
            bench.Set("k0", TieredBench.Value(++changes, 1_000_000));
            return 0;
        };
        int rounds = 0;
        for (; rounds < 40 && !bench.Store.Tiers!.IsFull; rounds++) bench.Store.Tiers!.Step(bench.NowMs += 100);
        Assert.That((bench.Store.Tiers!.IsFull, bench.Tier().Records), Is.EqualTo((true, 0L)));
        Assert.That(changes, Is.InRange(1, rounds));
        medium.FailsWrite = static _ => 0;
        for (rounds = 0; rounds < 40 && bench.Tier().Records == 0; rounds++) bench.Store.Tiers!.Step(bench.NowMs += 100);
        Assert.That(bench.Get("k0").AsSpan().SequenceEqual(TieredBench.Value(changes, 1_000_000)), "nobody changes it now");
        Assert.That(bench.Tier().Demoted, Is.EqualTo(1));
    }

    /// <summary>What somebody does meanwhile.</summary>
    public enum LateChange
    {
        Append,
        Overwrite,
        Expiry,
        Prolonged,
        Read,
        Delete,
        Again,
        Neighbour,
    }

    private static void Do(Bench bench, LateChange change)
    {
        switch (change)
        {
            case LateChange.Append: bench.Append("k0", [1]); break;
            case LateChange.Overwrite: bench.Set("k0", TieredBench.Value(3, Long)); break;
            case LateChange.Expiry:
            case LateChange.Prolonged: bench.Fields("k0", bench.NowMs + 1_000_000, 0); break;
            case LateChange.Read: bench.Get("k0"); break;
            case LateChange.Delete: bench.Delete("k0"); break;
            case LateChange.Again: bench.Delete("k0"); bench.Set("k0", TieredBench.Value(1, Long)); break;
            case LateChange.Neighbour: bench.Set("k1", "new"); break;
        }
    }

    private static byte[]? Wanted(LateChange change) => change switch
    {
        LateChange.Append => [.. TieredBench.Value(1, Long), 1],
        LateChange.Overwrite => TieredBench.Value(3, Long),
        LateChange.Delete => null,
        _ => TieredBench.Value(1, Long),
    };

    [Test]
    public void Where_there_are_too_few_segments_it_stays_and_shorter_ones_go()
    {
        using SimulatedMedium medium = new(13 * Segment); // 12, of which 2 are kept free
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long));
        bench.Set("k1", TieredBench.Value(1, Long));
        bench.Set("k2", TieredBench.Value(2, 20_000));
        bench.Set("k3", TieredBench.Value(3, 100));
        bench.Set("k4", TieredBench.Value(4, 20 * Part)); // more than there is
        bench.Demote();
        Assert.That(bench.Tier().Demoted, Is.EqualTo(3));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        bench.Delete(bench.Session.Tier!.Where(bench.Key("k0"), bench.NowMs).IsCold ? "k0" : "k1");
        bench.ExpectNothingUnderWay();
        bench.Demote();
        Assert.That(bench.Tier().Demoted, Is.EqualTo(4), "there is room now");
        Assert.That((bench.Get("k2"), bench.Get("k3"), bench.Get("k4")), Is.EqualTo((TieredBench.Value(2, 20_000), TieredBench.Value(3, 100), TieredBench.Value(4, 20 * Part))));
    }

    [Test]
    public void One_that_the_medium_fails_to_write_stays_and_holds_nothing_there([Range(1, 6)] int write)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long));
        int writes = 0;
        medium.FailsWrite = _ => ++writes == write ? Eio : 0;
        DemotionRequest request = bench.Session.Tier!.Demote(bench.Key("k0"), bench.NowMs)!;
        bench.Store.Tiers!.Step(bench.NowMs);
        Assert.That((request.Moved, bench.Tier().WriteFailures), Is.EqualTo((1, 1L)), "the second pass");
        Assert.That(bench.Tier().SizeBytes - bench.Tier().FreeBytes, Is.EqualTo(6L * Segment));
        Assert.That(bench.Get("k0"), Is.EqualTo(TieredBench.Value(0, Long)));
    }

    [Test]
    public void A_flipped_bit_in_any_of_its_pages_is_an_error_for_its_key_only()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long));
        bench.Set("k1", TieredBench.Value(1, Long));
        bench.Set("k2", "short");
        bench.Demote();
        foreach ((uint segment, int page) in PagesOf(bench, "k0"))
        {
            Span<byte> at = medium.At(((long)segment * Segment) + (page * Page) + 17, 1);
            at[0] ^= 4;
            Assert.That(() => bench.Get("k0"), Throws.TypeOf<GarnetException>(), $"segment {segment}, page {page}");
            at[0] ^= 4;
            bench.Session.Tier!.Reads.ForgetFailed();
        }
        Assert.That((bench.Get("k0"), bench.Get("k1"), bench.Text("k2")), Is.EqualTo((TieredBench.Value(0, Long), TieredBench.Value(1, Long), "short")));
    }

    [Test]
    public void Reads_that_fail_are_an_error_and_the_next_one_is_right([Values(SimulatedMedium.Flipped, SimulatedMedium.Short, SimulatedMedium.Elsewhere, Eio)] int fault,
        [Range(1, 6)] int read)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long));
        bench.Demote();
        medium.FailsRead = number => number == read ? fault : 0;
        Assert.That(() => bench.Get("k0"), Throws.TypeOf<GarnetException>());
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Get("k0"), Is.EqualTo(TieredBench.Value(0, Long)));
        bench.ExpectNothingUnderWay();
    }

    [Test]
    public void A_value_longer_than_what_a_session_may_keep_is_read_once_for_who_waits()
    {
        const int Bytes = 1_000_000, Keys = 3;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Store.Core.Tier!.KeptBytesMax = Bytes / 4;
        bench.Store.Promotion = TierPromotion.No;
        for (int i = 0; i < Keys; i++) bench.Set("k" + i, TieredBench.Value(i, Bytes));
        bench.Demote();
        Assert.That(bench.Tier().Records, Is.EqualTo(Keys));
        SessionTier tier = bench.Session.Tier!;
        tier.MayPostpone = static () => true;
        for (int i = 0; i < Keys; i++) Assert.That(() => bench.Get("k" + i), Throws.TypeOf<ColdMissException>());
        tier.GiveUp(tier.TakeWanted());
        for (int i = 0; i < Keys; i++) tier.Foresee(bench.Key("k" + i)); // somebody else comes to them before they are left
        int answered = 0, most = 0;
        for (int round = 0; round < 2000 && answered < Keys; round++, bench.NowMs++)
        {
            if (!tier.Poll(bench.NowMs)) continue;
            int there = 0;
            for (int i = 0; i < Keys; i++)
            {
                bool isMissing = tier.Foresee(bench.Key("k" + i));
                tier.Reads.Forget();
                if (isMissing) continue;
                Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, Bytes)));
                there++;
            }
            answered += there;
            most = Math.Max(most, there);
        }
        Assert.That((answered, most, bench.Tier().Reads), Is.EqualTo((Keys, 1, (long)Keys)), "one after the other, none twice");
        tier.MayPostpone = null;
        bench.ExpectNothingUnderWay();
    }

    [Test]
    public void Of_its_parts_a_few_are_read_at_a_time_and_others_have_the_device_beside_them()
    {
        const int Bytes = 1_000_000;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("long", TieredBench.Value(1, Bytes));
        bench.Set("short", TieredBench.Value(2, 100));
        bench.Demote();
        SessionTier tier = bench.Session.Tier!;
        tier.MayPostpone = static () => true;
        Assert.That(() => bench.Get("long"), Throws.TypeOf<ColdMissException>());
        tier.GiveUp(tier.TakeWanted());
        Assert.That(medium.MostUnderWay, Is.EqualTo(ColdReads.PartsAtOnce).And.LessThan(Bytes / (32 << 10)));
        Assert.That(() => bench.Get("short"), Throws.TypeOf<ColdMissException>());
        tier.GiveUp(tier.TakeWanted());
        Assert.That(medium.MostUnderWay, Is.EqualTo(ColdReads.PartsAtOnce + 1), "it does not wait for the long one");
        while (tier.Pending > 0) tier.Poll(bench.NowMs);
        Assert.That((bench.Get("long"), bench.Get("short")), Is.EqualTo((TieredBench.Value(1, Bytes), TieredBench.Value(2, 100))));
        Assert.That(medium.MostUnderWay, Is.EqualTo(ColdReads.PartsAtOnce + 1));
    }

    [Test]
    public void Who_may_not_put_off_gets_all_that_one_step_needs_however_long()
    {
        using SimulatedMedium medium = new(32 << 20);
        StoreSettings settings = TieredBench.Settings(medium) with { HashMask = 0 }; // all keys have one hash: a look comes to all of them
        using Bench bench = new(settings);
        bench.Store.Core.Tier!.KeptBytesMax = 1 << 16;
        for (int i = 0; i < 4; i++) bench.Set("k" + i, TieredBench.Value(i, 900_000));
        bench.Demote();
        Assert.That(bench.Get("none"), Is.Null);
        for (int i = 0; i < 4; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 900_000)));
    }

    [Test]
    public void It_comes_back_when_it_is_read_twice_and_only_where_memory_has_room_for_it()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long));
        bench.Demote();
        for (int i = 0; i < 2; i++) bench.Get("k0");
        Assert.That((bench.Tier().Promoted, bench.Tier().Records), Is.EqualTo((1L, 0L)));
        bench.Demote();
        StoreFigures figures = bench.Store.Figures();
        bench.Store.SetMemoryLimit(figures.UsedBytes - figures.FixedBytes + (Long / 2)); // what an empty store has is not of it
        for (int i = 0; i < 3; i++) Assert.That(bench.Get("k0"), Is.EqualTo(TieredBench.Value(0, Long)));
        Assert.That(bench.Tier().RejectedHeadroom, Is.EqualTo(2), "no more than the limit has");
        bench.Store.SetMemoryLimit(64 << 20);
        Assert.That(bench.Session.Tier!.Promote(bench.Key("k0"), bench.NowMs), Is.EqualTo(Outcome.Done));
        Assert.That(bench.Tier().Records, Is.Zero);
    }

    [Test]
    public void Its_expiry_is_noticed_on_the_tier_by_a_look_at_one_segment_of_it_and_not_before()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long), 0, bench.NowMs + 10_000);
        bench.Set("k1", TieredBench.Value(1, Long));
        bench.Demote();
        for (int i = 0; i < 5; i++) bench.Store.Tiers!.Step(bench.NowMs += 1000);
        Assert.That((bench.Tier().Records, bench.Tier().SegmentReads), Is.EqualTo((2L, 0L)));
        for (int i = 0; i < 10; i++) bench.Store.Tiers!.Step(bench.NowMs += 1000);
        Assert.That((bench.Tier().Records, bench.Tier().Expired, bench.Tier().SegmentReads, bench.Tier().Reads), Is.EqualTo((1L, 1L, 1L, 0L)));
        Assert.That(bench.Tier().SizeBytes - bench.Tier().FreeBytes, Is.EqualTo(6L * Segment));
        Assert.That((bench.Get("k0"), bench.Get("k1")), Is.EqualTo(((byte[]?)null, TieredBench.Value(1, Long))));
    }

    [Test]
    public void What_its_head_says_of_its_expiry_is_believed_only_with_its_checksum()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k0", TieredBench.Value(0, Long), 0, bench.NowMs + 1_000_000);
        bench.Demote();
        (uint first, _) = PagesOf(bench, "k0")[0];
        medium.At(((long)first * Segment) + Page + 16, 8).Clear();
        medium.At(((long)first * Segment) + Page + 16, 8)[0] = 1;
        bench.NowMs += 2_000_000;
        for (int i = 0; i < 10; i++) bench.Store.Tiers!.Step(bench.NowMs += 1000);
        Assert.That((bench.Tier().Expired, bench.Tier().Records), Is.EqualTo((0L, 1L)));
    }

    [Test]
    public void A_full_tier_gives_it_up_as_one_record_where_the_policy_allows_it()
    {
        using SimulatedMedium medium = new(13 * Segment);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 1 << 20 });
        bench.Store.SetPolicy(EvictionPolicy.AllKeysLru);
        bench.Set("k0", TieredBench.Value(0, 9 * Part));
        bench.Demote();
        Assert.That(bench.Tier().Records, Is.EqualTo(1));
        for (int i = 0; i < 40 && bench.Tier().Evicted == 0; i++)
        {
            bench.Set("m" + i, TieredBench.Value(i, 30_000));
            for (int step = 0; step < 8; step++) bench.Store.Tiers!.Step(bench.NowMs += 2000);
        }
        Assert.That(bench.Tier().Evicted, Is.GreaterThan(0));
        Assert.That(bench.Get("k0"), Is.Null);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_round_of_the_mover_takes_a_piece_of_it_and_others_have_their_turn_between()
    {
        const int Bytes = 12 << 20;
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 16 << 20 });
        bench.Set("k0", TieredBench.Value(0, Bytes));
        for (int i = 0; i < 3500; i++) bench.Set("s" + i, TieredBench.Value(i, 900));
        long before = 0;
        int rounds = 0;
        for (bool worked = true; worked && rounds < 200; rounds++)
        {
            worked = bench.Store.Tiers!.Step(bench.NowMs);
            long written = bench.Tier().WrittenBytes - before;
            Assert.That(written, Is.LessThan(3 << 20), "no round is longer than others");
            before += written;
        }
        Assert.That(bench.Session.Tier!.Where(bench.Key("k0"), bench.NowMs).IsCold);
        Assert.That(rounds, Is.GreaterThan(12));
        Assert.That(bench.Get("k0"), Is.EqualTo(TieredBench.Value(0, Bytes)[..(1 << 20)]), "as far as it is copied out here");
    }

    [Test]
    public void What_is_read_written_and_moved_at_random_is_what_a_model_says([Range(1, 4)] int seed)
    {
        using SimulatedMedium medium = new(3 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { TierId = new MediumId(0, 7), MemoryLimitBytes = 4 << 20 });
        Random random = new(seed);
        Dictionary<string, byte[]> model = [];
        for (int step = 0; step < 3000; step++)
        {
            string key = "k" + random.Next(12);
            switch (random.Next(8))
            {
                case 0:
                case 1:
                    byte[] value = TieredBench.Value(step, random.Next(2) == 0 ? random.Next(200_000) : random.Next(2000));
                    if (bench.Set(key, value) == Outcome.Done) model[key] = value;
                    break;
                case 2:
                    if (model.TryGetValue(key, out byte[]? old) && bench.Append(key, [1, 2, 3]) == Outcome.Done) model[key] = [.. old, 1, 2, 3];
                    break;
                case 3:
                    bench.Delete(key);
                    model.Remove(key);
                    break;
                case 4 when random.Next(10) == 0:
                    bench.Demote();
                    break;
                case 5:
                    bench.Session.Tier!.Demote(bench.Key(key), bench.NowMs);
                    bench.Store.Tiers!.Step(bench.NowMs += 1000);
                    break;
                case 6 when random.Next(20) == 0:
                    NamingList.Of(bench.Store, "s" + step);
                    bench.Store.Names!.Published("s" + step, null);
                    break;
                default:
                    Assert.That(bench.Get(key).AsSpan().SequenceEqual(model.GetValueOrDefault(key)), $"seed {seed}, step {step}");
                    break;
            }
            if (step % 500 == 0)
                Assert.That(StoreCheck.Run(bench.Store), Is.Empty, $"seed {seed}, step {step}");
        }
        Assert.That(bench.Tier().DemotedBytes, Is.GreaterThan(100 * Segment));
        Assert.That(Math.Min(bench.Tier().Promoted, bench.Tier().Returned), Is.GreaterThan(0));
    }

    // Its segments, and in each the pages that its record has.
    private static unsafe List<(uint Segment, int Page)> PagesOf(Bench bench, string key)
    {
        ColdSegments segments = bench.Store.Core.Tier!.Segments.Bottom;
        KeyRef name = bench.Key(key);
        Partition* partition = Shape.PartitionOf(bench.Store.Core.Shape, name.Hash);
        byte* bucket = Shape.BucketOf(bench.Store.Core.Shape, partition, name.Hash);
        bench.Session.Tier!.Reads.LooksAside = true;
        bench.Session.Tier.Where(name, bench.NowMs);
        bench.Session.Tier.Reads.LooksAside = false;
        bench.Session.Tier.Reads.Find(bench.Store.Core.Shape, partition, bucket, name, out ulong* slot);
        List<(uint, int)> pages = [];
        for (uint number = segments.NumberOf(*slot); number != 0; number = segments[number]->Next)
        {
            for (int page = 1; page * Page < segments[number]->Used; page++) pages.Add((number, page));
        }
        bench.Session.Tier.Reads.Release();
        return pages;
    }
}

using Garnet.Common;
using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>Records on a tier: what is asked of them, and what becomes of them.</summary>
internal sealed class TierTests
{
    private const int Eio = 5, Enospc = 28;

    [TestCase(4096)]
    [TestCase(8192)]
    [TestCase(16_384)]
    [TestCase(65_536)]
    public void Values_of_a_power_of_two_take_little_more_than_they_have(int bytes)
    {
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = new(Bench.Tiny() with { Tier = medium, SegmentBytes = 64 << 10 });
        int keys = (8 << 20) / bytes;
        bench.Cold(keys, bytes);
        TierFigures figures = bench.Tier();
        long copied = figures.DemotedBytes / figures.Demoted * (figures.Demoted + figures.Stillborn);
        Assert.That((double)figures.WrittenBytes / copied, Is.LessThan(1.02));
        for (int i = 0; i < keys; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, bytes)));
    }

    [Test]
    public void What_was_demoted_is_read_and_takes_no_memory()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 2000; i++) bench.Set("k" + i, Value(i, i % 300));
        long before = bench.Store.Figures().LiveBytes;
        bench.Demote();
        Assert.That(bench.Tier().Demoted, Is.GreaterThan(1900));
        Assert.That(bench.Store.Figures().LiveBytes, Is.LessThan(before / 10));
        for (int i = 0; i < 2000; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, i % 300)), $"k{i}");
        Assert.That(bench.Get("none"), Is.Null);
        Assert.That(bench.Store.Count(0), Is.EqualTo(2000));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_record_of_every_size_is_fetched_by_one_read()
    {
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { TierSegmentBytes = 1 << 20 });
        bench.Store.Promotion = TierPromotion.No;
        int[] sizes = [0, 1, 100, 3_900, 4_000, 4_096, 5_000, 8_192, 30_000, 70_000, 300_000, 1_000_000];
        foreach (int size in sizes) bench.Set("k" + size, Value(size, size));
        bench.Demote();
        foreach (int size in sizes)
        {
            int before = medium.Reads;
            Assert.That(bench.Get("k" + size), Is.EqualTo(Value(size, size)), $"{size}");
            Assert.That(medium.Reads - before, Is.LessThanOrEqualTo(1), $"{size}");
        }
        Assert.That(bench.Tier().Demoted, Is.GreaterThanOrEqualTo(sizes.Length - 2));
    }

    [Test]
    public void A_record_that_is_read_twice_comes_back_and_needs_no_third_read()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 500; i++) bench.Set("k" + i, "value");
        bench.Demote();
        for (int read = 0; read < 3; read++) Assert.That(bench.Text("k7"), Is.EqualTo("value"));
        Assert.That(bench.Tier().Promoted, Is.EqualTo(1));
        int reads = medium.Reads;
        Assert.That(bench.Text("k7"), Is.EqualTo("value"));
        Assert.That(medium.Reads, Is.EqualTo(reads));
    }

    [Test]
    public void A_record_that_changes_while_it_is_written_to_the_tier_stays()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 100; i++) bench.Set("k" + i, "before");
        bool changed = false;
        medium.FailsWrite = _ =>
        {
            // Where it lies (the same length), elsewhere (longer), and gone.
            if (!changed) bench.Set("k1", "within");
            if (!changed) bench.Set("k2", "something that is longer");
            if (!changed) bench.Delete("k3");
            changed = true;
            return 0;
        };
        bench.Demote();
        Assert.That((bench.Text("k1"), bench.Text("k2"), bench.Text("k3"), bench.Text("k4")), Is.EqualTo(("within", "something that is longer", (string?)null, "before")));
        Assert.That(bench.Tier().Stillborn, Is.GreaterThanOrEqualTo(1));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>Somebody wants it again: it would come back by the next read.</summary>
    [Test]
    public void A_record_that_is_read_while_it_is_written_to_the_tier_stays()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 100; i++) bench.Set("k" + i, Value(i, 100));
        medium.FailsWrite = _ =>
        {
            bench.Get("k1");
            return 0;
        };
        bench.Demote();
        Assert.That((bench.Tier().Records, bench.Session.Tier!.Where(bench.Key("k1"), bench.NowMs).IsCold), Is.EqualTo((99, false)));
    }

    [Test]
    public void A_step_that_is_put_off_is_told_of_its_read_though_another_step_took_it()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 500; i++) bench.Set("k" + i, "value");
        bench.Demote();
        SessionTier tier = bench.Session.Tier!;
        bool putsOff = true;
        tier.MayPostpone = () => putsOff;
        Assert.That(() => bench.Text("k1"), Throws.TypeOf<ColdMissException>());
        ColdWait wanted = tier.TakeWanted();
        Assert.That(tier.Awaits(wanted), Is.True);
        Assert.That(() => bench.Set("k2", "new"), Throws.TypeOf<ColdMissException>(), "a change too, before it is made");
        putsOff = false;
        Assert.That(bench.Text("k3"), Is.EqualTo("value"), "it waits, and takes what has come for all");
        Assert.That(tier.Poll(bench.NowMs), Is.True, "somebody waits for one of them");
        Assert.That((tier.Awaits(wanted), tier.Poll(bench.NowMs)), Is.EqualTo((false, false)));
        putsOff = true;
        Assert.That((bench.Text("k1"), bench.Set("k2", "new"), bench.Text("k2")), Is.EqualTo(("value", Outcome.Done, "new")), "they are at hand");
        Assert.That(bench.Session.Changes % 2, Is.Zero);
    }

    [Test]
    public void Who_waits_for_what_has_come_already_is_told_of_it()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k1", "value");
        bench.Demote();
        SessionTier tier = bench.Session.Tier!;
        Assert.That(tier.Foresee(bench.Key("k1")), Is.True);
        tier.BeginReads();
        Patience.Until(() => tier.Poll(bench.NowMs));
        ColdWait wanted = tier.TakeWanted();
        Assert.That((tier.Poll(bench.NowMs), tier.Awaits(wanted), tier.Poll(bench.NowMs)), Is.EqualTo((true, false, false)));
    }

    [Test]
    public void Segments_that_could_not_be_read_for_a_while_give_their_room_back_like_others()
    {
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 3000; i++) bench.Set("k" + i, Value(i, 300), 0, bench.NowMs + 100_000 + (i % 50));
        bench.Demote();
        long used = (2 << 20) - bench.Tier().FreeBytes;
        Assert.That(used, Is.GreaterThan(1 << 19));
        medium.FailsRead = static _ => Eio;
        bench.NowMs += 200_000;
        for (int i = 0; i < 40; i++) bench.Store.Tiers!.Step(bench.NowMs += 100);
        Assert.That(bench.Tier().ReadFailures, Is.InRange(10, 40));
        medium.FailsRead = static _ => 0;
        for (int i = 0; i < 200; i++) bench.Store.Tiers!.Step(bench.NowMs += 100);
        Assert.That((bench.Tier().Records, bench.Tier().FreeBytes), Is.EqualTo((0L, bench.Tier().SizeBytes)));
    }

    [Test]
    public void A_walk_that_may_be_put_off_waits_for_no_read_and_shows_everything()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(1500, 60);
        for (int i = 0; i < 300; i++) bench.Set("hot" + i, "value");
        SessionTier tier = bench.Session.Tier!;
        tier.MayPostpone = static () => true;
        SeenKeys seen = new([]);
        int putOff = 0;
        ulong cursor = 0;
        do
        {
            try
            {
                cursor = bench.Session.ScanPart(0, cursor, 100, ref seen);
            }
            catch (ColdMissException)
            {
                Assert.That(tier.Awaits(tier.TakeWanted()), Is.True, "nobody has waited");
                while (tier.Pending > 0) tier.Poll(bench.NowMs);
                putOff++;
                continue;
            }
            if (cursor == 0) break;
        }
        while (true);
        Assert.That(seen.Found, Has.Count.EqualTo(1800));
        Assert.That(putOff, Is.GreaterThan(10));
        tier.MayPostpone = null;
    }

    [Test]
    public void A_value_that_cannot_be_read_is_an_error_for_its_key_alone_and_is_read_again_later([Values(1, Eio)] int fault)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 2000; i++) bench.Set("k" + i, Value(i, 100));
        bench.Demote();
        medium.FailsRead = _ => fault;
        Assert.That(() => bench.Get("k1"), Throws.TypeOf<GarnetException>());
        Assert.That(() => bench.Set("k2", "new"), Throws.TypeOf<GarnetException>(), "whether it is there cannot be said");
        medium.FailsRead = static _ => 0;
        bench.Set("other", "value");
        Assert.That(bench.Text("other"), Is.EqualTo("value"));
        Assert.That(bench.Get("k3"), Is.EqualTo(Value(3, 100)));
        Assert.That(bench.Tier().ReadFailures, Is.GreaterThanOrEqualTo(2));
        Assert.That(bench.Tier().LastFailure, Is.Not.Null);
        for (int i = 0; i < 2; i++) bench.Session.Tier!.Poll(bench.NowMs);
        bench.NowMs += 1000;
        bench.Session.Tier!.Poll(bench.NowMs);
        Assert.That(bench.Get("k1"), Is.EqualTo(Value(1, 100)));
    }

    [Test]
    public void An_unreadable_record_stops_neither_a_flush_nor_a_scan_of_others_nor_an_edit([Values(1, Eio)] int fault)
    {
        using SimulatedMedium medium = new(8 << 20);
        long now = 1_000_000;
        using Bench bench = new(TieredBench.Settings(medium) with { ClockMs = () => now });
        uint other = bench.Store.Namespaces.Id(1);
        for (int i = 0; i < 1000; i++) bench.Set("k" + i, Value(i, 100), i % 2 == 0 ? other : 0);
        ChunkEdit edit = new() { Number = 1, Bytes = new byte[100] };
        Assert.That(bench.Session.Edit(bench.Key("root"), ref edit), Is.EqualTo(Outcome.Done));
        bench.Demote();
        medium.FailsRead = _ => fault;
        Assert.That(() => bench.Session.Edit(bench.Key("root"), ref edit), Throws.TypeOf<GarnetException>());
        bench.Session.Lock([bench.Key("k1")]);
        Assert.That(() => bench.Set("k1", "new"), Throws.TypeOf<GarnetException>(), "under a lock too");
        bench.Session.Unlock();
        bench.Store.Namespaces.Flush(0, wait: false);
        for (int i = 0; i < 10; i++) bench.Store.StepMovers(bench.NowMs);
        medium.FailsRead = static _ => 0;
        bench.NowMs += 1000;
        bench.Session.Tier!.Poll(bench.NowMs);
        bench.NowMs += 1000;
        bench.Session.Tier!.Poll(bench.NowMs);
        now += 10_000; // what could not be read is tried again after a while
        bench.StepUntilIdle();
        for (int i = 0; i < 1000; i += 2) Assert.That(bench.Get("k" + i, other), Is.EqualTo(Value(i, 100)), $"k{i}");
        Assert.That(bench.Store.Count(0), Is.Zero);
    }

    [Test]
    public void What_the_medium_does_not_take_stays_in_memory()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 1000; i++) bench.Set("k" + i, Value(i, 100));
        medium.FailsWrite = static number => number % 2 == 0 ? Enospc : 0;
        bench.Demote();
        Assert.That(bench.Tier().WriteFailures, Is.GreaterThan(0));
        medium.FailsWrite = static _ => 0;
        for (int i = 0; i < 1000; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, 100)), $"k{i}");
        bench.Demote();
        Assert.That(bench.Tier().FreeBytes, Is.GreaterThan(bench.Tier().SizeBytes / 2), "what failed is free again");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_flush_empties_the_tier_too([Values(false, true)] bool mixed)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        uint other = bench.Store.Namespaces.Id(1);
        for (int i = 0; i < 1000; i++) bench.Set("k" + i, Value(i, 100), mixed && i % 2 == 0 ? other : 0);
        bench.Demote();
        bench.Store.Namespaces.Flush(0, wait: false);
        bench.StepUntilIdle();
        Assert.That(bench.Store.Count(0), Is.Zero);
        Assert.That(bench.Store.Count(other), Is.EqualTo(mixed ? 500 : 0));
        for (int i = 0; mixed && i < 1000; i += 2) Assert.That(bench.Get("k" + i, other), Is.EqualTo(Value(i, 100)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void What_has_expired_on_the_tier_is_not_there_and_goes()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 1000; i++) bench.Set("k" + i, Value(i, 100), 0, bench.NowMs + 1000);
        for (int i = 0; i < 100; i++) bench.Set("s" + i, Value(i, 100));
        bench.Demote();
        bench.NowMs += 2000;
        Assert.That(bench.Get("k5"), Is.Null);
        bench.NowMs += 100_000;
        bench.StepUntilIdle();
        Assert.That(bench.Store.Count(0), Is.EqualTo(100));
        Assert.That(bench.Get("s5"), Is.EqualTo(Value(5, 100)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>Also where its segment is still being filled, and nothing more comes.</summary>
    [Test]
    public void What_expires_in_a_segment_that_is_never_filled_goes([Values] bool isMixed)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 100; i++)
        {
            bench.Set("k" + i, Value(i, 100), 0, isMixed && i % 2 == 0 ? 0 : bench.NowMs + 1000);
            DemotionRequest request = bench.Session.Tier!.Demote(bench.Key("k" + i), bench.NowMs)!;
            bench.StepUntilIdle();
            Assert.That(request.Moved, Is.EqualTo(1));
        }

        Assert.That(bench.Store.Count(0), Is.EqualTo(100));
        bench.NowMs += isMixed ? 62_000 : 2000;
        bench.StepUntilIdle();
        Assert.That((bench.Store.Count(0), bench.Store.CountWithExpiry(0)), Is.EqualTo((isMixed ? 50 : 0, 0)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_snapshot_has_what_lay_on_the_tier_at_its_cut_whatever_becomes_of_it()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (int i = 0; i < 3000; i++) bench.Set("k" + i, Value(i, i % 200), 0, 0, (ulong)i);
        bench.Demote();
        for (int i = 0; i < 3000; i += 7) bench.Set("k" + i, "in memory");
        SortedDictionary<string, string> then = Content.Of(bench.Store);
        BlockList blocks = new();
        using (StoreSnapshot snapshot = bench.Store.BeginSnapshot(new SnapshotOptions { BucketsPerHold = 1, HoldsPerStep = 1 }))
        {
            int step = 0;
            while (snapshot.Step(blocks))
            {
                int i = step++ * 31 % 3000;
                bench.Set("k" + i, "later");
                bench.Delete("k" + ((i + 1) % 3000));
                bench.Get("k" + ((i + 2) % 3000));
                if (step % 50 == 0) bench.Demote();
                if (step % 70 == 0) bench.Store.StepMovers(bench.NowMs);
            }
            Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Whole));
        }
        using Store copy = new(Bench.Tiny());
        Assert.That(blocks.Load(copy), Is.EqualTo(LoadOutcome.Done));
        Assert.That(Content.Of(copy), Is.EqualTo(then));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>What is told of waits is how long clients waited for each other's values: not what reads in the background.</summary>
    [Test]
    public void Reads_of_a_snapshot_are_no_waits_of_commands()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(3000, 100);
        Assert.That(BlockList.Of(bench.Store).Records, Is.EqualTo(3000));
        Assert.That(bench.Tier().Reads, Is.GreaterThanOrEqualTo(3000));
        Assert.That((bench.Tier().Waits, bench.Tier().WaitedMicros), Is.EqualTo((0, 0)));
        bench.Get("k1");
        Assert.That(bench.Tier().Waits, Is.EqualTo(1), "a command does wait");
    }

    [Test]
    public void A_snapshot_that_met_what_it_cannot_read_is_abandoned_though_it_could_be_read_later()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(3000, 100);
        medium.FailsRead = static read => read == 20 ? 5 : 0;
        using StoreSnapshot snapshot = bench.Store.BeginSnapshot();
        ExpectAbandoned<Garnet.Common.GarnetException>(snapshot, new BlockList());
        bench.Set("k1", "written while it is not disposed of yet");
        snapshot.Dispose();
        BlockList again = BlockList.Of(bench.Store);
        Assert.That(again.Records, Is.EqualTo(3000), "another one has all");
    }

    [Test]
    public void A_snapshot_whose_sink_failed_is_abandoned()
    {
        using Bench bench = new(Bench.Tiny());
        bench.Set("k", "value");
        using StoreSnapshot snapshot = bench.Store.BeginSnapshot();
        ExpectAbandoned<System.IO.IOException>(snapshot, new FailingSink());
    }

    [Test]
    public void Overwriting_goes_on_for_ever_on_a_tier_that_is_four_fifths_full()
    {
        using SimulatedMedium medium = new(4 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20 });
        int keys = (int)((4 << 20) * 0.7 / 330);
        Random random = new(1);
        int[] versions = new int[keys];
        for (int i = 0; i < keys * 8; i++)
        {
            int key = i < keys ? i : random.Next(keys);
            versions[key]++;
            Assert.That(bench.Set("k" + key, Value(key + versions[key], 270)), Is.EqualTo(Outcome.Done), $"write {i} of {keys}");
            if (i % 16 == 0) bench.Store.StepMovers(bench.NowMs);
        }
        for (int key = 0; key < keys; key++) Assert.That(bench.Get("k" + key), Is.EqualTo(Value(key + versions[key], 270)));
        TestContext.Out.WriteLine($"written {bench.Tier().WrittenBytes} demoted {bench.Tier().DemotedBytes} compacted {bench.Tier().Compacted}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_full_tier_evicts_by_policy_or_refuses([Values] bool evicts)
    {
        using SimulatedMedium medium = new(1 << 20);
        EvictionPolicy policy = evicts ? EvictionPolicy.AllKeysLru : EvictionPolicy.NoEviction;
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, Policy = policy });
        int refused = 0;
        for (int i = 0; i < 20_000; i++)
        {
            for (int round = 0; round < 20 && !bench.Session.Room.Ensure(300) && bench.Store.StepMovers(bench.NowMs); round++)
            {
            }
            if (!bench.Session.Room.Ensure(300) || bench.Set("k" + i, Value(i, 270)) != Outcome.Done) refused++;
        }
        Assert.That(refused, evicts ? Is.Zero : Is.GreaterThan(5_000));
        Assert.That(bench.Tier().Evicted, evicts ? Is.GreaterThan(1_000) : Is.Zero);
        if (evicts) Assert.That(bench.Get("k19999"), Is.EqualTo(Value(19999, 270)));
        else Assert.That(bench.Get("k0"), Is.EqualTo(Value(0, 270)));
        Assert.That(bench.Store.Figures().UsedBytes, Is.LessThan(bench.Store.Arena.Ceiling * 11 / 10));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private static byte[] Value(int seed, int bytes) => TieredBench.Value(seed, bytes);

    private static void ExpectAbandoned<T>(StoreSnapshot snapshot, ISnapshotSink sink) where T : Exception
    {
        Assert.That(() =>
        {
            while (snapshot.Step(sink))
            {
                // until it fails
            }
        }, Throws.InstanceOf<T>());
        Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Abandoned));
        Assert.That(snapshot.Step(sink), Is.False, "it goes on no more");
    }

    private sealed class FailingSink : ISnapshotSink
    {
        public void Write(ReadOnlySpan<byte> block, int records) => throw new System.IO.IOException("full");
    }

    private readonly struct SeenKeys(HashSet<string> found) : IRead
    {
        public HashSet<string> Found => found;

        public void Look(in RecordView record) => found.Add(System.Text.Encoding.ASCII.GetString(record.KeySpan));
    }
}

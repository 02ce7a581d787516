using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>The numbered rules of the engine, each tried where it would break; the tests look inside.</summary>
internal sealed unsafe class EngineRuleTests
{
    [Test]
    public void U2_A_length_that_is_not_true_is_never_shown()
    {
        using Bench bench = new();
        bench.Set("a", new byte[40]);
        byte* record = RecordOf(bench, "a", out _);
        foreach (int wrong in new[] { int.MaxValue, -1, int.MinValue })
        {
            *(int*)(record + 8) = wrong;
            LengthsSeen seen = default;
            bench.Session.Read(bench.Key("a"), ref seen);
            Assert.That(seen.Looks, Is.Zero, $"length {wrong}");
        }
        *(int*)(record + 8) = 40;
    }

    [Test]
    public void U3_A_reader_with_a_garbage_word_neither_faults_nor_finds_anything()
    {
        using Bench bench = new();
        bench.Set("a", new byte[40]);
        RecordOf(bench, "a", out ulong* slot);
        ulong word = *slot;
        Random random = new(31);
        for (int i = 0; i < 20_000; i++)
        {
            *slot = (word & ~IndexWord.AddressMask) | ((ulong)random.NextInt64() & IndexWord.AddressMask);
            if (IndexWord.Same(*slot, word)) continue;
            Assert.That(bench.Get("a"), Is.Null);
        }
        *slot = word;
        Assert.That(bench.Get("a"), Is.Not.Null);
    }

    [Test]
    public void U4_An_address_is_not_handed_out_again_while_its_segment_lives()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 1 });
        HashSet<ulong> past = [];
        ulong last = 0;
        uint segment = 0;
        for (int i = 0; i < 60; i++)
        {
            // Longer each time: most writes go elsewhere.
            bench.Set("a", new byte[20 + 8 * (i % 30)]);
            RecordOf(bench, "a", out ulong* slot);
            uint now = Shape.SegmentOf(bench.Store.Core.Shape, IndexWord.Offset(*slot));
            if (IndexWord.Offset(*slot) == last) continue;
            last = IndexWord.Offset(*slot);
            if (now != segment) past.Clear();
            segment = now;
            Assert.That(past.Add(last), Is.True, $"write {i}");
        }
    }

    [Test]
    public void U4_A_dead_segment_is_handed_out_once()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 1 });
        for (int i = 0; i < 40; i++) bench.Set("k" + i, new byte[400]);
        for (int i = 0; i < 40; i++) bench.Delete("k" + i);
        SegmentPool pool = bench.Store.Core.Segments;
        int free = pool.BackedFree;
        uint[] taken = Enumerable.Range(0, free).Select(_ => pool.Take(0, 0, Claim.Forced)).ToArray();
        Assert.That(free, Is.GreaterThan(2));
        Assert.That(taken, Is.Unique);
        foreach (uint number in taken) pool.Give(number);
    }

    [Test]
    public void Free_segments_are_handed_out_from_the_lowest_on_and_give_their_memory_back_from_the_highest_on([Values(1, 2, 3)] int seed)
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 1 });
        SegmentPool pool = bench.Store.Core.Segments;
        pool.Trim(0, 0, bench.NowMs);
        uint[] taken = [.. Enumerable.Range(0, 1000).Select(_ => pool.Take(0, 0, Claim.Forced))];
        new Random(seed).Shuffle(taken);
        foreach (uint number in taken) pool.Give(number);
        uint[] lowest = [.. taken.Order().Take(300)];
        Assert.That(Enumerable.Range(0, 300).Select(_ => pool.Take(0, 0, Claim.Forced)), Is.EqualTo(lowest));
        foreach (uint number in lowest) pool.Give(number);
        while (pool.Trim(400L * pool.SegmentBytes, 0, bench.NowMs += 2000)) continue;
        Assert.That(pool.BackedFree, Is.EqualTo(400));
        uint[] again = [.. Enumerable.Range(0, 1000).Select(_ => pool.Take(0, 0, Claim.Forced))];
        foreach (uint number in again) pool.Give(number);
        Assert.That(again, Is.EqualTo(taken.Order()), "those with memory are the lowest, the others come behind them in order");
    }

    /// <summary>Beside a set in order, over many words and groups of them.</summary>
    [Test]
    public void Free_numbers_are_given_away_from_both_ends([Values(63, 64, 4096, 300_000)] int max, [Values(1, 2)] int seed)
    {
        using Bench bench = new();
        FreeNumbers numbers = new(bench.Store.Arena, (uint)max);
        SortedSet<uint> expected = [];
        Random random = new(seed);
        for (int i = 0; i < 20_000; i++)
        {
            uint number = (uint)random.Next(1, max);
            switch (random.Next(4))
            {
                case 0:
                    Assert.That(numbers.TakeLowest(), Is.EqualTo(expected.Min));
                    expected.Remove(expected.Min);
                    break;
                case 1:
                    Assert.That(numbers.TakeHighest(), Is.EqualTo(expected.Max));
                    expected.Remove(expected.Max);
                    break;
                default:
                    numbers.Add(number);
                    expected.Add(number);
                    break;
            }
        }
    }

    [Test]
    public void U5_No_mover_changes_more_than_a_few_records_per_lock_hold()
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 4 << 20, Policy = EvictionPolicy.AllKeysLru, SegmentBytes = 16384 });
        for (int i = 0; i < 8000; i++) bench.Set("k" + i, new byte[20], expireAtMs: i % 3 == 0 ? bench.NowMs + 10 : 0);
        for (int i = 0; i < 8000; i += 2) bench.Delete("k" + i);
        bench.NowMs += 100;
        int changes = 0, most = 0;
        StoreTestHooks.OnYield = point =>
        {
            if (point == YieldPoint.Locked) changes = 0;
            else if (point == YieldPoint.SequenceOdd) most = Math.Max(most, ++changes);
        };
        bench.StepUntilIdle();
        StoreTestHooks.OnYield = null;
        Assert.That(bench.Store.Figures().CleanedBytes, Is.GreaterThan(0));
        Assert.That(bench.Store.Figures().ExpiredKeys, Is.GreaterThan(1000));
        Assert.That(most, Is.InRange(1, 32));
    }

    [Test]
    public void U5_Freed_extents_are_returned_by_the_movers_and_not_by_the_writer()
    {
        using Bench bench = new();
        for (int i = 0; i < 20; i++) bench.Set("k" + i, new byte[4096 * (2 + i)]);
        long full = bench.Store.Figures().UsedBytes;
        for (int i = 0; i < 20; i++) bench.Delete("k" + i);
        Assert.That(bench.Store.Core.Records.WaitingBytes(out long used), Is.GreaterThan(20 * 8192));
        Assert.That(used, Is.EqualTo(full), "still in the account");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        for (int i = 0; i < 3; i++, bench.NowMs += 1000) bench.StepUntilIdle();
        Assert.That(bench.Store.Core.Records.WaitingBytes(out used), Is.Zero);
        Assert.That(used, Is.LessThan(full - 20 * 8192));
    }

    [Test]
    public void Memory_of_values_that_are_written_again_and_again_stays_and_what_is_not_wanted_goes_back()
    {
        using Bench bench = new();
        byte[] value = new byte[1 << 20];
        for (int round = 0; round < 20; round++, bench.NowMs += 400)
        {
            for (int i = 0; i < 3; i++) bench.Set("k" + i, value);
            for (int i = 0; i < 3; i++) bench.Delete("k" + i);
            bench.StepUntilIdle();
            Assert.That(bench.Store.Core.Records.WaitingBytes(out _), Is.EqualTo(3 * ((1 << 20) + 4096)), "all of it is used again in the next round");
            Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        }
        for (int round = 0; round < 6; round++, bench.NowMs += 400)
        {
            bench.Set("k", value);
            bench.Delete("k");
            bench.StepUntilIdle();
        }
        Assert.That(bench.Store.Core.Records.WaitingBytes(out _), Is.EqualTo((1 << 20) + 4096), "only what is used");
    }

    [Test]
    public void Room_for_a_large_value_costs_no_more_of_them_than_it_takes()
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 8 << 20, Policy = EvictionPolicy.AllKeysRandom });
        for (int i = 0; i < 40; i++)
        {
            Assert.That(bench.Session.Room.Ensure(600_000), Is.True);
            Assert.That(bench.Set("k" + i, new byte[600_000]), Is.EqualTo(Outcome.Done));
        }

        Assert.That(bench.Store.Count(bench.Store.Namespaces.Id(0)), Is.GreaterThan(8), "of thirteen that there is room for");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_freed_run_serves_smaller_values_too()
    {
        using Bench bench = new();
        bench.Set("a", new byte[1 << 20]);
        bench.Set("b", new byte[1 << 20]);
        bench.Delete("a");
        long used = bench.Store.Figures().UsedBytes;
        bench.Set("c", new byte[600_000]);
        Assert.That(bench.Store.Figures().UsedBytes, Is.EqualTo(used), "it lies in memory that was there");
        Assert.That(bench.Store.Core.Records.WaitingBytes(out _), Is.EqualTo((1 << 20) + 4096 - ((600_000 / 4096 + 1) * 4096)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void U12_Every_change_of_the_structure_is_odd_while_it_lasts_and_leaves_another_number()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 1 });
        Partition* partition = bench.Store.Core.Shape->Partitions;
        int changes = 0;
        StoreTestHooks.OnYield = point =>
        {
            if (point is not (YieldPoint.StructureOdd or YieldPoint.BeforeStructureEven)) return;
            changes++;
            if ((partition->Structure & 1) == 0) changes = int.MinValue;
        };
        for (int i = 0; i < 300; i++) bench.Set("k" + i, "x");
        for (int i = 0; i < 300; i++) bench.Delete("k" + i);
        bench.StepUntilIdle();
        StoreTestHooks.OnYield = null;
        StoreFigures figures = bench.Store.Figures();
        Assert.That(figures.Merges, Is.GreaterThan(10));
        Assert.That(changes, Is.EqualTo(2 * (figures.Splits + figures.Merges)));
        Assert.That(partition->Structure, Is.EqualTo((uint)changes));
    }

    [Test]
    public void U13_A_record_of_a_draining_segment_is_not_changed_where_it_lies()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 1 });
        for (int i = 0; i < 100; i++) bench.Set("k" + i, new byte[40]);
        byte* before = RecordOf(bench, "k0", out ulong* slot);
        Partition* partition = bench.Store.Core.Shape->Partitions;
        Assert.That(bench.Set("k0", new byte[40]), Is.EqualTo(Outcome.Done));
        Assert.That(RecordOf(bench, "k0", out _) == before, Is.True, "in place as long as the segment is full");
        bench.Store.Core.Records.BeginDrain(partition, Shape.SegmentOf(bench.Store.Core.Shape, IndexWord.Offset(*slot)));
        bench.Set("k0", new byte[40]);
        Assert.That(RecordOf(bench, "k0", out _) == before, Is.False, "a whole value");
        before = RecordOf(bench, "k1", out _);
        bench.Fields("k1", 0, 0);
        Assert.That(RecordOf(bench, "k1", out _) == before, Is.False, "fields alone");
    }

    [Test]
    public void U14_The_movers_run_at_normal_priority()
    {
        ThreadPriority? priority = null;
        using ManualResetEventSlim seen = new();
        long Clock()
        {
            if (Thread.CurrentThread.Name == "store movers")
            {
                priority = Thread.CurrentThread.Priority;
                seen.Set();
            }
            return 1000;
        }
        using Bench bench = new(Bench.Tiny() with { BackgroundMovers = true, ClockMs = Clock });
        Assert.That(seen.Wait(TimeSpan.FromSeconds(20)), Is.True);
        Assert.That(priority, Is.EqualTo(ThreadPriority.Normal));
    }

    [Test]
    public void U15_Index_memory_never_serves_records_and_a_late_frequency_raise_hits_none()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 1 });
        Arena arena = bench.Store.Arena;
        for (int i = 0; i < 500; i++) bench.Set("k" + i, new byte[30]);
        List<(nint Slot, ulong Word)> late = [];
        for (int i = 0; i < 500; i++)
        {
            byte* record = RecordOf(bench, "k" + i, out ulong* slot);
            long at = (byte*)slot - arena.Base;
            Assert.That(at, Is.InRange(arena.IndexStart, arena.SegmentsStart - 8), "a word lies in index memory");
            Assert.That(record - arena.Base, Is.GreaterThanOrEqualTo(arena.SegmentsStart));
            late.Add(((nint)slot, *slot));
        }
        for (int i = 0; i < 500; i++) bench.Delete("k" + i);
        bench.StepUntilIdle();
        for (int i = 500; i < 1000; i++) bench.Set("k" + i, BitConverter.GetBytes(i));
        // Readers of long ago come to raise their frequencies: the words differ by now, nothing happens.
        foreach ((nint slot, ulong word) in late)
            Interlocked.CompareExchange(ref *(ulong*)slot, word + IndexWord.FrequencyOne, word);
        for (int i = 500; i < 1000; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(BitConverter.GetBytes(i)));
    }

    [Test]
    public void U18_A_namespace_id_rests_before_it_stands_for_something_else()
    {
        long nowMs = 1_000_000;
        using Bench bench = new(Bench.Tiny() with { ClockMs = () => nowMs });
        uint first = bench.Store.Namespaces.Id(0);
        Flush();
        nowMs += 9_000;
        Flush();
        Assert.That(bench.Store.Namespaces.Id(0), Is.Not.EqualTo(first), "too early");
        nowMs += 2_000;
        Flush();
        Assert.That(bench.Store.Namespaces.Id(0), Is.EqualTo(first), "rested");
        Assert.That(bench.Set("a", [1], first), Is.EqualTo(Outcome.Done));
        Assert.That(bench.Get("a", first), Is.Not.Null);

        void Flush()
        {
            bench.Set("k", [1], bench.Store.Namespaces.Id(0));
            bench.Store.Namespaces.Flush(0, wait: true);
        }
    }

    [Test]
    public void Namespaces_spread_the_same_key_over_the_partitions()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 64 });
        int partitions = Enumerable.Range(0, 200).Select(ns => bench.Store.PartitionOf(bench.Key("same", (uint)ns))).Distinct().Count();
        Assert.That(partitions, Is.GreaterThan(40));
    }

    [Test]
    public void Eviction_never_takes_a_chunk()
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 2 << 20, Policy = EvictionPolicy.AllKeysRandom });
        for (int i = 0; i < 500; i++) bench.Set("chunk" + i, new byte[100], kind: RecordKind.Chunk);
        for (int i = 0; i < 20_000; i++)
        {
            Assert.That(bench.Session.Room.Ensure(300), Is.True);
            bench.Set("k" + i, new byte[200]);
        }
        Assert.That(Enumerable.Range(0, 500).Count(i => bench.Get("chunk" + i) != null), Is.EqualTo(500));
    }

    private static byte* RecordOf(Bench bench, string key, out ulong* slot)
    {
        Shape* shape = bench.Store.Core.Shape;
        KeyRef name = bench.Key(key);
        Partition* partition = Shape.PartitionOf(shape, name.Hash);
        slot = Bucket.Find(shape, partition, Shape.BucketOf(shape, partition, name.Hash), name);
        return shape->Base + IndexWord.Offset(*slot);
    }

    private struct LengthsSeen : IRead
    {
        public int Looks;
        public void Look(in RecordView record) => Looks++;
    }
}

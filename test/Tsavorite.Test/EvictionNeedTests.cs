using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Nothing is evicted, and nothing refused, for memory that is no record's any more.</summary>
internal sealed unsafe class EvictionNeedTests
{
    private const int Limit = 8 << 20;

    /// <summary>As of one large collection that grows: each of its pieces is written anew, and all lie in one partition of many.</summary>
    [Test]
    public void Dead_space_is_cleaned_before_anything_is_evicted_also_where_it_lies_in_one_partition_of_many(
        [Values] bool isElsewhere, [Values] bool isBesideMovers)
    {
        using Bench bench = new(Bench.Tiny() with
        { MemoryLimitBytes = Limit, Partitions = 64, IndexBuckets = 16, Policy = EvictionPolicy.AllKeysLru });
        for (int i = 0; i < 3000; i++) bench.Set("cold" + i, new byte[1000]);
        IEnumerable<string> names = Enumerable.Range(0, 1_000_000).Select(static i => "g" + i);
        string[] grown = [.. names.Where(name => Number(bench, name) == 0).Take(2000)];
        Random random = new(11);
        bool isOver = false;
        Thread movers = new(() =>
        {
            while (isBesideMovers && !Volatile.Read(ref isOver)) bench.Store.StepMovers(1_000_000);
        }) { IsBackground = true };
        movers.Start();
        for (int step = 0; step < 40 * grown.Length; step++)
        {
            string name = grown[isElsewhere ? random.Next(grown.Length) : step % grown.Length];
            Assert.That(bench.Session.Room.Ensure(2 * 1000), Is.True);
            if (isElsewhere)
                bench.Delete(name);
            int bytes = isElsewhere || (step + (step / grown.Length)) % 2 != 0 ? 900 : 200;
            Assert.That(bench.Set(name, new byte[bytes]), Is.EqualTo(Outcome.Done));
        }
        Volatile.Write(ref isOver, true);
        Assert.That(movers.Join(TimeSpan.FromSeconds(30)), Is.True);
        StoreFigures figures = bench.Store.Figures();
        TestContext.Out.WriteLine($"{figures.EvictedKeys} evicted, live {figures.LiveBytes}, used {figures.UsedBytes}, cleaned {figures.CleanedBytes}");
        Assert.That(figures.EvictedKeys, Is.Zero, "what lives takes less than the limit");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_value_that_fits_stays_when_the_movers_come_by()
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = Limit, Policy = EvictionPolicy.AllKeysLru });
        int bytes = Limit;
        while (!bench.Store.Movers.Fits(bytes)) bytes -= Arena.PageBytes;
        Assert.That(bench.Session.Room.Ensure(bytes), Is.True);
        Assert.That(bench.Set("k", new byte[bytes - 100]), Is.EqualTo(Outcome.Done));
        Assert.That(bench.Store.Figures().UsedBytes, Is.GreaterThan(Limit * 63L / 64));
        for (int i = 0; i < 5; i++, bench.NowMs += 1000) bench.StepUntilIdle();
        Assert.That(bench.Get("k"), Is.Not.Null, "nobody needs what it takes");
        Assert.That(bench.Session.Room.Ensure(Limit / 2), Is.True, "its room goes to who does");
        Assert.That(bench.Get("k"), Is.Null);
    }

    [Test]
    public void What_a_mover_has_cleaned_meanwhile_is_enough()
    {
        using Bench bench = new(Bench.Tiny() with
        { MemoryLimitBytes = Limit, Partitions = 16, IndexBuckets = 16, SegmentBytes = 16384, Policy = EvictionPolicy.AllKeysLru });
        int keys = 0;
        while (bench.Store.Movers.HasRoom(2000, Claim.Limited)) bench.Set("k" + keys++, new byte[1000]);
        for (int i = 0; i < keys; i += 3) bench.Delete("k" + i);
        Assert.That(bench.Store.Movers.HasRoom(2000, Claim.Limited), Is.False, "what is dead is not given back yet");
        bool isCleaned = false;
        StoreTestHooks.OnYield = point =>
        {
            if (point != YieldPoint.Peeked || isCleaned)
                return;
            isCleaned = true;
            Shape* shape = bench.Store.Core.Shape;
            for (int i = 0; i < shape->PartitionCount; i++)
                while (bench.Store.Movers.Cleaner.Clean(shape->Partitions + i, bench.NowMs, RecordSpace.CleanableParts)) { }
        };
        bool hasRoom = bench.Session.Room.Ensure(2000);
        StoreTestHooks.OnYield = null;
        Assert.That((isCleaned, hasRoom, bench.Store.Figures().EvictedKeys), Is.EqualTo((true, true, 0)));
    }

    /// <summary>One step evicts so much and no more.</summary>
    [Test]
    public void What_is_beyond_a_limit_goes_until_a_little_is_free()
    {
        const int Fills = 12;
        for (int fill = 0; fill < Fills; fill++)
        {
            using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 4 * Limit, Policy = EvictionPolicy.AllKeysRandom });
            for (int i = 0; i < 10_000 + (fill * 50); i++) bench.Set("k" + i, new byte[2000]);
            Arena arena = bench.Store.Core.Arena;
            arena.SetLimit(Limit);
            bench.StepUntilIdle();
            Assert.That(arena.Used, Is.LessThanOrEqualTo(arena.Ceiling - (arena.Ceiling / 64)), $"fill {fill}");
        }
    }

    [Test]
    public void A_value_that_fits_into_no_empty_store_is_refused_and_not_evicted_at_once([Values] bool evicts)
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = Limit, Policy = evicts ? EvictionPolicy.AllKeysLru : EvictionPolicy.NoEviction });
        int taken = 0;
        for (int bytes = Limit - (256 << 10); bytes < Limit + (64 << 10); bytes += Arena.PageBytes)
        {
            bool isTaken = bench.Set("k", new byte[bytes]) == Outcome.Done;
            for (int i = 0; i < 3; i++, bench.NowMs += 1000) bench.StepUntilIdle();
            Assert.That(bench.Get("k") is not null, Is.EqualTo(isTaken), $"{bytes} bytes");
            taken += isTaken ? 1 : 0;
            bench.Delete("k");
            for (int i = 0; i < 3; i++, bench.NowMs += 1000) bench.StepUntilIdle();
        }
        Assert.That(taken, Is.InRange(1, 79));
    }

    [Test]
    public void What_was_written_last_is_not_what_goes_for_the_next(
        [Values(EvictionPolicy.AllKeysLru, EvictionPolicy.AllKeysLfu)] EvictionPolicy policy, [Values(200, 5_000)] int bytes)
    {
        const int Keys = 60_000;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 4 << 20, Partitions = 16, IndexBuckets = 16, Policy = policy });
        int lost = 0;
        CopyOut look = new();
        for (int i = 0; i < Keys; i++)
        {
            Assert.That(bench.Session.Room.Ensure(bytes), Is.True, $"write {i}");
            lost += i > 0 && bench.Session.Read(bench.Key("k" + (i - 1)), ref look, quiet: true) != Outcome.Done ? 1 : 0;
            Assert.That(bench.Set("k" + i, new byte[bytes]), Is.EqualTo(Outcome.Done), $"write {i}");
        }
        Assert.That(bench.Store.Figures().EvictedKeys, Is.GreaterThan(40_000));
        Assert.That(lost, Is.Zero);
    }

    /// <summary>Where one has few keys these go soon, also the one written last.</summary>
    [Test]
    public void However_long_keys_come_and_go_partitions_keep_about_as_many(
        [Values(EvictionPolicy.AllKeysLru, EvictionPolicy.AllKeysRandom, EvictionPolicy.VolatileLru)] EvictionPolicy policy)
    {
        const int Keys = 60_000, Partitions = 16;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 4 << 20, Partitions = Partitions, IndexBuckets = 16, Policy = policy });
        for (int i = 0; i < Keys; i++)
            Assert.That(bench.Session.Room.Ensure(5_000) ? bench.Set("k" + i, new byte[5_000], expireAtMs: bench.NowMs + 1_000_000) : Outcome.OutOfMemory, Is.EqualTo(Outcome.Done), $"write {i}");
        Shape* shape = bench.Store.Core.Shape;
        int[] kept = [.. Enumerable.Range(0, Partitions).Select(i => shape->Partitions[i].Words)];
        Assert.That(kept, Has.All.InRange(kept.Sum() / Partitions / 3, kept.Sum() / Partitions * 3), string.Join(' ', kept));
    }

    /// <summary>A large run takes the system some milliseconds: on no list any more, and in the account still.</summary>
    [Test]
    public void Memory_that_a_mover_is_giving_back_is_waited_for([Values] bool evicts)
    {
        const int Large = 6 << 20;
        EvictionPolicy policy = evicts ? EvictionPolicy.AllKeysLru : EvictionPolicy.NoEviction;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = Limit, Policy = policy });
        using ManualResetEventSlim returning = new(), goOn = new();
        bool wasLetGo = false;
        bench.Set("other", new byte[100]);
        bench.Set("k", new byte[Large]);
        bench.Delete("k");
        Thread mover = new(() => bench.Store.StepMovers(1_000_000)) { IsBackground = true };
        StoreTestHooks.OnYield = point =>
        {
            if (point == YieldPoint.Returning && Thread.CurrentThread == mover)
            {
                returning.Set();
                wasLetGo = goOn.Wait(TimeSpan.FromSeconds(30));
            }
            else if (point == YieldPoint.Blocked)
            {
                goOn.Set();
            }
        };
        mover.Start();
        bool hasBegun = returning.Wait(TimeSpan.FromSeconds(30)), hasRoom = bench.Session.Room.Ensure(Large);
        goOn.Set();
        Assert.That(mover.Join(TimeSpan.FromSeconds(30)), Is.True);
        StoreTestHooks.OnYield = null;
        Assert.That((hasBegun, wasLetGo, hasRoom), Is.EqualTo((true, true, true)));
        Assert.That(bench.Get("other"), Is.Not.Null, "there is room without its own");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private static int Number(Bench bench, string name) => Shape.PartitionOf(bench.Store.Core.Shape, bench.Key(name).Hash)->Number;

    /// <summary>What was just written is spared only while there are others at hand: nobody walks over all of the index to find one.</summary>
    [Test]
    public void Where_all_was_just_written_an_eviction_looks_at_a_few_buckets()
    {
        const int Volatile = 200;
        using Bench bench = new(Bench.Tiny() with
        { MemoryLimitBytes = 4 * Limit, Partitions = 4, IndexBuckets = 1024, Policy = EvictionPolicy.VolatileLru });
        for (int i = 0; i < Volatile; i++) bench.Set("v" + i, new byte[10], 0, bench.NowMs + 1_000_000);
        for (int i = 0; i < 50_000; i++) bench.Set("k" + i, new byte[10]);
        StoreCore core = bench.Store.Core;
        Evictor evictor = new(core, bench.Store.Namespaces);
        for (int i = 0; i < Volatile; i++) Assert.That(evictor.EvictOne(EvictionPolicy.VolatileLru), Is.True);
        ulong walked = 0, buckets = 0;
        for (int i = 0; i < core.Shape->PartitionCount; i++)
        {
            Partition* partition = core.Shape->Partitions + i;
            walked += partition->SweepCursor;
            buckets += (ulong)core.Shape->BucketsPerSegment << IndexSpace.DepthOf(partition);
        }

        Assert.That(bench.Store.CountWithExpiry(0), Is.Zero);
        Assert.That(walked, Is.AtMost(4 * buckets), "a lap or two for all of them");
    }

    // Who asks serves others too: the movers go on with what takes long, and he asks again.
    [TestCase(EvictionPolicy.AllKeysLru, 1)]
    [TestCase(EvictionPolicy.AllKeysRandom, 1)]
    [TestCase(EvictionPolicy.VolatileLru, 1)]
    [TestCase(EvictionPolicy.VolatileTtl, 500)]
    public void For_a_large_value_among_tiny_keys_only_a_few_are_evicted_by_who_asks_and_the_rest_by_the_movers(EvictionPolicy policy, int expiresEvery)
    {
        const int Large = 3 << 20, EvictedMax = 256 * 16, StepsMax = 2000;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 8 << 20, Partitions = 16, IndexBuckets = 16, Policy = policy });
        int keys = 0;
        for (; bench.Session.Room.Ensure(0) && bench.Store.Figures().EvictedKeys == 0; keys++)
            bench.Set("k" + keys, [1, 2, 3], expireAtMs: keys % expiresEvery == 0 ? bench.NowMs + 1_000_000 : 0);
        long evicted = bench.Store.Figures().EvictedKeys, most = 0;
        bool hasRoom = false;
        for (int steps = 0; steps < StepsMax && !(hasRoom = bench.Session.Room.Ensure(Large)) && bench.Session.Room.IsComing; steps++)
        {
            long now = bench.Store.Figures().EvictedKeys;
            most = Math.Max(most, now - evicted);
            bench.Store.StepMovers(++bench.NowMs);
            evicted = bench.Store.Figures().EvictedKeys;
        }
        TestContext.Out.WriteLine($"{keys} keys, {evicted} evicted, {most} at once");
        Assert.That(most, Is.AtMost(EvictedMax));
        Assert.That(hasRoom, Is.EqualTo(expiresEvery == 1), "else it ends once there is none left that may go");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Who_cannot_wait_has_all_of_the_room_made_at_once()
    {
        const int Large = 3 << 20;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 8 << 20, Partitions = 16, IndexBuckets = 16, Policy = EvictionPolicy.AllKeysLru });
        for (int i = 0; bench.Session.Room.Ensure(0) && bench.Store.Figures().EvictedKeys == 0; i++) bench.Set("k" + i, [1, 2, 3]);
        Assert.That((bench.Session.Room.Ensure(Large), bench.Session.Room.IsComing), Is.EqualTo((false, true)));
        Assert.That((bench.Session.Room.Demand(Large), bench.Session.Room.Ensure(Large)), Is.EqualTo((true, true)));
    }

    // He was served by a look of his own, or has gone: what he wanted is not made free once more.
    [Test]
    public void What_nobody_waits_for_any_more_is_not_made_free([Values] bool isWithdrawn)
    {
        const int Large = 3 << 20;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 8 << 20, Partitions = 16, IndexBuckets = 16, Policy = EvictionPolicy.AllKeysLru });
        for (int i = 0; bench.Session.Room.Ensure(0) && bench.Store.Figures().EvictedKeys == 0; i++) bench.Set("k" + i, [1, 2, 3]);
        bench.Session.Room.Wait.OnRoom = static () => { };
        Assert.That(bench.Session.Room.Ensure(Large), Is.False);
        bench.Session.Room.Wait.Ask(Large);
        if (isWithdrawn) bench.Session.Room.Wait.Withdraw();
        for (int i = 0; i < 500; i++) bench.Store.StepMovers(bench.NowMs);
        long free = bench.Store.Arena.Ceiling - bench.Store.Arena.Used;
        Assert.That(free, isWithdrawn ? Is.LessThan(Large / 4) : Is.GreaterThan(Large));
    }
}

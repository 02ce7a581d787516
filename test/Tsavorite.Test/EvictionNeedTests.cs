using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Nothing is evicted, and nothing refused, for memory that is no record's any more.</summary>
internal sealed unsafe class EvictionNeedTests
{
    private const int Limit = 8 << 20;

    /// <summary>As of one large collection that grows: each of its pieces is written anew, and all lie in one partition of many.</summary>
    [Test]
    public void Dead_space_is_cleaned_before_anything_is_evicted_also_where_it_lies_in_one_partition_of_many([Values] bool isElsewhere)
    {
        using Bench bench = new(Bench.Tiny() with
        { MemoryLimitBytes = Limit, Partitions = 64, IndexBuckets = 16, Policy = EvictionPolicy.AllKeysLru });
        for (int i = 0; i < 3000; i++) bench.Set("cold" + i, new byte[1000]);
        IEnumerable<string> names = Enumerable.Range(0, 1_000_000).Select(static i => "g" + i);
        string[] grown = [.. names.Where(name => Number(bench, name) == 0).Take(2000)];
        Random random = new(11);
        for (int step = 0; step < 40 * grown.Length; step++)
        {
            string name = grown[isElsewhere ? random.Next(grown.Length) : step % grown.Length];
            Assert.That(bench.Session.Room.Ensure(2 * 1000), Is.True);
            if (isElsewhere)
                bench.Delete(name);
            int bytes = isElsewhere || (step + (step / grown.Length)) % 2 != 0 ? 900 : 200;
            Assert.That(bench.Set(name, new byte[bytes]), Is.EqualTo(Outcome.Done));
        }
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
        Assert.That(bench.Session.Room.Ensure(300), Is.True, "its room goes to who does");
        Assert.That(bench.Get("k"), Is.Null);
    }

    /// <summary>A large run takes the system some milliseconds: on no list any more, and in the account still.</summary>
    [Test]
    public void Memory_that_a_mover_is_giving_back_is_waited_for([Values] bool evicts)
    {
        const int Large = 6 << 20;
        EvictionPolicy policy = evicts ? EvictionPolicy.AllKeysLru : EvictionPolicy.NoEviction;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = Limit, Policy = policy });
        using ManualResetEventSlim returning = new(), goOn = new();
        bench.Set("other", new byte[100]);
        bench.Set("k", new byte[Large]);
        bench.Delete("k");
        Thread mover = new(() => bench.Store.StepMovers(1_000_000)) { IsBackground = true };
        StoreTestHooks.OnYield = point =>
        {
            if (point == YieldPoint.Returning && Thread.CurrentThread == mover)
            {
                returning.Set();
                goOn.Wait(TimeSpan.FromSeconds(30));
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
        Assert.That((hasBegun, hasRoom), Is.EqualTo((true, true)));
        Assert.That(bench.Get("other"), Is.Not.Null, "there is room without its own");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private static int Number(Bench bench, string name) => Shape.PartitionOf(bench.Store.Core.Shape, bench.Key(name).Hash)->Number;
}

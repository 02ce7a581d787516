using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Nothing is evicted, and nothing refused, for memory that is no record's any more.</summary>
internal sealed unsafe class EvictionNeedTests
{
    private const int Limit = 8 << 20;

    /// <summary>As of one large collection that grows: each of its pieces is written anew, longer or shorter, and all lie in one partition of many.</summary>
    [Test]
    public void Dead_space_is_cleaned_before_anything_is_evicted_also_where_it_lies_in_one_partition_of_many()
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = Limit, Partitions = 64, IndexBuckets = 16, Policy = EvictionPolicy.AllKeysLru });
        for (int i = 0; i < 3000; i++) bench.Set("cold" + i, new byte[1000]);
        string[] grown = [.. Enumerable.Range(0, 1_000_000).Select(static i => "g" + i).Where(name => Number(bench, name) == 0).Take(2000)];
        for (int round = 0; round < 40; round++)
        {
            for (int i = 0; i < grown.Length; i++)
            {
                Assert.That(bench.Session.Room.Ensure(2 * 1000), Is.True);
                Assert.That(bench.Set(grown[i], new byte[(round + i) % 2 == 0 ? 200 : 900]), Is.EqualTo(Outcome.Done));
            }
        }
        StoreFigures figures = bench.Store.Figures();
        TestContext.Out.WriteLine($"{figures.EvictedKeys} evicted, live {figures.LiveBytes}, used {figures.UsedBytes}, cleaned {figures.CleanedBytes}");
        Assert.That(figures.EvictedKeys, Is.Zero, "what lives takes less than the limit");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>A large run takes the system some milliseconds: on no list any more, and in the account still.</summary>
    [Test]
    public void Memory_that_a_mover_is_giving_back_is_waited_for([Values] bool evicts)
    {
        const int Large = 6 << 20;
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = Limit, Policy = evicts ? EvictionPolicy.AllKeysLru : EvictionPolicy.NoEviction });
        using ManualResetEventSlim returning = new(), goOn = new();
        bench.Set("k", new byte[Large]);
        bench.Delete("k");
        bool isLetGo = false;
        Thread mover = new(() => bench.Store.StepMovers(1_000_000)) { IsBackground = true };
        StoreTestHooks.OnYield = point =>
        {
            if (point == YieldPoint.Returning && Thread.CurrentThread == mover)
            {
                returning.Set();
                isLetGo = goOn.Wait(TimeSpan.FromSeconds(30));
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
        Assert.That((hasBegun, hasRoom, isLetGo), Is.EqualTo((true, true, true)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private static int Number(Bench bench, string name) => Shape.PartitionOf(bench.Store.Core.Shape, bench.Key(name).Hash)->Number;
}

using NUnit.Framework;
using Tsavorite.Test.Tiers;

namespace Tsavorite.Test;

/// <summary>Each flush gives a database another id, which has counts in every partition: they do not take memory without end.</summary>
internal sealed unsafe class ManyFlushesTests
{
    private const int Rounds = 20_000;
    private const long BytesMax = 5 << 20; // 64 partitions, 16 bytes for each of 2,048 ids: those that rest, one of each database, and as many in the arrays before

    [Test]
    public void Flushes_of_what_is_empty_take_nothing([Values] bool all)
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 64 });
        uint id = bench.Store.Namespaces.Id(0);
        long before = bench.Store.Arena.Used;
        for (int i = 0; i < Rounds; i++) Flush(bench, all);
        Assert.That((bench.Store.Arena.Used, bench.Store.Namespaces.Id(0)), Is.EqualTo((before, id)));
    }

    [Test]
    public void Flushes_of_a_key_each_take_a_little([Values] bool all, [Values(1, 3, 100)] int databases, [Values] bool isMostlyOne)
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 64 });
        Random random = new(7);
        NamespaceTable names = bench.Store.Namespaces;
        Dictionary<uint, int> stoodFor = [];
        long before = bench.Store.Arena.Used;
        for (int i = 0; i < Rounds; i++)
        {
            int database = isMostlyOne && random.Next(50) != 0 ? 0 : random.Next(databases);
            uint id = names.Id(database);
            if (!stoodFor.TryAdd(id, database))
                Assert.That(stoodFor[id], Is.EqualTo(database), "before it has rested");
            Assert.That(bench.Set("k", [1], id), Is.EqualTo(Outcome.Done));
            Assert.That(all ? names.FlushAll(wait: true) : names.Flush(database, wait: true), Is.EqualTo(1));
            Assert.That(bench.Get("k", names.Id(database)), Is.Null);
        }
        Assert.That(bench.Store.Arena.Used - before, Is.LessThan(BytesMax));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Databases_that_nobody_uses_take_no_counts()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 64 });
        long before = bench.Store.Arena.Used;
        for (int database = 0; database < 60_000; database++) bench.Store.Namespaces.Id(database);
        bench.Store.Namespaces.FlushAll(wait: true);
        Assert.That(bench.Store.Arena.Used, Is.EqualTo(before));
    }

    [Test]
    public void However_many_databases_there_are_an_eviction_looks_at_few()
    {
        const int Keys = 2000;
        using Bench bench = new(Bench.Tiny() with { Partitions = 16, MemoryLimitBytes = 4 << 20, Policy = EvictionPolicy.AllKeysLru });
        for (int i = 0; i < Keys; i++) bench.Set("k" + i, [1], bench.Store.Namespaces.Id(i % 20));
        bench.Store.Namespaces.Id(NamespaceTable.Reserved);
        Shape* shape = bench.Store.Core.Shape;
        long counted = Enumerable.Range(0, 16).Sum(i => bench.Store.Namespaces.KeysIn(shape->Partitions + i, expiring: false));
        Assert.That(counted, Is.EqualTo(Keys * 16 / 20), "of the first sixteen");
    }

    [Test]
    public void A_step_that_holds_the_locks_makes_a_thousand_and_no_more([Values] bool hasTier)
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(hasTier ? TieredBench.Settings(medium) : Bench.Tiny());
        bench.Session.LockAll();
        int made = 0;
        for (; !bench.Store.Namespaces.IsFull && made < 2000; made++)
        {
            bench.Set("k", [1], bench.Store.Namespaces.Id(0));
            bench.Store.Namespaces.Flush(0, wait: false);
        }
        bench.Session.Unlock();
        Assert.That((made, bench.Store.Namespaces.IsFull), Is.EqualTo((1064, false)));
        bench.Store.Namespaces.Reclaim();
    }

    [Test]
    public void A_thousand_at_once_rest_in_full()
    {
        using Bench bench = new(Bench.Tiny());
        HashSet<uint> ids = [];
        for (int i = 0; i < 1000; i++)
        {
            Assert.That(ids.Add(bench.Store.Namespaces.Id(0)), $"flush {i}");
            bench.Set("k", [1], bench.Store.Namespaces.Id(0));
            Flush(bench, all: false);
        }
    }

    // Over a tier, whose disk may take long, many more may be behind before anybody waits.
    [TestCase(64, false, false)]
    [TestCase(65, false, true)]
    [TestCase(1000, true, false)]
    [TestCase(1001, true, true)]
    public void What_is_not_emptied_yet_is_said(int flushes, bool hasTier, bool isBehind)
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(hasTier ? TieredBench.Settings(medium) : Bench.Tiny());
        if (hasTier)
            bench.Cold(100, 100); // of the first database that is flushed
        for (int i = 0; i < flushes; i++)
        {
            bench.Set("k", [1], bench.Store.Namespaces.Id(0));
            bench.Store.Namespaces.Flush(0, wait: false);
        }
        Assert.That(bench.Store.Namespaces.IsBehind, Is.EqualTo(isBehind));
        bench.Store.Namespaces.Reclaim();
        Assert.That(bench.Store.Namespaces.IsBehind, Is.False);
    }

    private static void Flush(Bench bench, bool all)
    {
        if (all) bench.Store.Namespaces.FlushAll(wait: true);
        else bench.Store.Namespaces.Flush(0, wait: true);
    }
}

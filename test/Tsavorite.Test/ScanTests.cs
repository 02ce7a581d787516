using System.Text;
using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>SCAN shows every key that is there throughout, whatever the index does meanwhile.</summary>
internal sealed class ScanTests
{
    private struct Collect : IRead
    {
        public HashSet<string> Seen;
        public readonly void Look(in RecordView record) => Seen.Add(Encoding.UTF8.GetString(record.KeySpan));
    }

    [TestCase(1)]
    [TestCase(2)]
    [TestCase(3)]
    public void Every_key_present_throughout_is_shown_across_splits_and_merges(int seed)
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 4, IndexBuckets = 4 });
        Random random = new(seed);
        for (int i = 0; i < 300; i++) bench.Set("stay" + i, "x");
        long splits = 0, merges = 0;
        for (int round = 0; round < 20; round++)
        {
            Collect collect = new() { Seen = [] };
            ulong cursor = 0;
            int calls = 0;
            bool grow = round % 2 == 0;
            do
            {
                cursor = bench.Session.Scan(0, cursor, 10, ref collect);
                for (int i = 0; i < 40; i++)
                {
                    string key = "come" + random.Next(4000);
                    if (grow) bench.Set(key, "y");
                    else bench.Delete(key);
                }
                if (!grow && calls % 7 == 0)
                {
                    for (int i = 0; i < 4000; i++) bench.Delete("come" + i);
                    bench.StepUntilIdle();
                }
                Assert.That(++calls, Is.LessThan(10_000), $"seed {seed}: the scan ends");
            }
            while (cursor != 0);
            for (int i = 0; i < 300; i++) Assert.That(collect.Seen, Does.Contain("stay" + i), $"seed {seed} round {round}");
            splits = bench.Store.Figures().Splits;
            merges = bench.Store.Figures().Merges;
        }
        Assert.That(splits, Is.GreaterThan(50));
        Assert.That(merges, Is.GreaterThan(50));
    }

    [Test]
    public void Chunks_and_other_namespaces_are_not_shown_and_not_counted()
    {
        using Bench bench = new();
        bench.Set("root", [1], kind: RecordKind.Hash);
        bench.Set("chunk", [1], kind: RecordKind.Chunk);
        bench.Set("chunk", [2], kind: RecordKind.Chunk);
        bench.Set("other", [1], ns: 1);
        Collect collect = new() { Seen = [] };
        ulong cursor = 0;
        do cursor = bench.Session.Scan(0, cursor, 100, ref collect);
        while (cursor != 0);
        Assert.That(collect.Seen, Is.EquivalentTo(new[] { "root" }));
        Assert.That(bench.Store.Count(0), Is.EqualTo(1));
        Assert.That(bench.Get("chunk"), Is.EqualTo(new byte[] { 2 }));
    }

    [Test]
    public void A_random_record_is_any_of_the_namespace_and_none_of_an_empty_one()
    {
        using Bench bench = new();
        Collect collect = new() { Seen = [] };
        Assert.That(bench.Session.RandomRecord(0, ref collect), Is.False);
        for (int i = 0; i < 5; i++) bench.Set("k" + i, "x");
        for (int i = 0; i < 3000; i++) bench.Set("o" + i, [1], ns: 1);
        for (int i = 0; i < 400; i++) Assert.That(bench.Session.RandomRecord(0, ref collect), Is.True);
        Assert.That(collect.Seen, Is.EquivalentTo(new[] { "k0", "k1", "k2", "k3", "k4" }));
    }
}

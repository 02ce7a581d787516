using NUnit.Framework;
using Tsavorite.Test.Tiers;

namespace Tsavorite.Test;

/// <summary>The store against a dictionary, one thread, tiny segments and a tiny index.</summary>
internal sealed class OracleTests
{
    private sealed record Entry(byte[] Value, long ExpireAtMs, ulong ETag);

    [TestCase(1, ulong.MaxValue, 400_000)]
    [TestCase(2, ulong.MaxValue, 400_000)]
    [TestCase(3, 0xC00000000000000FUL, 20_000, Description = "two partitions, no bucket and no tag bits: all collide")]
    [TestCase(4, 0xFE00000000000000UL, 100_000, Description = "a few tag bits only")]
    [TestCase(5, ulong.MaxValue, 400_000)]
    public void The_store_equals_a_dictionary(int seed, ulong hashMask, int steps) => Run(seed, hashMask, steps, Bench.Tiny());

    [TestCase(1, ulong.MaxValue, 200_000, TierParts.Disk)]
    [TestCase(2, 0xC00000000000000FUL, 10_000, TierParts.Disk)]
    [TestCase(3, 0xFE00000000000000UL, 30_000, TierParts.Disk)]
    [TestCase(4, 0xFE00000000000000UL, 30_000, TierParts.Memory)]
    [TestCase(5, ulong.MaxValue, 100_000, TierParts.Memory)]
    [TestCase(6, 0xFE00000000000000UL, 30_000, TierParts.MemoryOverDisk)]
    [TestCase(7, ulong.MaxValue, 100_000, TierParts.MemoryOverDisk)]
    public void So_does_one_whose_records_go_to_a_tier_and_come_back(int seed, ulong hashMask, int steps, TierParts parts)
    {
        using MappedTier tier = new(parts, 64 << 20, parts == TierParts.Memory ? 64 << 20 : 1 << 19);
        Run(seed, hashMask, steps, TieredBench.Settings(tier.Medium));
    }

    private static void Run(int seed, ulong hashMask, int steps, StoreSettings settings)
    {
        using Bench bench = new(settings with { HashMask = hashMask });
        Dictionary<(uint, string), Entry> model = [];
        Random random = new(seed);
        int keys = hashMask == ulong.MaxValue ? 3000 : 200;
        for (int step = 0; step < steps; step++)
        {
            uint ns = (uint)random.Next(2);
            string key = "k" + random.Next(keys).ToString(System.Globalization.CultureInfo.InvariantCulture)
                + new string('x', random.Next(10) == 0 ? 0 : 7);
            Act(bench, model, random, ns, key, $"seed {seed} step {step}");
            if (settings.Tier is not null && random.Next(500) == 0) bench.Demote();
            if (random.Next(1000) == 0) Turn(bench, model, random, ns, keys);
            if (step % 20_000 == 0) Compare(bench, model, $"seed {seed} step {step}");
        }
        Compare(bench, model, $"seed {seed} at the end");
        Assert.That(bench.Store.Figures().Splits, Is.GreaterThan(0));
        if (settings.Tier is not null) Assert.That(bench.Tier().DemotedClean, Is.Positive, "some came back, and left as they were");
    }

    private static void Act(Bench bench, Dictionary<(uint, string), Entry> model, Random random, uint ns, string key, string where)
    {
        bool there = model.TryGetValue((ns, key), out Entry? entry) && (entry.ExpireAtMs == 0 || entry.ExpireAtMs > bench.NowMs);
        if (!there) entry = null;
        Outcome outcome;
        switch (random.Next(12))
        {
            case 0 or 1 or 2:
                long until = random.Next(3) == 0 ? bench.NowMs + random.Next(1, 2000) : 0;
                Entry set = new(Bytes(random), until, random.Next(4) == 0 ? (ulong)random.Next(1, 100) : 0);
                outcome = bench.Set(key, set.Value, ns, set.ExpireAtMs, set.ETag);
                Assert.That(outcome, Is.EqualTo(Outcome.Done), where);
                model[(ns, key)] = set;
                break;
            case 3 or 4:
                byte[] tail = Bytes(random);
                if (there && entry!.Value.Length > 20_000) tail = [];
                Assert.That(bench.Append(key, tail, ns), Is.EqualTo(Outcome.Done), where);
                model[(ns, key)] = there ? entry! with { Value = [.. entry!.Value, .. tail] } : new Entry(tail, 0, 0);
                break;
            case 5:
                long expireAtMs = random.Next(2) == 0 ? 0 : bench.NowMs + random.Next(1, 2000);
                ulong etag = (ulong)random.Next(3);
                outcome = bench.Fields(key, expireAtMs, etag, ns);
                Assert.That(outcome, Is.EqualTo(there ? Outcome.Done : Outcome.Unchanged), where);
                if (there) model[(ns, key)] = entry! with { ExpireAtMs = expireAtMs, ETag = etag };
                break;
            case 6 or 7:
                Assert.That(bench.Delete(key, ns), Is.EqualTo(there ? Outcome.Done : Outcome.Unchanged), where);
                model.Remove((ns, key));
                break;
            case 8:
                Refuse refuse = default;
                Assert.That(bench.Session.Modify(bench.Key(key, ns), ref refuse), Is.EqualTo(Outcome.Unchanged), where);
                break;
            default:
                Same(bench, ns, key, entry, where);
                break;
        }
    }

    // Time passes, movers step, a namespace is emptied key by key.
    private static void Turn(Bench bench, Dictionary<(uint, string), Entry> model, Random random, uint ns, int keys)
    {
        bench.NowMs += random.Next(300);
        if (random.Next(2) == 0) bench.Store.StepMovers(bench.NowMs);
        if (random.Next(20) != 0) return;
        foreach ((uint Ns, string Key) key in model.Keys.Where(k => k.Item1 == ns).ToArray())
        {
            bench.Delete(key.Key, ns);
            model.Remove(key);
        }
        bench.StepUntilIdle();
    }

    private static void Compare(Bench bench, Dictionary<(uint, string), Entry> model, string where)
    {
        foreach (((uint ns, string key), Entry entry) in model)
            Same(bench, ns, key, entry.ExpireAtMs == 0 || entry.ExpireAtMs > bench.NowMs ? entry : null, where);
        bench.StepUntilIdle();
        for (uint ns = 0; ns < 2; ns++)
        {
            IEnumerable<Entry> entries = model.Where(e => e.Key.Item1 == ns).Select(e => e.Value);
            Entry[] live = entries.Where(e => e.ExpireAtMs == 0 || e.ExpireAtMs > bench.NowMs).ToArray();
            if (bench.Store.Settings.Tier is not null)
            {
                // What has expired on the tier goes when its segment's turn comes.
                Assert.That(bench.Store.Count(ns), Is.GreaterThanOrEqualTo(live.Length), where);
                continue;
            }
            Assert.That(bench.Store.Count(ns), Is.EqualTo(live.Length), where);
            Assert.That(bench.Store.CountWithExpiry(ns), Is.EqualTo(live.Count(e => e.ExpireAtMs != 0)), where);
        }
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty, where);
    }

    private static void Same(Bench bench, uint ns, string key, Entry? entry, string where)
    {
        byte[]? value = bench.Get(key, ns);
        Assert.That(value is null, Is.EqualTo(entry is null), where + " presence of " + key);
        if (entry is null) return;
        Assert.That(value.AsSpan().SequenceEqual(entry.Value), Is.True, where + " value of " + key);
        Assert.That(bench.Last.ExpireAtMs, Is.EqualTo(entry.ExpireAtMs), where);
        Assert.That(bench.Last.ETag, Is.EqualTo(entry.ETag), where);
    }

    private static byte[] Bytes(Random random)
    {
        int length = random.Next(50) == 0 ? random.Next(10_000) : random.Next(100);
        byte[] bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }
}

using System.Text;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>
/// SCAN while records go to a tier and come back, are moved together and sink there, and others come and go: whatever is there from its beginning to its end is shown,
/// nothing is that was not there at any moment of it, each with its own value; and it ends.
/// </summary>
internal sealed class ScanOverTierTests
{
    private const int Stay = 200, Come = 4000, Rounds = 8, AtOnce = 10, MovesMax = 6, ChangesAtOnce = 30, EmptyEvery = 20, CallsMax = 20_000, WaitsMax = 200;

    [Test]
    public void Every_key_present_throughout_is_shown_whatever_moves_meanwhile([Values] TierParts parts, [Values] bool isPutOff, [Range(1, 4)] int seed)
    {
        TestContext.Out.WriteLine($"seed {seed}");
        using MappedTier tier = new(parts, 4 << 20, parts == TierParts.Memory ? 4 << 20 : 12 * (32 << 10));
        using Bench bench = new(TieredBench.Settings(tier.Medium) with { Partitions = 4, IndexBuckets = 4 });
        using ColdWriter writer = new(bench.Store.Core, bench.Store.Core.Tier!) { MayTakeReserve = true };
        using ColdCleaner cleaner = new(bench.Store.Core, bench.Store.Core.Tier!, writer, writer);
        Random random = new(seed);
        HashSet<string> there = [];
        for (int i = 0; i < Stay; i++) Put(bench, there, "stay" + i, random);
        bench.Demote();
        for (int round = 0; round < Rounds; round++)
        {
            bool grows = round % 2 == 0;
            Seen seen = new() { Keys = [] };
            HashSet<string> ever = [.. there];
            ulong cursor = 0;
            int calls = 0;
            do
            {
                cursor = Scan(bench, cursor, isPutOff, ref seen);
                for (int moves = random.Next(MovesMax); moves > 0; moves--) Move(bench, cleaner, random, there, grows);
                ever.UnionWith(there);
                if (!grows && calls % EmptyEvery == EmptyEvery - 1) Empty(bench, there);
                Assert.That(++calls, Is.LessThan(CallsMax), $"seed {seed}: it ends");
            }
            while (cursor != 0);
            Assert.That(Enumerable.Range(0, Stay).Select(static i => "stay" + i).Except(seen.Keys), Is.Empty, $"seed {seed} round {round}: not shown");
            Assert.That(seen.Keys.Except(ever), Is.Empty, $"seed {seed} round {round}: never there");
            Assert.That(seen.Wrong, Is.Null, $"seed {seed} round {round}: with another's value");
        }

        TierFigures figures = bench.Tier();
        StoreFigures all = bench.Store.Figures();
        long[] went = [figures.Demoted, figures.Promoted, figures.Returned, figures.Compacted, all.Splits, all.Merges];
        TestContext.Out.WriteLine($"demoted, promoted, returned, compacted, splits, merges: {string.Join(", ", went)}; sunk {figures.Memory?.MovedDown}");
        Assert.That(went, Has.All.GreaterThan(20), "all of it went on");
        if (parts == TierParts.MemoryOverDisk) Assert.That(figures.Memory!.MovedDown, Is.GreaterThan(20));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>A start makes its index anew, of names of what lies there; a cursor that a client has from before stands for the same as it did.</summary>
    [Test]
    public void A_cursor_goes_on_behind_a_start()
    {
        const int Keys = 3000;
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = TieredBench.Filled(medium, out _);
        Seen seen = new() { Keys = [] };
        ulong cursor = 0;
        while (seen.Keys.Count < Keys / 2) cursor = bench.Session.Scan(0, cursor, AtOnce, ref seen);
        Assert.That(cursor, Is.Not.Zero);
        NamingList names = NamingList.Of(bench.Store);
        using Store again = new(TieredBench.KeptSettings(medium));
        Assert.That(names.Load(again), Is.EqualTo(LoadOutcome.Done));
        using StoreSession session = again.OpenSession();
        session.NowMs = bench.NowMs;
        while (cursor != 0) cursor = session.Scan(again.Namespaces.Id(0), cursor, AtOnce, ref seen);
        Assert.That(Enumerable.Range(0, Keys).Select(static i => "k" + i).Except(seen.Keys), Is.Empty);
        Assert.That(again.Figures().Tier!.Reads, Is.Positive);
    }

    // As a server does it for a client, or as one that may wait where it stands.
    private static ulong Scan(Bench bench, ulong cursor, bool isPutOff, ref Seen seen)
    {
        if (!isPutOff)
            return bench.Session.Scan(0, cursor, AtOnce, ref seen);
        SessionTier tier = bench.Session.Tier!;
        tier.MayPostpone = static () => true;
        try
        {
            for (int waits = 0; ; waits++)
            {
                try
                {
                    return bench.Session.ScanPart(0, cursor, AtOnce, ref seen);
                }
                catch (ColdMissException) when (waits < WaitsMax)
                {
                    ColdWait wanted = tier.TakeWanted();
                    for (int polls = 0; polls < WaitsMax && tier.Awaits(wanted); polls++) tier.Poll(bench.NowMs);
                }
            }
        }
        finally
        {
            tier.MayPostpone = null;
        }
    }

    private static void Move(Bench bench, ColdCleaner cleaner, Random random, HashSet<string> there, bool grows)
    {
        string stays = "stay" + random.Next(Stay);
        bench.NowMs += random.Next(100);
        switch (random.Next(16))
        {
            case < 5:
                for (int i = 0; i < ChangesAtOnce; i++)
                {
                    string key = "come" + random.Next(Come);
                    if (grows) Put(bench, there, key, random);
                    else Remove(bench, there, key);
                }
                break;
            case < 8:
                bench.Session.Tier!.Demote(bench.Key(stays), bench.NowMs);
                bench.Store.StepMovers(bench.NowMs);
                break;
            case 8:
                bench.Demote();
                break;
            case 9:
                bench.Session.Tier!.Promote(bench.Key(stays), bench.NowMs);
                break;
            case 10 or 11:
                for (int reads = 0; reads < 4; reads++) bench.Get(stays); // often enough to come back
                break;
            case 12:
                foreach (ColdSegments part in bench.Store.Core.Tier!.Segments.Parts) cleaner.Compact(part, bench.NowMs += 1000);
                break;
            case 13:
                bench.StepUntilIdle(roundsMax: 20);
                break;
            default:
                Put(bench, there, stays, random);
                break;
        }
    }

    // The index becomes small again, beneath the walk.
    private static void Empty(Bench bench, HashSet<string> there)
    {
        foreach (string key in there.Where(static key => key.StartsWith("come", StringComparison.Ordinal)).ToArray()) Remove(bench, there, key);
        bench.StepUntilIdle();
    }

    private static void Put(Bench bench, HashSet<string> there, string key, Random random)
    {
        bench.Set(key, key + "=" + new string('v', random.Next(600)));
        there.Add(key);
    }

    private static void Remove(Bench bench, HashSet<string> there, string key)
    {
        bench.Delete(key);
        there.Remove(key);
    }

    private struct Seen : IRead
    {
        public HashSet<string> Keys;
        public string? Wrong;

        public void Look(in RecordView record)
        {
            string key = Encoding.UTF8.GetString(record.KeySpan);
            Keys.Add(key);
            if (!Encoding.UTF8.GetString(record.ValueSpan).StartsWith(key + "=", StringComparison.Ordinal)) Wrong = key;
        }
    }
}

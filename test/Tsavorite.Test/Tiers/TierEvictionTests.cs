using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Who is given up when memory and tier are full: by whole segments, and still not whoever was read a moment ago.</summary>
internal sealed class TierEvictionTests
{
    private const int Keys = 2000, ReadEvery = 5, WritesMax = 40_000;

    /// <summary>A fifth of what lies there is read once in a while; until half of all has been given up.</summary>
    [TestCase(EvictionPolicy.AllKeysLru, 0.75, 1.0)]
    [TestCase(EvictionPolicy.AllKeysLfu, 0.75, 1.0)]
    [TestCase(EvictionPolicy.AllKeysRandom, 0.3, 0.7)]
    public void What_was_read_stays_longer_where_the_policy_looks_at_reads(EvictionPolicy policy, double least, double most)
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, Policy = policy });
        bench.Store.Promotion = TierPromotion.No; // what is promoted is young again
        bench.Cold(Keys, 300);
        for (int i = 0, alive = Keys; alive > Keys / 2 && i < WritesMax; i++)
        {
            do
                bench.Store.StepMovers(++bench.NowMs);
            while (!bench.Session.Room.Ensure(400) && bench.Session.Room.IsComing);
            bench.Set("n" + i, TieredBench.Value(i, 300));
            if (i % 200 != 0) continue;
            alive = Enumerable.Range(0, Keys).Count(key => IsThere(bench, key));
            for (int key = 0; key < Keys; key += ReadEvery * 4) bench.Get("k" + (key + (i / 200 % 4 * ReadEvery)));
            bench.NowMs += 1100;
        }
        bench.Store.SetPolicy(EvictionPolicy.NoEviction);
        int read = 0, unread = 0;
        for (int key = 0; key < Keys; key++)
        {
            if (!IsThere(bench, key)) continue;
            read += key % ReadEvery == 0 ? 1 : 0;
            unread += key % ReadEvery == 0 ? 0 : 1;
        }
        Assert.That(read + unread, Is.InRange(Keys / 4, Keys / 2));
        Assert.That((double)read / (Keys / ReadEvery), Is.InRange(least, most), $"{read} of {Keys / ReadEvery} read, {unread} of the others");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>A value that takes several segments needs more of them free than are kept free: the oldest make room for it, too, and not the youngest in memory.</summary>
    [TestCase(EvictionPolicy.AllKeysLru)]
    [TestCase(EvictionPolicy.AllKeysRandom)]
    public void Values_of_several_segments_go_on_to_a_full_tier(EvictionPolicy policy)
    {
        const int Bytes = 150_000, Values = 120;
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, Policy = policy });
        bench.Store.Promotion = TierPromotion.No;
        for (int i = 0; i < Values; i++)
        {
            for (int tries = 0; tries < 200; tries++)
            {
                bench.Store.StepMovers(bench.NowMs += 10);
                bench.Store.Tiers!.Step(bench.NowMs);
                if (bench.Session.Room.Ensure(Bytes) || !bench.Session.Room.IsComing) break;
            }
            bench.Set("k" + i, TieredBench.Value(i, Bytes));
        }
        int[] cold = [.. Enumerable.Range(0, Values).Where(i => bench.Session.Tier!.Where(bench.Key("k" + i), bench.NowMs).IsCold)];
        TestContext.Out.WriteLine($"cold {string.Join(' ', cold)}; demoted {bench.Tier().Demoted}, evicted there {bench.Tier().Evicted}, free {bench.Tier().FreeBytes}");
        Assert.That(bench.Tier().Demoted, Is.GreaterThan(Values / 2));
        Assert.That(cold.Where(static i => i > Values / 2), Is.Not.Empty);
        if (policy == EvictionPolicy.AllKeysLru) Assert.That(cold[0], Is.GreaterThan(Values / 2));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>
    /// A value that lacks segments on a full tier: nothing is given up for it once it is gone or has been read, nor if it is longer than a good part of the tier,
    /// for which most of the others would go. While it waits, and is short enough, others are.
    /// </summary>
    [TestCase("waits", true)]
    [TestCase("deleted", false)]
    [TestCase("read", false)]
    [TestCase("too long", false)]
    public void Others_are_given_up_for_a_long_value_while_it_waits_only(string which, bool gives)
    {
        const int Bytes = 1000;
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 8 << 20, Policy = EvictionPolicy.AllKeysLru });
        bench.Store.Promotion = TierPromotion.No;
        int keys = 0;
        for (; bench.Tier().FreeBytes > 12 * (32 << 10); bench.Demote()) // of segments
        {
            for (int i = 0; i < 54; i++) bench.Set("k" + keys++, TieredBench.Value(i, Bytes));
        }
        bench.Set("long", TieredBench.Value(1, which == "too long" ? 3 << 20 : 1_800_000));
        bench.Demote(); // has too few
        Assert.That(bench.Session.Tier!.Where(bench.Key("long"), bench.NowMs).IsCold, Is.False);
        if (which == "deleted") bench.Delete("long");
        if (which == "read") bench.Get("long");
        long evicted = bench.Tier().Evicted;
        for (int i = 0; i < 200; i++)
        {
            bench.Store.StepMovers(bench.NowMs += 10);
            bench.Store.Tiers!.Step(bench.NowMs);
        }
        Assert.That(bench.Tier().Evicted > evicted, Is.EqualTo(gives), $"{bench.Tier().Evicted - evicted} of {keys} were given up");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    /// <summary>A piece of a value whose root is read lies among what a full tier gives up first: it is moved, as its value would be half without it.</summary>
    [Test]
    public void A_full_tier_gives_up_no_piece_of_what_is_there()
    {
        const int Pieces = 200, Bytes = 400, KeysMax = 40_000, Given = 1_500;
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, Policy = EvictionPolicy.AllKeysLru });
        for (uint number = 0; number < Pieces; number++)
        {
            ChunkEdit edit = new() { Number = number, Bytes = TieredBench.Value((int)number, Bytes) };
            Assert.That(bench.Session.Edit(bench.Key("root"), ref edit), Is.EqualTo(Outcome.Done));
        }
        bench.Demote();
        for (int i = 0; i < KeysMax && bench.Tier().Evicted < Given; i++)
        {
            do
                bench.Store.StepMovers(++bench.NowMs);
            while (!bench.Session.Room.Ensure(Bytes) && bench.Session.Room.IsComing);
            bench.Set("n" + i, TieredBench.Value(i, Bytes));
            Assert.That(PiecesOf(bench, 0), Is.Zero, "its root is read, and none of them");
        }
        Assert.That((bench.Tier().Evicted >= Given, PiecesOf(bench, Pieces)), Is.EqualTo((true, Pieces)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    // How many of the first so many are as they were.
    private static int PiecesOf(Bench bench, int count)
    {
        FirstPieces look = new() { Count = count };
        Assert.That(bench.Session.Examine(bench.Key("root"), ref look), Is.EqualTo(Outcome.Done));
        return look.Sound;
    }

    private static bool IsThere(Bench bench, int key)
    {
        TierPlaces places = bench.Session.Tier!.Where(bench.Key("k" + key), bench.NowMs);
        return places.Exists;
    }

    private struct FirstPieces : IExamine
    {
        public int Count, Sound;

        public unsafe void Look(ref RecordEdit record)
        {
            Sound = 0;
            for (int number = 0; number < Count; number++)
            {
                byte* piece = record.Chunk((uint)number, out int bytes);
                Sound += piece != null && new ReadOnlySpan<byte>(piece, bytes).SequenceEqual(TieredBench.Value(number, bytes)) ? 1 : 0;
            }
        }
    }
}

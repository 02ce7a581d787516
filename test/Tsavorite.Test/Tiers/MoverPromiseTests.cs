using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What the mover that keeps memory free promises, one by one.</summary>
internal sealed unsafe class MoverPromiseTests
{
    private const int WaitMs = 60_000;

    // Records of all sizes go, each to a segment of its own size class, however many there are of each.
    [Test]
    public void M1_Every_size_goes_to_segments_of_its_own()
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        int[] sizes = [10, 100, 3_000, 5_000, 9_000, 20_000];
        for (int i = 0; i < 240; i++) bench.Set("k" + i, TieredBench.Value(i, sizes[i % sizes.Length]));
        bench.Demote();
        Assert.That(bench.Tier().Records, Is.EqualTo(240));
        ColdLayers segments = bench.Store.Core.Tier!.Segments;
        HashSet<int> bands = [];
        foreach (uint number in segments.Numbers)
        {
            if (segments[number]->Live > 0) bands.Add(segments[number]->Band);
        }
        Assert.That(bands, Is.EquivalentTo((int[])[0, 1, 2, 3]));
        for (int i = 0; i < 240; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, sizes[i % sizes.Length])));
    }

    // Room is made up to the target and not beyond: what is on its way counts.
    [Test]
    public void M2_No_more_leaves_than_is_wanted()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Full(medium, partitions: 4);
        bench.StepUntilIdle();
        Arena arena = bench.Store.Arena;
        long target = arena.Ceiling - (arena.Ceiling / TierMovers.TargetPart);
        Assert.That(arena.Used, Is.LessThan(arena.LowMark));
        Assert.That(arena.Used, Is.GreaterThan(target - (arena.Ceiling / TierMovers.TargetPart)));
    }

    // What nobody reads leaves in the order in which it came, however much stays beside it that is read: what was written a moment ago has its time.
    [Test]
    public void Large_values_that_nobody_reads_leave_the_oldest_first()
    {
        const int Rounds = 60, Bytes = 20_000;
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Small(medium, partitions: 1);
        int read = (int)(bench.Store.Arena.LowMark / Bytes / 2), keys = 0;
        for (int round = 0; round < Rounds; round++)
        {
            for (; bench.Store.Arena.Used < bench.Store.Arena.LowMark; keys++) bench.Set("k" + keys, TieredBench.Value(keys, Bytes));
            for (int i = 0; i < read; i++) bench.Get("k" + i);
            bench.StepUntilIdle();
        }
        bool[] isCold = [.. Enumerable.Range(0, keys).Select(i => bench.Session.Tier!.Where(bench.Key("k" + i), bench.NowMs).IsCold)];
        Assert.That(isCold.AsSpan(0, read).Contains(true), Is.False, "what is read stays");
        Assert.That(isCold.Count(static isCold => isCold), Is.GreaterThan(keys / 3), "memory was filled more than once");
        int kept = Array.IndexOf(isCold, false, read);
        Assert.That(isCold.AsSpan(kept).Contains(true), Is.False, "something younger left than what is still there");
    }

    // A partition that has nearly everything gives nearly everything: no share is set aside for those that have nothing.
    [Test]
    public void M3_Room_comes_from_where_the_records_are()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Small(medium, partitions: 4);
        for (int i = 0, written = 0; bench.Store.Arena.Used < bench.Store.Arena.LowMark; i++)
        {
            if (bench.Store.PartitionOf(bench.Key("k" + i)) == 2 && written++ >= 0) bench.Set("k" + i, TieredBench.Value(i, 300));
        }
        bench.StepUntilIdle();
        Assert.That(bench.Store.Arena.Used, Is.LessThan(bench.Store.Arena.LowMark));
        Assert.That(bench.Tier().Demoted, Is.GreaterThan(100));
    }

    // What has moved is counted, records and bytes, both ways.
    [Test]
    public void M4_Every_record_and_byte_that_moves_is_counted()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(200, 104);
        long all = Enumerable.Range(0, 200).Sum(static i => Record.HeaderBytes + ("k" + i).Length + 104);
        Assert.That((bench.Tier().Demoted, bench.Tier().DemotedBytes), Is.EqualTo((200, all)));
        Assert.That(bench.Tier().WrittenBytes, Is.GreaterThanOrEqualTo(bench.Tier().DemotedBytes));
        for (int read = 0; read < 2; read++)
        {
            for (int i = 0; i < 100; i++) bench.Get("k" + i);
        }
        for (int i = 100; i < 200; i++) bench.Append("k" + i, [1]);
        TierFigures tier = bench.Tier();
        Assert.That((tier.Promoted, tier.Returned, tier.PromotedBytes + tier.ReturnedBytes), Is.EqualTo((100, 100, tier.DemotedBytes)));
    }

    // The figures may be asked for by anybody while records move; counts never go back. How many records lie there is exact only when none moves.
    [Test]
    public void M5_Figures_are_asked_for_while_records_move()
    {
        const int Keys = 4000;
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        using (DemotingThread demoting = new(bench.Store))
        {
            demoting.Pause(false);
            TierFigures last = bench.Tier();
            for (int i = 0; i < Keys;)
            {
                for (int end = i + 20; i < end; i++) bench.Set("k" + i, TieredBench.Value(i, 100));
                TierFigures now = bench.Tier();
                Assert.That(now.Demoted, Is.GreaterThanOrEqualTo(last.Demoted));
                Assert.That(now.WrittenBytes, Is.GreaterThanOrEqualTo(last.WrittenBytes));
                Assert.That(now.Records, Is.Not.Negative);
                last = now;
            }
        }
        bench.StepUntilIdle();
        Assert.That(bench.Tier().Records, Is.InRange(1, Keys), "nothing moves: each is in one place");
    }

    // One thread goes round all partitions: none is left out, whatever the others hold.
    [Test]
    public void M6_No_partition_is_left_out()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { Partitions = 16 });
        bench.Cold(2000, 100);
        for (int i = 0; i < 16; i++) Assert.That((bench.Store.Core.Shape->Partitions + i)->LiveBytes, Is.LessThan(2000), $"partition {i}");
    }

    // A round has an end, however much there is to do: others have their turn in between.
    [Test]
    public void M7_A_round_is_bounded()
    {
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = Full(medium, partitions: 2);
        bench.Store.Arena.SetLimit(bench.Store.Arena.Limit / 4);
        long rounds = 0, before = 0;
        while (bench.Store.StepMovers(bench.NowMs) && rounds++ < 10_000)
        {
            long now = bench.Tier().DemotedBytes;
            Assert.That(now - before, Is.LessThan((1 << 20) + (256 << 10)));
            before = now;
        }
        Assert.That(bench.Tier().DemotedBytes, Is.GreaterThan(1 << 20));
        bench.Store.Arena.SetLimit(bench.Store.Arena.Limit * 4);
    }

    // What has expired is freed, in memory and on the tier, and not carried on.
    [Test]
    public void M8_What_has_expired_is_freed_and_does_not_move()
    {
        using SimulatedMedium medium = new(32 << 20);
        using Bench bench = Small(medium, partitions: 2);
        int keys = 0;
        for (; bench.Store.Arena.Used < bench.Store.Arena.LowMark; keys++)
            bench.Set("k" + keys, TieredBench.Value(keys, 300), 0, bench.NowMs + 1000);
        bench.NowMs += 100_000;
        bench.StepUntilIdle();
        Assert.That((bench.Store.Count(0), bench.Tier().DemotedBytes), Is.EqualTo((0, 0)));
    }

    // To make room in memory nothing on the tier is given up in the same breath: a full tier takes no more, and all that it has stays.
    [Test]
    public void M9_Demotion_itself_evicts_nothing()
    {
        using SimulatedMedium medium = new(512 << 10);
        using Bench bench = new(TieredBench.Settings(medium) with { Policy = EvictionPolicy.AllKeysLru });
        for (int i = 0; i < 4000; i++) bench.Set("k" + i, TieredBench.Value(i, 300));
        bench.Demote();
        Assert.That((bench.Tier().Evicted, bench.Tier().Compacted), Is.EqualTo((0, 0)));
        Assert.That(bench.Tier().FreeBytes, Is.EqualTo(bench.Store.Core.Tier!.ReserveOf(bench.Store.Core.Tier.Segments.Bottom) * (32 << 10)));
        for (int i = 0; i < 4000; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 300)), $"k{i}");
    }

    // The mover is woken while there is still room, not by the first that finds none.
    [Test]
    public void M10_Room_is_made_before_anybody_finds_none()
    {
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = Small(medium, partitions: 2);
        for (int i = 0; i < 16_000; i++)
        {
            Assert.That(bench.Session.Room.Ensure(400), Is.True, $"write {i}");
            Assert.That(bench.Set("k" + i, TieredBench.Value(i, 300)), Is.EqualTo(Outcome.Done));
            for (int round = 0; round < 50 && bench.Store.Arena.Used >= bench.Store.Arena.LowMark && bench.Store.StepMovers(bench.NowMs); round++) { }
        }
        Assert.That(bench.Tier().Demoted, Is.GreaterThan(4_000));
        Assert.That(bench.Store.Figures().EvictedKeys, Is.Zero);
    }

    // A second tier is no use without its mover: with it, several times the memory is written and read by itself.
    [Test]
    public void M11_Records_move_by_themselves()
    {
        using SimulatedMedium medium = new(64 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, BackgroundMovers = true });
        for (int i = 0; i < 20_000; i++)
        {
            Assert.That(SpinWait.SpinUntil(() => bench.Session.Room.Ensure(400), WaitMs), Is.True, $"room for k{i}");
            Assert.That(bench.Set("k" + i, TieredBench.Value(i, 300)), Is.EqualTo(Outcome.Done));
        }
        Assert.That(bench.Tier().Demoted, Is.GreaterThan(10_000));
        for (int i = 0; i < 20_000; i += 7) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, 300)), $"k{i}");
    }

    private static Bench Small(SimulatedMedium medium, int partitions) =>
        new(TieredBench.Settings(medium) with { MemoryLimitBytes = 4 << 20, Partitions = partitions });

    // Memory is full to the mark where demotion begins.
    private static Bench Full(SimulatedMedium medium, int partitions)
    {
        Bench bench = Small(medium, partitions);
        for (int i = 0; bench.Store.Arena.Used < bench.Store.Arena.LowMark; i++) bench.Set("k" + i, TieredBench.Value(i, 300));
        return bench;
    }
}

using Garnet.Common.Test;
using Garnet.Media;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Room on a full tier that is on its way: a write that can wait for it need not be refused.</summary>
public sealed class RoomThatComesTests
{
    private const int Keys = 1400, Bytes = 1000;

    [Test]
    public void A_write_waits_for_room_that_is_dead_and_being_read_and_not_for_what_was_read([Values] bool isBeingRead)
    {
        const int Keys = 1400;
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(Settings(medium) with { TierId = default });
        using StoreSession other = bench.Store.OpenSession();
        int written = 0;
        for (; written < 10 * Keys && bench.Session.Room.Ensure(1000); written++) // what is overwritten on the tier is read first, and kept, since nobody polls
        {
            string key = "k" + (written % Keys);
            if (isBeingRead && other.Tier!.Foresee(bench.Key(key)))
                other.Tier.BeginReads();
            bench.Set(key, TieredBench.Value(written, 1000));
            bench.Store.StepMovers(bench.NowMs);
            bench.Store.Tiers!.Step(bench.NowMs);
        }
        Assert.That((written < 10 * Keys, bench.Session.Room.IsComing), Is.EqualTo((isBeingRead, isBeingRead)));
        if (!isBeingRead)
            return;
        for (int i = 0; i < 1000 && other.Tier!.Pending > 0; i++) other.Tier.Poll(bench.NowMs);
        Assert.That(bench.Pins(), Is.Zero);
        bench.Store.Tiers!.Step(bench.NowMs);
        bench.Store.StepMovers(bench.NowMs);
        Assert.That(bench.Session.Room.Ensure(1000));
    }

    // As at a start that has loaded more than the limit: nobody waits, and the snapshot that is wanted makes room for all of it.
    [Test]
    public void Nothing_is_evicted_ahead_while_a_snapshot_makes_room([Values] bool isTaken)
    {
        using SimulatedMedium medium = new(1200 << 10);
        using Bench bench = new(Settings(medium));
        int snapshots = 0, written = 0;
        for (; written < Keys; written++) Assert.That(IsWritten(bench, written), $"key {written}");
        Snapshot(bench, ++snapshots);
        while (written < 20 * Keys && IsWritten(bench, written)) written++;
        Assert.That((bench.Session.Room.IsComing, bench.Store.Names!.WantsSnapshot), Is.EqualTo((true, true)));
        bench.Store.SetPolicy(EvictionPolicy.AllKeysLru);
        bench.Store.SetMemoryLimit(bench.Store.Arena.Used - (200 << 10));
        for (int i = 0; i < 100; i++) Step(bench);
        Assert.That(bench.Store.Figures().EvictedKeys, Is.Zero);
        if (isTaken) Snapshot(bench, ++snapshots);
        if (isTaken) Snapshot(bench, ++snapshots);
        for (int i = 0; i < 1200; i++) Step(bench);
        Assert.That(bench.Store.Arena.Used, Is.AtMost(bench.Store.Arena.Ceiling), "in the end the limit holds");
        Assert.That(bench.Store.Figures().EvictedKeys, isTaken ? Is.Zero : Is.Positive);
    }

    [Test]
    public void Where_nothing_is_evicted_a_write_waits_for_the_room_that_snapshots_give_back([Values] bool isNamed)
    {
        using SimulatedMedium medium = new(1200 << 10);
        using Bench bench = new(Settings(medium));
        int snapshots = 0;
        for (int i = 0; i < Keys; i++) Assert.That(IsWritten(bench, i), $"key {i}");
        if (isNamed) Snapshot(bench, ++snapshots);
        int written = Keys;
        while (written < 20 * Keys && IsWritten(bench, written)) written++;
        Assert.That(written < 20 * Keys, Is.EqualTo(isNamed), "what is dead and named by nobody is free at once");
        if (!isNamed) return;
        Assert.That((bench.Session.Room.IsComing, bench.Store.Names!.WantsSnapshot), Is.EqualTo((true, true)));
        Snapshot(bench, ++snapshots);
        Snapshot(bench, ++snapshots);
        Assert.That(IsWritten(bench, written), Is.True);
    }

    [Test]
    public void While_the_medium_stalls_keys_are_evicted_where_that_is_allowed_and_else_a_write_waits([Values] bool evicts)
    {
        using ManualResetEventSlim stalled = new(), goesOn = new();
        using SimulatedMedium medium = new(4 << 20);
        using Bench bench = new(Settings(medium) with { Policy = evicts ? EvictionPolicy.AllKeysLru : EvictionPolicy.NoEviction });
        medium.FailsWrite = _ =>
        {
            stalled.Set();
            goesOn.Await();
            return 0;
        };
        int keys = 0;
        for (; bench.Session.Room.Ensure(1000); keys++) bench.Set("k" + keys, TieredBench.Value(keys, 1000));
        Thread mover = new(() => bench.Store.Tiers!.Step(1_000_000));
        mover.Start();
        stalled.Await();
        bench.Session.NowMs = 1_000_000;
        for (int i = 0; i < 9; i++) ExpectToCome(afterMs: 100);
        ExpectToCome(afterMs: 60_000); // the process was stopped meanwhile, and the medium's thread with it
        bench.Session.NowMs += 100;
        Assert.That((bench.Session.Room.Ensure(1000), bench.Session.Room.IsComing), Is.EqualTo((evicts, !evicts)));
        Assert.That(bench.Store.Figures().EvictedKeys > 0, Is.EqualTo(evicts));
        goesOn.Set();
        mover.Await();

        void ExpectToCome(long afterMs)
        {
            bench.Session.NowMs += afterMs;
            Assert.That((bench.Session.Room.Ensure(1000), bench.Session.Room.IsComing), Is.EqualTo((false, true)), "it may come soon");
        }
    }

    [Test]
    public void Who_has_waited_for_long_enough_evicts_where_that_is_allowed_and_the_tier_is_short_of_room([Values] bool evicts, [Values] bool isShort)
    {
        using SimulatedMedium medium = new(isShort ? 256 << 10 : 8 << 20);
        using Bench bench = new(Settings(medium) with { TierId = default, Policy = evicts ? EvictionPolicy.AllKeysLru : EvictionPolicy.NoEviction });
        bool wasShort = false;
        for (int i = 0; i < 20_000 && !wasShort; i++)
        {
            if (bench.Session.Room.Ensure(1000))
                bench.Set("k" + i, TieredBench.Value(i, 1000));
            else
                bench.Store.Tiers!.Step(bench.NowMs += 1);
            wasShort = isShort ? bench.Store.Tiers!.IsShort && !bench.Session.Room.Ensure(1000) && bench.Session.Room.IsComing : i == 3000;
        }
        while (bench.Session.Room.Ensure(1000)) bench.Set("l" + bench.Session.Count(0), TieredBench.Value(1, 1000));
        Assert.That((bench.Store.Tiers!.IsShort, bench.Session.Room.IsComing), Is.EqualTo((isShort, true)));
        long before = bench.Store.Figures().EvictedKeys;
        Assert.That(bench.Session.Room.EnsureNow(1000), Is.EqualTo(evicts && isShort));
        Assert.That(bench.Store.Figures().EvictedKeys > before, Is.EqualTo(evicts && isShort));
    }

    [Test]
    public void What_is_dead_in_places_that_nobody_cleans_is_no_room_that_comes([Values] bool hasRoomOnTier)
    {
        const int Bytes = 100, Large = 200 << 10, EveryN = 12; // less than an eighth of each segment is dead then
        using SimulatedMedium medium = new(hasRoomOnTier ? 16 << 20 : 64 << 10);
        using Bench bench = new(Settings(medium) with { MemoryLimitBytes = 8 << 20, SegmentBytes = 32 << 10, IndexBuckets = 256 });
        int keys = 0;
        for (; bench.Session.Room.Ensure(Bytes); keys++) bench.Set("k" + keys, TieredBench.Value(keys, Bytes));
        for (int i = 0; i < keys; i += EveryN) bench.Delete("k" + i);
        int rounds = 0;
        while (!bench.Session.Room.Ensure(Large) && bench.Session.Room.IsComing && rounds < 200)
        {
            bench.Store.Tiers!.Step(bench.NowMs += 10);
            rounds++;
        }
        Assert.That(rounds, Is.LessThan(200), "it neither comes nor is refused");
        Assert.That(bench.Session.Room.Ensure(Large)); // without room on the tier what is thin is cleaned up in the end
    }

    // What lives in full segments was moved from one to the other for ever, since it leaves some room behind its last record: that was taken for room that comes.
    [TestCase(1000, 0, false)]
    [TestCase(1000, 0, true)]
    [TestCase(1000, 20, false)]
    [TestCase(1000, 20, true)]
    [TestCase(1000, 5, false)]
    [TestCase(9000, 0, false)] // three to a segment
    [TestCase(9000, 0, true)]
    [TestCase(12_000, 0, false)]
    public void On_a_full_tier_that_lives_no_room_comes_and_nothing_moves(int bytes, int deadEvery, bool isNamed)
    {
        const int Rounds = 400;
        using SimulatedMedium medium = new(1200 << 10);
        using Bench bench = new(Settings(medium) with { TierId = isNamed ? new MediumId(0, 7) : default });
        int keys = 0;
        FillUp();
        for (int i = 0; deadEvery > 0 && i < keys; i += deadEvery) bench.Delete("k" + i);
        FillUp();
        long compacted = bench.Tier().Compacted, written = bench.Tier().WrittenBytes;
        int waits = 0;
        for (int i = 0; i < Rounds; i++)
        {
            Assert.That(bench.Session.Room.Ensure(bytes), Is.False);
            waits += bench.Session.Room.IsComing ? 1 : 0;
            Step(bench);
        }

        Assert.That((waits, bench.Tier().Compacted - compacted, bench.Tier().WrittenBytes - written), Is.EqualTo((0, 0, 0)), $"{keys} keys");

        void FillUp()
        {
            for (int stuck = 0; stuck < Rounds; stuck++)
            {
                for (; bench.Session.Room.Ensure(bytes); keys++, stuck = 0) bench.Set("k" + keys, TieredBench.Value(keys, bytes));
                Step(bench);
            }
        }
    }

    private static bool IsWritten(Bench bench, int i)
    {
        for (int round = 0; round < 300 && !bench.Session.Room.Ensure(Bytes); round++) Step(bench);
        return bench.Session.Room.Ensure(Bytes) && bench.Set("k" + (i % Keys), TieredBench.Value(i, Bytes)) == Outcome.Done;
    }

    private static void Snapshot(Bench bench, int number)
    {
        NamingList.Of(bench.Store, $"{number}");
        bench.Store.Names!.Published($"{number}", $"{number - 1}");
    }

    private static void Step(Bench bench)
    {
        bench.Session.Tier!.Poll(bench.NowMs += 10);
        bench.Store.StepMovers(bench.NowMs);
        bench.Store.Tiers!.Step(bench.NowMs);
    }

    private static StoreSettings Settings(SimulatedMedium medium) =>
        TieredBench.Settings(medium) with { TierId = new MediumId(0, 7), MemoryLimitBytes = 1 << 20, Partitions = 2 };
}

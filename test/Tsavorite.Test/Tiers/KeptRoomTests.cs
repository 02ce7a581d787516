using Garnet.Media;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>A tier that snapshots name, overwritten again and again where keys may be evicted: what only snapshots keep from being free is room that comes.</summary>
internal sealed class KeptRoomTests
{
    private const int Keys = 2600, Bytes = 1000, WaitMs = 5;

    [Test]
    public void What_waits_for_a_snapshot_is_no_reason_to_evict_what_lives()
    {
        const int SnapshotMs = 40;
        using SimulatedMedium medium = new(4 << 20);
        using Overwriting run = new(medium, SnapshotMs);
        run.Fill();
        run.Snapshot();
        run.Snapshot();
        for (int i = 0; i < 5 * Keys; i++) run.Overwrite();
        Assert.That(run.Snapshots, Is.GreaterThan(4), "room has come from them");
        Assert.That((run.Evicted, run.Alive), Is.EqualTo((0L, (long)Keys)));
    }

    /// <summary>Three quarters of the tier live, the rest is dead or what snapshots name: a writer waits for it as long as it takes, and is not refused.</summary>
    [Test]
    public void Where_nothing_may_be_evicted_no_write_is_refused_as_long_as_overwriting_leaves_room([Values(40, 500)] int snapshotMs, [Values(3400, 3800)] int keys)
    {
        using SimulatedMedium medium = new(4 << 20);
        using Overwriting run = new(medium, snapshotMs, keys, EvictionPolicy.NoEviction);
        run.Fill();
        run.Snapshot();
        run.Snapshot();
        for (int i = 0; i < 5 * keys; i++) run.Overwrite();
        Assert.That((run.Evicted, run.Alive), Is.EqualTo((0L, (long)keys)));
    }

    [Test]
    public void Where_no_snapshot_comes_a_writer_waits_for_a_tenth_of_a_second_and_then_keys_are_evicted()
    {
        using SimulatedMedium medium = new(4 << 20);
        using Overwriting run = new(medium, snapshotMs: 0);
        run.Fill();
        run.Snapshot();
        run.Snapshot();
        for (int i = 0; i < 4 * Keys; i++) run.Overwrite();
        Assert.That(run.LongestWaitMs, Is.InRange(WaitMs, 100 + (2 * WaitMs)));
        Assert.That(run.Evicted, Is.GreaterThan(0));
    }

    /// <summary>store.C6: what is dead, and named, is room enough for demotion: nothing is moved together beside it, and a snapshot is wanted.</summary>
    [Test]
    public void Nothing_is_moved_together_where_the_next_snapshots_give_enough_back()
    {
        const int Dead = 1200;
        using SimulatedMedium medium = new(4 << 20);
        using Bench bench = new(Settings(medium));
        int keys = FillUp(bench, Dead, EvictionPolicy.NoEviction);
        for (int i = 0; i < Dead; i++) bench.Delete("k" + i);
        for (int i = Dead; i < keys; i += 2) bench.Delete("k" + i);
        long compacted = bench.Tier().Compacted;
        for (int steps = 0; steps < 50; steps++) bench.Store.Tiers!.Step(bench.NowMs += 100);
        Assert.That(bench.Store.Tiers!.IsShort);
        Assert.That((bench.Tier().Compacted, bench.Store.Names!.WantsSnapshot), Is.EqualTo((compacted, true)));
        Publish(bench, 3);
        Publish(bench, 4);
        bench.Store.Tiers.Step(bench.NowMs += 100);
        Assert.That((bench.Store.Tiers.IsShort, bench.Tier().KeptBytes), Is.EqualTo((false, 0)));
    }

    /// <summary>store.C6: nor is anything that lives given up while as much as is kept free comes with the next snapshots, though that is too little to take one for.</summary>
    [Test]
    public void Nothing_that_lives_is_given_up_where_the_next_snapshots_give_as_much_back_as_is_kept_free()
    {
        const int Dead = 260;
        using SimulatedMedium medium = new(4 << 20);
        using Bench bench = new(Settings(medium));
        FillUp(bench, Dead, EvictionPolicy.AllKeysLru);
        Publish(bench, 3);
        Publish(bench, 4);
        for (int i = 0; i < Dead; i++) bench.Delete("k" + i);
        for (int steps = 0; steps < 50; steps++) bench.Store.Tiers!.Step(bench.NowMs += 100);
        Assert.That((bench.Store.Tiers!.IsShort, bench.Tier().Evicted), Is.EqualTo((true, 0)), $"{bench.Tier().FreeBytes} free, {bench.Tier().KeptBytes} kept");
        Assert.That(bench.Tier().KeptBytes, Is.GreaterThan(0));
    }

    private static StoreSettings Settings(SimulatedMedium medium) => TieredBench.Settings(medium) with { TierId = new MediumId(0, 7), MemoryLimitBytes = 1 << 20 };

    // Keys until neither memory nor the tier takes one more, of which the first so many are named by both snapshots; returns how many there are.
    private static int FillUp(Bench bench, int named, EvictionPolicy behind)
    {
        const int WaitsMax = 50;
        int keys = 0;
        for (int waits = 0; waits < WaitsMax;)
        {
            if (!bench.Session.Room.Ensure(Bytes))
            {
                waits++;
                bench.Store.Tiers!.Step(bench.NowMs += WaitMs);
                continue;
            }
            bench.Set("k" + keys, TieredBench.Value(keys, Bytes));
            waits = 0;
            if (++keys != named) continue;
            bench.Demote();
            Publish(bench, 1);
            Publish(bench, 2);
        }
        bench.Store.SetPolicy(behind);
        return keys;
    }

    private static void Publish(Bench bench, int number)
    {
        NamingList.Of(bench.Store, $"{number}");
        bench.Store.Names!.Published($"{number}", $"{number - 1}");
    }

    // A writer at a thousand a second; snapshots when they are wanted, but not too often (0: never).
    private sealed class Overwriting(SimulatedMedium medium, int snapshotMs, int keys = Keys, EvictionPolicy policy = EvictionPolicy.AllKeysLru) : IDisposable
    {
        private readonly Bench _bench = new(TieredBench.Settings(medium) with
        {
            TierId = new MediumId(0, 7), MemoryLimitBytes = 1 << 20, Policy = policy,
        });
        private readonly Random _random = new(1);
        private long _snapshotAtMs;

        public int Snapshots { get; private set; }
        public long LongestWaitMs { get; private set; }
        public long Evicted => _bench.Store.Figures().EvictedKeys;
        public long Alive => _bench.Session.Count(0);

        public void Fill()
        {
            for (int i = 0; i < keys; i++) Write(i);
        }

        public void Overwrite() => Write(_random.Next(keys));

        public void Snapshot()
        {
            NamingList.Of(_bench.Store, $"{++Snapshots}");
            _bench.Store.Names!.Published($"{Snapshots}", $"{Snapshots - 1}");
            _snapshotAtMs = _bench.NowMs;
        }

        public void Dispose() => _bench.Dispose();

        private void Write(int key)
        {
            Pass(1);
            long fromMs = _bench.NowMs;
            while (!_bench.Session.Room.Ensure(Bytes))
            {
                Assert.That(_bench.Session.Room.IsComing, "it is refused");
                Pass(WaitMs);
            }
            LongestWaitMs = Math.Max(LongestWaitMs, _bench.NowMs - fromMs);
            Assert.That(_bench.Set("k" + key, TieredBench.Value(key, Bytes)), Is.EqualTo(Outcome.Done));
        }

        private void Pass(int ms)
        {
            _bench.Session.Tier!.Poll(_bench.NowMs += ms);
            _bench.Store.StepMovers(_bench.NowMs);
            for (int steps = 0; steps < 100 && _bench.Store.Tiers!.Step(_bench.NowMs); steps++)
            {
            }
            if (snapshotMs != 0 && _bench.Store.Names!.WantsSnapshot && _bench.NowMs - _snapshotAtMs >= snapshotMs)
                Snapshot();
        }
    }
}

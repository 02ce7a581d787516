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

    // A writer at a thousand a second; snapshots when they are wanted, but not too often (0: never).
    private sealed class Overwriting(SimulatedMedium medium, int snapshotMs) : IDisposable
    {
        private readonly Bench _bench = new(TieredBench.Settings(medium) with
        {
            TierId = new MediumId(0, 7), MemoryLimitBytes = 1 << 20, Policy = EvictionPolicy.AllKeysLru,
        });
        private readonly Random _random = new(1);
        private long _snapshotAtMs;

        public int Snapshots { get; private set; }
        public long LongestWaitMs { get; private set; }
        public long Evicted => _bench.Store.Figures().EvictedKeys;
        public long Alive => _bench.Session.Count(0);

        public void Fill()
        {
            for (int i = 0; i < Keys; i++) Write(i);
        }

        public void Overwrite() => Write(_random.Next(Keys));

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

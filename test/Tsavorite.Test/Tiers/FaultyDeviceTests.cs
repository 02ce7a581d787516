using System.Diagnostics;
using Garnet.Common;
using Garnet.Common.Test.Resp;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>
/// A tier on a device that fails in every way there is, now and then, under everything that is done to a store: what was acknowledged is read back, or its
/// read is an error; it is never another value, and never gone. Once the device is well all of it is there.
/// </summary>
internal sealed class FaultyDeviceTests
{
    private const int Keys = 400, StepsPerWay = 150;

    [Test]
    public void What_was_acknowledged_is_read_back_or_is_an_error()
    {
        int seed = FuzzStream.Seed;
        TestContext.Out.WriteLine($"seed {seed}");
        double seconds = FuzzStream.Seconds;
        Stopwatch watch = Stopwatch.StartNew();
        int rounds = 0;
        for (; rounds == 0 || watch.Elapsed.TotalSeconds < seconds; rounds++)
        {
            using SimulatedMedium medium = new(16 << 20);
            using Run run = new(medium, seed + rounds);
            run.Go(steps: 6_000);
        }
        TestContext.Out.WriteLine($"{rounds} rounds");
    }

    [Test]
    public void A_write_that_was_only_said_to_have_been_made_is_an_error_and_not_what_lay_there_before()
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(100, 100);
        for (int i = 0; i < 100; i++) bench.Delete("k" + i);
        bench.Demote();
        medium.LosesWrite = static _ => true;
        // Over the whole medium, so that the segment of before is among those that are used again, with the same keys at the same places.
        for (int round = 0; round < 40; round++)
        {
            uint ns = bench.Store.Namespaces.Id(0);
            for (int i = 0; i < 100; i++) bench.Set("k" + i, TieredBench.Value(i + 1000, 100), ns);
            bench.Demote();
            bench.NowMs += 1000;
            for (int i = 0; i < 100; i += 10) Assert.That(() => bench.Get("k" + i, ns), Throws.TypeOf<GarnetException>(), $"k{i}");
            bench.Store.Namespaces.Flush(0, wait: false);
            bench.StepUntilIdle();
        }
    }

    // One store, what it must hold, and what is done to it.
    private sealed class Run : IDisposable
    {
        private readonly Bench _bench;
        private readonly FaultyDevice _device;
        private readonly Random _random;
        private readonly Dictionary<string, (byte[] Value, long ExpireAtMs)> _model = [];
        private readonly string _seed;
        private StoreSnapshot? _snapshot;
        private BlockList _blocks = new();
        private Dictionary<string, byte[]> _atCut = [];
        private int _errors;
        private bool _isSound;
        private long _now = 1_000_000;

        public Run(SimulatedMedium medium, int seed)
        {
            _random = new Random(seed);
            _seed = $"seed {seed}";
            _bench = new Bench(TieredBench.Settings(medium) with { ClockMs = () => _now });
            _device = new FaultyDevice(medium, _random);
        }

        private uint Ns => _bench.Store.Namespaces.Id(0);

        public void Go(int steps)
        {
            for (int step = 0; step < steps; step++)
            {
                if (step % StepsPerWay == 0) _device.Change();
                _bench.NowMs = _now += _random.Next(20);
                try
                {
                    Do("k" + _random.Next(Keys), step);
                }
                catch (GarnetException)
                {
                    _errors++; // nothing was done: the model stays
                }
                if (_random.Next(50) == 0) _bench.Session.Tier!.Poll(_bench.NowMs);
            }
            _device.Mend();
            Rest();
            CheckAll();
            _isSound = true;
            TestContext.Out.WriteLine($"{_seed}: {_errors} errors, {_bench.Tier().ReadFailures} reads and {_bench.Tier().WriteFailures} writes failed");
        }

        public void Dispose()
        {
            _device.Mend();
            _snapshot?.Dispose();
            if (_isSound) _bench.Dispose();
        }

        private void Do(string key, int step)
        {
            switch (_random.Next(40))
            {
                case < 14: Read(key); break;
                case < 24: Write(key, step, 0); break;
                case < 27: Write(key, step, _bench.NowMs + _random.Next(1, 400)); break;
                case < 29: Append(key); break;
                case < 32: Delete(key); break;
                case < 35: _bench.Demote(); break;
                case < 38: _bench.Store.StepMovers(_bench.NowMs); break;
                case 38 when _random.Next(20) == 0: Flush(); break;
                default: Snapshot(); break;
            }
        }

        private byte[]? Expected(string key) =>
            _model.TryGetValue(key, out (byte[] Value, long ExpireAtMs) kept) && (kept.ExpireAtMs == 0 || kept.ExpireAtMs > _bench.NowMs) ? kept.Value : null;

        private void Read(string key)
        {
            byte[]? found = _bench.Get(key, Ns);
            Assert.That(found, Is.EqualTo(Expected(key)), $"{_seed}: {key}");
        }

        private void Write(string key, int step, long expireAtMs)
        {
            byte[] value = TieredBench.Value(step, _random.Next(8) == 0 ? _random.Next(9000) : _random.Next(300));
            Assert.That(_bench.Set(key, value, Ns, expireAtMs), Is.EqualTo(Outcome.Done));
            _model[key] = (value, expireAtMs);
        }

        private void Append(string key)
        {
            byte[]? before = Expected(key);
            Assert.That(_bench.Append(key, [1, 2], Ns), Is.EqualTo(Outcome.Done));
            _model[key] = ([.. before ?? [], 1, 2], before is null ? 0 : _model[key].ExpireAtMs);
        }

        private void Delete(string key)
        {
            _bench.Delete(key, Ns);
            _model.Remove(key);
        }

        private void Flush()
        {
            EndSnapshot();
            _bench.Store.Namespaces.Flush(0, wait: false);
            _model.Clear();
        }

        // Begins one, or goes on with it; what cannot be read ends it.
        private void Snapshot()
        {
            if (_snapshot is null)
            {
                _blocks = new BlockList();
                _atCut = _model.Where(static one => one.Value.ExpireAtMs == 0).ToDictionary(static one => one.Key, static one => one.Value.Value);
                _snapshot = _bench.Store.BeginSnapshot(new SnapshotOptions { BucketsPerHold = 4, HoldsPerStep = 4 });
            }
            try
            {
                if (_snapshot.Step(_blocks)) return;
            }
            catch (GarnetException)
            {
                EndSnapshot();
                throw;
            }
            if (_snapshot.State == SnapshotState.Whole) CheckSnapshot();
            EndSnapshot();
        }

        private void EndSnapshot()
        {
            _snapshot?.Dispose();
            _snapshot = null;
        }

        private void CheckSnapshot()
        {
            using Bench loaded = new(Bench.Tiny());
            Assert.That(_blocks.Load(loaded.Store), Is.EqualTo(LoadOutcome.Done));
            uint ns = loaded.Store.Namespaces.Id(0);
            foreach ((string key, byte[] value) in _atCut) Assert.That(loaded.Get(key, ns), Is.EqualTo(value), $"{_seed}: {key} of a snapshot");
        }

        private void Rest()
        {
            for (int round = 0; round < 5; round++)
            {
                _bench.NowMs = _now += 10_000; // what could not be read is tried again after a while
                _bench.Session.Tier!.Poll(_bench.NowMs);
            }
            _bench.StepUntilIdle();
        }

        private void CheckAll()
        {
            for (int i = 0; i < Keys; i++) Read("k" + i);
            while (_snapshot is not null) Snapshot();
            Assert.That(_bench.Store.Count(Ns), Is.InRange(_model.Keys.Count(key => Expected(key) is not null), _model.Count));
            Assert.That(StoreCheck.Run(_bench.Store), Is.Empty, _seed);
        }
    }
}

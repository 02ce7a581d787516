using System.Runtime.InteropServices;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Tsavorite.Test.Snapshots;

/// <summary>Snapshots under full write load: each equals what the log says of the store at its cut, exactly.</summary>
internal sealed unsafe class SnapshotStressTests
{
    private const int Writers = 3, Keys = 900, Databases = 3, Snapshots = 16, OpsBetween = 4_000, OpsAtCut = 300;

    private sealed class Load(Store store, BatchLog log, int seed)
    {
        private long _ops, _nowMs = 1_000_000, _limit;
        public volatile bool Stop;
        public Store Store => store;
        public BatchLog Log => log;
        public int Seed => seed;
        public long Ops => Volatile.Read(ref _ops);
        public long NowMs => Volatile.Read(ref _nowMs);

        /// <summary>Lets writers go on for so many operations.</summary>
        public void Allow(long ops) => Interlocked.Add(ref _limit, ops);

        public bool MayWrite => Ops < Volatile.Read(ref _limit);

        public ulong Next()
        {
            Interlocked.Increment(ref _nowMs);
            return (ulong)Interlocked.Increment(ref _ops);
        }
    }

    private sealed record Cut(ulong Batch, BlockList Blocks);

    [Test]
    public void A_snapshot_under_load_equals_the_state_at_its_cut([Range(0, 5)] int seed) => Run(seed, Snapshots);

    private static void Run(int seed, int snapshots)
    {
        int partitions = 1 << seed % 5;
        BatchLog log = new(partitions);
        using Store store = new(Bench.Tiny() with { Log = log, Partitions = partitions });
        for (int database = 0; database < Databases; database++) store.Namespaces.Id(database);
        Load load = new(store, log, seed);
        Thread[] threads = [.. Enumerable.Range(0, Writers).Select(i => new Thread(() => Write(load, i))), new Thread(() => Move(load))];
        foreach (Thread thread in threads) thread.Start();
        List<Cut> cuts = [];
        long saved = 0;
        for (int i = 0; i < snapshots; i++)
        {
            cuts.Add(Take(load, i, out long savedNow));
            saved += savedNow;
        }
        load.Stop = true;
        foreach (Thread thread in threads) thread.Await();
        Assert.That(StoreCheck.Run(store), Is.Empty);
        TestContext.Out.WriteLine($"seed {seed}: {load.Ops} writes, {saved} of {cuts.Sum(static c => c.Blocks.Records)} records saved, "
            + store.Figures());
        Compare(log, cuts, seed);
        Assert.That(saved, Is.Positive, "writers were first at some buckets");
        StoreFigures figures = store.Figures();
        Assert.That(figures is { Splits: > 10, CleanedBytes: > 0, ExpiredKeys: > 0, SnapshotBytes: 0 }, Is.True, $"{figures}");
        EmptyBaseline.Expect(store, load.NowMs);
    }

    // One bucket a step, and some writes between, which every fourth time are not waited for.
    private static Cut Take(Load load, int number, out long saved)
    {
        load.Allow(OpsBetween);
        while (load.MayWrite) Thread.Yield();
        load.Store.StepMovers(load.NowMs); // merges wait while a snapshot runs: here is time for them
        load.Allow(OpsAtCut); // so that the cut falls among them
        BlockList blocks = new();
        using StoreSnapshot snapshot = load.Store.BeginSnapshot(new SnapshotOptions { BucketsPerHold = 1, HoldsPerStep = 1 });
        while (snapshot.Step(blocks))
        {
            load.Allow(number % 4 + 1);
            while (number % 4 != 0 && load.MayWrite) Thread.Yield();
        }
        Assert.That(snapshot.State, Is.EqualTo(SnapshotState.Whole));
        Assert.That(snapshot.Figures.Records, Is.EqualTo(blocks.Records));
        Assert.That(snapshot.Figures.BufferedBytes, Is.Zero);
        saved = snapshot.Figures.SavedRecords;
        return new Cut(snapshot.Batch, blocks);
    }

    private static void Compare(BatchLog log, List<Cut> cuts, int seed)
    {
        using Store oracle = new(Bench.Tiny());
        using StoreSession session = oracle.OpenSession(); // its clock stands at 0
        ulong after = 0;
        for (int i = 0; i < cuts.Count; i++)
        {
            log.Replay(oracle, session, after, cuts[i].Batch);
            after = cuts[i].Batch;
            using Store copy = new(Bench.Tiny());
            Assert.That(cuts[i].Blocks.Load(copy), Is.EqualTo(LoadOutcome.Done));
            Assert.That(StoreCheck.Run(copy), Is.Empty);
            SortedDictionary<string, string> loaded = Content.Of(copy), should = Content.Of(oracle);
            Assert.That(cuts[i].Blocks.Records, Is.EqualTo(loaded.Count), $"seed {seed}, snapshot {i}: no key is there twice");
            string[] missing = [.. should.Except(loaded).Take(5).Select(static pair => pair.ToString())];
            string[] wrong = [.. loaded.Except(should).Take(5).Select(static pair => pair.ToString())];
            Assert.That((string.Join('\n', missing), string.Join('\n', wrong)), Is.EqualTo(("", "")), $"seed {seed}, snapshot {i}");
        }
    }

    private static void Write(Load load, int writer)
    {
        using StoreSession session = load.Store.OpenSession();
        byte* bytes = (byte*)NativeMemory.AllocZeroed(4 * 64);
        Random random = new(load.Seed * 100 + writer);
        while (!load.Stop)
        {
            if (!load.MayWrite)
            {
                Thread.Yield();
                continue;
            }
            session.NowMs = load.NowMs;
            // Waves, so that the index grows and shrinks.
            bool filling = load.Ops / 8_000 % 2 == 0;
            KeyRef key = Name(load, random, bytes, 0);
            switch (random.Next(20))
            {
                case < 9 when filling: Set(load, session, random, key); break;
                case < 12: Delete(load, session, key); break;
                case < 15: Append(load, session, key); break;
                case < 17: Fields(load, session, random, key); break;
                case 17: Many(load, session, random, bytes); break;
                default: Set(load, session, random, key); break;
            }
        }
        NativeMemory.Free(bytes);
    }

    private static KeyRef Name(Load load, Random random, byte* bytes, int slot)
    {
        byte* key = bytes + slot * 64;
        int length = 4 + random.Next(2) * 8;
        *(int*)key = random.Next(Keys);
        return load.Store.Key(key, length, load.Store.Namespaces.Id(random.Next(Databases)));
    }

    private static void Set(Load load, StoreSession session, Random random, in KeyRef key)
    {
        int length = random.Next(40) == 0 ? random.Next(500, 9_000) : random.Next(8, 120);
        SetValue set = new()
        {
            Value = new byte[length],
            ExpireAtMs = random.Next(4) == 0 ? load.NowMs + random.Next(2_000) : 0,
            ETag = (ulong)random.Next(3),
            Kind = random.Next(20) == 0 && key.Length < 12 ? RecordKind.Chunk : RecordKind.String, // a longer one begins with its owner and number
        };
        Array.Fill(set.Value, (byte)random.Next(256));
        BitConverter.TryWriteBytes(set.Value, load.Next());
        session.Modify(key, ref set);
    }

    private static void Append(Load load, StoreSession session, in KeyRef key)
    {
        AppendBytes append = new() { Tail = BitConverter.GetBytes(load.Next()) };
        session.Modify(key, ref append);
    }

    private static void Delete(Load load, StoreSession session, in KeyRef key)
    {
        DeleteKey delete = default;
        load.Next();
        session.Modify(key, ref delete);
    }

    private static void Fields(Load load, StoreSession session, Random random, in KeyRef key)
    {
        SetFields fields = new() { ExpireAtMs = random.Next(2) * (load.NowMs + random.Next(-10, 3_000)), ETag = load.Next() };
        session.Modify(key, ref fields);
    }

    // Several keys in one step: a snapshot has all of it or nothing.
    private static void Many(Load load, StoreSession session, Random random, byte* bytes)
    {
        KeyRef[] keys = [Name(load, random, bytes, 1), Name(load, random, bytes, 2), Name(load, random, bytes, 3)];
        session.Lock(keys);
        ulong stamp = load.Next();
        foreach (KeyRef key in keys)
        {
            SetValue set = new() { Value = BitConverter.GetBytes(stamp) };
            session.Modify(key, ref set);
        }
        session.Unlock();
    }

    // Movers, ends of batches, flushes and swaps.
    private static void Move(Load load)
    {
        Random random = new(load.Seed * 100 + 99);
        while (!load.Stop)
        {
            load.Store.StepMovers(load.NowMs);
            if (random.Next(3) == 0) load.Log.Tick();
            int what = random.Next(400);
            if (what == 0) load.Store.Namespaces.Flush(random.Next(Databases), wait: random.Next(2) == 0);
            else if (what < 4) load.Store.Namespaces.Swap(random.Next(Databases), random.Next(Databases));
            Thread.Yield();
        }
    }
}

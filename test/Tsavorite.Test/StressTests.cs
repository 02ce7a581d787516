using System.Runtime.InteropServices;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Real threads: readers without locks against writers, movers, splits and merges.</summary>
internal sealed unsafe class StressTests
{
    private const int Keys = 512;

    private static readonly int s_runMs = LongRun.IsWanted ? 3000 : 1500, s_transfers = LongRun.IsWanted ? 400_000 : 200_000;

    /// <summary>Value: key number, version, length pattern; every 8 bytes carry key and version mixed.</summary>
    private struct CheckedRead : IRead
    {
        public fixed ulong Copy[80];
        public int Length;

        public void Look(in RecordView record)
        {
            Length = Math.Min(record.ValueBytes, 640);
            fixed (ulong* copy = Copy) Buffer.MemoryCopy(record.Value, copy, 640, Length);
        }

        public readonly bool IsWhole(ulong key, out ulong version)
        {
            version = 0;
            if (Length < 16 || (Length & 7) != 0) return false;
            version = Copy[1];
            if (Copy[0] != key) return false;
            for (int i = 2; i < Length / 8; i++)
                if (Copy[i] != Mix(key, version, i)) return false;
            return true;
        }
    }

    private struct CheckedWrite : IModify
    {
        public ulong Key, Version;
        public int Words;
        public long ExpireAtMs;

        public static byte OpId => 210;
        public readonly long EncodedBytesMax => 0;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            next.ValueBytes = Words * 8;
            next.ExpireAtMs = ExpireAtMs;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
        {
            Span<ulong> words = MemoryMarshal.Cast<byte, ulong>(value);
            words[0] = Key;
            words[1] = Version;
            for (int i = 2; i < words.Length; i++) words[i] = Mix(Key, Version, i);
        }

        public readonly int Encode(Span<byte> to) => 0;
        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }

    private static ulong Mix(ulong key, ulong version, int index) => (key * 0x9E3779B97F4A7C15 ^ version) * (ulong)(2 * index + 1);

    private sealed class Tally
    {
        public long Reads, Hits, Writes, Torn, Backwards;
        public volatile bool Stop;
    }

    [Test]
    public void U2_U12_A_validated_read_is_whole_and_never_goes_backwards()
    {
        StoreSettings settings = Bench.Tiny() with { Partitions = 1, SegmentBytes = 8192, BackgroundMovers = false };
        using Store store = new(settings);
        Tally tally = new();
        Action[] bodies = [() => Write(store, tally, 7), () => Read(store, tally, 8), () => Read(store, tally, 9), () =>
            Move(store, tally)];
        Thread[] threads = bodies.Select(body => new Thread(() => body())).ToArray();
        foreach (Thread thread in threads) thread.Start();
        threads[0].Await();
        tally.Stop = true;
        foreach (Thread thread in threads) thread.Await();
        TestContext.Out.WriteLine($"reads {tally.Reads} hits {tally.Hits} writes {tally.Writes} {store.Figures()}");
        Assert.That(tally.Torn, Is.Zero, "torn or foreign values");
        Assert.That(tally.Backwards, Is.Zero, "versions going backwards");
        Assert.That(tally.Hits, Is.GreaterThan(20_000), "minimum progress of readers");
        Assert.That(tally.Writes, Is.GreaterThan(20_000), "minimum progress of writers");
        Assert.That(StoreCheck.Run(store), Is.Empty);
        EmptyBaseline.Expect(store, 1000);
    }

    private static void Write(Store store, Tally tally, int seed)
    {
        using StoreSession session = store.OpenSession();
        session.NowMs = 1000;
        byte* bytes = stackalloc byte[64];
        Random random = new(seed);
        ulong version = 0;
        long end = Environment.TickCount64 + s_runMs;
        while (Environment.TickCount64 < end)
        {
            // Waves: many keys (splits), then few (merges, reclaimed segments).
            bool filling = version / 20_000 % 2 == 0;
            ulong key = (ulong)random.Next(Keys);
            *(ulong*)bytes = key;
            KeyRef name = store.Key(bytes, 8, 0);
            version++;
            if (!filling && random.Next(16) != 0)
            {
                DeleteKey delete = default;
                session.Modify(name, ref delete);
            }
            else
            {
                long expireAtMs = random.Next(4) == 0 ? 5000 : 0;
                CheckedWrite write = new() { Key = key, Version = version, Words = random.Next(2, 80), ExpireAtMs = expireAtMs };
                session.Modify(name, ref write);
            }
            tally.Writes++;
        }
    }

    private static void Read(Store store, Tally tally, int seed)
    {
        using StoreSession session = store.OpenSession();
        session.NowMs = 1000;
        byte* bytes = stackalloc byte[64];
        Random random = new(seed);
        ulong[] seen = new ulong[Keys];
        long reads = 0, hits = 0, torn = 0, backwards = 0;
        while (!tally.Stop)
        {
            ulong key = (ulong)random.Next(Keys);
            *(ulong*)bytes = key;
            CheckedRead read = default;
            reads++;
            if (session.Read(store.Key(bytes, 8, 0), ref read) != Outcome.Done) continue;
            hits++;
            if (!read.IsWhole(key, out ulong version)) torn++;
            else if (version < seen[key]) backwards++;
            else seen[key] = version;
        }
        Interlocked.Add(ref tally.Reads, reads);
        Interlocked.Add(ref tally.Hits, hits);
        Interlocked.Add(ref tally.Torn, torn);
        Interlocked.Add(ref tally.Backwards, backwards);
    }

    private static void Move(Store store, Tally tally)
    {
        while (!tally.Stop)
        {
            store.StepMovers(1000);
            Thread.Yield();
        }
    }

    private struct Increment : IModify
    {
        public long By, Result;
        public int Pad;
        public static byte OpId => 211;
        public readonly long EncodedBytesMax => 0;

        public Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            Result = (existing.Exists ? *(long*)existing.Value : 0) + By;
            next.ValueBytes = 8 + Pad;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => MemoryMarshal.Write(value, Result);
        public readonly int Encode(Span<byte> to) => 0;
        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }

    private struct Peek : IRead
    {
        public long Value;
        public void Look(in RecordView record) => Value = *(long*)record.Value;
    }

    [Test]
    public void U1_U6_Changes_of_several_threads_and_of_locked_groups_are_never_lost()
    {
        const int Threads = 3, Counters = 40;
        using Store store = new(Bench.Tiny() with { Partitions = 8, BackgroundMovers = true });
        Thread[] threads = Enumerable.Range(0, Threads).Select(t => new Thread(() => Transfer(store, t, s_transfers, Counters))).ToArray();
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Await();
        using StoreSession session = store.OpenSession();
        byte* bytes = stackalloc byte[32];
        long sum = 0;
        for (int i = 0; i < Counters; i++)
        {
            Peek peek = default;
            *(long*)bytes = i;
            if (session.Read(store.Key(bytes, 8, 0), ref peek) == Outcome.Done) sum += peek.Value;
        }
        // Each step adds one to a counter; transfers between two locked counters add nothing.
        Assert.That(sum, Is.EqualTo((long)Threads * s_transfers));
        Assert.That(StoreCheck.Run(store), Is.Empty);
        EmptyBaseline.Expect(store, 1000);
    }

    private static void Transfer(Store store, int seed, int steps, int counters)
    {
        using StoreSession session = store.OpenSession();
        byte* bytes = stackalloc byte[96];
        Random random = new(seed);
        KeyRef[] pair = new KeyRef[2];
        ulong spare = 0;
        for (int step = 0; step < steps; step++)
        {
            *(long*)bytes = random.Next(counters);
            *(long*)(bytes + 32) = random.Next(counters);
            pair[0] = store.Key(bytes, 8, 0);
            pair[1] = store.Key(bytes + 32, 8, 0);
            Increment one = new() { By = 1, Pad = random.Next(40) };
            session.Modify(pair[0], ref one);
            Increment take = new() { By = -5, Pad = random.Next(40) }, give = new() { By = 5, Pad = random.Next(40) };
            session.Lock(pair);
            session.Modify(pair[0], ref take);
            session.Modify(pair[1], ref give);
            session.Unlock();
            // Keys that come and go make the index split and the segments turn over.
            *(ulong*)(bytes + 64) = 1_000_000UL * (ulong)(seed + 1) + spare++ % 2000;
            Increment other = new() { By = 1, Pad = random.Next(200) };
            DeleteKey delete = default;
            if (random.Next(2) == 0) session.Modify(store.Key(bytes + 64, 8, 0), ref other);
            else session.Modify(store.Key(bytes + 64, 8, 0), ref delete);
        }
    }
}

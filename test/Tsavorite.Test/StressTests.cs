using System.Runtime.InteropServices;
using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Real threads: readers without locks against writers, movers, splits and merges.</summary>
internal sealed unsafe class StressTests
{
    private const int Keys = 512, RunMs = 3000;

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
        public readonly int EncodedBytesMax => 0;

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
        Thread[] threads = [new(() => Write(store, tally, 7)), new(() => Read(store, tally, 8)), new(() => Read(store, tally, 9)), new(() => Move(store, tally))];
        foreach (Thread thread in threads) thread.Start();
        threads[0].Join();
        tally.Stop = true;
        foreach (Thread thread in threads) thread.Join();
        TestContext.Out.WriteLine($"reads {tally.Reads} hits {tally.Hits} writes {tally.Writes} splits {store.Figures().Splits} merges {store.Figures().Merges} cleaned {store.Figures().CleanedBytes}");
        Assert.That(tally.Torn, Is.Zero, "torn or foreign values");
        Assert.That(tally.Backwards, Is.Zero, "versions going backwards");
        Assert.That(tally.Hits, Is.GreaterThan(20_000), "minimum progress of readers");
        Assert.That(tally.Writes, Is.GreaterThan(20_000), "minimum progress of writers");
        Assert.That(StoreCheck.Run(store), Is.Empty);
    }

    private static void Write(Store store, Tally tally, int seed)
    {
        using StoreSession session = store.OpenSession();
        session.NowMs = 1000;
        byte* bytes = stackalloc byte[64];
        Random random = new(seed);
        ulong version = 0;
        long end = Environment.TickCount64 + RunMs;
        while (Environment.TickCount64 < end)
        {
            // Waves: many keys (splits), then few (merges, reclaimed segments).
            bool filling = version / 4096 % 2 == 0;
            ulong key = (ulong)random.Next(Keys);
            *(ulong*)bytes = key;
            KeyRef name = store.Key(bytes, 8, 0);
            version++;
            if (!filling && random.Next(2) == 0)
            {
                DeleteKey delete = default;
                session.Modify(name, ref delete);
            }
            else
            {
                CheckedWrite write = new() { Key = key, Version = version, Words = random.Next(2, 80), ExpireAtMs = random.Next(4) == 0 ? 5000 : 0 };
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
}

using System.Buffers.Binary;
using Garnet.Aof.Format;
using Garnet.Common.Test;
using Garnet.Common.Time;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Writing;

/// <summary>What a batch is while many threads write: a cut through all lanes at which every write is whole.</summary>
internal sealed unsafe class LaneTests
{
    private const int Writers = 16, WritesEach = 3_000, Keys = 64;
    private const byte FlushDatabase = 12;

    [Test]
    public void After_every_batch_the_sum_of_amounts_moved_between_keys_is_what_it_was([Values(1, 3)] int sublogs)
    {
        using Bench bench = new(settings => settings.Sublogs = sublogs, SystemClock.Instance);
        InParallel(Writers, writer => Transfer(bench, new Random(writer + 1)));
        List<DecodedBatch> batches = bench.Stopped();
        foreach (DecodedBatch batch in batches)
            Assert.That(batch.Entries.Sum(static entry => Number(entry, 0)), Is.Zero, $"batch {batch.Number}");
        Assert.That(batches.Sum(static batch => batch.Entries.Count), Is.EqualTo(2 * Writers * WritesEach));
        Assert.That(batches, Has.Count.GreaterThan(3), "the test saw too few boundaries");
        Assert.That(Replay(batches), Is.EqualTo(Contents(bench)));
        TestContext.Out.WriteLine($"{batches.Count} batches");
    }

    [Test]
    public void In_a_lane_entries_stand_in_the_order_in_which_the_lock_was_held()
    {
        using Bench bench = new(clock: SystemClock.Instance);
        InParallel(4, writer => Write(bench, writer + 1, static key => key % 5, static () => 0));
        var last = new Dictionary<long, long>();
        foreach (DecodedEntry entry in bench.Stopped().SelectMany(static batch => batch.Entries))
        {
            long key = BitConverter.ToInt64(entry.Key), before = last.GetValueOrDefault(key);
            Assert.That(Number(entry, 1), Is.EqualTo(before + 1), $"key {key}");
            last[key] = before + 1;
        }
        Assert.That(last.Values.Sum(), Is.EqualTo(4 * WritesEach));
    }

    [Test]
    public void A_write_that_began_after_another_ended_is_in_no_earlier_batch()
    {
        using Bench bench = new(clock: SystemClock.Instance);
        long time = 0;
        long[] ended = new long[8 * WritesEach * 2 + 2];
        InParallel(8, writer => Write(bench, writer + 1, static key => key, () => Interlocked.Increment(ref time),
            note => ended[note] = Interlocked.Increment(ref time)));
        var batchOf = new SortedDictionary<long, ulong>();
        foreach (DecodedBatch batch in bench.Stopped())
        {
            foreach (DecodedEntry entry in batch.Entries) batchOf[Number(entry, 2)] = batch.Number;
        }
        Assert.That(batchOf, Has.Count.EqualTo(8 * WritesEach));
        (long Ended, ulong Batch)[] byEnd = [.. batchOf.Select(pair => (ended[pair.Key], pair.Value)).OrderBy(static pair => pair.Item1)];
        ulong latest = 0;
        int at = 0;
        foreach ((long began, ulong batch) in batchOf)
        {
            for (; at < byEnd.Length && byEnd[at].Ended < began; at++) latest = Math.Max(latest, byEnd[at].Batch);
            Assert.That(batch, Is.GreaterThanOrEqualTo(latest), $"the write that began at {began}");
        }
    }

    [Test]
    public void A_flush_between_concurrent_writes_is_a_batch_of_its_own_and_replays_to_the_same_state([Values(1, 2)] int sublogs)
    {
        using Bench bench = new(settings => settings.Sublogs = sublogs, SystemClock.Instance);
        const int Flushes = 400, RoundsMax = 30;
        int flushed = 0;
        InParallel(5, writer =>
        {
            for (int round = 0; writer < 4 && round < RoundsMax && Volatile.Read(ref flushed) < Flushes; round++)
                Write(bench, writer + 1, static key => key, static () => 0);
            for (; writer == 4 && flushed < Flushes; Volatile.Write(ref flushed, flushed + 1))
                bench.Store.Namespaces.Flush(0, wait: false);
        });
        List<DecodedBatch> batches = bench.Stopped();
        Assert.That(batches.Count(static batch => batch.Header.Kind == BatchKind.Control), Is.EqualTo(Flushes));
        foreach (DecodedBatch batch in batches.Where(static batch => batch.Header.Kind == BatchKind.Control))
        {
            DecodedEntry only = batch.Entries.Single();
            Assert.That((only.Lane, only.Operation, only.Database, only.Key.Length), Is.EqualTo((0, FlushDatabase, 0, 0)));
        }
        Assert.That(Replay(batches), Is.EqualTo(Contents(bench)));
        Assert.That(bench.Log.Durable, Is.EqualTo(bench.Log.Batch - 1));
    }

    // transactions.X4: the log's side of a transaction that holds everything.
    [Test]
    public void A_step_that_holds_everything_is_one_ordered_batch_between_those_of_others([Values(1, 3)] int sublogs)
    {
        using Bench bench = new(settings => settings.Sublogs = sublogs, SystemClock.Instance);
        const int Steps = 300;
        int done = 0;
        InParallel(4, writer =>
        {
            while (writer < 3 && Volatile.Read(ref done) < Steps) Write(bench, writer + 1, static key => key, static () => 0, count: 100);
            for (; writer == 3 && done < Steps; Volatile.Write(ref done, done + 1)) HoldEverything(bench);
        });
        List<DecodedBatch> batches = bench.Stopped();
        List<DecodedBatch> ordered = [.. batches.Where(static batch => batch.Header.Kind == BatchKind.Ordered)];
        Assert.That(ordered, Has.Count.EqualTo(Steps));
        foreach (DecodedBatch batch in ordered)
        {
            Assert.That(batch.Entries.Select(static entry => entry.Operation == FlushDatabase), Is.EqualTo(new[] { false, true, false, false }));
            Assert.That(batch.Entries.Select(static entry => entry.Lane), Is.All.Zero);
        }
        Assert.That(Replay(batches), Is.EqualTo(Contents(bench)));
    }

    private static void HoldEverything(Bench bench)
    {
        using StoreSession session = bench.Store.OpenSession();
        byte* key = stackalloc byte[32];
        Bench.WriteKey(key, 1);
        Add one = new() { By = 1 }, two = new() { By = 2 }, three = new() { By = 3 };
        session.LockAll();
        session.Modify(bench.Store.Key(key, 8, bench.Store.Namespaces.Id(0)), ref one);
        bench.Store.Namespaces.Flush(0, wait: true);
        session.Modify(bench.Store.Key(key, 8, bench.Store.Namespaces.Id(0)), ref two);
        Bench.WriteKey(key, 2);
        session.Modify(bench.Store.Key(key, 8, bench.Store.Namespaces.Id(0)), ref three);
        session.Unlock();
        Assert.That(session.LastBatch, Is.InRange(1UL, bench.Log.Batch - 1));
    }

    [Test]
    public void An_append_allocates_nothing()
    {
        using Bench bench = new(clock: SystemClock.Instance);
        byte* key = stackalloc byte[32];
        Bench.WriteKey(key, 1);
        KeyRef at = bench.Store.Key(key, 8, bench.Store.Namespaces.Id(0));
        Add add = new() { By = 1 };
        long before = 0;
        for (int i = 0; i < 20_000; i++)
        {
            if (i == 1_000) before = GC.GetAllocatedBytesForCurrentThread();
            bench.Session.Modify(at, ref add);
            bench.Log.Nudge();
        }
        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.Zero);
        Assert.That(bench.Stopped().Sum(static batch => batch.Entries.Count), Is.EqualTo(20_000));
    }

    private static void Transfer(Bench bench, Random random)
    {
        using StoreSession session = bench.Store.OpenSession();
        byte* keys = stackalloc byte[64];
        Span<KeyRef> pair = stackalloc KeyRef[2];
        uint ns = bench.Store.Namespaces.Id(0);
        for (int i = 0; i < WritesEach; i++)
        {
            int source = random.Next(Keys);
            Bench.WriteKey(keys, source);
            Bench.WriteKey(keys + 32, (source + 1 + random.Next(Keys - 1)) % Keys);
            pair[0] = bench.Store.Key(keys, 8, ns);
            pair[1] = bench.Store.Key(keys + 32, 8, ns);
            Add take = new() { By = -random.Next(100) }, give = new() { By = -take.By };
            session.Lock(pair);
            session.Modify(pair[0], ref take);
            session.Modify(pair[1], ref give);
            session.Unlock();
            bench.Log.Nudge();
        }
    }

    private static void Write(Bench bench, int seed, Func<long, long> keyOf, Func<long> note, Action<long>? ended = null,
        int count = WritesEach)
    {
        var random = new Random(seed);
        using StoreSession session = bench.Store.OpenSession();
        byte* key = stackalloc byte[32];
        for (int i = 0; i < count; i++)
        {
            Bench.WriteKey(key, keyOf(random.Next(Keys)));
            Add add = new() { By = 1, Note = note() };
            session.Modify(bench.Store.Key(key, 8, bench.Store.Namespaces.Id(0)), ref add);
            ended?.Invoke(add.Note);
            bench.Log.Nudge();
        }
    }

    private static void InParallel(int threads, Action<int> work)
    {
        var failures = new List<Exception>();
        Thread[] all = [.. Enumerable.Range(0, threads).Select(number => new Thread(() => Guard(() => work(number), failures)))];
        foreach (Thread thread in all) thread.Start();
        foreach (Thread thread in all) thread.Await();
        Assert.That(failures, Is.Empty);
    }

    private static void Guard(Action work, List<Exception> failures)
    {
        try
        {
            work();
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            lock (failures) failures.Add(e);
        }
    }

    private static long Number(DecodedEntry entry, int index) => BinaryPrimitives.ReadInt64LittleEndian(entry.Arguments.AsSpan(index * 8));

    private static SortedDictionary<long, long> Replay(List<DecodedBatch> batches)
    {
        var state = new SortedDictionary<long, long>();
        foreach (DecodedEntry entry in batches.SelectMany(static batch => batch.Entries))
        {
            if (entry.Operation == FlushDatabase) state.Clear();
            else state[BitConverter.ToInt64(entry.Key)] = state.GetValueOrDefault(BitConverter.ToInt64(entry.Key)) + Number(entry, 0);
        }
        return state;
    }

    private static SortedDictionary<long, long> Contents(Bench bench)
    {
        var state = new SortedDictionary<long, long>();
        byte* key = stackalloc byte[32];
        for (int number = 0; number < Keys; number++)
        {
            Bench.WriteKey(key, number);
            Look look = default;
            KeyRef at = bench.Store.Key(key, 8, bench.Store.Namespaces.Id(0));
            if (bench.Session.Read(at, ref look) == Outcome.Done) state[number] = look.Value;
        }
        return state;
    }
}

using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Writing;

/// <summary>Under always, where a sync is a fence: who waits for a batch writes and fences it (log.W13), and what is not only a copy is the thread's.</summary>
internal sealed class FenceTests
{
    private const long Room = 32 << 10;

    [Test]
    public void Who_waits_for_a_batch_makes_it_durable_and_no_thread_is_asked([Values(1, 3)] int sublogs)
    {
        using Bench bench = new(settings => settings.Sublogs = sublogs, fenceRoom: Room);
        int me = Environment.CurrentManagedThreadId;
        List<int> threads = [];
        bench.Disk.OnSync = _ => threads.Add(Environment.CurrentManagedThreadId);
        for (int i = 0; i < 20; i++)
        {
            ulong batch = bench.PutQuietly("key:" + i, [1, 2, 3]);
            bench.Log.Demand(batch);
            Assert.That(bench.Log.Durable, Is.EqualTo(batch));
        }
        Assert.That(threads, Has.Count.EqualTo(20 * sublogs).And.All.EqualTo(me));
        bench.Disk.OnSync = null;
        Assert.That(bench.Stopped().Sum(static batch => batch.Entries.Count), Is.EqualTo(20));
        Assert.That(bench.Disk.Unfenced, Is.Null);
    }

    [Test]
    public void A_fence_that_fails_ends_the_log_at_once_and_makes_nothing_durable()
    {
        using Bench bench = new(fenceRoom: Room);
        ulong first = bench.PutQuietly("first", [1]);
        bench.Log.Demand(first);
        bench.Disk.OnSync = static name => throw MemoryDisk.Broken("sync", name);
        ulong second = bench.PutQuietly("second", [2]);
        Assert.That(bench.Log.TryWrite(), Is.False);
        Assert.That(bench.Log.Poison, Is.Not.Null, "not when the thread looks at it");
        bench.Disk.OnSync = null;
        bench.Log.Demand(second);
        bench.Log.Stop();
        Assert.That(bench.Log.Durable, Is.EqualTo(first));
    }

    [Test]
    public void A_write_that_finds_the_disk_full_is_made_again_by_the_thread_which_fences_it()
    {
        using Bench bench = new(fenceRoom: Room);
        bench.Disk.OnWrite = static (name, _) => throw MemoryDisk.Full("write", name);
        ulong batch = bench.PutQuietly("key", [1]);
        Assert.That(bench.Log.TryWrite(), Is.False);
        bench.Log.Demand(batch);
        Bench.Until(() => bench.Log.Stalled != null, "the thread found out");
        Assert.That((bench.Log.Durable, bench.Log.TryWrite()), Is.EqualTo((batch - 1, false)));
        bench.Disk.OnWrite = null;
        Bench.Until(() =>
        {
            bench.Log.Retry();
            return bench.Log.Durable >= batch;
        }, "there is room again");
        Assert.That(bench.Disk.Unfenced, Is.Null);
    }

    [Test]
    public void What_has_no_room_in_the_ring_or_in_the_file_is_the_threads([Values] bool inFile)
    {
        using Bench bench = new(settings => settings.SegmentBytes = inFile ? 16 << 10 : 256 << 10, fenceRoom: Room);
        int me = Environment.CurrentManagedThreadId, others = 0;
        bench.Disk.OnSync = _ => others += Environment.CurrentManagedThreadId == me ? 0 : 1;
        int length = inFile ? 9_000 : (int)Room;
        ulong batch = 0;
        for (int i = 0; i < 4; i++)
        {
            batch = bench.PutQuietly("key:" + i, new byte[length]);
            bench.Log.Demand(batch);
            bench.AwaitDurable(batch);
        }
        Assert.That(others, Is.GreaterThan(0));
        Assert.That(bench.Stopped().Sum(static one => one.Entries.Count), Is.EqualTo(4));
        Assert.That(bench.Disk.Unfenced, Is.Null);
    }

    [Test]
    public void While_the_thread_is_behind_batches_gather_for_it()
    {
        using Bench bench = new(fenceRoom: Room);
        using var mayEnd = new ManualResetEventSlim();
        using var began = new ManualResetEventSlim();
        bench.Disk.OnWrite = (_, _) =>
        {
            began.Set();
            mayEnd.Await();
        };
        bench.Put("long", new byte[Room]); // nobody waits for it: the log's own threads close and write it
        Assert.That(began.Wait(Bench.PatienceMs), Is.True);
        ulong second = bench.PutQuietly("second", [2]);
        bench.Log.Demand(second); // closed, or to be closed
        ulong third = bench.PutQuietly("third", [3]);
        bench.Log.Demand(third);
        Assert.That(bench.Log.Durable, Is.LessThan(second));
        bench.Disk.OnWrite = null;
        mayEnd.Set();
        bench.AwaitDurable(third);
        Assert.That(bench.Disk.Unfenced, Is.Null);
    }

    [Test]
    public void What_is_written_under_another_policy_is_fenced_by_its_writer_too([Values(SyncPolicy.EverySecond, SyncPolicy.No)] SyncPolicy policy)
    {
        using Bench bench = new(fenceRoom: Room);
        bench.Settings.Sync = policy;
        ulong batch = bench.PutQuietly("key", [1]);
        Bench.Until(bench.Log.TryWrite, "nobody else is at it");
        Assert.That(bench.Log.Durable, Is.EqualTo(batch));
        bench.Settings.Sync = SyncPolicy.Always;
        batch = bench.PutQuietly("key", [2]);
        bench.Log.Demand(batch);
        Assert.That(bench.Log.Durable, Is.EqualTo(batch));
        Assert.That(bench.Disk.Unfenced, Is.Null);
    }

    [Test]
    public void Threads_that_write_at_once_with_the_logs_own_lose_nothing_and_fence_what_they_stored([Values(1, 2)] int sublogs)
    {
        const int Threads = 3, Changes = 1_500, LongEvery = 50;
        using Bench bench = new(settings =>
        {
            settings.Sublogs = sublogs;
            settings.SegmentBytes = 64 << 10;
        }, fenceRoom: Room);
        Parallel.For(0, Threads, new ParallelOptions { MaxDegreeOfParallelism = Threads }, thread =>
        {
            using StoreSession session = bench.Store.OpenSession();
            for (int i = 0; i < Changes; i++)
            {
                ulong before = bench.Log.Batch;
                bench.Put(session, $"key:{thread}:{i}", new byte[i % LongEvery == 0 ? Room : i % 100]); // nudges: the log's threads close batches too
                ulong batch = bench.Log.Batch; // the change is in this one, or in one before
                bench.Log.Demand(batch);
                if (i % 10 == 0) Bench.Until(() => bench.Log.Durable >= before, "the change is durable");
            }
        });
        List<DecodedBatch> batches = bench.Stopped();
        Assert.That(bench.Log.Poison, Is.Null);
        Assert.That(batches.Sum(static batch => batch.Entries.Count), Is.EqualTo(Threads * Changes));
        Assert.That(batches.Select(static batch => batch.Number), Is.EqualTo(Enumerable.Range(1, batches.Count).Select(static i => (ulong)i)));
        Assert.That(bench.Log.Durable, Is.GreaterThanOrEqualTo(batches[^1].Number));
        Assert.That(bench.Disk.Unfenced, Is.Null);
    }
}

using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Aof.Test.Writing;

/// <summary>What is durable when, and what happens when the disk does not do as it is told.</summary>
internal sealed class DurabilityTests
{
    private const long SecondUs = 1_000_000;

    [Test]
    public void Under_always_a_batch_is_durable_only_after_its_sync()
    {
        using Bench bench = new();
        using var mayEnd = new ManualResetEventSlim();
        using var began = new ManualResetEventSlim();
        bench.Disk.OnSync = _ =>
        {
            began.Set();
            mayEnd.Await();
        };
        ulong batch = bench.Put("key");
        Assert.That(began.Wait(Bench.PatienceMs), Is.True);
        Assert.That((bench.Log.Written, bench.Log.Durable), Is.EqualTo((batch, batch - 1)));
        bench.Disk.OnSync = null;
        mayEnd.Set();
        bench.AwaitDurable(batch);
    }

    [Test]
    public void While_one_sync_runs_the_next_batch_is_closed_and_what_gathers_goes_with_it_into_one_sync()
    {
        using Bench bench = new();
        using var mayEnd = new SemaphoreSlim(0);
        int begun = 0;
        bench.Disk.OnSync = _ =>
        {
            Interlocked.Increment(ref begun);
            mayEnd.Await();
        };
        bench.Put("first");
        Bench.Until(() => Volatile.Read(ref begun) == 1, "the first sync begins");
        ulong second = bench.Put("second");
        Bench.Until(() => bench.Log.Batch > second, "the second batch is closed meanwhile");
        ulong third = bench.Put("third");
        Assert.That(third, Is.EqualTo(second + 1));
        mayEnd.Release(2);
        bench.AwaitDurable(third);
        Assert.That(begun, Is.EqualTo(2));
        bench.Disk.OnSync = null;
    }

    [Test]
    public void Under_everysec_a_second_passes_between_two_syncs()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        int before = bench.Disk.Syncs;
        ulong batch = bench.Put("a");
        bench.AwaitDurable(batch); // a second has passed since the last one already
        batch = bench.Put("b");
        bench.Clock.Advance(SecondUs / 2);
        bench.Log.Retry();
        bench.AwaitWritten(batch);
        Assert.That((bench.Log.Durable, bench.Disk.Syncs), Is.EqualTo((batch - 1, before + 1)));
        bench.Clock.Advance(SecondUs / 2);
        bench.Log.Retry();
        bench.AwaitDurable(batch);
        Assert.That(bench.Disk.Syncs, Is.EqualTo(before + 2));
    }

    [Test]
    public void Who_waits_for_a_buffered_write_makes_it_and_a_thread_syncs_it_within_a_second()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        bench.PutDurably("before");
        int syncs = bench.Disk.Syncs;
        ulong batch = bench.PutQuietly("key", [1, 2, 3]);
        Bench.Until(bench.Log.TryWrite, "nobody else is at it");
        Assert.That((bench.Log.Written, bench.Disk.Syncs), Is.EqualTo((batch, syncs)), "with the system, and not synced");
        bench.Clock.Advance(SecondUs);
        bench.Log.Retry();
        bench.AwaitDurable(batch);
    }

    [Test]
    public void While_a_sync_runs_others_go_on_writing_and_it_does_not_speak_for_them()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        bench.PutDurably("before");
        using var mayEnd = new ManualResetEventSlim();
        using var began = new ManualResetEventSlim();
        bench.Disk.OnSync = _ =>
        {
            began.Set();
            mayEnd.Await();
        };
        ulong first = bench.PutQuietly("first", [1]);
        Bench.Until(bench.Log.TryWrite, "nobody else is at it");
        bench.Clock.Advance(SecondUs);
        bench.Log.Retry();
        Assert.That(began.Wait(Bench.PatienceMs), Is.True);
        ulong second = bench.PutQuietly("second", [2]);
        Bench.Until(bench.Log.TryWrite, "nobody else is at it");
        Assert.That(bench.Log.Written, Is.EqualTo(second));
        bench.Disk.OnSync = null;
        mayEnd.Set();
        bench.AwaitDurable(first);
        Assert.That(bench.Log.Durable, Is.EqualTo(first));
    }

    [Test]
    public void What_cannot_be_written_on_the_spot_is_left_to_the_thread([Values] bool broken)
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        bench.PutDurably("before");
        bench.Disk.OnWrite = (name, _) => throw (broken ? MemoryDisk.Broken("write", name) : MemoryDisk.Full("write", name));
        ulong batch = bench.PutQuietly("key", [1]);
        Assert.That(bench.Log.TryWrite(), Is.False);
        bench.Log.Demand(batch);
        Bench.Until(() => (broken ? bench.Log.Poison : bench.Log.Stalled) != null, "the thread found out");
        Assert.That(bench.Log.Written, Is.LessThan(batch));
        if (broken) return;
        bench.Disk.OnWrite = null;
        Bench.Until(() =>
        {
            bench.Log.Retry();
            return bench.Log.Written >= batch;
        }, "the change is written");
    }

    [Test]
    public void A_wall_clock_that_jumps_changes_nothing_but_what_headers_say_of_the_time()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        foreach (long byUs in (long[])[0, -86_400 * SecondUs, 1000 * 86_400 * SecondUs, -2000 * 86_400 * SecondUs])
        {
            bench.Clock.SetWall(byUs);
            ulong batch = bench.Put("key");
            Bench.Until(() =>
            {
                bench.Clock.Advance(SecondUs);
                bench.Log.Retry();
                return bench.Log.Durable >= batch;
            }, "the change becomes durable as time passes");
        }
        Assert.That(bench.Stopped().Sum(static batch => batch.Entries.Count), Is.EqualTo(4));
    }

    [Test]
    public void Under_always_nobody_writes_on_the_spot_where_a_sync_waits()
    {
        using Bench bench = new();
        bench.PutQuietly("key", [1]);
        Assert.That(bench.Log.TryWrite(), Is.False);
    }

    [Test]
    public void Under_no_nothing_is_synced_and_nothing_is_durable_until_somebody_asks()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.No);
        int before = bench.Disk.Syncs;
        ulong first = bench.Put("a");
        bench.AwaitWritten(first);
        Assert.That((bench.Log.Durable, bench.Disk.Syncs), Is.EqualTo((first - 1, before)));
        bench.Log.RequireSync(first);
        bench.AwaitDurable(first);
        Assert.That(bench.Disk.Syncs, Is.EqualTo(before + 1));
        ulong second = bench.Put("b");
        bench.Log.Demand(second);
        bench.AwaitWritten(second);
        Assert.That((bench.Log.Durable, bench.Disk.Syncs), Is.EqualTo((first, before + 1)), "one that asks once gets one");
        bench.Log.Stop();
        Assert.That((bench.Log.Durable, bench.Disk.Syncs), Is.EqualTo((second, before + 2)));
    }

    [Test]
    public void The_policy_may_change_while_the_log_runs()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        bench.PutDurably("a");
        ulong batch = bench.Put("b");
        bench.Log.Demand(batch);
        bench.AwaitWritten(batch);
        Assert.That(bench.Log.Durable, Is.EqualTo(batch - 1));
        bench.Settings.Sync = SyncPolicy.Always;
        bench.Log.Retry();
        bench.AwaitDurable(batch);
    }

    [Test]
    public void A_batch_nobody_waits_for_is_closed_lazily_and_one_demanded_at_once()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        bench.AwaitWritten(bench.Put("a"));
        ulong batch = bench.Put("b");
        bench.Log.Retry();
        Assert.That(bench.Log.Batch, Is.EqualTo(batch));
        bench.Log.Demand(batch);
        bench.AwaitWritten(batch);
    }

    [Test]
    public void A_batch_that_grows_long_is_closed_although_nobody_waits()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        bench.AwaitWritten(bench.Put("a"));
        ulong batch = bench.Put("b", new byte[10_000]);
        for (int i = 0; i < 8; i++) bench.Put("b", new byte[10_000]);
        bench.AwaitWritten(batch);
    }

    [Test]
    public void A_batch_that_grows_long_is_closed_although_nobody_tells()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        ulong batch = bench.PutQuietly("a", new byte[10_000]);
        for (int i = 0; i < 8; i++) bench.PutQuietly("a", new byte[10_000]);
        bench.AwaitWritten(batch);
    }

    [Test]
    public void A_log_nobody_writes_to_writes_nothing()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        ulong proof = bench.PutDurably("key") + 1;
        bench.Clock.Advance(SecondUs);
        bench.Log.Retry();
        bench.AwaitDurable(proof);
        (int writes, int syncs, ulong batch) = (bench.Disk.Writes, bench.Disk.Syncs, bench.Log.Batch);
        for (int i = 0; i < 20; i++)
        {
            bench.Clock.Advance(SecondUs);
            bench.Log.Nudge();
            bench.Log.Demand(bench.Log.Batch);
            bench.Log.Retry();
        }
        bench.Log.Stop();
        Assert.That((bench.Disk.Writes, bench.Disk.Syncs, bench.Log.Batch), Is.EqualTo((writes, syncs, batch)));
    }

    [Test]
    public void A_quiet_log_proves_its_end_once_when_all_of_it_is_durable()
    {
        using Bench bench = new(static settings => settings.Sync = SyncPolicy.EverySecond);
        ulong last = bench.PutDurably("key");
        bench.Clock.Advance(SecondUs / 2);
        bench.Log.Retry();
        last = bench.Put("later");
        bench.AwaitWritten(last);
        bench.Clock.Advance(SecondUs);
        bench.Log.Retry();
        Bench.Until(() =>
        {
            bench.Log.Retry();
            return bench.Log.Durable >= last;
        }, "the second change is durable");
        bench.Clock.Advance(SecondUs);
        bench.Log.Retry();
        bench.AwaitWritten(last + 1);
        bench.Log.Stop();
        List<DecodedBatch> batches = BatchDecoder.Read(bench.Disk, 1);
        Assert.That(batches.Select(static batch => batch.Entries.Count), Is.EqualTo((int[])[1, 1, 0]));
        Assert.That(batches[^1].Header.DurableBatch, Is.EqualTo(last));
    }

    [Test]
    public void A_failed_sync_poisons_the_log_for_good()
    {
        using Bench bench = new();
        bench.PutDurably("key");
        ulong durable = bench.Log.Durable;
        int told = 0;
        bench.Log.Advanced += () => Interlocked.Increment(ref told);
        bench.Disk.OnSync = static name => throw MemoryDisk.Broken("sync", name);
        bench.Put("lost");
        Bench.Until(() => bench.Log.Poison != null, "the log is poisoned");
        Assert.That(bench.Log.Poison, Does.Contain("sync").And.Contain("Input/output error"));
        Bench.Until(() => Volatile.Read(ref told) > 0, "those who wait are told");
        bench.Disk.OnSync = null;
        (int writes, int syncs) = (bench.Disk.Writes, bench.Disk.Syncs);
        bench.Put("dropped");
        bench.Log.Stop();
        Assert.That((bench.Log.Durable, bench.Disk.Writes, bench.Disk.Syncs), Is.EqualTo((durable, writes, syncs)));
        Assert.That(bench.Log.Figures().LastError, Is.EqualTo(bench.Log.Poison));
        Assert.That(bench.Log.Figures().StagedBytes, Is.Zero);
    }

    [Test]
    public void A_failed_write_poisons_the_log_too()
    {
        using Bench bench = new();
        bench.Disk.OnWrite = static (name, _) => throw MemoryDisk.Broken("write", name);
        bench.Put("lost");
        Bench.Until(() => bench.Log.Poison != null, "the log is poisoned");
        Assert.That((bench.Log.Written, bench.Log.Durable), Is.EqualTo((0UL, 0UL)));
    }

    [Test]
    public void A_sync_that_finds_the_disk_full_is_a_failed_sync()
    {
        using Bench bench = new();
        bench.Disk.OnSync = static name => throw MemoryDisk.Full("sync", name);
        bench.Put("lost");
        Bench.Until(() => bench.Log.Poison != null, "the log is poisoned");
        Assert.That(bench.Log.Stalled, Is.Null);
    }

    [Test]
    public void A_full_disk_stalls_the_log_and_nothing_is_lost_when_space_returns([Values] bool byClock)
    {
        using Bench bench = new();
        bench.PutDurably("a");
        int tries = 0;
        bench.Disk.OnWrite = (name, _) =>
        {
            Interlocked.Increment(ref tries);
            throw MemoryDisk.Full("write", name);
        };
        ulong batch = bench.Put("b");
        Bench.Until(() => bench.Log.Stalled != null, "the log is stalled");
        Assert.That(bench.Log.Stalled, Does.Contain("No space"));
        ulong durable = bench.Log.Durable;
        for (int i = 0; i < 50; i++) bench.Put("c" + i);
        Assert.That((bench.Log.Durable, bench.Log.Poison), Is.EqualTo((durable, (string?)null)));
        bench.Log.Retry();
        Bench.Until(() => Volatile.Read(ref tries) >= 2, "the disk is asked again");
        bench.Disk.OnWrite = null;
        Bench.Until(() =>
        {
            if (byClock) bench.Clock.Advance(SecondUs / 10); // more than once: the wait may begin after the first
            else bench.Log.Retry();
            return bench.Log.Durable >= batch;
        }, "the batch becomes durable");
        Bench.Until(() => bench.Log.Stalled == null, "the stall is over");
        Assert.That(bench.Stopped().Sum(static found => found.Entries.Count), Is.EqualTo(52));
    }

    [Test]
    public void A_disk_too_full_for_the_next_segment_stalls_the_log_likewise()
    {
        using Bench bench = new(static settings => settings.SegmentBytes = 8 << 10);
        bench.PutDurably("a");
        bench.Disk.Capacity = 8 << 10;
        ulong batch = bench.Put("b");
        Bench.Until(() => bench.Log.Stalled != null, "the log is stalled");
        bench.Disk.OnWrite = (name, offset) =>
        {
            bench.Disk.OnWrite = null;
            throw MemoryDisk.Full("write", name); // the header, this time
        };
        bench.Disk.Capacity = long.MaxValue;
        Bench.Until(() =>
        {
            bench.Log.Retry();
            return bench.Disk.OnWrite == null;
        }, "the file is tried");
        Bench.Until(() =>
        {
            bench.Log.Retry();
            return bench.Log.Durable >= batch;
        }, "the batch becomes durable");
        Assert.That(bench.Stopped(), Has.Count.EqualTo(2));
    }

    [Test]
    public void A_log_stopped_on_a_full_disk_ends_and_says_why()
    {
        using Bench bench = new();
        bench.Disk.OnWrite = static (name, _) => throw MemoryDisk.Full("write", name);
        bench.Put("a");
        Bench.Until(() => bench.Log.Stalled != null, "the log is stalled");
        bench.Log.Stop();
        Assert.That(bench.Log.Poison, Does.Contain("No space"));
        Assert.That(bench.Log.Durable, Is.Zero);
    }

    [Test]
    public void Staging_beyond_its_bound_is_told_until_the_backlog_is_written()
    {
        using Bench bench = new(static settings => settings.StagingBytesMax = 1 << 20);
        using var mayEnd = new ManualResetEventSlim();
        bench.Disk.OnWrite = (_, _) => mayEnd.Wait(Bench.PatienceMs);
        int puts = 0;
        for (; !bench.Log.IsFull; puts++)
        {
            Assert.That(puts, Is.LessThan(200));
            bench.Put("key" + (puts % 50), new byte[10_000]);
        }
        mayEnd.Set();
        Bench.Until(() => !bench.Log.IsFull, "the backlog is written");
        Assert.That(bench.Stopped().Sum(static batch => batch.Entries.Count), Is.EqualTo(puts));
        Assert.That(bench.Log.Figures().StagedBytes, Is.Zero);
    }

    [Test]
    public void Stopping_writes_and_syncs_what_was_appended([Values] SyncPolicy policy)
    {
        using Bench bench = new(settings =>
        {
            settings.Sync = policy;
            settings.Sublogs = 2;
        });
        ulong last = 0;
        for (int i = 0; i < 100; i++) last = bench.Put("key" + i);
        List<DecodedBatch> batches = bench.Stopped();
        Assert.That(batches.Sum(static batch => batch.Entries.Count), Is.EqualTo(100));
        Assert.That(batches[^1].Number, Is.EqualTo(last));
        ulong end = policy == SyncPolicy.No ? last : last + 1; // log.S4
        Assert.That((bench.Log.Written, bench.Log.Durable), Is.EqualTo((end, end)));
        Assert.That(bench.Log.Figures().Entries, Is.EqualTo(100));
    }
}

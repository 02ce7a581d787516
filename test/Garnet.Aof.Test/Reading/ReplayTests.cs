using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>What a log says comes back, whoever reads it with how many threads and lanes.</summary>
public sealed class ReplayTests
{
    [Test]
    public void Every_number_of_threads_reads_the_same([Values(1, 2, 3, 8)] int threads, [Values(1, 3)] int sublogs,
        [Values(1, 2, 3)] int seed)
    {
        SimulatedDisk disk = Log(sublogs, seed, out Workload workload, out ulong last);
        using var store = new TestStore();
        RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(disk), threads: threads);
        Assert.That(report.Start.LastBatch, Is.EqualTo(last));
        Assert.That(report.Batches, Is.EqualTo((long)last));
        Assert.That(report.WasCut, Is.False);
        Assert.That(report.Messages, Is.Empty);
        Assert.That(report.Start.Term, Is.EqualTo(1));
        Assert.That(store.Text(), Is.EqualTo(workload.State(last)));
    }

    [Test]
    public void Flushes_and_swaps_take_place_between_the_batches_around_them()
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8, 3)).Dispose();
        using var builder = new LogBuilder(disk, new LogPlan(3));
        List<TestEntry> all = [.. Workload.Keys.Select(static key => new TestEntry(TestEntry.Extend, 0, key, "a"))];
        builder.Add(all);
        builder.Add(new TestEntry(TestEntry.SwapDatabases, 0, "", "0 2"));
        builder.Add(all);
        builder.Add(new TestEntry(TestEntry.FlushDatabase, 0, "", "0"));
        builder.Add(new TestEntry(TestEntry.Extend, 0, "key1", "c"));
        builder.Write();
        builder.Sync();
        using var store = new TestStore();
        store.Recover(DataDirectory.OpenUnlocked(disk));
        Assert.That(store.Text(),
            Is.EqualTo("0 key1 c\n" + string.Concat(Workload.Keys.Order(StringComparer.Ordinal).Select(static key => $"2 {key} a\n"))));
    }

    [Test]
    public void A_log_is_read_by_its_own_lanes_when_the_store_has_others([Values(1, 2, 16, 64)] int partitions)
    {
        SimulatedDisk disk = Log(1, 4, out Workload workload, out ulong last);
        using (var first = new TestStore(partitions))
        {
            using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
            RecoveryReport report = first.Recover(directory);
            Assert.That(first.Text(), Is.EqualTo(workload.State(last)));
            Assert.That(report.Messages, Is.Empty, "nothing is wrong");
            Assert.That(report.Notes, Has.Exactly(1).Contains("8 partitions"));
            Assert.That(report.Start.Lanes, Is.EqualTo(partitions));
            Assert.That(directory.Manifest.Lanes, Is.EqualTo(partitions));
            using var builder = new LogBuilder(disk, LogPlan.After(report.Start, new LogPlan(1)));
            workload.Run(builder, 20);
            last = builder.Batch;
        }
        using var second = new TestStore(partitions);
        RecoveryReport again = second.Recover(DataDirectory.OpenUnlocked(disk), threads: 4);
        Assert.That(second.Text(), Is.EqualTo(workload.State(last)));
        Assert.That(again.Notes, Has.Count.EqualTo(2), "into the old layout and out of it");
    }

    [Test]
    public void What_a_key_was_told_in_another_lane_comes_first()
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(1)).Dispose();
        // With 8 lanes the key is read by another worker than with one lane, and that one has more to do before it.
        string key = Workload.Keys.First(static k => new TestEntry(TestEntry.Put, 0, k, "").Lane(8) % 2 == 1);
        TestEntry last = new(TestEntry.Put, 0, key, "late");
        using (var before = new LogBuilder(disk, new LogPlan(1, Lanes: 1, FileBytes: 4 << 20)))
        {
            before.Add([.. Enumerable.Range(0, 20_000).Select(i => last with { Argument = "early" + i })]);
            before.Write();
        }
        RecoveryReport first;
        using (var store = new TestStore(8)) first = store.Recover(DataDirectory.OpenUnlocked(disk));
        using (var after = new LogBuilder(disk, LogPlan.After(first.Start, new LogPlan(1))))
        {
            after.Add(last);
            after.Write();
        }
        using var second = new TestStore(8);
        second.Recover(DataDirectory.OpenUnlocked(disk), threads: 2);
        Assert.That(second.Text(), Is.EqualTo($"0 {last.Key} late\n"));
    }

    [Test]
    public void What_a_key_was_told_before_a_restart_comes_first()
    {
        SimulatedDisk disk = TwoRuns(out TestEntry last);
        using var store = new TestStore(8);
        store.Recover(DataDirectory.OpenUnlocked(disk), threads: 2);
        Assert.That(store.Text(), Is.EqualTo($"0 {last.Key} late\n"));
    }

    [Test]
    public void A_follower_applies_what_a_key_was_told_before_a_restart_of_its_primary_first()
    {
        SimulatedDisk disk = TwoRuns(out TestEntry last, early: 2000);
        using var store = new TestStore(8);
        using var state = new AppliedState();
        var start = new LogPosition(1, 0, [0]);
        using (var applier = new BatchApplier(store.Store, store.Table, 2, state, start))
        {
            AddAll(disk, applier, new BatchIntake(start));
            while (applier.Turn())
            {
            }
            Assert.That(applier.Failure, Is.Null);
        }
        Assert.That(state.Number, Is.EqualTo(2));
        Assert.That(store.Text(), Is.EqualTo($"0 {last.Key} late\n"));
    }

    [Test]
    public void A_foreign_layout_can_be_refused()
    {
        SimulatedDisk disk = Log(1, 4, out _, out _);
        using var store = new TestStore(16);
        var settings = new RecoverySettings { ReloadsForeignLayout = false };
        var refused = Assert.Throws<GarnetException>(() =>
            DataDirectory.OpenUnlocked(disk).Recover(store.Store, store.Table, settings, new TestSnapshots(), TestStore.Progress()))!;
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Configuration));
    }

    [Test]
    public void An_empty_directory_begins_at_batch_one()
    {
        var disk = new SimulatedDisk();
        using var store = new TestStore();
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8, 2));
        RecoveryReport report = store.Recover(directory);
        Assert.That(report.Start.LastBatch, Is.Zero);
        Assert.That(report.Start.LastHeaderCrcs, Is.EqualTo(new uint[2]));
        Assert.That(report.Start.HashSeed, Is.EqualTo(directory.Manifest.HashSeed).And.Not.Zero);
    }

    [Test]
    public void Logging_is_off_while_a_log_is_read_and_as_before_afterwards()
    {
        SimulatedDisk disk = Log(1, 4, out _, out _);
        using var store = new TestStore();
        bool before = store.Store.Logging;
        store.Recover(DataDirectory.OpenUnlocked(disk));
        Assert.That(store.Store.Logging, Is.EqualTo(before));
    }

    [Test]
    public void A_batch_longer_than_a_read_block_comes_back()
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8)).Dispose();
        using var builder = new LogBuilder(disk, new LogPlan(1, FileBytes: 16 << 20));
        for (int i = 0; i < 3; i++)
        {
            builder.Add([.. Enumerable.Range(0, 6000).Select(static n =>
                new TestEntry(TestEntry.Put, 0, "key" + n % 24, new string((char)('a' + n % 26), 900)))]);
            builder.Write();
        }
        builder.Sync();
        using var store = new TestStore();
        RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(disk));
        Assert.That(report.Entries, Is.EqualTo(18_000));
        Assert.That(store.Text(), Does.StartWith("0 key0 " + new string((char)('a' + 5976 % 26), 900)));
    }

    // Of a database that had another id in each of two runs, so that its key stands in a lane of one worker, which has much to do, and then in one of the other's.
    private static SimulatedDisk TwoRuns(out TestEntry last, int early = 20_000)
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8)).Dispose();
        TestEntry late = last = new(TestEntry.Put, 0, Workload.Keys[0], "late");
        var plan = new LogPlan(1, FileBytes: 4 << 20);
        using var before = new LogBuilder(disk, plan);
        before.Add([.. Enumerable.Range(0, early).Select(i => late with { Argument = "early" + i })]);
        before.Write();
        using var after = new LogBuilder(disk, plan with { Term = 2, LastBatch = 1, Chain = before.Chain, LaneShift = 1 });
        after.Add(last);
        after.Write();
        return disk;
    }

    private static void AddAll(SimulatedDisk disk, BatchApplier applier, BatchIntake intake)
    {
        using var reader = new LogReader(disk, 1, 0);
        while (reader.Next())
        {
            Assert.That(intake.Take(BytesOf(disk, reader.Cursors[0].Part), out BatchBytes? whole), Is.Null);
            applier.Add(whole!);
        }
    }

    private static byte[] BytesOf(SimulatedDisk disk, in LogPart part)
    {
        using IDiskFile file = disk.Open(part.File);
        byte[] bytes = new byte[BatchHeader.Bytes + (int)part.Header.BodyBytes];
        file.Read(part.Offset, bytes);
        return bytes;
    }

    internal static SimulatedDisk Log(int sublogs, int seed, out Workload workload, out ulong last)
    {
        var disk = new SimulatedDisk();
        // The seed of the tests, as a manifest of an older start would have it.
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8, sublogs)).Dispose();
        ManifestFile.TryRead(disk, out Manifest? manifest);
        ManifestFile.Publish(disk, manifest! with { HashSeed = 77 });
        using var builder = new LogBuilder(disk, new LogPlan(sublogs));
        workload = new Workload(seed);
        workload.Run(builder, 40, 3, 1);
        last = builder.Batch;
        return disk;
    }
}

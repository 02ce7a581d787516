using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Writing;
using Garnet.Aof.Writing;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// The machine goes down at every operation of a script and leaves what it may leave; what is recovered is the state after
/// some batch, not before the last one that was promised, and nothing behind it stays on disk.
/// </summary>
public sealed class CrashTests
{
    private const int Seeds = 4;

    [Test]
    public void A_crash_at_any_operation_leaves_a_whole_prefix([Values(1, 3)] int sublogs)
    {
        var plan = new LogPlan(sublogs);
        int operations = Script(new SimulatedDisk(), plan, out _);
        int cuts = 0;
        for (int operation = 1; operation <= operations; operation++)
        {
            for (int seed = 0; seed < Seeds; seed++)
            {
                var disk = new SimulatedDisk { CrashAt = operation };
                Script(disk, plan, out Workload workload);
                cuts += RecoverTwice(disk.Crash(seed == 0 || seed == 1 ? seed : operation * Seeds + seed), workload,
                    $"operation {operation}, seed {seed}") ? 1 : 0;
            }
        }
        Assert.That(cuts, Is.Positive, "no crash left anything to cut: the script is too tame");
    }

    [Test]
    public void A_crash_in_a_recovery_changes_nothing([Values(1, 3)] int sublogs)
    {
        var plan = new LogPlan(sublogs);
        int operations = Script(new SimulatedDisk(), plan, out _);
        for (int seed = 2; seed < 5; seed++)
        {
            var first = new SimulatedDisk { CrashAt = operations - seed };
            Script(first, plan, out Workload workload);
            RecoveryReport undisturbed = Recover(first.Crash(seed), workload, $"seed {seed}");
            for (int operation = 1; ; operation++)
            {
                SimulatedDisk disk = first.Crash(seed);
                disk.CrashAt = operation;
                if (Recovers(disk)) break;
                SimulatedDisk found = disk.Crash(operation);
                RecoveryReport report = Recover(found.Copy(), workload, $"operation {operation} of the recovery, seed {seed}");
                Assert.That(report.Start.LastBatch, Is.EqualTo(undisturbed.Start.LastBatch));
                Assert.That(report.Start.Term, Is.GreaterThanOrEqualTo(undisturbed.Start.Term), "what was cut is of an older term");
                RecoverTwice(found, workload, $"operation {operation} of the recovery, seed {seed}");
            }
        }
    }

    [Test]
    public void A_log_that_went_on_after_a_crash_crashes_as_well([Values(1, 3)] int sublogs, [Values(2, 3, 4, 5)] int seed)
    {
        var plan = new LogPlan(sublogs);
        var workload = new Workload(seed);
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(plan.Lanes, sublogs)).Dispose();
        ulong last = 0;
        for (int life = 0; life < 6; life++)
        {
            using var store = new TestStore();
            using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
            RecoveryReport report = store.Recover(directory);
            Assert.That(report.Start.LastBatch,
                Is.GreaterThanOrEqualTo(workload.Durable).And.LessThanOrEqualTo(Math.Max(last, workload.Durable)));
            Assert.That(store.Text(), Is.EqualTo(workload.State(report.Start.LastBatch)), $"life {life}");
            workload.From(report.Start.LastBatch);
            using var builder = new LogBuilder(disk, LogPlan.After(report.Start, plan));
            workload.Run(builder, 5);
            last = builder.Batch;
            disk = disk.Crash(seed + life);
        }
    }

    [Test]
    public void A_manifest_is_the_old_one_or_the_new_one_after_any_crash()
    {
        for (int operation = 1; operation <= 12; operation++)
        {
            for (int seed = 0; seed < Seeds; seed++)
            {
                var disk = new SimulatedDisk();
                using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
                string first = TestSnapshots.Write(disk, 3, 1, ""), second = TestSnapshots.Write(disk, 9, 1, "");
                directory.PublishSnapshot(first, 3, []);
                disk.CrashAt = disk.Operations + operation;
                try
                {
                    directory.PublishSnapshot(second, 9, []);
                }
                catch (SimulatedCrashException)
                {
                }
                SimulatedDisk found = disk.Crash(seed);
                using DataDirectory again = DataDirectory.OpenUnlocked(found);
                Assert.That(again.Manifest.Snapshot!.Batch, Is.EqualTo(3).Or.EqualTo(9));
                Assert.That(found.List(), Does.Contain(again.Manifest.Snapshot.File));
                Assert.That(found.List(), Does.Not.Contain(Manifest.NextFileName));
            }
        }
    }

    /// <summary>The file that a log was opened with is too short for the first batch and is made anew, after the manifest has named it.</summary>
    [Test]
    public void A_first_batch_longer_than_a_file_is_there_or_not_after_any_crash([Values(1, 3)] int sublogs, [Values(SyncPolicy.Always, SyncPolicy.EverySecond)] SyncPolicy policy)
    {
        string value = new('L', 10_000), written = $"0 {Workload.Keys[0]} {value}\n";
        int lost = 0, kept = 0;
        for (int operation = 1; ; operation++)
        {
            var disk = new SimulatedDisk { CrashAt = operation };
            bool isThrough = WritesALongBatch(disk, sublogs, policy, value);
            for (int seed = 0; seed < Seeds; seed++)
            {
                using var store = new TestStore();
                using DataDirectory directory = DataDirectory.OpenUnlocked(disk.Crash(operation * seed), new DirectoryLayout(8, sublogs));
                store.Recover(directory);
                if (store.Text() == written) kept++;
                else if (store.Text().Length == 0) lost++;
                else Assert.Fail($"operation {operation}, seed {seed}: half a value");
            }
            if (isThrough) break;
        }
        Assert.That(new[] { lost, kept }, Is.All.Positive);
    }

    // False if the machine went down before its end.
    private static bool WritesALongBatch(SimulatedDisk disk, int sublogs, SyncPolicy policy, string value)
    {
        DataDirectory? directory = null;
        var settings = new AofSettings { Sublogs = sublogs, SealMinUs = 0, SegmentBytes = 8192, Sync = policy };
        var log = new AppendOnlyLog(settings, disk, new ManualClock()) { Names = (sublog, logs) => directory!.NameLogs(sublog, logs) };
        var store = new TestStore(log: log);
        try
        {
            directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8, sublogs));
            log.Attach(store.Store);
            log.Open(store.Recover(directory).Start);
            store.Store.Logging = true;
            store.Apply(0, Workload.Keys[0], value);
            log.GroupCommitter.Turn();
            foreach (Sublog sublog in log.Sublogs) sublog.Turn();
            return true;
        }
        catch (SimulatedCrashException)
        {
            return false;
        }
        finally
        {
            disk.IsGone = true; // what is given back reaches it no more
            log.Dispose();
            store.Dispose();
            directory?.Dispose();
        }
    }

    [Test]
    public void A_failed_write_while_recovering_is_told_and_the_next_recovery_succeeds([Values] bool full)
    {
        SimulatedDisk disk = TornLog(out Workload workload);
        if (full) disk.Capacity = 1;
        else disk.FailSync = disk.Syncs + 1;
        using var store = new TestStore();
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        var refused = Assert.Throws<GarnetException>(() => store.Recover(directory))!;
        Assert.That(refused.Message, Does.Contain("/simulated"));
        disk.Capacity = long.MaxValue;
        disk.FailSync = 0;
        RecoverTwice(disk.Copy(), workload, "after the fault");
    }

    private static SimulatedDisk TornLog(out Workload workload)
    {
        var plan = new LogPlan(1);
        var disk = new SimulatedDisk();
        int operations = Script(disk, plan, out _);
        for (int seed = 2; ; seed++)
        {
            disk = new SimulatedDisk { CrashAt = operations - 1 };
            Script(disk, plan, out workload);
            SimulatedDisk found = disk.Crash(seed);
            using var store = new TestStore();
            if (store.Recover(DataDirectory.OpenUnlocked(found.Copy())).WasCut) return found;
        }
    }

    // Returns the number of operations; a crash ends it early.
    private static int Script(SimulatedDisk disk, LogPlan plan, out Workload workload)
    {
        workload = new Workload(5);
        try
        {
            Fill(disk, plan, workload, perWrite: 3, syncEvery: 3);
        }
        catch (SimulatedCrashException)
        {
        }
        return disk.Operations;
    }

    private static void Fill(SimulatedDisk disk, LogPlan plan, Workload workload, int perWrite, int syncEvery)
    {
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(plan.Lanes, plan.Sublogs)).Dispose();
        using var builder = new LogBuilder(disk, plan);
        workload.Run(builder, 24, perWrite, syncEvery);
    }

    private static bool Recovers(SimulatedDisk disk)
    {
        using var store = new TestStore();
        try
        {
            store.Recover(DataDirectory.OpenUnlocked(disk));
            return true;
        }
        catch (SimulatedCrashException)
        {
            return false;
        }
    }

    private static bool RecoverTwice(SimulatedDisk disk, Workload workload, string when)
    {
        RecoveryReport first = Recover(disk, workload, when);
        // What was cut is gone for good, whatever happens to the disk's cache now.
        RecoveryReport second = Recover(disk.Crash(0), workload, when + ", again");
        Assert.That(second.Start.LastBatch, Is.EqualTo(first.Start.LastBatch), when);
        Assert.That(second.Start.Term, Is.EqualTo(first.Start.Term), when);
        Assert.That(second.Start.LastHeaderCrcs, Is.EqualTo(first.Start.LastHeaderCrcs), when);
        Assert.That(second.WasCut, Is.False, when);
        return first.WasCut;
    }

    private static RecoveryReport Recover(SimulatedDisk disk, Workload workload, string when)
    {
        using var store = new TestStore();
        // The directory itself may not have become durable: then it is made anew.
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8, 1));
        RecoveryReport report = store.Recover(directory);
        Assert.That(report.Start.LastBatch, Is.GreaterThanOrEqualTo(workload.Durable), when);
        Assert.That(store.Text(), Is.EqualTo(workload.State(report.Start.LastBatch)), when);
        NothingFollows(disk, directory.Manifest.Sublogs, report.Start.LastBatch);
        return report;
    }

    private static void NothingFollows(IDisk disk, int sublogs, ulong last)
    {
        for (int i = 0; i < sublogs; i++)
        {
            foreach (LogFile file in LogFiles.Of(disk, i))
            {
                byte[] bytes = WholeFile.Read(disk, file.Name, 1 << 20);
                for (int at = 0; at + BatchHeader.Bytes <= bytes.Length; at += BatchHeader.Bytes)
                    if (BatchHeader.TryRead(bytes.AsSpan(at), out BatchHeader header, out _) == HeaderState.Whole)
                        Assert.That(header.Batch, Is.LessThanOrEqualTo(last), file.Name);
            }
        }
    }
}

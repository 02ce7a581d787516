using Garnet.Aof.Format;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>Snapshots in front of a log: which one is loaded, what becomes obsolete, and what happens when one is damaged.</summary>
public sealed class SnapshotTests
{
    [Test]
    public void The_newest_snapshot_and_the_log_behind_it_are_read([Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = WithSnapshots(sublogs, out Workload workload, out ulong last);
        RecoveryReport report = Recovered(disk, workload);
        Assert.That(report.SnapshotBatch, Is.EqualTo(last - 5));
        Assert.That(report.Batches, Is.EqualTo(5));
        Assert.That(report.Start.LastBatch, Is.EqualTo(last));
    }

    [Test]
    public void A_damaged_snapshot_is_replaced_by_the_one_before_and_kept([Values(1, 3)] int sublogs, [Values] bool missing)
    {
        SimulatedDisk disk = WithSnapshots(sublogs, out Workload workload, out ulong last);
        string newest = SnapshotFileName.Of(last - 5);
        if (missing) disk.Delete(newest);
        else Damage(disk, newest);
        RecoveryReport report = Recovered(disk, workload);
        Assert.That(report.SnapshotBatch, Is.EqualTo(last - 20));
        Assert.That(report.Messages[0], missing ? Is.EqualTo($"Snapshot {newest} is missing; an earlier one and more of the log were read instead.")
            : Does.StartWith($"Snapshot {newest} is damaged (").And.EndsWith("); an earlier one and more of the log were read instead."));
        Assert.That(disk.List(), missing ? Does.Not.Contain("damaged-1-" + newest) : Does.Contain("damaged-1-" + newest));
        Assert.That(Recovered(disk, workload).Messages, Is.Empty, "said once");
    }

    [Test]
    public void Two_damaged_snapshots_leave_the_log_from_its_beginning()
    {
        SimulatedDisk disk = WithSnapshots(1, out Workload workload, out ulong last);
        Damage(disk, SnapshotFileName.Of(last - 5));
        disk.Delete(SnapshotFileName.Of(last - 20));
        RecoveryReport report = Recovered(disk, workload);
        Assert.That(report.Batches, Is.EqualTo((long)last));
        Assert.That(report.Messages, Has.Some.EndsWith(").").And.Some.EqualTo($"Snapshot {SnapshotFileName.Of(last - 20)} is missing; the log alone was read."));
    }

    [Test]
    public void A_damaged_snapshot_is_refused_when_the_log_does_not_reach_back()
    {
        SimulatedDisk disk = WithSnapshots(1, out _, out ulong last);
        using (DataDirectory directory = DataDirectory.OpenUnlocked(disk))
            Assert.That(directory.DeleteObsoleteLogs(), Is.Not.Empty);
        Damage(disk, SnapshotFileName.Of(last - 5));
        Damage(disk, SnapshotFileName.Of(last - 20));
        using var store = new TestStore();
        var refused = Assert.Throws<GarnetException>(() => store.Recover(DataDirectory.OpenUnlocked(disk)))!;
        Assert.That(refused.Message, Does.Contain(SnapshotFileName.Of(last - 5)).And.Contain("reach back"));
    }

    [Test]
    public void Obsolete_logs_and_snapshots_go_and_the_way_back_stays([Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = WithSnapshots(sublogs, out Workload workload, out ulong last);
        using (DataDirectory directory = DataDirectory.OpenUnlocked(disk)) directory.DeleteObsoleteLogs();
        Damage(disk, SnapshotFileName.Of(last - 5));
        Assert.That(Recovered(disk, workload).SnapshotBatch, Is.EqualTo(last - 20));
    }

    [Test]
    public void A_third_snapshot_deletes_the_first_and_names_the_second()
    {
        SimulatedDisk disk = WithSnapshots(1, out Workload workload, out ulong last);
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        directory.PublishSnapshot(TestSnapshots.Write(disk, last, 1, workload.State(last)), last, []);
        Assert.That(disk.List().Where(static name => name.StartsWith("snapshot-", StringComparison.Ordinal)),
            Is.EqualTo(new[] { SnapshotFileName.Of(last - 5), SnapshotFileName.Of(last) }));
        Assert.That(directory.Manifest.Previous!.Batch, Is.EqualTo(last - 5));
    }

    [Test]
    public void A_snapshot_ahead_of_the_log_starts_a_new_chain()
    {
        var disk = new SimulatedDisk();
        var workload = new Workload(9);
        var plan = new LogPlan(1);
        ulong ahead;
        using (var builder = new LogBuilder(disk, plan))
        {
            DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8)).Dispose();
            workload.Run(builder, 4, 1, 1);
            for (ahead = builder.Batch; ahead < builder.Batch + 3; ahead++) workload.NextBatch();
        }
        using (DataDirectory directory = DataDirectory.OpenUnlocked(disk))
            directory.PublishSnapshot(TestSnapshots.Write(disk, ahead, 1, workload.State(ahead)), ahead, []);
        RecoveryReport report = Recovered(disk, workload);
        Assert.That(report.Start.LastBatch, Is.EqualTo(ahead));
        Assert.That(report.Start.LastHeaderCrcs, Is.EqualTo(new uint[1]));
        using var next = new LogBuilder(disk, LogPlan.After(report.Start, plan));
        workload.Run(next, 4, 2, 1);
        Assert.That(Recovered(disk, workload).Start.LastBatch, Is.EqualTo(next.Batch));
    }

    // As a server has them: also those that began behind the snapshots.
    private static IReadOnlyList<TermStart> Terms(ulong last) =>
        [new TermStart(2, last - 30, 1), new TermStart(64, last - 10, 2), new TermStart(65, last - 4, 64), new TermStart(66, last + 9, 65)];

    [Test]
    public void Terms_that_began_before_the_snapshot_are_known_from_the_manifest_whichever_snapshot_is_loaded()
    {
        SimulatedDisk disk = WithSnapshots(1, out Workload workload, out ulong last);
        // The log behind the snapshots is of term 1 throughout: what it says of terms is nothing.
        Assert.That(Recovered(disk, workload).Start.Terms, Is.EqualTo(Terms(last).Take(3)), "up to the batch behind the newest");
        Damage(disk, SnapshotFileName.Of(last - 5));
        Assert.That(Recovered(disk, workload).Start.Terms, Is.EqualTo(Terms(last).Take(1)), "up to the batch behind the one before");
    }

    internal static SimulatedDisk WithSnapshots(int sublogs, out Workload workload, out ulong last)
    {
        SimulatedDisk disk = ReplayTests.Log(sublogs, 6, out workload, out last);
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        directory.RaiseTerm(1);
        foreach (ulong batch in new[] { last - 20, last - 5 })
            directory.PublishSnapshot(TestSnapshots.Write(disk, batch, 1, workload.State(batch)), batch, Terms(last));
        return disk;
    }

    internal static void Damage(SimulatedDisk disk, string name)
    {
        byte[] bytes = disk.Get(name);
        bytes[bytes.Length / 2] ^= 1;
        disk.Put(name, bytes);
    }

    private static RecoveryReport Recovered(SimulatedDisk disk, Workload workload)
    {
        using var store = new TestStore();
        RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(disk));
        Assert.That(store.Text(), Is.EqualTo(workload.State(report.Start.LastBatch)));
        return report;
    }
}

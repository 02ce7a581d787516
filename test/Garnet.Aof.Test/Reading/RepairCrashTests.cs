using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// What a machine that goes down leaves of a repair, and of a primary's snapshot that was taking the place of all there was: a check says
/// what the next start finds, and a repair can be done again.
/// </summary>
public sealed class RepairCrashTests
{
    private const int OperationsMax = 80, Ahead = 50;

    [Test]
    public void A_repair_without_a_file_of_the_log_can_be_done_again_after_a_crash_at_any_operation([Values(1, 3)] int sublogs, [Values] bool last)
    {
        SimulatedDisk sound = Named(sublogs, out Workload workload, out _);
        for (int sublog = 0; sublog < sublogs; sublog++)
        {
            List<LogFile> logs = LogFiles.Of(sound, sublog);
            string name = logs[last ? ^1 : ^2].Name;
            ulong left = Repaired(Without(sound, name).Copy(), workload);
            string? refusal = Refusal(Without(sound, name));
            if (refusal is null && !last) continue; // a snapshot is behind it
            Assert.That(refusal, Does.Contain("repair"), name);
            int crashes = 0;
            for (int operation = 1; operation <= OperationsMax; operation++)
            {
                SimulatedDisk disk = Without(sound, name);
                if (!CrashesIn(disk, operation, () => DirectoryRepair.Apply(Plan(disk)))) break;
                crashes++;
                Assert.That(Repaired(disk.Crash(operation), workload), Is.EqualTo(left), $"{name}, operation {operation}");
            }
            Assert.That(crashes, Is.InRange(4, OperationsMax - 1), "each operation had its crash");
        }
    }

    [Test]
    public void A_check_says_of_a_replacement_that_a_crash_interrupted_what_the_next_start_finds([Values(1, 3)] int sublogs)
    {
        SimulatedDisk sound = Named(sublogs, out Workload workload, out ulong last);
        string copied = workload.State(7);
        int old = 0, next = 0;
        for (int operation = 1; operation <= OperationsMax; operation++)
        {
            SimulatedDisk disk = WithCopy(sound, last + Ahead, copied);
            if (!CrashesIn(disk, operation, () => Replace(disk, last + Ahead))) break;
            for (int seed = 0; seed < 4; seed++)
            {
                SimulatedDisk found = disk.Crash(seed);
                CheckReport report = DirectoryCheck.Run(found, new TestSnapshots(), TestStore.Progress());
                Assert.That(report.IsSound, $"operation {operation}, seed {seed}: {string.Join('\n', report.Findings)}");
                Assert.That(Plan(found).Lines, Is.Empty);
                using var store = new TestStore();
                ulong end = store.Recover(DataDirectory.OpenUnlocked(found)).Start.LastBatch;
                Assert.That(end, Is.EqualTo(report.LastBatch));
                Assert.That(end, Is.EqualTo(last).Or.EqualTo(last + Ahead));
                Assert.That(store.Text(), Is.EqualTo(end == last ? workload.State(last) : copied));
                Assert.That(found.List(), Has.None.EqualTo(Manifest.ReplacingFileName));
                if (end == last) old++;
                else next++;
            }
        }
        Assert.That((old > 0, next > 0), Is.EqualTo((true, true)));
    }

    [Test]
    public void A_replacement_whose_snapshot_is_lost_is_given_up_by_a_repair([Values(1, 3)] int sublogs)
    {
        SimulatedDisk sound = Named(sublogs, out Workload workload, out ulong last);
        int repaired = 0, hopeless = 0;
        for (int operation = 1; operation <= OperationsMax; operation++)
        {
            SimulatedDisk disk = WithCopy(sound, last + Ahead, workload.State(7));
            if (!CrashesIn(disk, operation, () => Replace(disk, last + Ahead))) break;
            SimulatedDisk found = disk.Crash(1);
            if (!found.List().Contains(Manifest.ReplacingFileName)) continue;
            string name = found.List().Single(file => file.StartsWith(SnapshotFileName.Of(last + Ahead), StringComparison.Ordinal));
            found = Without(found, name);
            if (Refusal(found.Copy()) is not { } refusal) continue; // it was not whole
            Assert.That(refusal, Does.Contain(Manifest.ReplacingFileName));
            Assert.That(DirectoryCheck.Run(found, new TestSnapshots(), TestStore.Progress()).IsSound, Is.False);
            RepairPlan plan = Plan(found);
            if (plan.Hopeless is not null)
            {
                hopeless++; // too much of what was here before is deleted
                continue;
            }
            for (int again = 1; again <= OperationsMax; again++)
            {
                SimulatedDisk one = found.Copy();
                bool crashes = CrashesIn(one, again, () => DirectoryRepair.Apply(Plan(one)));
                Repaired(crashes ? one.Crash(again) : one, workload);
                if (!crashes) break;
            }
            repaired++;
        }
        TestContext.Out.WriteLine($"repaired {repaired}, hopeless {hopeless}");
        Assert.That(repaired, Is.GreaterThan(0));
    }

    // A directory whose manifest names the files that are written.
    private static SimulatedDisk Named(int sublogs, out Workload workload, out ulong last)
    {
        SimulatedDisk disk = SnapshotTests.WithSnapshots(sublogs, out workload, out last);
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        directory.NameLogs(0, [.. Enumerable.Range(0, sublogs).Select(sublog =>
        {
            LogFile log = LogFiles.Of(disk, sublog)[^1];
            return new NamedLog(log.FirstBatch, NamedFiles.HeaderOf(disk, log.Name)!.Value.Identity, LogFiles.Bytes(disk, log.Name));
        })]);
        return disk.Copy();
    }

    private static SimulatedDisk WithCopy(SimulatedDisk sound, ulong batch, string content)
    {
        SimulatedDisk disk = sound.Copy();
        string name = TestSnapshots.Write(disk, batch, 5, content);
        disk.Rename(name, name + SnapshotFileName.UnfinishedSuffix);
        disk.SyncDirectory();
        return disk;
    }

    private static void Replace(SimulatedDisk disk, ulong batch)
    {
        Assert.That(ManifestFile.TryRead(disk, out Manifest? manifest), Is.EqualTo(HeaderState.Whole));
        string name = SnapshotFileName.Of(batch);
        Replacement.Do(disk, manifest! with
        {
            Snapshot = NamedFiles.Snapshot(disk, name + SnapshotFileName.UnfinishedSuffix, batch) with { File = name }, Previous = null, Term = 5, Terms = [], Logs = [], Ended = 0,
        });
    }

    private static bool CrashesIn(SimulatedDisk disk, int operation, Action work)
    {
        disk.CrashAt = disk.Operations + operation;
        try
        {
            work();
            disk.CrashAt = 0;
            return false;
        }
        catch (SimulatedCrashException)
        {
            return true;
        }
    }

    private static SimulatedDisk Without(SimulatedDisk disk, string name)
    {
        SimulatedDisk left = disk.Copy();
        left.Delete(name);
        return left.Copy();
    }

    private static RepairPlan Plan(SimulatedDisk disk) => DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress());

    private static string? Refusal(SimulatedDisk disk)
    {
        using var store = new TestStore();
        try
        {
            store.Recover(DataDirectory.OpenUnlocked(disk));
            return null;
        }
        catch (GarnetException e)
        {
            return e.Message;
        }
    }

    // Repairs what needs it, starts, and says how far that came.
    private static ulong Repaired(SimulatedDisk disk, Workload workload)
    {
        RepairPlan plan = Plan(disk);
        Assert.That(plan.Hopeless, Is.Null);
        DirectoryRepair.Apply(plan);
        Assert.That(Plan(disk).Lines, Is.Empty, "once is enough");
        using var store = new TestStore();
        ulong end = store.Recover(DataDirectory.OpenUnlocked(disk)).Start.LastBatch;
        Assert.That(store.Text(), Is.EqualTo(workload.State(end)));
        return end;
    }
}

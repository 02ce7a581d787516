using Garnet.Aof.Format;
using Garnet.Aof.Test.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>A check says what is wrong and changes nothing; a repair makes a directory that starts, and deletes nothing.</summary>
public sealed class CheckTests
{
    [TestCase(0UL, "1 of 2 batches")]
    [TestCase(1_700_000_000_000_000UL, "1 of 2 batches (since 2023-11-14 22:13:20 UTC)")]
    [TestCase(253_402_300_799_000_000UL, "1 of 2 batches (since 9999-12-31 23:59:59 UTC)")]
    [TestCase(253_402_300_799_000_001UL, "1 of 2 batches")]
    [TestCase(ulong.MaxValue, "1 of 2 batches")]
    public void A_file_may_say_any_moment_of_what_is_lost(ulong unixUs, string words) => Assert.That(CheckReport.LossInWords(1, 2, unixUs), Is.EqualTo(words));

    [Test]
    public void A_sound_directory_needs_no_repair([Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = SnapshotTests.WithSnapshots(sublogs, out _, out ulong last);
        int before = disk.Operations;
        CheckReport report = DirectoryCheck.Run(disk, new TestSnapshots(), TestStore.Progress());
        Assert.That(report.IsSound, string.Join('\n', report.Findings));
        Assert.That(report.LastBatch, Is.EqualTo(last));
        Assert.That(report.Batches, Is.EqualTo((long)last));
        Assert.That(DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Lines, Is.Empty);
        Assert.That(disk.Operations, Is.EqualTo(before));
    }

    [Test]
    public void Damage_in_the_log_is_found_by_place_and_cut_by_a_repair([Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = SnapshotTests.WithSnapshots(sublogs, out Workload workload, out ulong last);
        (string file, int offset) = PartOf(disk, last - 3);
        byte[] bytes = disk.Get(file);
        bytes[offset + 44] ^= 1;
        disk.Put(file, bytes);
        CheckReport report = DirectoryCheck.Run(disk, new TestSnapshots(), TestStore.Progress());
        Assert.That(report.IsSound, Is.False);
        Assert.That(report.LastBatch, Is.EqualTo(last - 4));
        Assert.That(string.Join('\n', report.Findings), Does.Contain($"{file}, offset {offset}: batch {last - 3}"));
        string price = DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Price;
        Assert.That(price, Does.Match($"^4 of {last} batches \\(since [0-9-]+ [0-9:]+ UTC\\)$"));
        using (var store = new TestStore())
            Assert.That(store.Recover(DataDirectory.OpenUnlocked(disk.Copy()), CorruptionPolicy.Truncate).Messages, Has.Some.EndsWith($" It was cut there, which lost {price}."));
        Repaired(disk, workload, last - 4);
        Assert.That(disk.Get("damaged-1-" + file), Is.EqualTo(bytes));
    }

    [Test]
    public void A_lost_manifest_is_made_from_the_other_files([Values] bool damaged, [Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = SnapshotTests.WithSnapshots(sublogs, out Workload workload, out ulong last);
        Manifest.TryDecode(disk.Get(Manifest.FileName), out Manifest? before);
        if (damaged) SnapshotTests.Damage(disk, Manifest.FileName);
        else disk.Delete(Manifest.FileName);
        Assert.That(DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Price, Is.EqualTo("Nothing that the other files tell of"));
        Assert.That(DirectoryCheck.Run(disk, new TestSnapshots(), TestStore.Progress()).IsSound, Is.False);
        Repaired(disk, workload, last);
        Manifest.TryDecode(disk.Get(Manifest.FileName), out Manifest? after);
        Assert.That((after! with { Logs = [] }).Encode(), Is.EqualTo((before! with { Terms = [] }).Encode()), "when terms began before the log that is left no other file says");
        Assert.That(disk.List().Contains("damaged-1-manifest"), Is.EqualTo(damaged));
    }

    [Test]
    public void A_damaged_snapshot_is_set_aside([Values] bool newest)
    {
        SimulatedDisk disk = SnapshotTests.WithSnapshots(1, out Workload workload, out ulong last);
        string name = SnapshotFileName.Of(newest ? last - 5 : last - 20);
        SnapshotTests.Damage(disk, name);
        Assert.That(DirectoryCheck.Run(disk, new TestSnapshots(), TestStore.Progress()).Findings.Single(static f => f.IsDamage).File,
            Is.EqualTo(name));
        Assert.That(DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Price, Is.EqualTo("Nothing"));
        Repaired(disk, workload, last);
        Assert.That(disk.List(), Does.Contain("damaged-1-" + name));
    }

    [Test]
    public void What_a_damaged_snapshot_held_and_no_log_does_is_counted()
    {
        SimulatedDisk disk = SnapshotTests.WithSnapshots(1, out _, out ulong last);
        foreach (string log in disk.List().Where(static name => LogFileName.TryParse(name, out _, out _)).ToArray()) disk.Delete(log);
        SnapshotTests.Damage(disk, SnapshotFileName.Of(last - 5));
        Assert.That(DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Price, Is.EqualTo($"15 of {last - 5} batches"));
    }

    [Test]
    public void What_only_the_manifest_says_there_was_is_counted()
    {
        SimulatedDisk disk = SnapshotTests.WithSnapshots(1, out _, out ulong last);
        foreach (string log in disk.List().Where(static name => LogFileName.TryParse(name, out _, out _)).ToArray()) disk.Delete(log);
        Manifest.TryDecode(disk.Get(Manifest.FileName), out Manifest? manifest);
        disk.Put(Manifest.FileName, (manifest! with { Ended = last, Logs = [new NamedLog(1, 1, 4096)] }).Encode());
        Assert.That(DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Price, Is.EqualTo($"5 of {last} batches"));
    }

    [Test]
    public void A_start_says_how_far_it_is_by_what_the_snapshot_does_not_have([Values(1, 3)] int sublogs)
    {
        const int Heads = 2 * FileHeader.Bytes;
        SimulatedDisk disk = SnapshotTests.WithSnapshots(sublogs, out _, out _);
        var progress = TestStore.Progress();
        using var store = new TestStore();
        DataDirectory.OpenUnlocked(disk).Recover(store.Store, store.Table, new RecoverySettings { Threads = 2 }, new TestSnapshots(), progress);
        Assert.That((progress.Kind, progress.DoneBytes > 0), Is.EqualTo(("replaying the log", true)));
        Assert.That(progress.TotalBytes, Is.InRange(progress.DoneBytes, progress.DoneBytes + (sublogs * Heads)));
    }

    [Test]
    public void A_repair_that_crashes_can_be_done_again()
    {
        for (int operation = 1; operation < 40; operation++)
        {
            SimulatedDisk disk = SnapshotTests.WithSnapshots(3, out Workload workload, out ulong last).Copy();
            (string file, int offset) = PartOf(disk, last - 3);
            byte[] bytes = disk.Get(file);
            bytes[offset + 44] ^= 1;
            disk.Put(file, bytes);
            SnapshotTests.Damage(disk, Manifest.FileName);
            RepairPlan plan = DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress());
            disk.CrashAt = operation;
            try
            {
                DirectoryRepair.Apply(plan);
            }
            catch (SimulatedCrashException)
            {
            }
            Repaired(disk.Crash(operation), workload, last - 4);
        }
    }

    [Test]
    public void What_a_newer_version_wrote_is_not_repaired()
    {
        var disk = new SimulatedDisk();
        byte[] text = "garnet-manifest 6\n"u8.ToArray();
        disk.Put(Manifest.FileName, [.. text, .. System.Text.Encoding.ASCII.GetBytes($"crc {Crc32C.Of(text):x8}\n")]);
        Assert.That(DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Hopeless, Does.Contain("newer"));
    }

    [Test]
    public void Nothing_to_go_by_is_said_plainly()
    {
        var disk = new SimulatedDisk();
        disk.Put(Manifest.FileName, [1, 2, 3]);
        Assert.That(DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress()).Hopeless, Does.Contain("no sublog file"));
    }

    private static (string File, int Offset) PartOf(SimulatedDisk disk, ulong batch)
    {
        foreach (string name in disk.List().Where(static name => LogFileName.TryParse(name, out _, out _)))
        {
            byte[] bytes = disk.Get(name);
            for (int at = 0; at + 64 <= bytes.Length; at += 64)
                if (BatchHeader.TryRead(bytes.AsSpan(at), out BatchHeader header, out _) == HeaderState.Whole
                    && header.Batch == batch) return (name, at);
        }
        throw new InvalidOperationException("no such batch");
    }

    private static void Repaired(SimulatedDisk disk, Workload workload, ulong last)
    {
        int files = disk.List().Count;
        RepairPlan plan = DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress());
        Assert.That(plan.Hopeless, Is.Null);
        Assert.That(plan.Lines, Has.Count.EqualTo(plan.Steps.Count));
        DirectoryRepair.Apply(plan);
        Assert.That(disk.List(), Has.Count.GreaterThanOrEqualTo(files), "nothing is deleted");
        using var store = new TestStore();
        RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(disk));
        Assert.That(report.Start.LastBatch, Is.EqualTo(last));
        Assert.That(store.Text(), Is.EqualTo(workload.State(last)));
    }
}

using Garnet.Aof.Format;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// A changed byte at the end of the log is an interrupted write and is cut; in the middle it is damage and is refused.
/// </summary>
public sealed class DamageTests
{
    private static readonly int[] HeaderBytes = [0, 3, 4, 5, 6, 7, 8, 15, 16, 24, 28, 32, 36, 38, 40, 44, 48, 56, 60, 63];

    public static IEnumerable<int> HeaderOffsets => HeaderBytes;

    [Test]
    public void A_changed_header_at_the_end_is_cut([ValueSource(nameof(HeaderOffsets))] int offset, [Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = Log(sublogs, out Workload workload, out LogBuilder built);
        Flip(disk, built.Parts.Last(part => part.Batch == built.Batch), offset);
        RecoveryReport report = Recovered(disk, workload);
        Assert.That(report.Start.LastBatch, Is.EqualTo(built.Batch - 1));
        Assert.That(report.WasCut);
        Assert.That(report.Start.Term, Is.EqualTo(2));
    }

    [Test]
    public void A_changed_body_at_the_end_is_cut([Values(0, 0.3, 0.6, 0.99)] double where, [Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = Log(sublogs, out Workload workload, out LogBuilder built);
        (string File, long Offset, int Bytes, ulong Batch) part = built.Parts.Last();
        Assert.That(part.Bytes, Is.GreaterThan(BatchHeader.Bytes));
        Flip(disk, part, BatchHeader.Bytes + (int)((part.Bytes - BatchHeader.Bytes) * where));
        Assert.That(Recovered(disk, workload).Start.LastBatch, Is.EqualTo(built.Batch - 1));
    }

    [Test]
    public void A_changed_header_in_the_middle_is_refused_by_place(
        [ValueSource(nameof(HeaderOffsets))] int offset, [Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = Log(sublogs, out Workload workload, out LogBuilder built);
        (string File, long Offset, int Bytes, ulong Batch) part = built.Parts.First(part => part.Batch == built.Batch / 2);
        Flip(disk, part, offset);
        RefusedAt(disk, part);
        TruncatedBefore(disk, workload, part);
    }

    [Test]
    public void A_changed_body_in_the_middle_is_refused_by_place([Values(0, 0.3, 0.6, 0.99)] double where, [Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = Log(sublogs, out Workload workload, out LogBuilder built);
        (string File, long Offset, int Bytes, ulong Batch) part = built.Parts.First(part => part.Batch > 4
            && part.Bytes > BatchHeader.Bytes);
        Flip(disk, part, BatchHeader.Bytes + (int)((part.Bytes - BatchHeader.Bytes) * where));
        RefusedAt(disk, part);
        TruncatedBefore(disk, workload, part);
    }

    [Test]
    public void A_changed_file_header_in_the_middle_is_refused([Values(0, 4, 6, 8, 16, 20, 24, 32, 36)] int offset)
    {
        SimulatedDisk disk = Log(1, out Workload workload, out LogBuilder built);
        string file = built.Parts.Select(static part => part.File).Distinct().ElementAt(1);
        (string File, long Offset, int Bytes, ulong Batch) part = (file, 0, 4096, built.Parts.First(part => part.File == file).Batch);
        Flip(disk, part, offset);
        RefusedAt(disk, part);
        TruncatedBefore(disk, workload, part);
    }

    [Test]
    public void A_missing_file_in_the_middle_is_named([Values(1, 3)] int sublogs)
    {
        SimulatedDisk disk = Log(sublogs, out Workload workload, out LogBuilder built);
        string prefix = $"aof-{sublogs - 1:00}-";
        string missing = built.Parts.Select(static part => part.File).Where(file => file.StartsWith(prefix, StringComparison.Ordinal)).Distinct().ElementAt(1);
        ulong first = built.Parts.First(part => part.File == missing).Batch;
        byte[] bytes = disk.Get(missing);
        disk.Delete(missing);
        Assert.That(Refusal(disk).Message, Does.Contain($"{missing}, batch {first}").And.Contain(", is missing").And.Contain("Put back what is missing"));
        string damage = DirectoryCheck.Run(disk, new TestSnapshots(), TestStore.Progress()).Findings.Single(static finding => finding.IsDamage).ToString();
        Assert.That(damage, Does.StartWith($"{missing}: batch {first}: it, or the end of {prefix}"));
        RepairPlan plan = DirectoryRepair.Plan(disk, new TestSnapshots(), TestStore.Progress());
        Assert.That(string.Join('\n', plan.Lines), Does.Contain($"cut the log behind batch {first - 1} ({missing}, or the end of the file before it, is missing)"));
        RecoveryReport report = Recovered(disk.Copy(), workload, CorruptionPolicy.Truncate);
        Assert.That(report.Start.LastBatch, Is.EqualTo(first - 1));
        disk.Put(missing, bytes);
        using var store = new TestStore();
        Assert.That(store.Recover(DataDirectory.OpenUnlocked(disk)).Start.LastBatch, Is.EqualTo(built.Batch), "it was put back");
    }

    [Test]
    public void A_file_that_lost_its_end_is_not_taken_for_a_missing_one()
    {
        SimulatedDisk disk = Log(1, out _, out LogBuilder built);
        (string File, long Offset, int Bytes, ulong Batch) part = built.Parts.First(static part => part.Batch == 3);
        Flip(disk, part, 0);
        Assert.That(Refusal(disk).Message, Does.Contain(part.File).And.Contain("batch 3: nothing is there").And.Not.Contain("missing"));
    }

    [Test]
    public void A_missing_first_file_is_refused()
    {
        SimulatedDisk disk = Log(1, out _, out LogBuilder built);
        disk.Delete(built.Parts[0].File);
        Assert.That(Refusal(disk).Message, Does.Contain("missing"));
    }

    [Test]
    public void A_batch_of_a_newer_version_is_refused_by_name_whatever_the_policy([Values] CorruptionPolicy policy)
    {
        SimulatedDisk disk = Log(1, out _, out LogBuilder built);
        (string File, long Offset, int _, ulong _) = built.Parts[^1];
        byte[] bytes = disk.Get(File);
        bytes[(int)Offset + 4] = 2;
        BitConverter.TryWriteBytes(bytes.AsSpan((int)Offset + 60), Crc32C.Of(bytes.AsSpan((int)Offset, 60)));
        disk.Put(File, bytes);
        Assert.That(Refusal(disk, policy).Message, Does.Contain("newer version").And.Contain(File));
    }

    [Test]
    public void A_batch_of_another_history_does_not_count()
    {
        SimulatedDisk[] disks = [new(), new()];
        LogBuilder[] built = [.. disks.Select(static disk => new LogBuilder(disk, new LogPlan(1)))];
        for (int history = 0; history < 2; history++)
        {
            DataDirectory.OpenUnlocked(disks[history], new DirectoryLayout(8)).Dispose();
            built[history].Add(new TestEntry(TestEntry.Put, 0, "key1", history == 0 ? "true" : "else"));
            built[history].Add(new TestEntry(TestEntry.Put, 0, "key2", "x"));
            built[history].Write();
            built[history].Dispose();
        }
        (string file, long offset, int whole, ulong batch) = built[0].Parts[1];
        Assert.That(built[1].Parts[1], Is.EqualTo(built[0].Parts[1]), "the same place in both");
        byte[] bytes = disks[0].Get(file);
        disks[1].Get(file).AsSpan((int)offset, whole).CopyTo(bytes.AsSpan((int)offset));
        disks[0].Put(file, bytes);
        using var store = new TestStore();
        Assert.That(store.Recover(DataDirectory.OpenUnlocked(disks[0])).Start.LastBatch, Is.EqualTo(batch - 1));
        Assert.That(store.Text(), Is.EqualTo("0 key1 true\n"));
    }

    [Test]
    public void A_part_that_is_missing_in_one_sublog_at_the_end_is_no_damage()
    {
        SimulatedDisk disk = Log(3, out Workload workload, out LogBuilder built);
        foreach ((string File, long Offset, int Bytes, ulong _) in built.Parts.Where(part => part.Batch == built.Batch
            && part.File.StartsWith("aof-01", StringComparison.Ordinal)))
        {
            byte[] bytes = disk.Get(File);
            bytes.AsSpan((int)Offset, Bytes).Clear();
            disk.Put(File, bytes);
        }
        Assert.That(Recovered(disk, workload).Start.LastBatch, Is.EqualTo(built.Batch - 1));
    }

    [Test]
    public void A_later_file_says_that_the_batches_of_the_one_before_it_were_safe()
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8)).Dispose();
        var built = new LogBuilder(disk, new LogPlan(1, FileBytes: 24 << 10));
        new Workload(3).Run(built, 12, 1, syncEvery: int.MaxValue); // no header says anything
        Assert.That(built.Parts.Select(static part => part.File).Distinct().Count(), Is.GreaterThan(2));
        built.Dispose();
        (string File, long Offset, int Bytes, ulong Batch) part = built.Parts[2];
        SimulatedDisk found = disk.Copy();
        Flip(found, part, 50);
        RefusedAt(found, part);
    }

    [Test]
    public void A_header_inside_of_a_value_is_no_later_batch()
    {
        SimulatedDisk disk = Log(1, out Workload workload, out LogBuilder built);
        (string File, long Offset, int Bytes, ulong Batch) last = built.Parts[^1];
        byte[] bytes = disk.Get(last.File);
        // What a client may have stored: a whole header of a later batch, where one could begin.
        var planted = new BatchHeader { Kind = BatchKind.Data, Term = 1, Batch = last.Batch + 5, SealedUnixUs = 0, Parts = 1 };
        planted.Write(bytes.AsSpan((int)last.Offset + 64));
        Assert.That(last.Bytes, Is.GreaterThan(128));
        disk.Put(last.File, bytes);
        Assert.That(Recovered(disk, workload).Start.LastBatch, Is.EqualTo(built.Batch - 1));
    }

    [Test]
    public void An_entry_that_makes_no_sense_is_refused_by_place([Values(99, TestEntry.Extend)] int operation)
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8)).Dispose();
        using var builder = new LogBuilder(disk, new LogPlan(1));
        builder.Add(new TestEntry(TestEntry.Put, 0, "key1", "x"));
        builder.Add(new TestEntry((byte)operation, 0, "key1", ""));
        builder.Write();
        builder.Sync();
        GarnetException refused = Refusal(disk);
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Data));
        Assert.That(refused.Message,
            Does.Contain("batch 2").And.Contain(builder.Parts[1].File).And.Contain($"offset {builder.Parts[1].Offset}"));
    }

    [Test]
    public void Too_little_memory_is_told_with_figures()
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8)).Dispose();
        using var builder = new LogBuilder(disk, new LogPlan(1, FileBytes: 32 << 20));
        for (int i = 0; i < 200; i++)
        {
            builder.Add([.. Enumerable.Range(0, 100).Select(n => new TestEntry(TestEntry.Put, 0, $"n{i}-{n}", new string('v', 1000)))]);
            builder.Write();
        }
        builder.Sync();
        using var store = new TestStore(8, 4 << 20);
        var refused = Assert.Throws<GarnetException>(() => store.Recover(DataDirectory.OpenUnlocked(disk)))!;
        Assert.That(refused.Message, Does.Contain("maxmemory").And.Contain("4,194,304"));
    }

    private static SimulatedDisk Log(int sublogs, out Workload workload, out LogBuilder built)
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8, sublogs)).Dispose();
        built = new LogBuilder(disk, new LogPlan(sublogs, FileBytes: 24 << 10));
        workload = new Workload(3);
        workload.Run(built, 20, 3, 1);
        // The last batch has entries in every sublog and more than one block of bytes.
        built.Add([.. Workload.Keys.Select(static key => new TestEntry(TestEntry.Put, 0, key, new string('z', 40)))]);
        built.Write();
        built.Dispose();
        return disk.Copy();
    }

    private static void Flip(SimulatedDisk disk, (string File, long Offset, int Bytes, ulong Batch) part, int at)
    {
        byte[] bytes = disk.Get(part.File);
        bytes[part.Offset + at] ^= 0x41;
        disk.Put(part.File, bytes);
    }

    private static RecoveryReport Recovered(SimulatedDisk disk, Workload workload, CorruptionPolicy policy = CorruptionPolicy.Refuse)
    {
        using var store = new TestStore();
        RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(disk), policy);
        Assert.That(store.Text(), Is.EqualTo(workload.State(report.Start.LastBatch)));
        return report;
    }

    private static GarnetException Refusal(SimulatedDisk disk, CorruptionPolicy policy = CorruptionPolicy.Refuse)
    {
        using var store = new TestStore();
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        int before = disk.Operations;
        var refused = Assert.Throws<GarnetException>(() => store.Recover(directory, policy))!;
        Assert.That(disk.Operations, Is.EqualTo(before), "a refusal changes nothing");
        return refused;
    }

    private static void RefusedAt(SimulatedDisk disk, (string File, long Offset, int Bytes, ulong Batch) part)
    {
        GarnetException refused = Refusal(disk);
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Data));
        Assert.That(refused.Message,
            Does.Contain($"{part.File}, offset {part.Offset}, batch {part.Batch}").And.Contain("aof-on-corruption"));
    }

    private static void TruncatedBefore(SimulatedDisk disk, Workload workload, (string File, long Offset, int Bytes, ulong Batch) part)
    {
        byte[] damaged = disk.Get(part.File);
        RecoveryReport report = Recovered(disk, workload, CorruptionPolicy.Truncate);
        Assert.That(report.Start.LastBatch, Is.EqualTo(part.Batch - 1));
        Assert.That(report.Start.Term, Is.EqualTo(2));
        Assert.That(disk.Get($"damaged-1-{part.File}"), Is.EqualTo(damaged), "the original is kept");
        Assert.That(Recovered(disk, workload).Start,
            Is.EqualTo(report.Start).Using<AofStart>(static (one, other) => (one.LastBatch, one.Term) == (other.LastBatch, other.Term)));
    }
}

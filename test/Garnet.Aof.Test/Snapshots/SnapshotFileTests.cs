using System.Buffers.Binary;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Common.Time;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Snapshots;

/// <summary>What is written is read back; what is damaged, cut off or of another version is refused by name and offset.</summary>
public sealed class SnapshotFileTests
{
    private static readonly SnapshotJobOptions s_options = new() { Term = 7 };

    private static SnapshotResult Run(Store store, RamDisk disk, SnapshotJobOptions? options = null)
    {
        SnapshotResult result = SnapshotJob.Run(store, disk, options ?? s_options, new StepClock(1000), CancellationToken.None);
        if (result.State == SnapshotState.Whole) SnapshotWriter.Publish(disk, result.Facts);
        return result;
    }

    [Test]
    public void A_file_is_read_back_by_any_number_of_threads([Values(1, 2, 5)] int threads)
    {
        using Store store = Filled.Store(5000);
        RamDisk disk = new();
        SnapshotFileFacts facts = Run(store, disk).Facts;
        Assert.That(disk.List(), Is.EqualTo(new[] { "snapshot-00000000000000000000.snap" }));
        Assert.That(SnapshotReader.Check(disk, facts.Name), Is.EqualTo(facts));
        Assert.That((facts.Records, facts.Term, facts.Partitions, facts.FileBytes % 4096), Is.EqualTo((5000UL, 7u, 4u, 0L)));
        using Store copy = Filled.Empty();
        var progress = new JobProgress("loading", new StepClock(1));
        SnapshotLoad load = SnapshotReader.Load(disk, facts.Name, copy, progress, threads);
        Assert.That((load.Outcome, load.Records, load.Facts), Is.EqualTo((LoadOutcome.Done, 5000L, facts)));
        Assert.That((progress.Kind, progress.TotalBytes), Is.EqualTo(("loading the snapshot", facts.FileBytes)));
        Assert.That(progress.DoneBytes, Is.InRange(load.Bytes, facts.FileBytes));
        Assert.That(Filled.Content(copy), Is.EqualTo(Filled.Content(store)));
        Assert.That(StoreCheck.Run(copy), Is.Empty);
    }

    [Test]
    public void An_empty_store_gives_a_file_of_two_pages()
    {
        using Store store = Filled.Empty();
        RamDisk disk = new();
        SnapshotFileFacts facts = Run(store, disk).Facts;
        Assert.That((facts.FileBytes, facts.Records), Is.EqualTo((8192L, 0UL)));
        Assert.That(SnapshotReader.Check(disk, facts.Name), Is.EqualTo(facts));
    }

    [Test]
    public void Until_it_is_published_a_file_has_another_name_and_a_failed_one_is_gone()
    {
        using Store store = Filled.Store(1000);
        RamDisk disk = new();
        SnapshotFileFacts facts = SnapshotJob.Run(store, disk, s_options, new StepClock(1), CancellationToken.None).Facts;
        Assert.That(disk.List(), Is.EqualTo(new[] { facts.Name + ".tmp" }));
        Assert.That(SnapshotFileName.TryParse(facts.Name + ".tmp", out _), Is.False);
        RamDisk full = new() { BytesMax = 65536 };
        Assert.That(() => Run(store, full), Throws.InstanceOf<DiskException>());
        Assert.That(full.List(), Is.Empty);
        using CancellationTokenSource cancelled = new();
        cancelled.Cancel();
        SnapshotResult result = SnapshotJob.Run(store, full, s_options, new StepClock(1), cancelled.Token);
        Assert.That((result.State, full.List().Count), Is.EqualTo((SnapshotState.Abandoned, 0)));
        Assert.That(Run(store, disk).State, Is.EqualTo(SnapshotState.Whole), "and the store may be cut again");
    }

    [Test]
    public void A_limit_makes_the_walk_take_its_time()
    {
        using Store store = Filled.Store(20_000, 300);
        StepClock clock = new(50_000);
        long start = clock.MonotonicUs;
        SnapshotJobOptions limited = s_options with { BytesPerSecondMax = 1_000_000 };
        SnapshotFileFacts facts = SnapshotJob.Run(store, new RamDisk(), limited, clock, CancellationToken.None).Facts;
        long rate = (long)(facts.RecordBytes * 1e6 / (clock.MonotonicUs - start));
        Assert.That(rate, Is.InRange(500_000, 1_200_000));
    }

    [Test]
    public void Every_changed_byte_is_noticed()
    {
        using Store store = Filled.Store(300);
        RamDisk disk = new();
        SnapshotFileFacts facts = Run(store, disk).Facts;
        byte[] good = disk[facts.Name];
        Random random = new(5);
        // All of the header's fields, the first block's head and beginning, the end with footer and zeros, and a sample between.
        IEnumerable<int> places = Enumerable.Range(0, 64).Concat(Enumerable.Range(4080, 200))
            .Concat(Enumerable.Range(good.Length - 4200, 4200))
            .Concat(Enumerable.Range(0, 300).Select(_ => random.Next(good.Length)));
        foreach (int at in places)
        {
            byte[] bad = (byte[])good.Clone();
            bad[at] ^= (byte)(1 << random.Next(8));
            disk[facts.Name] = bad;
            var refused = Assert.Throws<SnapshotFileException>(() => SnapshotReader.Check(disk, facts.Name), $"byte {at}");
            Assert.That((refused!.File, refused.Offset <= at), Is.EqualTo((facts.Name, true)), $"byte {at}: {refused.Message}");
        }
    }

    [Test]
    public void A_file_cut_off_anywhere_or_continued_is_refused()
    {
        using Store store = Filled.Store(300);
        RamDisk disk = new();
        SnapshotFileFacts facts = Run(store, disk).Facts;
        byte[] good = disk[facts.Name];
        Random random = new(6);
        int[] edges = [0, 4096, good.Length - 4096, good.Length - 1];
        foreach (int length in Enumerable.Range(0, 200).Select(_ => random.Next(good.Length)).Concat(edges))
        {
            disk[facts.Name] = good[..length];
            Assert.Throws<SnapshotFileException>(() => SnapshotReader.Check(disk, facts.Name), $"{length} bytes");
            using Store copy = Filled.Empty();
            Assert.Throws<SnapshotFileException>(() => SnapshotReader.Load(disk, facts.Name, copy), $"{length} bytes");
        }
        disk[facts.Name] = [.. good, .. new byte[4096]];
        Assert.Throws<SnapshotFileException>(() => SnapshotReader.Check(disk, facts.Name));
    }

    [Test]
    public void A_newer_version_and_another_batch_are_refused_by_name()
    {
        using Store store = Filled.Store(10);
        RamDisk disk = new();
        SnapshotFileFacts facts = Run(store, disk).Facts;
        byte[] newer = (byte[])disk[facts.Name].Clone();
        newer[4] = 3;
        BinaryPrimitives.WriteUInt32LittleEndian(newer.AsSpan(4092), Crc32C.Of(newer.AsSpan(0, 4092)));
        disk["newer"] = newer;
        SnapshotFileException? refused = Assert.Throws<SnapshotFileException>(() => SnapshotReader.Check(disk, "newer"));
        Assert.That((refused!.IsNewer, refused.Message), Is.EqualTo((true, "newer at 4: version 3 is of a newer version of the server; here 2 is the last known")));
        string other = SnapshotFileName.Of(5);
        disk[other] = disk[facts.Name];
        Assert.Throws<SnapshotFileException>(() => SnapshotReader.Check(disk, other));
    }

    [Test]
    public void A_store_too_small_is_reported_with_figures()
    {
        using Store store = Filled.Store(20_000, 300);
        RamDisk disk = new();
        SnapshotFileFacts facts = Run(store, disk).Facts;
        using Store small = Filled.Empty(1 << 20);
        SnapshotLoad load = SnapshotReader.Load(disk, facts.Name, small);
        Assert.That(load.Outcome, Is.EqualTo(LoadOutcome.OutOfMemory));
        Assert.That((load.Records > 0 && load.Records < 20_000, load.Store.LimitBytes), Is.EqualTo((true, 1L << 20)));
    }

    [Test]
    public void Names_carry_the_batch()
    {
        Assert.That(SnapshotFileName.TryParse(SnapshotFileName.Of(ulong.MaxValue), out ulong batch), Is.True);
        Assert.That(batch, Is.EqualTo(ulong.MaxValue));
        foreach (string name in new[] { "", "snapshot-1.snap", "snapshot-0000000000000000000x.snap", "aof-00.log" })
            Assert.That(SnapshotFileName.TryParse(name, out _), Is.False);
    }
}

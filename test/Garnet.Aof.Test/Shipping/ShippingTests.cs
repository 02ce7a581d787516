using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Reading;
using Garnet.Aof.Test.Writing;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Shipping;

/// <summary>Batches of one log in another one: kept, read back, checked, applied, written byte by byte alike. Nothing here has a thread.</summary>
public sealed class ShippingTests
{
    private const int Sublogs = Pair.Sublogs;

    [Test]
    public void A_follower_that_takes_every_batch_has_the_same_data_and_the_same_bytes()
    {
        using Pair pair = new();
        pair.Write(40);
        pair.Ship();
        Assert.That(pair.Follower.Text(), Is.EqualTo(pair.Primary.Text()));
        Assert.That(PartsOf(pair.FollowerDisk), Is.EqualTo(PartsOf(pair.PrimaryDisk)));
    }

    [Test]
    public void A_follower_recovers_from_its_own_files_and_goes_on()
    {
        using Pair pair = new();
        pair.Write(20);
        pair.Ship();
        pair.FollowerLog.Stop();
        using TestStore again = new();
        DataDirectory directory = DataDirectory.OpenUnlocked(pair.FollowerDisk, new DirectoryLayout(8, Sublogs));
        RecoveryReport report = again.Recover(directory);
        Assert.That(again.Text(), Is.EqualTo(pair.Primary.Text()));
        Assert.That(report.Start.Position.Is(pair.PrimaryBacklog.End));
        Assert.That(BatchFeed.Reaches(pair.PrimaryBacklog, pair.PrimaryLog, report.Start.Position));
    }

    [Test]
    public void No_changed_byte_of_a_part_is_taken()
    {
        using Pair pair = new();
        pair.Write(2);
        using BatchFeed feed = new(pair.PrimaryBacklog, () => pair.PrimaryLog, 0);
        BatchBytes batch = feed.TryNext()!;
        byte[] part = batch.Part(0).ToArray();
        for (int i = 0; i < part.Length; i++)
        {
            byte[] changed = [.. part];
            changed[i] ^= 0x10;
            var intake = new BatchIntake(pair.Start);
            Assert.That(intake.Take(changed, out BatchBytes? whole), Is.Not.Null, $"byte {i} of {part.Length}");
            Assert.That(whole, Is.Null);
            intake.Drop();
        }
        for (int length = 0; length < part.Length; length++)
            Assert.That(new BatchIntake(pair.Start).Take(part.AsSpan(0, length), out _), Is.Not.Null, $"{length} bytes of {part.Length}");
        batch.Release();
    }

    [Test]
    public void Parts_are_taken_in_their_order_only_and_what_came_in_part_is_forgotten_with_the_connection()
    {
        using Pair pair = new();
        pair.Write(3);
        using BatchFeed feed = new(pair.PrimaryBacklog, () => pair.PrimaryLog, 0);
        BatchBytes first = feed.TryNext()!, second = feed.TryNext()!;
        var intake = new BatchIntake(pair.Start);
        Assert.That(intake.Take(second.Part(0), out _), Does.Contain("2 came, 1 was due"));
        Assert.That(intake.Take(first.Part(1), out _), Does.Contain("part 1 of 2 came"));
        Assert.That(intake.Take(first.Part(0), out _), Is.Null);
        intake.Drop();
        Assert.That(intake.Position.Is(pair.Start));
        Assert.That(intake.Take(first.Part(0), out _), Is.Null);
        Assert.That(intake.Take(first.Part(1), out BatchBytes? whole), Is.Null);
        Assert.That(intake.Position.Is(first.Position));
        whole!.Release();
        first.Release();
        second.Release();
    }

    [Test]
    public void What_memory_has_dropped_is_read_from_the_files()
    {
        using Pair pair = new();
        pair.PrimaryBacklog.BytesMax = 1;
        pair.PrimaryBacklog.PinnedBytesMax = 1;
        pair.Write(60);
        Assert.That(pair.PrimaryBacklog.First, Is.GreaterThan(50));
        pair.Ship();
        Assert.That(pair.Follower.Text(), Is.EqualTo(pair.Primary.Text()));
        using BatchFeed withoutFiles = new(pair.PrimaryBacklog, static () => null, 0);
        Assert.That(withoutFiles.TryNext(), Is.Null);
        Assert.That(withoutFiles.IsLost);
    }

    [Test]
    public void What_an_attached_reader_needs_is_kept_up_to_the_larger_limit()
    {
        using Pair pair = new();
        pair.PrimaryBacklog.BytesMax = 1;
        pair.Write(30);
        Assert.That(pair.PrimaryBacklog.First, Is.EqualTo(1));
        pair.Ship();
        pair.Write(1);
        Assert.That(pair.PrimaryBacklog.First, Is.GreaterThan(30));
    }

    [Test]
    public void A_place_in_another_history_is_not_reached()
    {
        using Pair one = new(), other = new();
        one.Write(5);
        other.Write(5, seed: 2);
        LogPosition place = one.PrimaryBacklog.PositionAt(3)!;
        Assert.That(BatchFeed.Reaches(one.PrimaryBacklog, null, place));
        Assert.That(BatchFeed.Reaches(other.PrimaryBacklog, null, place), Is.False);
        Assert.That(BatchFeed.Reaches(one.PrimaryBacklog, null, place with { Term = 9 }), Is.False);
        Assert.That(BatchFeed.Reaches(one.PrimaryBacklog, null, one.PrimaryBacklog.End with { Batch = 6 }), Is.False, "ahead");
    }

    [Test]
    public void A_crash_while_a_directory_is_replaced_leaves_the_old_data_or_the_new([Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)] int crashAt)
    {
        var disk = new MemoryDisk();
        DataDirectory directory = DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8));
        using (IDiskFile file = disk.Create(LogFileName.Of(0, 1), 0)) file.Write(0, new byte[4096]);
        using (IDiskFile file = disk.Create(SnapshotFileName.Of(77) + SnapshotFileName.UnfinishedSuffix, 0)) file.Write(0, new byte[4096]);
        int operations = 0;
        disk.OnWrite = (name, _) => CrashAt(ref operations, crashAt, name);
        disk.OnSync = name => CrashAt(ref operations, crashAt, name);
        bool crashed = false;
        try
        {
            directory.Replace(SnapshotFileName.Of(77), new LogPosition(5, 77, new uint[Sublogs]), [new TermStart(5, 70, 4)]);
        }
        catch (DiskException)
        {
            crashed = true;
        }
        disk.OnWrite = null;
        disk.OnSync = null;
        Manifest after = DataDirectory.OpenUnlocked(disk).Manifest;
        Assert.That(disk.List(), Has.None.EqualTo(Manifest.ReplacingFileName));
        if (after.Snapshot is null)
        {
            Assert.That(crashed && disk.List().Contains(LogFileName.Of(0, 1)), "as it was");
            return;
        }
        Assert.That(after.Snapshot.Batch, Is.EqualTo(77));
        Assert.That((after.Sublogs, after.Term), Is.EqualTo((Sublogs, 5u)));
        Assert.That(after.Terms, Is.EqualTo(new[] { new TermStart(5, 70, 4) }), "and the history is the primary's");
        Assert.That(disk.List(), Has.Some.EqualTo(SnapshotFileName.Of(77)).And.None.EqualTo(LogFileName.Of(0, 1)));
    }

    private static void CrashAt(ref int operations, int crashAt, string name)
    {
        if (++operations == crashAt) throw MemoryDisk.Broken("write", name);
    }

    // The parts as they stand in the files, by batch and part; how they are gathered into writes is each log's own affair.
    private static List<string> PartsOf(IDisk disk)
    {
        var parts = new SortedDictionary<(ulong, int), string>();
        using var reader = new Garnet.Aof.Reading.LogReader(disk, Sublogs, 0);
        while (reader.Next())
        {
            foreach (Garnet.Aof.Reading.SublogCursor cursor in reader.Cursors)
                parts[(reader.LastBatch, cursor.Sublog)] = $"{cursor.Part.Header} {cursor.Part.HeaderCrc}";
        }
        return [.. parts.Values];
    }
}

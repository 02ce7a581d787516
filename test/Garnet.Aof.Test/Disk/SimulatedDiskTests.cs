using Garnet.Aof.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Disk;

/// <summary>The simulated disk loses what was not synced, keeps what was, and does the same for the same seed.</summary>
public sealed class SimulatedDiskTests
{
    private static readonly byte[] Block = [.. Enumerable.Repeat((byte)7, 4096)];

    [Test]
    public void A_file_is_gone_unless_its_directory_was_synced([Values] bool synced)
    {
        var disk = new SimulatedDisk();
        using IDiskFile file = disk.Create("a", 0);
        file.Write(0, Block);
        file.Sync();
        if (synced) disk.SyncDirectory();
        Assert.That(disk.Crash(0).List().Contains("a"), Is.EqualTo(synced));
        Assert.That(disk.Crash(1).List(), Does.Contain("a"));
    }

    [Test]
    public void Synced_bytes_survive_and_unsynced_ones_tear_at_sectors()
    {
        var disk = new SimulatedDisk();
        using IDiskFile file = disk.Create("a", 8192);
        disk.SyncDirectory();
        file.Write(0, Block);
        file.Sync();
        file.Write(4096, Block);
        bool torn = false;
        for (int seed = 0; seed < 20; seed++)
        {
            byte[] found = disk.Crash(seed).Get("a");
            Assert.That(found[..4096], Is.EqualTo(Block));
            for (int at = 4096; at < 8192; at += 512) Assert.That(found.AsSpan(at, 512).ToArray().Distinct().Count(), Is.EqualTo(1),
                "a sector is whole");
            torn |= found[4096..].Distinct().Count() == 2;
            Assert.That(disk.Crash(seed).Get("a"), Is.EqualTo(found), "the same seed, the same disk");
        }
        Assert.That(torn);
    }

    [Test]
    public void A_rename_is_undone_unless_the_directory_was_synced()
    {
        var disk = new SimulatedDisk();
        disk.Put("old", [1]);
        disk.Rename("old", "new");
        Assert.That(disk.Crash(0).List(), Is.EqualTo(new[] { "old" }));
        disk.SyncDirectory();
        Assert.That(disk.Crash(0).List(), Is.EqualTo(new[] { "new" }));
    }

    [Test]
    public void Faults_come_at_the_operation_that_was_chosen()
    {
        var disk = new SimulatedDisk { FailWrite = 2, FailSync = 1, Capacity = 12_288 };
        using IDiskFile file = disk.Create("a", 0);
        file.Write(0, Block);
        Assert.That(Assert.Throws<DiskException>(() => file.Write(4096, Block))!.IsFull, Is.False);
        Assert.Throws<DiskException>(file.Sync);
        file.Write(4096, Block);
        Assert.That(Assert.Throws<DiskException>(() => file.Write(12_288, Block))!.IsFull);
        disk.CrashAt = disk.Operations + 1;
        Assert.Throws<SimulatedCrashException>(() => disk.Delete("a"));
        Assert.Throws<SimulatedCrashException>(() => disk.SyncDirectory());
    }
}

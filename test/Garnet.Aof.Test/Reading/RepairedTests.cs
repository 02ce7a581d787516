using System.Globalization;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Writing;
using Garnet.Common;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// Every file of a directory, removed, emptied, cut at several lengths, or with one byte changed: what a repair says is done a check calls
/// sound and a start accepts, now, after a stop in order without a change, and after one with changes. Where a start accepts what a check
/// was shown, a repair finds nothing to do: the three agree.
/// </summary>
[Parallelizable] // its disks are its own
internal sealed class RepairedTests
{
    private static readonly string[] Cuts = ["removed", "emptied", "cut at 1", "cut at 100", "cut at 4096", "cut at 4200", "cut in the middle", "cut by 1"];
    private static readonly double[] Flips = [0, 0.001, 0.1, 0.4, 0.7];

    private const int StoreBytes = 2 << 20;

    private readonly Dictionary<DirectoryLife, DirectoryImage> _lives = [];

    [Test]
    public void What_a_repair_says_is_done_a_check_calls_sound_and_a_start_accepts(
        [Values(1, 3)] int sublogs, [Values(0, 1, 2, 4)] int snapshots, [Values] bool stops)
    {
        DirectoryImage image = Life(new DirectoryLife(SyncPolicy.Always, stops) { Sublogs = sublogs, Snapshots = snapshots, Changes = 5 });
        int repaired = 0, unharmed = 0, hopeless = 0;
        // A short run takes every tenth one: what it leaves out of a directory it does to others.
        int each = (stops ? 0 : 5) + ((sublogs + snapshots) % 5);
        foreach ((string name, byte[] bytes) in image.Files)
        {
            foreach (string harm in Cuts.Concat(Flips.Select(static at => $"changed at {at}")))
            {
                if (each++ % 10 != 0 && !LongRun.IsWanted) continue;
                Judge(() => Of(Harmed(image, name, bytes, harm)), image, $"{name} {harm}", ref repaired, ref unharmed, ref hopeless);
            }
        }
        TestContext.Out.WriteLine($"repaired {repaired}, unharmed {unharmed}, hopeless {hopeless}");
        Assert.That(repaired, Is.GreaterThan(0));
    }

    /// <summary>The same of a killed server's directory, whose last second stands in a ring beside the log.</summary>
    [Test]
    public void So_it_is_with_a_ring_beside_the_log([Values(0, 2)] int snapshots)
    {
        string path = Directory.CreateTempSubdirectory("garnet-repaired-").FullName;
        try
        {
            DirectoryImage image = DirectoryImage.Live(new FileDisk(path), 1, new DirectoryLife(SyncPolicy.EverySecond, Stops: false) { Snapshots = snapshots, Changes = 5 })[^1];
            string? ring = image.Files.Keys.SingleOrDefault(static name => name.EndsWith(".tail", StringComparison.Ordinal));
            if (ring is null) Assert.Ignore("this file system has no rings");
            int repaired = 0, unharmed = 0, hopeless = 0;
            foreach (string name in new[] { ring!, ring![..^".tail".Length], Manifest.FileName })
            {
                foreach (string harm in LongRun.PartOf(Cuts.Append("changed at 0.001"), every: 2, first: snapshots / 2)) // a short run does half of it to each directory
                {
                    Judge(() =>
                    {
                        DirectoryImage.Write(Harmed(image, name, image.Files[name], harm), path);
                        return new FileDisk(path);
                    }, image, $"{name} {harm}", ref repaired, ref unharmed, ref hopeless);
                }
            }
            TestContext.Out.WriteLine($"repaired {repaired}, unharmed {unharmed}, hopeless {hopeless}");
            Assert.That(repaired, Is.GreaterThan(0));
        }
        finally
        {
            Directory.Delete(path, true);
        }
    }

    private static void Judge(Func<IDisk> make, DirectoryImage image, string harm, ref int repaired, ref int unharmed, ref int hopeless)
    {
        bool starts = Refusal(make()) is null;
        IDisk disk = make();
        if (!starts && Refusal(disk, CorruptionPolicy.Truncate) is null) Assert.That(Refusal(disk), Is.Null, $"{harm}: cut by a start, which another accepts");
        disk = make();
        disk.Complete();
        CheckReport found = Check(disk);
        RepairPlan plan = DirectoryRepair.Plan(disk, SnapshotFiles.Instance, TestStore.Progress());
        if (plan.Hopeless is not null)
        {
            Assert.That((found.IsSound, starts), Is.EqualTo((false, false)), harm);
            hopeless++;
            return;
        }
        Assert.That(plan.Lines.Count == 0, Is.EqualTo(found.IsSound), $"{harm}: a check and a repair agree: {string.Join('\n', found.Findings)}\n{string.Join('\n', plan.Lines)}");
        if (plan.Lines.Count == 0)
        {
            Assert.That(starts, harm);
            unharmed++;
        }
        else
        {
            DirectoryRepair.Apply(plan);
            repaired++;
        }
        for (int life = 0; life < 4; life++)
        {
            CheckReport report = Check(disk);
            Assert.That(report.IsSound, $"{harm}, {life}: {string.Join('\n', report.Findings)}");
            Assert.That(DirectoryRepair.Plan(disk, SnapshotFiles.Instance, TestStore.Progress()).Lines, Is.Empty, $"{harm}, {life}");
            GoOn(disk, image, life, harm);
        }
    }

    // Of the lives behind a repair the first stops at once, the second changes nothing and is killed, the third writes and stops.
    private static void GoOn(IDisk disk, DirectoryImage image, int life, string harm)
    {
        try
        {
            using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
            using var log = new AppendOnlyLog(new AofSettings { Sublogs = directory.Manifest.Sublogs, SealMinUs = 0, SegmentBytes = 64 << 10, Sync = SyncPolicy.Always }, disk, new ManualClock()) { Names = directory.NameLogs };
            using var store = new TestStore(directory.Manifest.Lanes, StoreBytes, log);
            RecoveryReport report = directory.Recover(store.Store, store.Table, new RecoverySettings { Threads = 1 }, SnapshotFiles.Instance, TestStore.Progress());
            if (life < 3) Assert.That(image.States, Does.Contain(store.Text()), $"{harm}, {life}");
            else Assert.That(store.Text(), Does.Contain("written-behind-it"), harm);
            log.Attach(store.Store);
            log.Open(report.Start);
            store.Store.Logging = true;
            if (life == 2) store.Apply(0, Workload.Keys[0], "written-behind-it");
            DirectoryImage.Turn(log);
            log.Stop();
            if (life != 1) directory.NameEnd(log.Durable);
        }
        catch (GarnetException e)
        {
            Assert.Fail($"{harm}, {life}: {e.Message}");
        }
    }

    private DirectoryImage Life(DirectoryLife life)
    {
        if (!_lives.TryGetValue(life, out DirectoryImage? image)) _lives[life] = image = DirectoryImage.Live(new SimulatedDisk(), 1, life)[^1];
        return image;
    }

    private static SimulatedDisk Of(Dictionary<string, byte[]> files)
    {
        var disk = new SimulatedDisk();
        foreach ((string name, byte[] bytes) in files) disk.Put(name, [.. bytes]);
        return disk;
    }

    private static Dictionary<string, byte[]> Harmed(DirectoryImage image, string name, byte[] bytes, string harm)
    {
        var files = new Dictionary<string, byte[]>(image.Files);
        string last = harm[(harm.LastIndexOf(' ') + 1)..];
        if (harm == "removed")
        {
            files.Remove(name);
            return files;
        }
        files[name] = harm switch
        {
            "emptied" => [],
            "cut in the middle" => bytes[..(bytes.Length / 2)],
            "cut by 1" => bytes[..^1],
            _ when harm.StartsWith("cut at", StringComparison.Ordinal) => bytes[..Math.Min(bytes.Length, int.Parse(last, CultureInfo.InvariantCulture))],
            _ => Changed(bytes, double.Parse(last, CultureInfo.InvariantCulture)),
        };
        return files;
    }

    private static byte[] Changed(byte[] bytes, double where)
    {
        byte[] changed = [.. bytes];
        changed[(int)(bytes.Length * where)] ^= 16;
        return changed;
    }

    private static CheckReport Check(IDisk disk) => DirectoryCheck.Run(disk, SnapshotFiles.Instance, TestStore.Progress());

    private static string? Refusal(IDisk disk, CorruptionPolicy policy = CorruptionPolicy.Refuse)
    {
        using var store = new TestStore(8, StoreBytes);
        try
        {
            using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
            directory.Recover(store.Store, store.Table, new RecoverySettings { Threads = 1, OnCorruption = policy }, SnapshotFiles.Instance, TestStore.Progress());
            return null;
        }
        catch (GarnetException e)
        {
            return e.Message;
        }
    }
}

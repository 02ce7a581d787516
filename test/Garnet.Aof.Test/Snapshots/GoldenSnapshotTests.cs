using Garnet.Aof.Disk;
using Garnet.Aof.Snapshots;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Snapshots;

/// <summary>
/// A snapshot of each version of the format is read for ever: without seal (1) and with (2), whose key has long gone. A
/// new version gets a directory of its own (<see cref="Write_golden_snapshots"/>); an old one is never written again.
/// </summary>
public sealed class GoldenSnapshotTests
{
    private const string Name = "snapshot-00000000000000000000.snap";

    [TestCase(1)]
    [TestCase(2)]
    public void A_snapshot_of_each_version_is_read(int version)
    {
        string path = Path.Combine(Golden(), $"snapshot-v{version}");
        RamDisk disk = new();
        disk[Name] = File.ReadAllBytes(Path.Combine(path, Name));
        Assert.That(disk[Name][4], Is.EqualTo(version));
        Assert.That(SnapshotReader.Check(disk, Name).IsSealed, Is.EqualTo(version == 2));
        using Store store = Filled.Empty();
        SnapshotReader.Load(disk, Name, store);
        Assert.That(Text(store), Is.EqualTo(File.ReadAllText(Path.Combine(path, "content.txt"))));
    }

    [Test, Explicit("writes golden snapshots; for new versions of the format only")]
    public void Write_golden_snapshots()
    {
        foreach (int version in new[] { 1, 2 })
        {
            string path = Directory.CreateDirectory(Path.Combine(Golden(), $"snapshot-v{version}")).FullName;
            FileDisk disk = new(path);
            using Store store = Filled.Store(7);
            SnapshotJobOptions options = new() { Term = 7, Key = version == 2 ? DirectoryKey.TryMake(disk) : null };
            SnapshotWriter.Publish(disk, SnapshotJob.Run(store, disk, options, new StepClock(1000), CancellationToken.None).Facts);
            if (version == 2) disk.Delete(DirectoryKey.FileName);
            File.WriteAllText(Path.Combine(path, "content.txt"), Text(store));
        }
    }

    private static string Text(Store store) => string.Concat(Filled.Content(store).Select(static entry => $"{entry.Key} {entry.Value}\n"));

    private static string Golden()
    {
        DirectoryInfo? at = new(TestContext.CurrentContext.TestDirectory);
        while (at != null && !Directory.Exists(Path.Combine(at.FullName, "test", "golden"))) at = at.Parent;
        return Path.Combine(at!.FullName, "test", "golden");
    }
}

using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Aof.Test.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// A data directory of each version of the format opens for ever. A new version gets a directory of its own
/// (<see cref="Write_a_golden_directory"/>); an old one is never written again.
/// </summary>
public sealed class GoldenTests
{
    [TestCase(1)]
    [TestCase(2)]
    [TestCase(3)]
    public void A_directory_of_each_version_opens(int version)
    {
        string path = Path.Combine(Golden(), $"aof-v{version}");
        var disk = new SimulatedDisk();
        foreach (string file in Directory.GetFiles(path))
            if (Path.GetFileName(file) != "content.txt") disk.Put(Path.GetFileName(file), File.ReadAllBytes(file));
        using var store = new TestStore();
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        RecoveryReport report = store.Recover(directory);
        Assert.That(store.Text(), Is.EqualTo(File.ReadAllText(Path.Combine(path, "content.txt"))));
        Assert.That(report.WasCut, Is.False);
        Assert.That(report.Messages, Is.Empty);
        Assert.That(directory.Manifest with { Terms = [], Logs = [] }, Is.EqualTo(new Manifest { HashSeed = 77, Lanes = 8, Sublogs = 2, Term = 3 }));
        Assert.That(directory.Manifest.Logs, Has.Count.EqualTo(2), "named from now on");
        Assert.That(directory.Manifest.Terms, Is.EqualTo(version switch { 1 => [], 2 => Terms, _ => TermsWithOwner }), "version 1 knew nothing of them");
        Assert.That(report.Start.LastBatch, Is.EqualTo(12));
    }

    [Test, Explicit("writes a golden directory; for new versions of the format only")]
    public void Write_a_golden_directory()
    {
        string path = Path.Combine(Golden(), "aof-v3");
        Directory.CreateDirectory(path);
        var disk = new PlainDisk(path);
        var workload = new Workload(21);
        using (var builder = new LogBuilder(disk, new LogPlan(2, FileBytes: 12 << 10) { Term = 3 }))
        {
            while (builder.Batch < 12)
            {
                builder.Add(workload.NextBatch());
                if (builder.Batch % 3 != 0) continue;
                builder.Write();
                builder.Sync();
            }
        }
        ManifestFile.Publish(disk, new Manifest { HashSeed = 77, Lanes = 8, Sublogs = 2, Term = 3, Terms = TermsWithOwner, Logs = [.. Enumerable.Range(0, 2).Select(sublog => LastOf(disk, sublog))] });
        File.WriteAllText(Path.Combine(path, "content.txt"), workload.State(12));
    }

    private static readonly TermStart[] Terms = [new(3, 1, 2)], TermsWithOwner = [new(3, 1, 2) { Owner = 77 }];

    private static NamedLog LastOf(PlainDisk disk, int sublog)
    {
        string name = LogFiles.Of(disk, sublog)[^1].Name;
        return new NamedLog(LogFiles.Of(disk, sublog)[^1].FirstBatch, NamedFiles.HeaderOf(disk, name)!.Value.Identity, LogFiles.Bytes(disk, name));
    }

    private static string Golden()
    {
        DirectoryInfo? at = new(TestContext.CurrentContext.TestDirectory);
        while (at != null && !Directory.Exists(Path.Combine(at.FullName, "test", "golden"))) at = at.Parent;
        return Path.Combine(at!.FullName, "test", "golden");
    }
}

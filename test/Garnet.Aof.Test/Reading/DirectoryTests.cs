using System.Diagnostics;
using System.Text;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>Whom a data directory belongs to, and what its manifest may look like.</summary>
[System.Runtime.Versioning.SupportedOSPlatform("linux")]
public sealed class DirectoryTests
{
    private string _path = "";

    [SetUp]
    public void MakePlace() => _path = Directory.CreateTempSubdirectory("garnet-data-").FullName;

    [TearDown]
    public void RemovePlace() => Directory.Delete(_path, true);

    [Test]
    public void A_directory_that_is_not_there_is_made_for_its_owner_only()
    {
        string path = Path.Combine(_path, "made");
        using (DataDirectory directory = Open(path)) Assert.That(directory.Manifest.HashSeed, Is.Not.Zero);
        Assert.That(File.GetUnixFileMode(path), Is.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute));
        Assert.That(File.ReadAllText(Path.Combine(path, "lock")), Is.EqualTo($"{Environment.ProcessId}\n"));
    }

    [Test]
    public void A_second_user_is_refused_and_told_who_the_first_is()
    {
        using (Open(_path))
        {
            var refused = Assert.Throws<GarnetException>(() => Open(_path))!;
            Assert.That(refused.Kind, Is.EqualTo(ExitKind.Data));
            Assert.That(refused.Message, Does.Contain($"process {Environment.ProcessId} "));
        }
        Open(_path).Dispose();
    }

    [Test]
    public void A_symbolic_link_is_refused()
    {
        string link = _path + "-link";
        File.CreateSymbolicLink(link, _path);
        try
        {
            Assert.That(Refused(link).Message, Does.Contain("symbolic link").And.Contain(_path));
        }
        finally
        {
            File.Delete(link);
        }
    }

    [Test]
    public void A_manifest_that_is_a_symbolic_link_is_refused()
    {
        File.CreateSymbolicLink(Path.Combine(_path, "manifest"), "/etc/hostname");
        Assert.That(Refused(_path).Message, Does.Contain("symbolic link").And.Contain("manifest"));
    }

    [Test]
    public void A_directory_that_others_may_write_to_is_refused(
        [Values(UnixFileMode.GroupWrite, UnixFileMode.OtherWrite)] UnixFileMode mode)
    {
        File.SetUnixFileMode(_path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | mode);
        Assert.That(Refused(_path).Next, Does.Contain("chmod 0700"));
    }

    [Test]
    public void A_directory_that_cannot_be_written_is_refused()
    {
        File.SetUnixFileMode(_path, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        Assert.That(Refused(_path).Kind, Is.EqualTo(ExitKind.Permission));
        File.SetUnixFileMode(_path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    [Test]
    public void A_directory_of_another_user_is_refused()
    {
        if (Environment.UserName != "root")
        {
            Assert.That(Refused("/usr").Message, Does.Contain("user 0"));
            return;
        }
        using (Process chown = Process.Start("chown", ["12345", _path])) chown.WaitForExit();
        Assert.That(Refused(_path).Message, Does.Contain("user 12345").And.Contain("user 0"));
    }

    [Test]
    public void A_file_where_the_directory_should_be_is_refused()
    {
        string path = Path.Combine(_path, "file");
        File.WriteAllText(path, "");
        Assert.That(Refused(path).Message, Does.Contain("not a directory"));
    }

    [Test]
    public void A_manifest_comes_back_as_it_was_written()
    {
        var manifest = new Manifest
        {
            HashSeed = 0xFEDC_BA98_7654_3210, Lanes = 64, Sublogs = 3, Term = 12, Snapshot = new SnapshotName(SnapshotFileName.Of(9), 9),
        };
        Assert.That(Manifest.TryDecode(manifest.Encode(), out Manifest? read), Is.EqualTo(HeaderState.Whole));
        Assert.That(read, Is.EqualTo(manifest));
        TermStart[] terms = [.. Enumerable.Range(0, TermStart.KeptMax).Select(static i => new TermStart(uint.MaxValue - (uint)i, ulong.MaxValue - (ulong)i, uint.MaxValue))];
        byte[] longest = (manifest with { Sublogs = Manifest.SublogsMax, Previous = manifest.Snapshot, Terms = terms }).Encode();
        Assert.That(Manifest.TryDecode(longest, out read), Is.EqualTo(HeaderState.Whole));
        Assert.That(read!.Terms, Is.EqualTo(terms));
        Assert.That(longest, Has.Length.LessThanOrEqualTo(Manifest.BytesMax));
    }

    [TestCase("1:2")]
    [TestCase("1:2:x")]
    [TestCase("1:2:3 ")]
    [TestCase("")]
    [TestCase("1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1 1:1:1")]
    public void Terms_in_a_manifest_that_make_no_sense_are_damage(string terms)
    {
        byte[] text = Encoding.ASCII.GetBytes($"garnet-manifest 2\nseed 1\nlanes 8\nsublogs 1\nterm 1\nsnapshot none\nprevious none\nterms {terms}\n");
        byte[] whole = [.. text, .. Encoding.ASCII.GetBytes($"crc {Crc32C.Of(text):x8}\n")];
        Assert.That(Manifest.TryDecode(whole, out _), Is.EqualTo(HeaderState.Damaged));
    }

    [Test]
    public void A_manifest_with_any_byte_changed_is_refused_by_name()
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk).Dispose();
        byte[] whole = disk.Get(Manifest.FileName);
        for (int i = 0; i < whole.Length; i++)
        {
            byte[] damaged = [.. whole];
            damaged[i] ^= 4;
            disk.Put(Manifest.FileName, damaged);
            var refused = Assert.Throws<GarnetException>(() => DataDirectory.OpenUnlocked(disk), $"byte {i}")!;
            Assert.That(refused.Message, Does.Contain("/simulated/manifest").And.Contain("garnet-server repair"));
            Assert.That(disk.Get(Manifest.FileName), Is.EqualTo(damaged), "a refusal changes nothing");
        }
    }

    [Test]
    public void A_manifest_of_a_newer_version_is_refused_by_name()
    {
        var disk = new SimulatedDisk();
        string text = "garnet-manifest 6\nseed of something else\n";
        disk.Put(Manifest.FileName, Encoding.ASCII.GetBytes($"{text}crc {Crc32C.Of(Encoding.ASCII.GetBytes(text)):x8}\n"));
        Assert.That(Assert.Throws<GarnetException>(() => DataDirectory.OpenUnlocked(disk))!.Message, Does.Contain("newer version"));
    }

    [Test]
    public void A_directory_with_a_tier_is_of_a_version_of_its_own_and_others_stay_as_they_were()
    {
        var disk = new SimulatedDisk();
        using (DataDirectory directory = DataDirectory.OpenUnlocked(disk))
        {
            Assert.That(Encoding.ASCII.GetString(disk.Get(Manifest.FileName)), Does.StartWith("garnet-manifest 3\n"), "an older server can have it");
            directory.NameTier(new TierName(new MediumId(0, 77), "/mnt/a disk/ü"));
        }
        Assert.That(Encoding.ASCII.GetString(disk.Get(Manifest.FileName)), Does.StartWith("garnet-manifest 4\n"));
        using (DataDirectory again = DataDirectory.OpenUnlocked(disk))
            Assert.That(again.Manifest.Tier, Is.EqualTo(new TierName(new MediumId(0, 77), "/mnt/a disk/ü")));
        foreach (string path in (string[])["/mnt/a disk/ü", ""])
        {
            var parts = new SimulatedDisk();
            TierName both = new(new MediumId(0, 77), path, "/mnt/none");
            using (DataDirectory directory = DataDirectory.OpenUnlocked(parts)) directory.NameTier(both);
            Assert.That(Encoding.ASCII.GetString(parts.Get(Manifest.FileName)), Does.StartWith("garnet-manifest 5\n"));
            using DataDirectory found = DataDirectory.OpenUnlocked(parts);
            Assert.That(found.Manifest.Tier, Is.EqualTo(both));
        }
        foreach (string line in (string[])["", "none", "77 %2Fmnt", "00000000000000000000000000000000 %2Fmnt", "0000000000000000000000000000004d", "0000000000000000000000000000004d ", "0000000000000000000000000000004d none", "0000000000000000000000000000004d %2Fmnt %2Fpm"])
        {
            string text = string.Join('\n', Encoding.ASCII.GetString(disk.Get(Manifest.FileName)).Split('\n').TakeWhile(static known => !known.StartsWith("tier ", StringComparison.Ordinal)));
            text += $"\ntier {line}\n";
            var harmed = new SimulatedDisk();
            harmed.Put(Manifest.FileName, Encoding.ASCII.GetBytes($"{text}crc {Crc32C.Of(Encoding.ASCII.GetBytes(text)):x8}\n"));
            Assert.That(() => DataDirectory.OpenUnlocked(harmed), Throws.TypeOf<GarnetException>(), line);
        }
    }

    [Test]
    public void While_a_tier_waits_a_snapshot_that_takes_the_newests_place_is_the_only_one()
    {
        var disk = new SimulatedDisk();
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        directory.PublishSnapshot(TestSnapshots.Write(disk, 3, 1, ""), 3, []);
        directory.PublishSnapshot(TestSnapshots.Write(disk, 5, 1, ""), 5, [], waits: true);
        Assert.That((directory.Manifest.Snapshot?.Batch, directory.Manifest.Previous?.Batch), Is.EqualTo((5UL, 3UL)));
        directory.PublishSnapshot(directory.Manifest.Snapshot!.File, 5, []);
        Assert.That(directory.Manifest.Previous?.Batch, Is.EqualTo(3UL));
        directory.PublishSnapshot(directory.Manifest.Snapshot!.File, 5, [], waits: true);
        Assert.That((directory.Manifest.Snapshot?.Batch, directory.Manifest.Previous), Is.EqualTo((5UL, (SnapshotName?)null)));
        Assert.That(disk.List().Count(static name => name.EndsWith(".snap", StringComparison.Ordinal)), Is.EqualTo(1));
    }

    [Test]
    public void A_missing_manifest_is_not_made_anew_where_there_is_a_log()
    {
        SimulatedDisk disk = ReplayTests.Log(1, 1, out _, out _);
        disk.Delete(Manifest.FileName);
        Assert.That(Assert.Throws<GarnetException>(() => DataDirectory.OpenUnlocked(disk))!.Message,
            Does.Contain("missing").And.Contain("aof-00"));
    }

    [Test]
    public void A_manifest_or_snapshot_that_was_being_written_is_forgotten()
    {
        var disk = new SimulatedDisk();
        DataDirectory.OpenUnlocked(disk).Dispose();
        disk.Put(Manifest.NextFileName, [1, 2, 3]);
        disk.Put(DirectoryKey.NextFileName, [1, 2, 3]);
        disk.Put(SnapshotFileName.Of(3) + ".tmp", [1, 2, 3]);
        DataDirectory.OpenUnlocked(disk).Dispose();
        Assert.That(disk.List(), Is.EqualTo(new[] { Manifest.FileName }));
    }

    [Test]
    public void Only_names_of_the_format_are_taken_for_files_of_the_log([Values(
        "aof-00-1.log", "aof-0-00000000000000000001.log", "aof-00-00000000000000000001.txt", "aof-00-0000000000000000000x.log",
            "damaged-1-aof-00-00000000000000000001.log")] string name)
    {
        Assert.That(LogFileName.TryParse(name, out _, out _), Is.False);
        Assert.That(LogFileName.TryParse(LogFileName.Of(7, 42), out int sublog, out ulong batch) && sublog == 7 && batch == 42);
    }

    private static DataDirectory Open(string path) => DataDirectory.Open(path, static _ => new SimulatedDisk());

    private static GarnetException Refused(string path) => Assert.Throws<GarnetException>(() => Open(path))!;
}

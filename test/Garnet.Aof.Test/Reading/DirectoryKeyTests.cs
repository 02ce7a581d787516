using System.Diagnostics;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Recovery;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Snapshots;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Reading;

/// <summary>The key of a data directory: whose it is, when it is none, and that nothing is refused for want of it.</summary>
[System.Runtime.Versioning.SupportedOSPlatform("linux")]
public sealed class DirectoryKeyTests
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private string _path = "";

    [SetUp]
    public void MakePlace() => _path = Directory.CreateTempSubdirectory("garnet-key-").FullName;

    [TearDown]
    public void RemovePlace() => Directory.Delete(_path, true);

    private string KeyPath => Path.Combine(_path, DirectoryKey.FileName);

    [Test]
    public void A_key_is_made_for_its_owner_only_and_found_again()
    {
        var disk = new FileDisk(_path);
        Assert.That(DirectoryKey.TryRead(disk), Is.Null);
        DirectoryKey made = DirectoryKey.TryMake(disk)!;
        Assert.That(File.GetUnixFileMode(KeyPath), Is.EqualTo(OwnerOnly));
        DirectoryKey found = DirectoryKey.TryRead(new FileDisk(_path))!;
        Assert.That((made.Is(found), made.IsProven, found.IsProven), Is.EqualTo((true, true, false)), "K2: who finds one does not know yet whose it is");
        Assert.That(disk.List(), Is.EqualTo(new[] { DirectoryKey.FileName }));
        Assert.That(made.Is(DirectoryKey.TryMake(disk)), Is.False);
    }

    [Test]
    public void A_directory_that_was_moved_keeps_its_key()
    {
        string inside = Path.Combine(_path, "before"), moved = Path.Combine(_path, "after");
        Directory.CreateDirectory(inside);
        DirectoryKey made = DirectoryKey.TryMake(new FileDisk(inside))!;
        Directory.Move(inside, moved);
        Assert.That(made.Is(DirectoryKey.TryRead(new FileDisk(moved))));
    }

    [Test]
    public void A_copy_has_another_key_wherever_it_lies([Values("cp -a", "cp", "put back", "hard link")] string how)
    {
        DirectoryKey made = DirectoryKey.TryMake(new FileDisk(_path))!;
        string copy = Path.Combine(_path, "copy");
        Directory.CreateDirectory(copy);
        Assert.That(Run(how == "cp -a" ? "cp" : how == "hard link" ? "ln" : "cp", how == "cp -a" ? ["-a", KeyPath, copy] : [KeyPath, copy]), Is.Zero);
        if (how == "put back")
        {
            File.Delete(KeyPath);
            File.Copy(Path.Combine(copy, DirectoryKey.FileName), KeyPath);
            copy = _path;
        }

        File.SetUnixFileMode(Path.Combine(copy, DirectoryKey.FileName), OwnerOnly);
        DirectoryKey? found = DirectoryKey.TryRead(new FileDisk(copy));
        Assert.That((found is not null, made.Is(found)), Is.EqualTo((true, false)));
    }

    [Test]
    public void A_key_that_others_may_read_or_write_is_none([Values(UnixFileMode.GroupRead, UnixFileMode.OtherRead, UnixFileMode.GroupWrite, UnixFileMode.UserExecute)] UnixFileMode more)
    {
        DirectoryKey.TryMake(new FileDisk(_path));
        File.SetUnixFileMode(KeyPath, OwnerOnly | more);
        Assert.That(DirectoryKey.TryRead(new FileDisk(_path)), Is.Null);
        Assert.That(DirectoryKey.TryMake(new FileDisk(_path)), Is.Not.Null, "a new one takes its place");
        Assert.That(File.GetUnixFileMode(KeyPath), Is.EqualTo(OwnerOnly));
    }

    [Test]
    public void What_is_no_file_of_ours_is_no_key()
    {
        string elsewhere = Path.Combine(_path, "elsewhere");
        Directory.CreateDirectory(elsewhere);
        DirectoryKey.TryMake(new FileDisk(elsewhere));
        File.CreateSymbolicLink(KeyPath, Path.Combine(elsewhere, DirectoryKey.FileName));
        Assert.That(DirectoryKey.TryRead(new FileDisk(_path)), Is.Null, "a link");
        File.Delete(KeyPath);
        Directory.CreateDirectory(KeyPath);
        Assert.That(DirectoryKey.TryRead(new FileDisk(_path)), Is.Null, "a directory");
        Assert.That(DirectoryKey.TryMake(new FileDisk(_path)), Is.Null, "which cannot be replaced");
        Directory.Delete(KeyPath);
        if (Environment.UserName != "root") return;
        DirectoryKey.TryMake(new FileDisk(_path));
        Assert.That(Run("chown", ["12345", KeyPath]), Is.Zero);
        Assert.That(DirectoryKey.TryRead(new FileDisk(_path)), Is.Null, "another user's");
    }

    [Test]
    public void A_damaged_key_is_none()
    {
        var disk = new SimulatedDisk();
        DirectoryKey.TryMake(disk);
        byte[] good = disk.Get(DirectoryKey.FileName);
        for (int bit = 0; bit < good.Length * 8; bit++)
        {
            byte[] bad = [.. good];
            bad[bit / 8] ^= (byte)(1 << (bit % 8));
            disk.Put(DirectoryKey.FileName, bad);
            Assert.That(DirectoryKey.TryRead(disk), Is.Null, $"bit {bit}");
        }

        for (int length = 0; length < good.Length; length++)
        {
            disk.Put(DirectoryKey.FileName, good[..length]);
            Assert.That(DirectoryKey.TryRead(disk), Is.Null, $"{length} bytes");
        }

        disk.Put(DirectoryKey.FileName, [.. good, 0]);
        Assert.That(DirectoryKey.TryRead(disk), Is.Null, "a byte more");
    }

    [Test]
    public void A_crash_while_a_key_is_made_leaves_the_one_before_or_none_or_the_new_one([Values] bool isThereOne)
    {
        bool ended = false;
        int old = 0, made = 0;
        for (int operation = 1; !ended; operation++)
        {
            for (int seed = 0; seed < 6; seed++)
            {
                var disk = new SimulatedDisk();
                DataDirectory.OpenUnlocked(disk).Dispose();
                DirectoryKey? before = isThereOne ? DirectoryKey.TryMake(disk) : null;
                disk.CrashAt = disk.Operations + operation;
                try
                {
                    DirectoryKey.TryMake(disk);
                    ended = true;
                    break;
                }
                catch (SimulatedCrashException)
                {
                }

                SimulatedDisk found = disk.Crash(seed < 2 ? seed : operation * 10 + seed);
                DataDirectory.OpenUnlocked(found).Dispose();
                Assert.That(found.List(), Does.Not.Contain(DirectoryKey.NextFileName));
                DirectoryKey? after = DirectoryKey.TryRead(found);
                Assert.That(after is not null || !isThereOne, $"operation {operation}, seed {seed}");
                if (before is null ? after is null : before.Is(after)) old++;
                else made++;
            }
        }

        Assert.That((old > 0, made > 0), Is.EqualTo((true, true)));
    }

    [Test]
    public void A_server_that_starts_again_goes_on_with_its_key_and_judges_nothing()
    {
        int judged = Life(_path, keys: 300);
        byte[] key = File.ReadAllBytes(KeyPath);
        Assert.That(judged, Is.Zero, "nothing was there");
        Assert.That(Life(_path, keys: 0), Is.Zero);
        Assert.That(Life(_path, keys: 0), Is.Zero);
        Assert.That(File.ReadAllBytes(KeyPath), Is.EqualTo(key));
    }

    [Test]
    public void A_directory_that_was_copied_is_loaded_and_judged_and_gets_a_key_of_its_own()
    {
        Life(_path, keys: 300);
        string copy = _path + "-copy";
        try
        {
            Assert.That(Run("cp", ["-a", _path, copy]), Is.Zero);
            Assert.That(Life(copy, keys: 0), Is.EqualTo(300));
            Assert.That(File.ReadAllBytes(Path.Combine(copy, DirectoryKey.FileName)), Is.Not.EqualTo(File.ReadAllBytes(KeyPath)), "K2");
            Assert.That(Life(copy, keys: 0), Is.Zero);
            Assert.That(Life(_path, keys: 0), Is.Zero, "the original is what it was");
        }
        finally
        {
            Directory.Delete(copy, true);
        }
    }

    [Test]
    public void Without_a_key_everything_is_loaded_and_judged_and_the_next_snapshot_has_one([Values("none", "wide", "short", "another's")] string key)
    {
        Life(_path, keys: 300);
        if (key == "none") File.Delete(KeyPath);
        if (key == "wide") File.SetUnixFileMode(KeyPath, OwnerOnly | UnixFileMode.GroupRead);
        if (key == "short") File.WriteAllBytes(KeyPath, File.ReadAllBytes(KeyPath)[..^1]);
        if (key == "another's") DirectoryKey.TryMake(new FileDisk(_path));
        Assert.That(Life(_path, keys: 0), Is.EqualTo(300));
        Assert.That(Life(_path, keys: 0), Is.Zero);
    }

    [Test]
    public void A_key_that_changes_while_the_server_runs_is_not_sealed_with()
    {
        using Store store = NewStore(new CountingCheck());
        using DataDirectory directory = DataDirectory.OpenUnlocked(new FileDisk(_path));
        DirectoryKey first = directory.KeyToSealWith()!;
        Assert.That(directory.KeyToSealWith(), Is.SameAs(first));
        File.SetUnixFileMode(KeyPath, OwnerOnly | UnixFileMode.OtherRead);
        DirectoryKey second = directory.KeyToSealWith()!;
        Assert.That((second.Is(first), second.IsProven), Is.EqualTo((false, true)));
    }

    [Test]
    public void A_store_that_judges_nothing_vouches_for_nothing()
    {
        using Store store = NewStore(null);
        using DataDirectory directory = DataDirectory.OpenUnlocked(new FileDisk(_path));
        Save(store, directory);
        Assert.That(SnapshotReader.Check(directory.Disk, directory.Manifest.Snapshot!.File).IsSealed, Is.False);
    }

    // Loads what is there, fills in some keys, takes a snapshot, is killed. Returns how many values were judged.
    private static int Life(string path, int keys)
    {
        var check = new CountingCheck();
        using Store store = NewStore(check);
        using DataDirectory directory = DataDirectory.OpenUnlocked(new FileDisk(path));
        RecoveryReport report = directory.Recover(store, new ReplayTable(), new RecoverySettings { Threads = 1 }, SnapshotFiles.Instance, TestStore.Progress());
        Assert.That(report.Messages, Is.Empty);
        Filled.AddLists(store, keys);
        Assert.That(Filled.Content(store), Has.Count.EqualTo(300));
        Save(store, directory);
        Assert.That(SnapshotReader.Check(directory.Disk, directory.Manifest.Snapshot!.File).IsSealed);
        return check.Judged;
    }

    private static void Save(Store store, DataDirectory directory)
    {
        var taker = new SnapshotTaker(store, directory, new StepClock(1)) { AwaitDurable = static _ => true, Truncate = static _ => { }, Terms = static () => [] };
        taker.Take(new SnapshotJobOptions(), new SnapshotProgress(), CancellationToken.None, out bool published);
        Assert.That(published);
    }

    private static Store NewStore(IValueCheck? check)
    {
        var store = new Store(new StoreSettings
        {
            BackgroundMovers = false, Partitions = 4, HugePages = false, MemoryLimitBytes = 64 << 20, ReserveBytes = 256 << 20, ValueCheck = check,
        });
        store.Logging = false;
        return store;
    }

    private static int Run(string program, string[] arguments)
    {
        using Process process = Process.Start(program, arguments);
        process.WaitForExit();
        return process.ExitCode;
    }

    private sealed class CountingCheck : IValueCheck
    {
        private int _judged;

        public int Judged => _judged;

        public bool IsSound(RecordKind kind, ReadOnlySpan<byte> value)
        {
            Interlocked.Increment(ref _judged);
            return true;
        }

        public bool IsSound(ref RecordEdit record, out uint limit) => throw new NotSupportedException("nothing here has pieces");

        public long TimedPartsFrom(RecordKind kind, ReadOnlySpan<byte> value) => long.MaxValue;
    }
}

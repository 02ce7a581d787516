using System.Runtime.InteropServices;
using System.Text;
using Garnet.Aof.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Writing;

/// <summary>The real disk, in a directory of its own.</summary>
internal sealed unsafe class FileDiskTests
{
    private const int Block = 4096;
    private string _path = "";
    private FileDisk _disk = null!;

    [SetUp]
    public void CreateDirectory()
    {
        _path = Directory.CreateTempSubdirectory("garnet-disk-").FullName;
        _disk = new FileDisk(_path);
    }

    [TearDown]
    public void DeleteDirectory() => Directory.Delete(_path, recursive: true);

    [Test]
    public void A_segment_has_its_length_reads_as_zeros_and_keeps_what_is_written()
    {
        byte* block = (byte*)NativeMemory.AlignedAlloc(Block, Block);
        new Span<byte>(block, Block).Fill(7);
        using (IDiskFile file = _disk.Create("segment", 10 * Block, FileCaching.Direct))
        {
            Assert.That(file.Length, Is.EqualTo(10 * Block));
            file.Write(2 * Block, new ReadOnlySpan<byte>(block, Block));
            file.Sync();
            byte[] read = new byte[3 * Block + 1];
            Assert.That(file.Read(Block - 1, read), Is.EqualTo(read.Length));
            Assert.That(read.Count(static one => one == 7), Is.EqualTo(Block));
            Assert.That(read[Block], Is.Zero);
            Assert.That(read[Block + 1], Is.EqualTo(7));
            TestContext.Out.WriteLine($"alignment {file.Alignment}");
        }
        NativeMemory.AlignedFree(block);
        _disk.SyncDirectory();
        using IDiskFile again = _disk.Open("segment");
        Assert.That((again.Length, again.Alignment), Is.EqualTo((10L * Block, 1)));
    }

    [Test]
    public void Behind_the_end_of_the_data_there_is_none()
    {
        const long Bytes = 64 << 20, Written = 5 << 20;
        using (IDiskFile file = _disk.Create("segment", Bytes)) file.Sync();
        using IDiskFile again = _disk.Open("segment");
        Assert.That(again.DataEnd, Is.InRange(0, Bytes));
        again.Write(Written, new byte[] { 1, 2, 3 });
        again.Sync();
        Assert.That(again.DataEnd, Is.InRange(Written + 3, Bytes));
        TestContext.Out.WriteLine($"data to {again.DataEnd} of {Bytes}");
        again.Write(Bytes - 1, new byte[] { 1 });
        Assert.That(again.DataEnd, Is.EqualTo(Bytes));
    }

    [Test]
    public void A_file_that_was_deleted_cannot_be_synced()
    {
        using IDiskFile file = _disk.Create("gone", 10 * Block);
        file.Sync();
        _disk.Delete("gone");
        Assert.That(file.Sync, Throws.TypeOf<DiskException>().With.Message.Contains("has been deleted"));
    }

    [Test]
    public void A_file_without_room_set_aside_takes_any_offset_and_grows()
    {
        using IDiskFile file = _disk.Create("manifest", 0);
        file.Write(3, "text"u8);
        file.Sync();
        byte[] read = new byte[20];
        Assert.That(file.Read(0, read), Is.EqualTo(7));
        Assert.That(Encoding.UTF8.GetString(read, 3, 4), Is.EqualTo("text"));
        file.SetLength(5);
        Assert.That((file.Length, file.Alignment), Is.EqualTo((5L, 1)));
    }

    [Test]
    public void Files_are_listed_in_order_renamed_over_others_and_deleted()
    {
        foreach (string name in (string[])["b", "a", "c"]) _disk.Create(name, 0).Dispose();
        Assert.That(_disk.List(), Is.EqualTo((string[])["a", "b", "c"]));
        _disk.Rename("a", "b");
        _disk.Delete("c");
        _disk.SyncDirectory();
        Assert.That(_disk.List(), Is.EqualTo((string[])["b"]));
    }

    [Test]
    public void Failures_name_operation_file_and_cause()
    {
        _disk.Create("there", 0).Dispose();
        Assert.That(() => _disk.Create("there", 0),
            Throws.TypeOf<DiskException>().With.Message.Contains("create").And.Message.Contains("exists"));
        Assert.That(() => _disk.Create("there", Block), Throws.TypeOf<DiskException>().With.Message.Contains("exists"));
        Assert.That(() => _disk.Open("gone"), Throws.TypeOf<DiskException>().With.Message.Contains("No such file"));
        Assert.That(() => _disk.Delete("gone"), Throws.TypeOf<DiskException>());
        Assert.That(() => _disk.Rename("gone", "there"), Throws.TypeOf<DiskException>());
        Assert.That(() => _disk.Open("../outside"), Throws.TypeOf<DiskException>());
        Assert.That(() => new FileDisk(Path.Combine(_path, "nowhere")), Throws.TypeOf<DiskException>());
        Assert.That(_disk.List(), Is.EqualTo((string[])["there"]));
    }

    [Test]
    public void A_file_larger_than_the_disk_is_refused_as_full_and_leaves_nothing()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("sets room aside on Linux only");
        long free = new DriveInfo(_path).AvailableFreeSpace;
        var failure = Assert.Throws<DiskException>(() => _disk.Create("huge", free * 2));
        Assert.That(failure!.Message, Does.EndWith(" GiB at once").Or.EndWith(" MiB at once"), "how much there is to be");
        Assert.That(_disk.List(), Is.Empty);
    }

    [Test]
    public void Files_are_the_owners_and_symbolic_links_are_refused()
    {
        if (!OperatingSystem.IsLinux())
        {
            Assert.Ignore("modes and links as Linux has them");
            return;
        }
        _disk.Create("own", 0).Dispose();
        Assert.That(File.GetUnixFileMode(Path.Combine(_path, "own")), Is.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite));
        File.CreateSymbolicLink(Path.Combine(_path, "link"), Path.Combine(_path, "own"));
        Assert.That(() => _disk.Open("link"), Throws.TypeOf<DiskException>());
        Assert.That(() => _disk.Create("link", 0), Throws.TypeOf<DiskException>());
    }

    [Test]
    public void A_log_on_the_real_disk_is_read_back()
    {
        var settings = new AofSettings { Sublogs = 2, SegmentBytes = 64 << 10, Sync = SyncPolicy.Always };
        using var log = new AppendOnlyLog(settings, _disk, Garnet.Common.Time.SystemClock.Instance);
        using var store = new Tsavorite.Store(new Tsavorite.StoreSettings { MemoryLimitBytes = 64 << 20, Partitions = 4, Log = log });
        log.Attach(store);
        log.Start(new AofStart(1, 0, [], 4, 7));
        using Tsavorite.StoreSession session = store.OpenSession();
        byte* key = stackalloc byte[32];
        for (int i = 0; i < 500; i++)
        {
            Bench.WriteKey(key, i);
            var put = new Put { Value = new byte[i] };
            session.Modify(store.Key(key, 8, store.Namespaces.Id(0)), ref put);
            log.Nudge();
        }
        log.Stop();
        Assert.That(log.Poison, Is.Null);
        var memory = new MemoryDisk();
        foreach (string name in _disk.List()) Copy(name, memory);
        Assert.That(BatchDecoder.Read(memory, 2).Sum(static batch => batch.Entries.Count), Is.EqualTo(500));
    }

    private void Copy(string name, MemoryDisk to)
    {
        using IDiskFile from = _disk.Open(name);
        byte[] bytes = new byte[from.Length];
        Assert.That(from.Read(0, bytes), Is.EqualTo(bytes.Length));
        using IDiskFile copy = to.Create(name, 0);
        copy.Write(0, bytes);
    }
}

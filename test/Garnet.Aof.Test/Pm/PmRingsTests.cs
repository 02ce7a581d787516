using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Pm;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;

namespace Garnet.Aof.Test.Pm;

/// <summary>Rings of a range on the real disk, and whose they are. A process that is killed is a disk that is not closed.</summary>
internal sealed class PmRingsTests
{
    private const int Page = 4096, Length = 4 << 20, PatienceMs = 20_000;
    private readonly List<IDisposable> _open = [];
    private string _path = "", _range = "";

    [SetUp]
    public void CreateDirectory()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("rings are Linux's");
        _path = Directory.CreateTempSubdirectory("garnet-rings-").FullName;
        Directory.CreateDirectory(Path.Combine(_path, "data"));
        _range = Path.Combine(_path, "range");
        File.WriteAllBytes(_range, new byte[Page + (4 * PmRing.BytesMin)]);
    }

    [TearDown]
    public void DeleteDirectory()
    {
        foreach (IDisposable one in Enumerable.Reverse(_open)) one.Dispose();
        _open.Clear();
        if (_path.Length > 0) Directory.Delete(_path, recursive: true);
    }

    [TestCase(1)]
    [TestCase(2)]
    [TestCase(3)]
    public void What_was_synced_is_in_the_file_after_a_kill_and_readers_see_it_before(int seed)
    {
        var random = new Random(seed);
        FileDisk disk = Open(out _);
        IDiskFile file = Create(disk, "aof-00-00000000000000000001.log", out byte[] written);
        using IDiskFile reader = disk.Open("aof-00-00000000000000000001.log");
        int end = Page;
        while (end < Length - (2 << 20))
        {
            int bytes = random.Next(30) == 0 ? random.Next(1 << 20) : random.Next(1, 30_000);
            random.NextBytes(written.AsSpan(end, bytes));
            file.Write(end, written.AsSpan(end, bytes));
            end += bytes;
            if (random.Next(3) != 0) continue;
            file.Sync();
            int from = random.Next(Page, end);
            byte[] read = new byte[end - from];
            Assert.That(reader.Read(from, read), Is.EqualTo(read.Length));
            Assert.That(read.AsSpan().SequenceEqual(written.AsSpan(from, read.Length)));
        }
        file.Sync();
        FileDisk next = Killed(out PmRings again);
        Assert.That(next.Complete(), Has.Count.LessThanOrEqualTo(1));
        Assert.That(Content(next, "aof-00-00000000000000000001.log").AsSpan(Page).SequenceEqual(written.AsSpan(Page)), "after a kill");
        Assert.That(TailFiles.Missing(next), Is.Null);
        Assert.That(next.Complete(), Is.Empty);
        _open.Add(again);
    }

    [Test]
    public void What_was_synced_comes_to_the_file_by_itself_however_it_meets_the_one_that_drains()
    {
        const int Rounds = 40;
        FileDisk disk = Open(out PmRings rings);
        IDiskFile file = Create(disk, LogFileName.Of(0, 1), out _);
        var random = new Random(12);
        int end = Page;
        for (int round = 0; round < Rounds; round++)
        {
            for (int syncs = random.Next(1, 30); syncs > 0; syncs--, end += 64)
            {
                file.Write(end, new byte[64]);
                file.Sync();
            }
            Assert.That(SpinWait.SpinUntil(() => rings.Fill.UsedBytes == 0, PatienceMs), $"round {round}");
        }
    }

    [Test]
    public void A_file_that_is_closed_has_everything_and_gives_its_ring_to_the_next()
    {
        FileDisk disk = Open(out _);
        for (int i = 1; i <= 3; i++)
        {
            string name = LogFileName.Of(0, (ulong)i);
            IDiskFile file = Create(disk, name, out byte[] written);
            new Random(i).NextBytes(written.AsSpan(Page, 100_000));
            file.Write(Page, written.AsSpan(Page, 100_000));
            file.Sync();
            file.Finish();
            file.Dispose();
            Assert.That(File.ReadAllBytes(Path.Combine(disk.Path, name)).AsSpan(Page).SequenceEqual(written.AsSpan(Page)));
            Assert.That(TailFiles.Missing(disk), Is.Null);
        }
    }

    [Test]
    public void The_end_of_a_log_whose_memory_is_not_there_is_missed()
    {
        FileDisk disk = Open(out _);
        IDiskFile file = Create(disk, LogFileName.Of(0, 1), out byte[] written);
        file.Write(Page, written.AsSpan(Page, 5000));
        file.Sync();
        var without = new FileDisk(disk.Path);
        Assert.That(without.Complete(), Is.Empty);
        Assert.That(TailFiles.Missing(without), Is.EqualTo(LogFileName.Of(0, 1)));
        Assert.That(Garnet.Aof.Recovery.NamedFiles.Missing(without, null)[0].Text, Does.Contain("aof-pm-path"));
    }

    [Test]
    public void A_ring_of_another_directory_is_refused_and_stays_as_it_is()
    {
        FileDisk disk = Open(out _);
        IDiskFile file = Create(disk, LogFileName.Of(0, 1), out byte[] written);
        new Random(8).NextBytes(written.AsSpan(Page, 5000));
        file.Write(Page, written.AsSpan(Page, 5000));
        file.Sync();
        Copy(out string range);
        string other = Directory.CreateDirectory(Path.Combine(_path, "other")).FullName;
        using (PmRings elsewhere = PmRings.Open(range, 1, trustsEmulated: true))
        {
            string refusal = Assert.Throws<GarnetException>(() => new FileDisk(other, elsewhere).Complete())!.Message;
            Assert.That(refusal, Does.Contain(disk.Path).And.Contain("another log").And.Contain("start the server of that directory"));
        }
        // Made anew under the same name, it is another's too.
        new FileDisk(other).Create(LogFileName.Of(0, 1), Length).Dispose();
        using (PmRings elsewhere = PmRings.Open(range, 1, trustsEmulated: true))
            Assert.That(() => new FileDisk(other, elsewhere).Complete(), Throws.TypeOf<GarnetException>());
        using PmRings own = PmRings.Open(range, 1, trustsEmulated: true);
        string copy = Directory.CreateDirectory(Path.Combine(_path, "copy")).FullName;
        File.Copy(Path.Combine(disk.Path, LogFileName.Of(0, 1)), Path.Combine(copy, LogFileName.Of(0, 1)));
        var back = new FileDisk(copy, own);
        Assert.That(back.Complete(), Has.Count.EqualTo(1), "and it is all there for whose it is");
        Assert.That(Content(back, LogFileName.Of(0, 1)).AsSpan(Page, 5000).SequenceEqual(written.AsSpan(Page, 5000)));
    }

    [Test]
    public void What_is_not_trusted_is_put_into_its_files_and_not_used()
    {
        FileDisk disk = Open(out _);
        IDiskFile file = Create(disk, LogFileName.Of(0, 1), out byte[] written);
        file.Write(Page, written.AsSpan(Page, 5000));
        file.Sync();
        Copy(out string range);
        using PmRings untrusted = PmRings.Open(range, 1, trustsEmulated: false);
        if (untrusted.Domain.IsRealPm()) Assert.Ignore("temporary files lie in persistent memory");
        Assert.That(untrusted.IsUsed, Is.False);
        string copy = Directory.CreateDirectory(Path.Combine(_path, "copy")).FullName;
        File.Copy(Path.Combine(disk.Path, LogFileName.Of(0, 1)), Path.Combine(copy, LogFileName.Of(0, 1)));
        var next = new FileDisk(copy, untrusted);
        Assert.That(next.Complete(), Has.Count.EqualTo(1));
        next.Expect(1);
        using IDiskFile plain = next.Create(LogFileName.Of(0, 2), Length, FileCaching.Direct);
        Assert.That(plain.Domain, Is.EqualTo(PersistenceDomain.Disk));
    }

    [Test]
    public void Something_else_that_stands_in_the_file_is_left_alone()
    {
        File.WriteAllBytes(_range, [.. new byte[2000], .. "a letter to somebody"u8, .. new byte[Page + (4 * (int)PmRing.BytesMin) - 2020]]);
        Assert.That(Assert.Throws<GarnetException>(() => PmRings.Open(_range, 1, true).Dispose())!.Message, Does.Contain("something else").And.Contain("a file of zeros"));
        File.WriteAllBytes(_range, new byte[Page * 2]);
        Assert.That(Assert.Throws<GarnetException>(() => PmRings.Open(_range, 1, true).Dispose())!.Message, Does.Contain("are the least"));
    }

    [Test]
    public void A_layout_that_was_being_written_when_the_power_failed_is_no_reason_to_refuse_the_start()
    {
        foreach (int kept in Enumerable.Range(0, 40))
        {
            using var pm = new PmSim(new byte[Page + (2 * PmRing.BytesMin)]);
            using var rings = new PmRings(pm, "range", trustsEmulated: false);
            byte[]? found = null;
            int steps = 0;
            pm.OnStep = () =>
            {
                if (++steps == kept / 4 + 1) found = pm.Image(kept);
            };
            _ = rings.Complete(new SimulatedDisk());
            rings.Divide(2, "/some/where");
            using var next = new PmRings(new PmSim(found ?? pm.Image(kept)), "range", trustsEmulated: false);
            Assert.That(next.Complete(new SimulatedDisk()), Is.Empty);
        }
    }

    [Test]
    public void Bytes_of_a_client_that_look_like_the_head_of_a_ring_are_none_when_a_ring_begins_there()
    {
        using var pm = new PmSim(new byte[Page + (4 * PmRing.BytesMin)]);
        byte[] forged = new byte[PmHead.Bytes];
        new PmHead { Generation = ulong.MaxValue, Number = 5, Place = new PmPlace(0, 1, Page), FirstBatch = 3 }.Write(forged);
        for (int at = Page; at < pm.Bytes; at += PmHead.Bytes) pm.Write(at, forged);
        _ = pm.Fence();
        using (var rings = new PmRings(pm, "range", trustsEmulated: false))
        {
            Assert.That(rings.Complete(new SimulatedDisk()), Is.Empty);
            rings.Divide(2, "/some/where");
        }
        PmLayout layout = PmLayout.Read(pm, "range");
        for (int i = 0; i < 2; i++)
        {
            var ring = new PmRing(pm, layout.StartOf(i), layout.RingBytes);
            Assert.That(ring.Head, Is.EqualTo(new PmHead { Generation = 0, Number = 0, Place = new PmPlace(0, 0, Page) }), $"ring {i}");
        }
    }

    [Test]
    public void Rings_are_not_divided_anew_while_one_holds_what_its_file_could_not_get()
    {
        const int Synced = 5000;
        using var pm = new PmSim(new byte[Page + (4 * PmRing.BytesMin)]);
        using var rings = new PmRings(pm, "range", trustsEmulated: false);
        var disk = new SimulatedDisk();
        _ = rings.Complete(disk);
        rings.Divide(1, "/simulated");
        string name = LogFileName.Of(0, 1);
        PmFile file = rings.TryCreate(name, () => disk.Create(name, Length))!;
        byte[] written = new byte[Synced], header = new byte[FileHeader.Bytes];
        new Random(4).NextBytes(written);
        new FileHeader { Sublog = 0, Sublogs = 1, FirstBatch = 1, Term = 1, Lanes = 8, HashSeed = 5, PreviousCrc = 0, HasTail = true, Run = file.TailRun, TailNumber = file.TailNumber }
            .Write(header);
        file.Write(0, header);
        file.Write(Page, written);
        file.Sync();
        disk.FailWrite = disk.Writes + 1;
        file.Dispose(); // the file gets nothing, and the ring serves nobody else
        rings.Divide(2, "/simulated");
        using var next = new PmRings(pm.Copy(), "range", trustsEmulated: false);
        Assert.That(next.Complete(disk), Has.Count.EqualTo(1));
        Assert.That(disk.Get(name).AsSpan(Page, Synced).SequenceEqual(written));
    }

    [Test]
    public void A_file_on_a_full_disk_gets_its_bytes_once_there_is_room_again()
    {
        const int Refusals = 3;
        var pm = new PmSim(new byte[PmLife.RingBytes]);
        var ring = new PmRing(pm, 0, PmLife.RingBytes);
        Assert.That(ring.Begin(0, 1), Is.Zero);
        var disk = new SimulatedDisk();
        using var file = new PmFile(disk.Create("log", Length), ring, static (_, _) => { });
        (disk.FullFrom, disk.FullFor) = (disk.Writes + 1, Refusals);
        file.StartDraining();
        byte[] written = [.. Enumerable.Repeat((byte)7, 64)];
        file.Write(Page, written);
        file.Sync();
        Assert.That(SpinWait.SpinUntil(() => ring.Undrained == 0, PatienceMs), Is.True, "it is tried again");
        Assert.That(disk.Writes, Is.EqualTo(Refusals + 1));
        Assert.That(disk.Get("log").AsSpan(Page, 64).SequenceEqual(written));
        file.Write(Page + 64, written);
        Assert.That(file.Sync, Throws.Nothing);
    }

    [Test]
    public void A_fence_that_fails_ends_the_writes()
    {
        var pm = new PmSim(new byte[PmLife.RingBytes]);
        var ring = new PmRing(pm, 0, PmLife.RingBytes);
        Assert.That(ring.Begin(0, 1), Is.Zero);
        using var file = new PmFile(new SimulatedDisk().Create("log", Length), ring, static (_, _) => { });
        file.Write(Page, new byte[64]);
        pm.Error = 5;
        Assert.That(file.Sync, Throws.TypeOf<DiskException>());
        pm.Error = 0;
        Assert.That(() => file.Write(Page + 64, new byte[64]), Throws.TypeOf<DiskException>());
    }

    private FileDisk Open(out PmRings rings)
    {
        rings = PmRings.Open(_range, 2, trustsEmulated: true);
        _open.Add(rings);
        var disk = new FileDisk(Path.Combine(_path, "data"), rings);
        Assert.That(disk.Complete(), Is.Empty);
        disk.Expect(2);
        return disk;
    }

    // As the log does it: the header says which ring.
    private IDiskFile Create(FileDisk disk, string name, out byte[] written)
    {
        IDiskFile file = disk.Create(name, Length, FileCaching.Direct);
        _open.Add(file);
        Assert.That(file.HasTail);
        written = new byte[Length];
        _ = LogFileName.TryParse(name, out int sublog, out ulong first);
        var header = new FileHeader { Sublog = (byte)sublog, Sublogs = 1, FirstBatch = first, Term = 1, Lanes = 8, HashSeed = 5, PreviousCrc = 0 };
        byte[] block = new byte[FileHeader.Bytes];
        header.Write(block);
        file.LeaveAs(block);
        (header with { HasTail = true, Run = file.TailRun, TailNumber = file.TailNumber }).Write(block);
        file.Write(0, block);
        file.Sync();
        return file;
    }

    // What the next process finds: the range as it is now, before the one that is killed goes on.
    private FileDisk Killed(out PmRings again)
    {
        Copy(out string range);
        string copy = Directory.CreateDirectory(Path.Combine(_path, "killed")).FullName;
        foreach (string file in Directory.EnumerateFiles(Path.Combine(_path, "data"))) File.Copy(file, Path.Combine(copy, Path.GetFileName(file)));
        again = PmRings.Open(range, 2, trustsEmulated: true);
        return new FileDisk(copy, again);
    }

    private void Copy(out string range)
    {
        range = _range + ".copy";
        using IDiskFile from = new FileDisk(_path).Open("range"); // the framework's files heed the lock that keeps other servers out
        byte[] all = new byte[from.Length];
        Assert.That(from.Read(0, all), Is.EqualTo(all.Length));
        File.WriteAllBytes(range, all);
    }

    private static byte[] Content(FileDisk disk, string name)
    {
        using IDiskFile file = disk.Open(name);
        byte[] read = new byte[Length];
        Assert.That(file.Read(0, read), Is.EqualTo(Length));
        return read;
    }
}

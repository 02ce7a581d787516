using Garnet.Aof.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Disk;

/// <summary>
/// Files written through a ring of our own, on the real disk. A process that is killed is a disk that is not closed: what the
/// next one finds is what the system has.
/// </summary>
internal sealed class StagedFileTests
{
    private const int Block = 4096, Length = 16 << 20, DrainedWord = 2, LengthWord = 10, HeaderWords = 12, Rounds = 60;
    private static readonly int[] s_ends = [DrainedWord, DrainedWord + 1, LengthWord];
    private readonly List<IDiskFile> _open = [];
    private string _path = "";
    private FileDisk _disk = null!;

    [SetUp]
    public void CreateDirectory()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("rings are Linux's");
        _path = Directory.CreateTempSubdirectory("garnet-staged-").FullName;
        _disk = new FileDisk(_path);
    }

    [TearDown]
    public void DeleteDirectory()
    {
        foreach (IDiskFile file in _open) file.Dispose();
        _open.Clear();
        if (_path.Length > 0) Directory.Delete(_path, recursive: true);
    }

    [Test]
    public void What_a_killed_process_wrote_is_in_the_file_afterwards()
    {
        IDiskFile file = Create("log");
        file.Write(0, Bytes(1, 3 * Block));
        file.Sync();
        file.Write(3 * Block, Bytes(2, 1000));
        var next = new FileDisk(_path);
        IReadOnlyList<string> done = next.Complete();
        Assert.That(done, Has.Count.EqualTo(1));
        Assert.That(done[0], Does.Contain("bytes").And.Contain("log"));
        Assert.That(Content(next, 4 * Block), Is.EqualTo((byte[])[.. Bytes(1, 3 * Block), .. Bytes(2, 1000), .. new byte[Block - 1000]]));
        Assert.That(next.List(), Is.EqualTo((string[])["log"]));
        Assert.That(next.Complete(), Is.Empty);
    }

    [TestCase(1)]
    [TestCase(2)]
    [TestCase(3)]
    public void Readers_and_whoever_comes_after_a_kill_see_all_that_was_written(int seed)
    {
        var random = new Random(seed);
        IDiskFile file = Create("log");
        byte[] written = new byte[Length];
        long end = 0, begun = 0;
        using IDiskFile reader = _disk.Open("log");
        while (true)
        {
            int bytes = random.Next(20) == 0 ? random.Next(6 << 20) : random.Next(30_000);
            if (end + bytes > Length) break;
            random.NextBytes(written.AsSpan((int)end, bytes));
            file.Write(end, written.AsSpan((int)end, bytes));
            end += bytes;
            if (random.Next(5) == 0) file.BeginSync(begun, begun = end);
            if (random.Next(10) == 0) file.Sync();
            int from = random.Next((int)end), many = random.Next(1 << 20);
            byte[] read = new byte[Math.Min(many, Length - from)];
            Assert.That(reader.Read(from, read), Is.EqualTo(read.Length));
            Assert.That(read.AsSpan().SequenceEqual(written.AsSpan(from, read.Length)), $"bytes {from} to {from + many} of {end}");
        }
        var next = new FileDisk(_path);
        _ = next.Complete();
        Assert.That(Content(next, Length).AsSpan().SequenceEqual(written), "after a kill");
    }

    [Test]
    public void What_was_synced_is_in_the_file_itself()
    {
        IDiskFile file = Create("log");
        file.Write(0, Bytes(3, 5000));
        file.Sync();
        Assert.That(File.ReadAllBytes(Path.Combine(_path, "log")).AsSpan(0, 5000).SequenceEqual(Bytes(3, 5000)));
        file.Write(5000, Bytes(4, 200));
        file.Sync();
        Assert.That(File.ReadAllBytes(Path.Combine(_path, "log")).AsSpan(0, 5200).SequenceEqual((byte[])[.. Bytes(3, 5000), .. Bytes(4, 200)]));
    }

    [Test]
    public void A_ring_from_before_the_systems_last_start_is_forgotten()
    {
        IDiskFile file = Create("log");
        file.Write(0, Bytes(5, Block));
        file.Sync();
        file.Write(Block, Bytes(6, 100));
        Overwrite("log.tail", 32, "00000000-0000-0000-0000-000000000000"u8);
        var next = new FileDisk(_path);
        Assert.That(next.Complete(), Is.Empty);
        Assert.That(Content(next, 2 * Block), Is.EqualTo((byte[])[.. Bytes(5, Block), .. new byte[Block]]));
        Assert.That(next.List(), Is.EqualTo((string[])["log"]));
    }

    [Test]
    public void A_ring_never_takes_the_place_of_what_the_file_holds()
    {
        IDiskFile file = Create("log");
        file.Write(0, Bytes(7, 3 * Block));
        Overwrite("log", Block + 10, [99]);
        var next = new FileDisk(_path);
        _ = next.Complete();
        byte[] expected = new byte[3 * Block];
        Bytes(7, Block).CopyTo(expected, 0);
        expected[Block + 10] = 99;
        Assert.That(Content(next, 3 * Block), Is.EqualTo(expected));
    }

    [TestCase(0, new byte[] { 1 })] // magic
    [TestCase(8, new byte[] { 1 })] // size of the ring
    [TestCase(23, new byte[] { 0x80 })] // a negative end
    [TestCase(26, new byte[] { 0xFF })] // more than the ring holds
    public void A_ring_that_is_not_whole_is_forgotten(int at, byte[] damage)
    {
        IDiskFile file = Create("log");
        file.Write(0, Bytes(8, 100));
        Overwrite("log.tail", at, damage);
        var next = new FileDisk(_path);
        Assert.That(next.Complete(), Is.Empty);
        Assert.That(Content(next, Block), Is.EqualTo(new byte[Block]));
        Assert.That(next.List(), Is.EqualTo((string[])["log"]));
    }

    [Test]
    public void D1_of_a_ring_whose_first_end_is_within_a_block_nothing_is_taken()
    {
        IDiskFile file = Create("log");
        byte[] written = Bytes(11, StagingFile.RingBytes + (5 * Block));
        file.Write(0, written);
        SetWord("log.tail", DrainedWord, (6 * Block) - 100); // pieces from there on are split where the ring begins again
        var next = new FileDisk(_path);
        byte[] before = Content(next, written.Length);
        _ = next.Complete();
        Assert.That(Content(next, written.Length).AsSpan().SequenceEqual(before), "none of it, or all");
    }

    // log.D3: whatever its header says, a ring adds to its file, at most, what stands in it; and never beyond the file's end.
    [Test]
    public void Whatever_the_header_of_a_ring_says_it_only_ever_adds()
    {
        long[] odd = [0, 1, Block - 1, Block, Block + 1, StagingFile.RingBytes - 1, StagingFile.RingBytes, StagingFile.RingBytes + Block, Length - Block, Length, Length + 1,
            int.MaxValue, uint.MaxValue, long.MaxValue, long.MaxValue - Block + 1, long.MinValue, -1, -Block];
        var random = new Random(77);
        for (int round = 0; round < Rounds; round++)
        {
            string name = $"log{round}";
            IDiskFile file = Create(name);
            byte[] written = Bytes((byte)(1 + (round % 250)), random.Next(3 * Block, StagingFile.RingBytes * 2));
            file.Write(0, written);
            if (random.Next(2) == 0) file.BeginSync(0, random.Next(written.Length));
            for (int words = random.Next(1, 4); words > 0; words--)
            {
                int word = random.Next(4) == 0 ? random.Next(HeaderWords) : s_ends[random.Next(s_ends.Length)];
                SetWord($"{name}.tail", word, random.Next(3) == 0 ? random.NextInt64() : odd[random.Next(odd.Length)]);
            }
            var next = new FileDisk(_path);
            byte[] before = Content(next, Length, name);
            Assert.That(next.Complete, Throws.Nothing, $"round {round}");
            byte[] after = Content(next, Length, name);
            for (int at = 0; at < Length; at++)
                if (before[at] != 0 && before[at] != after[at]) Assert.Fail($"round {round}: byte {at} was {before[at]} and is {after[at]}");
            using (IDiskFile left = next.Open(name)) Assert.That(left.Length, Is.EqualTo(Length), $"round {round}");
            next.Delete(name);
            if (next.List().Contains(name + StagingFile.Suffix)) next.Delete(name + StagingFile.Suffix);
        }
    }

    [Test]
    public void A_ring_without_its_file_or_cut_short_is_forgotten()
    {
        _disk.Create("gone.tail", 0).Dispose();
        _disk.Create("short", 0).Dispose();
        _disk.Create("short.tail", 100).Dispose();
        Assert.That(_disk.Complete(), Is.Empty);
        Assert.That(_disk.List(), Is.EqualTo((string[])["short"]));
    }

    [Test]
    public void A_file_that_is_closed_holds_everything_and_needs_no_ring()
    {
        IDiskFile file = Create("log");
        using IDiskFile reader = _disk.Open("log");
        file.Write(0, Bytes(9, 10_000));
        file.Dispose();
        _disk.Tidy();
        Assert.That(_disk.List(), Is.EqualTo((string[])["log"]));
        byte[] read = new byte[10_000];
        Assert.That(reader.Read(0, read), Is.EqualTo(10_000));
        Assert.That(read, Is.EqualTo(Bytes(9, 10_000)));
        Assert.That(Content(_disk, 10_000), Is.EqualTo(read));
        using IDiskFile again = _disk.Open("log");
        again.SetLength(5_000);
        again.Sync();
        Assert.That(again.Length, Is.EqualTo(5_000));
    }

    [Test]
    public void A_ring_serves_one_file_after_the_other_and_a_kill_loses_nothing_of_any()
    {
        for (int i = 0; i < 5; i++)
        {
            IDiskFile file = Create($"log{i}");
            file.Write(0, Bytes(i, (9 << 20) + 77));
            if (i < 4) file.Dispose();
        }
        Assert.That(_disk.List(), Is.EqualTo((string[])["log0", "log1", "log2", "log3", "log4", "log4.tail"]));
        var next = new FileDisk(_path);
        Assert.That(next.Complete(), Has.Count.EqualTo(1));
        for (int i = 0; i < 5; i++) Assert.That(Content(next, (9 << 20) + 77, $"log{i}").AsSpan().SequenceEqual(Bytes(i, (9 << 20) + 77)), $"log{i}");
    }

    [Test]
    public void A_ring_that_waits_for_its_next_file_adds_nothing()
    {
        IDiskFile file = Create("log");
        file.Write(0, Bytes(1, 5000));
        file.Dispose();
        Assert.That(_disk.List(), Does.Contain("log.tail"));
        var next = new FileDisk(_path);
        _ = next.Complete();
        Assert.That(Content(next, 2 * Block), Is.EqualTo((byte[])[.. Bytes(1, 5000), .. new byte[2 * Block - 5000]]));
        Assert.That(next.List(), Is.EqualTo((string[])["log"]));
    }

    [Test]
    public void There_is_room_for_copies_until_the_ring_is_full_of_what_the_disk_has_not()
    {
        IDiskFile file = Create("log");
        long room = file.CopyRoom;
        file.Write(0, Bytes(1, 10_000));
        Assert.That(file.CopyRoom, Is.EqualTo(room - 10_000));
        file.BeginSync(0, 10_000);
        Assert.That(file.CopyRoom, Is.EqualTo(room - 10_000 % Block));
    }

    private IDiskFile Create(string name)
    {
        IDiskFile file = _disk.Create(name, Length, FileCaching.Staged);
        if (file is not StagedFile) Assert.Ignore("no ring on this file system");
        _open.Add(file);
        return file;
    }

    private void Overwrite(string name, long at, ReadOnlySpan<byte> bytes)
    {
        using FileStream file = File.OpenWrite(Path.Combine(_path, name));
        file.Position = at;
        file.Write(bytes);
    }

    private void SetWord(string name, int word, long value) => Overwrite(name, word * sizeof(long), BitConverter.GetBytes(value));

    private static byte[] Content(FileDisk disk, int bytes, string name = "log")
    {
        using IDiskFile file = disk.Open(name);
        byte[] read = new byte[bytes];
        Assert.That(file.Read(0, read), Is.EqualTo(bytes));
        return read;
    }

    private static byte[] Bytes(int seed, int count)
    {
        byte[] bytes = new byte[count];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }
}

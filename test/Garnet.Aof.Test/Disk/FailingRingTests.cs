using Garnet.Aof.Disk;
using NUnit.Framework;

namespace Garnet.Aof.Test.Disk;

/// <summary>A file behind a ring whose disk takes nothing for a while: whoever writes tries again, and nothing is lost or written twice (log.D2).</summary>
internal sealed class FailingRingTests
{
    private const int Length = 8 << 20;
    private string _path = "";

    [SetUp]
    public void CreateDirectory()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("rings are Linux's");
        _path = Directory.CreateTempSubdirectory("garnet-ring-").FullName;
    }

    [TearDown]
    public void DeleteDirectory()
    {
        if (_path.Length > 0) Directory.Delete(_path, recursive: true);
    }

    [TestCase(1)]
    [TestCase(2)]
    [TestCase(3)]
    public void A_write_that_met_a_full_disk_is_made_again_and_every_byte_is_there_once(int seed)
    {
        var random = new Random(seed);
        var disk = new FullAtTimes(new byte[Length], random);
        var pool = new StagingPool();
        if (pool.TryTake(Path.Combine(_path, "log.tail")) is not { } ring)
        {
            Assert.Ignore("no ring on this file system");
            return;
        }
        byte[] written = new byte[Length];
        random.NextBytes(written);
        using (var file = new StagedFile(disk, ring, pool))
        {
            for (int at = 0, bytes; at < Length; at += bytes)
            {
                bytes = Math.Min(random.Next(1, 3 << 20), Length - at);
                Insist(() => file.Write(at, written.AsSpan(at, bytes)));
                if (random.Next(3) == 0) Insist(file.Settle);
            }
            Insist(file.Settle);
            file.Sync();
        }
        Assert.That(disk.Failures, Is.GreaterThan(0), $"seed {seed} met no failure");
        Assert.That(disk.Content.AsSpan().SequenceEqual(written), Is.True, $"seed {seed}");
        pool.Clear();
    }

    [Test]
    public void A_sync_of_what_the_disk_has_already_meets_no_full_disk()
    {
        var disk = new FullAtTimes(new byte[Length], new Random(1));
        var pool = new StagingPool();
        if (pool.TryTake(Path.Combine(_path, "log.tail")) is not { } ring)
        {
            Assert.Ignore("no ring on this file system");
            return;
        }
        using (var file = new StagedFile(disk, ring, pool))
        {
            for (int end = 0; end < Length; end += 1000)
            {
                file.Write(end, new byte[Math.Min(1000, Length - end)]);
                if (end % 7 != 0) continue;
                Insist(file.Settle);
                Assert.That(file.Sync, Throws.Nothing, "a failed sync ends the log");
            }
            Insist(file.Settle);
        }
        pool.Clear();
    }

    private static void Insist(Action step)
    {
        for (int tries = 0; tries < 10_000; tries++)
        {
            try
            {
                step();
                return;
            }
            catch (DiskException e) when (e.IsFull)
            {
            }
        }
        Assert.Fail("the disk stayed full");
    }

    // Each second write or so fails, some after a part of it.
    private sealed class FullAtTimes(byte[] content, Random random) : IDiskFile
    {
        public byte[] Content => content;
        public int Failures { get; private set; }
        public long Length => content.Length;
        public int Alignment => 1;

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            int taken = random.Next(3) == 0 ? random.Next(bytes.Length) : bytes.Length;
            bytes[..taken].CopyTo(content.AsSpan((int)offset));
            if (taken == bytes.Length) return;
            Failures++;
            throw new DiskException("write", "log", "No space left on device", isFull: true);
        }

        public int Read(long offset, Span<byte> to)
        {
            int bytes = (int)Math.Min(to.Length, content.Length - offset);
            content.AsSpan((int)offset, bytes).CopyTo(to);
            return bytes;
        }

        public void Sync()
        {
        }

        public void SetLength(long bytes) => throw new NotSupportedException();

        public void Dispose()
        {
        }
    }
}

using System.Buffers.Binary;
using System.Diagnostics;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Snapshots;

/// <summary>Files by an enemy: whatever they say, they are refused or loaded, nothing else happens.</summary>
public sealed class SnapshotFileFuzz
{
    private const int RunMs = 4000;

    [Test]
    public void A_mangled_file_is_refused_or_loaded()
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        Random random = new(seed);
        using Store store = Filled.Store(40);
        RamDisk disk = new();
        string name = SnapshotJob.Run(store, disk, new SnapshotJobOptions(), new StepClock(1), CancellationToken.None).Facts.Name + ".tmp";
        byte[] good = disk[name];
        int refused = 0, loaded = 0;
        for (Stopwatch watch = Stopwatch.StartNew(); watch.ElapsedMilliseconds < RunMs;)
        {
            disk["x"] = Mangle(good, random);
            using Store copy = Filled.Empty(8 << 20);
            try
            {
                SnapshotReader.Check(disk, "x");
                SnapshotReader.Load(disk, "x", copy, null, random.Next(1, 3));
                loaded++;
            }
            catch (SnapshotFileException)
            {
                refused++;
            }
            Assert.That(StoreCheck.Run(copy), Is.Empty, $"seed {seed}");
        }
        TestContext.Out.WriteLine($"refused {refused}, loaded {loaded}");
        Assert.That(refused, Is.GreaterThan(20));
    }

    // With and without checksums made right again, so that what lies behind them is reached too.
    private static byte[] Mangle(byte[] good, Random random)
    {
        byte[] bad = (byte[])good.Clone();
        for (int i = random.Next(1, 4); i > 0; i--)
        {
            int at = random.Next(3) switch { 0 => random.Next(48), 1 => 4096 + random.Next(40), _ => random.Next(bad.Length) };
            if (random.Next(4) == 0 && at + 4 <= bad.Length)
                BinaryPrimitives.WriteInt32LittleEndian(bad.AsSpan(at), random.Next(-100, 100));
            else bad[at] = (byte)random.Next(256);
        }
        if (random.Next(4) != 0) BinaryPrimitives.WriteUInt32LittleEndian(bad.AsSpan(4092), Crc32C.Of(bad.AsSpan(0, 4092)));
        if (random.Next(4) != 0) MendFirstBlock(bad);
        return random.Next(6) == 0 ? bad[..random.Next(bad.Length)] : bad;
    }

    private static void MendFirstBlock(byte[] bad)
    {
        Span<byte> block = bad.AsSpan(4096);
        uint bytes = BinaryPrimitives.ReadUInt32LittleEndian(block[4..]);
        if (bytes > block.Length - 16) return;
        uint crc = Crc32C.Of(block.Slice(16, (int)bytes), Crc32C.Of(block[..12]));
        BinaryPrimitives.WriteUInt32LittleEndian(block[12..], crc);
    }
}

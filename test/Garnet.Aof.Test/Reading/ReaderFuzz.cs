using System.Diagnostics;
using Garnet.Aof.Format;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// Whatever the bytes are, a recovery either comes to the state after some batch or refuses; it never hangs, never crashes and
/// never invents anything. The seed is in every message.
/// </summary>
public sealed class ReaderFuzz
{
    private static readonly TimeSpan Budget = TimeSpan.FromSeconds(3);

    [Test]
    public void Mutated_logs_are_read_as_far_as_they_are_true([Values(1, 3)] int sublogs)
    {
        SimulatedDisk sound = ReplayTests.Log(sublogs, 12, out Workload workload, out _);
        long started = Stopwatch.GetTimestamp();
        int first = Environment.TickCount & 0xFFFFFF, seed = first, read = 0;
        for (; Stopwatch.GetElapsedTime(started) < Budget; seed++)
        {
            SimulatedDisk disk = sound.Copy();
            Mutate(disk, new Random(seed));
            CorruptionPolicy policy = seed % 2 == 0 ? CorruptionPolicy.Refuse : CorruptionPolicy.Truncate;
            using var store = new TestStore();
            try
            {
                RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(disk), policy);
                Assert.That(store.Text(), Is.EqualTo(workload.State(report.Start.LastBatch)), $"seed {seed}");
                read++;
            }
            catch (GarnetException)
            {
            }
        }
        TestContext.Out.WriteLine($"seeds {first} to {seed}: {read} read, the others refused");
        Assert.That(read, Is.Positive);
    }

    [Test]
    public void Random_bytes_are_no_log()
    {
        long started = Stopwatch.GetTimestamp();
        int first = Environment.TickCount & 0xFFFFFF;
        for (int seed = first; Stopwatch.GetElapsedTime(started) < Budget; seed++)
        {
            var random = new Random(seed);
            var disk = new SimulatedDisk();
            DataDirectory.OpenUnlocked(disk, new DirectoryLayout(8)).Dispose();
            byte[] bytes = new byte[random.Next(40_000)];
            random.NextBytes(bytes);
            if (random.Next(2) == 0 && bytes.Length > 8192)
                new FileHeader { Sublog = 0, Sublogs = 1, FirstBatch = 1, Term = 1, Lanes = 8, HashSeed = 77,
                    PreviousCrc = 0 }.Write(bytes);
            if (random.Next(2) == 0 && bytes.Length > 8192)
                new BatchHeader { Kind = BatchKind.Data, Term = 1, Batch = 1, SealedUnixUs = 0, Parts = 1, BodyBytes = (uint)random.Next(),
                    Lanes = 3 }.Write(bytes.AsSpan(4096));
            disk.Put(LogFileName.Of(0, 1), bytes);
            using var store = new TestStore();
            RecoveryReport report = store.Recover(DataDirectory.OpenUnlocked(disk));
            Assert.That(report.Start.LastBatch, Is.Zero, $"seed {seed}");
            Assert.That(store.Text(), Is.Empty, $"seed {seed}");
        }
    }

    // Bytes changed, ranges zeroed, copied from elsewhere, files cut, swapped or dropped.
    private static void Mutate(SimulatedDisk disk, Random random)
    {
        string[] names = [.. disk.List().Where(static name => name.EndsWith(".log", StringComparison.Ordinal))];
        for (int i = random.Next(1, 4); i > 0; i--)
        {
            string name = names[random.Next(names.Length)];
            if (!disk.List().Contains(name)) continue;
            byte[] bytes = disk.Get(name);
            int at = random.Next(bytes.Length), length = Math.Min(random.Next(1, 3000), bytes.Length - at);
            switch (random.Next(6))
            {
                case 0: bytes[at] ^= (byte)random.Next(1, 256); break;
                case 1: bytes.AsSpan(at, length).Clear(); break;
                case 2: bytes.AsSpan(random.Next(bytes.Length - length), length).CopyTo(bytes.AsSpan(at)); break;
                case 3: bytes = bytes[..at]; break;
                case 4: bytes = disk.Get(names.Last(disk.List().Contains)); break;
                default: disk.Delete(name); continue;
            }
            disk.Put(name, bytes);
        }
    }
}

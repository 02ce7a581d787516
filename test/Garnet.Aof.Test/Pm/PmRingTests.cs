using Garnet.Aof.Pm;
using Garnet.Aof.Test.Disk;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Aof.Test.Pm;

/// <summary>
/// A file of the log behind a ring in persistent memory, on machines that go down at every step. What is tried: all ways in which few records
/// may be found, many ways by chance, power cuts in the middle of a drain and of a recovery; and that the model notices rings that are wrong.
/// </summary>
internal sealed class PmRingTests
{
    private const int ImagesMost = 1300, DiskSeeds = 3, LettersMost = 40;
    private int _images;

    [SetUp]
    public void CountAnew() => _images = 0;

    // Up to six records: on fresh memory, over what earlier laps left, with fences and drains in between.
    [TestCase("1s")]
    [TestCase("1s1s")]
    [TestCase("12s")]
    [TestCase("fsfs")]
    [TestCase("2sd1s")]
    [TestCase("1sds1s")]
    [TestCase("111s")]
    [TestCase("1s1sd1s1sd1s")]
    [TestCase("1s1sb1b1b")]
    [TestCase("tstdsts")]
    [TestCase("tststststs")]
    [TestCase("ttsdtts")]
    [TestCase("fsdfsdfsd1s2st")]
    public void However_the_lines_that_were_not_fenced_are_found_what_was_synced_is_in_the_file(string script)
    {
        var life = new PmLife(seed: 3);
        Assert.That(Look(life, script, ImagesMost), Is.Null);
        TestContext.Out.WriteLine($"{_images} images");
        Assert.That(_images, Is.GreaterThan(10));
    }

    /// <summary>GARNET_PM_SEED sets the first seed.</summary>
    [Test]
    public void Long_scripts_by_chance_lose_nothing()
    {
        int images = LongRun.IsWanted ? 100_000 : 10_000;
        int first = int.TryParse(Environment.GetEnvironmentVariable("GARNET_PM_SEED"), out int value) ? value : 1;
        for (int seed = first; _images < images; seed++)
        {
            string script = Script(seed);
            Assert.That(Look(new PmLife(seed), script, most: 3), Is.Null, $"GARNET_PM_SEED={seed}: {script}");
        }
        TestContext.Out.WriteLine($"{_images} images");
    }

    // The machine goes down again while what it held is put into the file, at every step of that, and again after it.
    [TestCase("1s")]
    [TestCase("tstsd1sf")]
    [TestCase("ttttst2s1")]
    public void A_recovery_that_is_interrupted_is_made_again(string script)
    {
        var life = new PmLife(seed: 4);
        string? fault = null;
        life.Run(script, () =>
        {
            for (int seed = 0; seed < DiskSeeds && fault is null; seed++)
                fault = Interrupt(life, seed);
        });
        Assert.That(fault, Is.Null);
        Assert.That(_images, Is.GreaterThan(100));
    }

    [Test]
    public void A_planted_fault_is_found([Values] PlantedPmFault fault)
    {
        string? found = FirstFault(fault, flushes: true);
        TestContext.Out.WriteLine($"{fault}: {found}");
        Assert.That(found is not null, Is.EqualTo(fault != PlantedPmFault.None));
    }

    [Test]
    public void Stores_that_nobody_flushes_are_found() => Assert.That(FirstFault(PlantedPmFault.None, flushes: false), Is.Not.Null);

    [Test]
    public void Nothing_that_hostile_bytes_say_is_believed_beyond_the_ring_and_the_file()
    {
        var random = new Random(5);
        long[] odd = [0, 1, -1, 63, 64, 1024, PmLife.RingBytes, int.MaxValue, uint.MaxValue, long.MaxValue, long.MaxValue - 64, long.MinValue, PmPlace.Max, PmPlace.Max - 64];
        for (int round = 0; round < 3000; round++)
        {
            var life = new PmLife(round);
            life.Run("1stsfs", static () => { });
            byte[] bytes = life.Pm.Image(1);
            // The file is as it was with its tail; the memory says what an enemy wants it to, under checksums that hold.
            var head = new PmHead
            {
                Generation = 1000, Number = 99, Place = new PmPlace(Pick(random, odd), (ulong)Pick(random, odd), Pick(random, odd)),
                Sublog = (int)Pick(random, odd), FirstBatch = 7,
            };
            head.Write(bytes);
            for (int line = PmRing.HeadBytes; line < bytes.Length; line += PmSim.Line)
            {
                if (random.Next(2) == 0) continue;
                var record = new PmRecord
                {
                    Number = 99, Lap = (uint)Pick(random, odd), Sequence = (ulong)Pick(random, odd), FileOffset = Pick(random, odd),
                    Length = (int)Pick(random, odd),
                };
                int length = Math.Clamp(record.Length, 0, bytes.Length - line - PmSim.Line);
                record.Write(bytes.AsSpan(line), bytes.AsSpan(line + PmSim.Line, length));
            }
            var ring = new PmRing(new PmSim(bytes), 0, PmLife.RingBytes);
            PmPlace place = ring.Head.Place;
            for (int records = 0; ring.TryFind(ref place, out ReadOnlySpan<byte> payload); records++)
            {
                Assert.That(payload.Length, Is.InRange(1, PmLife.RingBytes));
                Assert.That(records, Is.LessThan(PmLife.RingBytes / PmSim.Line), "it goes round and round");
            }
        }
    }

    private static long Pick(Random random, long[] odd) => random.Next(4) == 0 ? random.NextInt64() : odd[random.Next(odd.Length)];

    private string? FirstFault(PlantedPmFault fault, bool flushes)
    {
        for (int seed = 1; seed <= (fault == PlantedPmFault.None && flushes ? 20 : 500); seed++)
        {
            try
            {
                string script = seed == 1 ? "1s1sd1s1sd1s" : Script(seed);
                if (Look(new PmLife(seed, fault, flushes), script, most: 40) is { } found) return found;
            }
            catch (Exception e) when (e is Garnet.Aof.Disk.DiskException or Garnet.Common.GarnetException)
            {
                return e.Message;
            }
        }
        return null;
    }

    private static string Script(int seed)
    {
        var random = new Random(seed);
        return string.Concat(Enumerable.Range(0, 4 + random.Next(LettersMost)).Select(_ => PmLife.Letters[random.Next(PmLife.Letters.Length)]));
    }

    private string? Look(PmLife life, string script, int most)
    {
        string? fault = null;
        life.Run(script, () =>
        {
            if (fault is not null) return;
            foreach (byte[] image in PmImages.Of(life.Pm, most))
            {
                for (int seed = 0; seed < DiskSeeds; seed++)
                {
                    _images++;
                    fault ??= life.Recover(life.Disk.Crash(seed), new PmSim(image));
                }
                if (fault is not null) return;
            }
        });
        return fault;
    }

    private string? Interrupt(PmLife life, int seed)
    {
        byte[] image = life.Pm.Image(seed);
        for (int step = 1; ; step++)
        {
            SimulatedDisk disk = life.Disk.Crash(seed);
            var pm = new PmSim(image);
            pm.OnStep = () =>
            {
                disk.Count("pm", "ring");
                disk.AfterCount();
            };
            disk.CrashAt = step;
            try
            {
                return life.Recover(disk, pm);
            }
            catch (SimulatedCrashException)
            {
                _images++;
                for (int next = 0; next < DiskSeeds; next++)
                    if (life.Recover(disk.Crash(next), new PmSim(pm.Image(next))) is { } fault) return $"{fault}, interrupted at step {step}";
            }
        }
    }
}

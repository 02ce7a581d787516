using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Pm;
using Garnet.Aof.Test.Disk;
using Garnet.Common;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Aof.Test.Pm;

/// <summary>Heads of rings, and of what says where these lie, that are damaged while a file has its end there: what is left shows what they were, or the start is refused; nothing is given up.</summary>
internal sealed class PmDamageTests
{
    private const int Page = 4096, Line = PmSim.Line, CopyAt = 1024, Length = 1 << 20, Rings = 2;
    private static readonly int[] s_lines = [.. new[] { 0, Page, Page + (int)PmRing.BytesMin }.SelectMany(static at => (int[])[at, at + CopyAt])];

    [TestCase(0)]
    [TestCase(1)]
    [TestCase(7)]
    [TestCase(60)]
    public void A_wrong_byte_at_any_offset_of_a_head_loses_nothing(int drains)
    {
        (byte[] memory, SimulatedDisk disk, byte[] written) = Used(drains, layouts: 2);
        foreach (int line in s_lines)
        {
            for (int at = line; at < line + Line; at++)
            {
                foreach (byte change in LongRun.PartOf<byte>([1, 0x80, 0xFF], every: 3, first: at)) // a short run changes each byte one way
                {
                    byte[] damaged = [.. memory];
                    damaged[at] ^= change;
                    SimulatedDisk after = disk.Crash(0);
                    Assert.That(Complete(damaged, after), Is.Null, $"byte {at} by {change}");
                    Assert.That(after.Get(LogFileName.Of(0, 1)).AsSpan(Page, written.Length).SequenceEqual(written), $"byte {at} by {change}");
                }
            }
        }
    }

    /// <summary>Whatever is wrong with whole lines: all is there, or the start is refused and memory and files are as they were.</summary>
    [TestCase(0)]
    [TestCase(1)]
    [TestCase(60)]
    public void Lines_of_which_nothing_is_left_are_made_up_for_by_others_or_refused(int drains)
    {
        int refused = 0, whole = 0;
        foreach (int layouts in (int[])[1, 2, 3])
        {
            (byte[] memory, SimulatedDisk disk, byte[] written) = Used(drains, layouts);
            foreach ((int[] lines, int fill) in from one in s_lines from other in s_lines from fill in (int[])[-1, 0, 1, 2] select ((int[])[one, other], fill))
            {
                byte[] damaged = [.. memory];
                foreach (int line in lines) Fill(damaged.AsSpan(line, Line), fill);
                byte[] before = [.. damaged];
                SimulatedDisk after = disk.Crash(0);
                string? refusal = Complete(damaged, after, out byte[] left);
                if (refusal is null)
                    Assert.That(after.Get(LogFileName.Of(0, 1)).AsSpan(Page, written.Length).SequenceEqual(written), $"lines {lines[0]} and {lines[1]}, {fill}");
                else
                    Assert.That(left.AsSpan().SequenceEqual(before), refusal);
                _ = refusal is null ? whole++ : refused++;
            }
        }
        TestContext.Out.WriteLine($"{whole} whole, {refused} refused");
        Assert.That((whole > 0, refused > 0), Is.EqualTo((true, true)));
    }

    // -1: zeros, 0: bytes by chance, 1: the last half, 2: behind the generation.
    private static void Fill(Span<byte> line, int fill)
    {
        if (fill < 0)
            line.Clear();
        else
            new Random(fill).NextBytes(line[(fill == 0 ? 0 : fill == 1 ? 32 : 24)..]);
    }

    // A file that is written behind a ring, which has been drained so often, on memory that has been divided so often.
    private static (byte[] Memory, SimulatedDisk Disk, byte[] Written) Used(int drains, int layouts)
    {
        using var pm = new PmSim(new byte[Page + (Rings * PmRing.BytesMin)]);
        using var rings = new PmRings(pm, "range", trustsEmulated: false);
        var disk = new SimulatedDisk();
        _ = rings.Complete(disk);
        for (int i = layouts; i > 0; i--) rings.Divide(i % 2 == 0 ? 1 : Rings, disk.Path);
        string name = LogFileName.Of(0, 1);
        using PmFile file = rings.TryCreate(name, () => disk.Create(name, Length))!;
        byte[] header = new byte[FileHeader.Bytes], piece = new byte[5000];
        new FileHeader { Sublog = 0, Sublogs = 1, FirstBatch = 1, Term = 1, Lanes = 8, HashSeed = 5, PreviousCrc = 0, HasTail = true, Run = file.TailRun, TailNumber = file.TailNumber }
            .Write(header);
        file.Write(0, header);
        file.Sync();
        disk.SyncDirectory();
        var written = new List<byte>();
        for (int i = 0; i <= drains; i++)
        {
            new Random(i).NextBytes(piece);
            file.Write(Page + written.Count, piece);
            file.Sync();
            written.AddRange(piece);
            if (i < drains) file.Drain();
        }
        return (pm.Image(1), disk.Crash(0), [.. written]);
    }

    private static string? Complete(byte[] memory, SimulatedDisk disk) => Complete(memory, disk, out _);

    // Why a start refuses it; null if it has put all into the files that it knows of.
    private static string? Complete(byte[] memory, SimulatedDisk disk, out byte[] left)
    {
        var pm = new PmSim(memory);
        try
        {
            using var rings = new PmRings(pm, "range", trustsEmulated: false);
            _ = rings.Complete(disk);
            string? missing = TailFiles.Missing(disk);
            left = pm.At(0, (int)pm.Bytes).ToArray();
            return missing is null ? null : $"{missing} has its end elsewhere";
        }
        catch (GarnetException e)
        {
            left = pm.At(0, (int)pm.Bytes).ToArray();
            return e.Message;
        }
    }
}

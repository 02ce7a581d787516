using System.Runtime.InteropServices;
using Garnet.Common;
using Garnet.Common.Linux;
using NUnit.Framework;

namespace Garnet.Media.Test;

/// <summary>A file as a medium, read by io_uring and by threads: the same to whoever reads.</summary>
[Platform("Linux")]
internal sealed unsafe class FileMediumTests
{
    private const int Block = 4096, Blocks = 256;
    private string _directory = "";

    [SetUp]
    public void MakeDirectory() => _directory = Directory.CreateTempSubdirectory("medium").FullName;

    [TearDown]
    public void RemoveDirectory() => Directory.Delete(_directory, recursive: true);

    [Test]
    public void What_was_written_is_read_in_any_order_and_many_at_a_time([Values] bool ring, [Values(1, 7, 64)] int depth)
    {
        using FileMedium medium = Filled(ring);
        byte* memory = (byte*)NativeMemory.AlignedAlloc((nuint)(depth * Block), Block);
        using (IMediumReader reader = medium.OpenReader(depth, ReaderWake.None))
        {
            Stack<int> free = new(Enumerable.Range(0, depth));
            int[] wanted = new int[depth];
            Random random = new(depth);
            Span<FinishedRead> finished = stackalloc FinishedRead[5];
            for (int begun = 0, done = 0; done < 2000;)
            {
                for (; begun < 2000 && reader.Room > 0; begun++)
                {
                    int place = free.Pop();
                    wanted[place] = random.Next(Blocks);
                    reader.Begin((ulong)place, (long)wanted[place] * Block, memory + (place * Block), Block);
                }
                reader.Submit();
                int count = reader.Take(finished);
                if (count == 0) reader.Wait();
                for (int i = 0; i < count; i++, done++)
                {
                    int place = (int)finished[i].Token;
                    Assert.That(finished[i].Result, Is.EqualTo(Block));
                    Assert.That(new Span<byte>(memory + (place * Block), Block).IndexOfAnyExcept((byte)(wanted[place] * 7)), Is.EqualTo(-1));
                    free.Push(place);
                }
            }
        }
        NativeMemory.AlignedFree(memory);
    }

    [Test]
    public void Whoever_sleeps_is_woken_by_a_read_that_has_finished([Values] bool ring)
    {
        using FileMedium medium = Filled(ring);
        using WakeEvent wake = new();
        byte* memory = (byte*)NativeMemory.AlignedAlloc(Block, Block);
        using (IMediumReader reader = medium.OpenReader(4, new ReaderWake(wake, null)))
        {
            reader.Begin(3, 5 * Block, memory, Block);
            reader.Submit();
            Assert.That(SpinWait.SpinUntil(() => IsSet(wake), 60_000), "it is set when the read has finished");
            FinishedRead[] finished = new FinishedRead[2];
            Assert.That(reader.Take(finished), Is.EqualTo(1));
            Assert.That(finished[0], Is.EqualTo(new FinishedRead(3, Block)));
        }
        NativeMemory.AlignedFree(memory);
    }

    private static bool IsSet(WakeEvent wake)
    {
        ulong count;
        return Libc.read(wake.Descriptor, &count, sizeof(ulong)) == sizeof(ulong);
    }

    // However short a wait is, what has come is taken, once.
    [Test]
    public void A_wait_with_an_end_finds_what_has_come([Values] bool ring)
    {
        using FileMedium medium = Filled(ring);
        byte* memory = (byte*)NativeMemory.AlignedAlloc(64 * Block, Block);
        using (IMediumReader reader = medium.OpenReader(64, ReaderWake.None))
        {
            reader.Wait(1); // for nothing
            for (int i = 0; i < 64; i++) reader.Begin((ulong)i, i * Block, memory + (i * Block), Block);
            FinishedRead[] finished = new FinishedRead[64];
            HashSet<ulong> taken = [];
            for (int waits = 0; taken.Count < 64 && waits < 10_000; waits++)
            {
                reader.Wait(milliseconds: 100);
                int count = reader.Take(finished);
                for (int i = 0; i < count; i++) Assert.That(taken.Add(finished[i].Token), Is.True);
            }

            Assert.That((taken.Count, reader.Room), Is.EqualTo((64, 64)));
        }
        NativeMemory.AlignedFree(memory);
    }

    [Test]
    public void A_reader_that_is_given_up_waits_for_what_is_under_way([Values] bool ring)
    {
        using FileMedium medium = Filled(ring);
        byte* memory = (byte*)NativeMemory.AlignedAlloc(64 * Block, Block);
        using (IMediumReader reader = medium.OpenReader(64, ReaderWake.None))
        {
            for (int i = 0; i < 64; i++) reader.Begin((ulong)i, i * Block, memory + (i * Block), Block);
            reader.Submit();
        }
        for (int i = 0; i < 64; i++) Assert.That(memory[i * Block], Is.EqualTo((byte)(i * 7)), "nothing writes there any more");
        NativeMemory.AlignedFree(memory);
    }

    [Test]
    public void A_file_that_cannot_be_is_refused_with_what_to_do()
    {
        GarnetException missing = Assert.Throws<GarnetException>(() => FileMedium.Make(Path.Combine(_directory, "none"), 1 << 20))!;
        Assert.That(missing.Next, Does.Contain("tier-path"));
        GarnetException full = Assert.Throws<GarnetException>(() => FileMedium.Make(_directory, 1L << 50))!;
        Assert.That(full.Next, Does.Contain("tier-size"));
        Assert.That(Directory.EnumerateFiles(_directory), Is.Empty);
    }

    [Test]
    public void The_file_has_no_name_while_it_is_used_so_that_nothing_is_left_whatever_ends_the_process()
    {
        using FileMedium medium = Filled(true);
        Assert.That(Directory.EnumerateFiles(_directory), Is.Empty);
    }

    private FileMedium Filled(bool ring)
    {
        FileMedium medium = FileMedium.Make(_directory, Blocks * Block, ring);
        if (ring && medium.Facts.Reading != "io_uring") Assert.Ignore($"reads by {medium.Facts.Reading}");
        byte* block = (byte*)NativeMemory.AlignedAlloc(Block, Block);
        for (int i = 0; i < Blocks; i++)
        {
            new Span<byte>(block, Block).Fill((byte)(i * 7));
            Assert.That(medium.Write((long)i * Block, block, Block), Is.Zero);
        }
        NativeMemory.AlignedFree(block);
        return medium;
    }
}

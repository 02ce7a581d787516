using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;

namespace Garnet.Media.Test;

/// <summary>A medium's file that is opened again: by its owner only, one process at a time, and as it was.</summary>
[Platform("Linux")]
internal sealed class KeptFileTests
{
    private const long Bytes = 1 << 20;
    private static readonly MediumId Own = new(0, 7), Another = new(0, 8);
    private string _directory = "";

    private string File => Directory.GetFiles(_directory).Single();

    [SetUp]
    public void MakeDirectory() => _directory = Directory.CreateTempSubdirectory("kept").FullName;

    [TearDown]
    public void RemoveDirectory() => Directory.Delete(_directory, recursive: true);

    [Test]
    public void It_is_opened_again_with_its_first_note_and_grows_and_shrinks_when_it_is_settled()
    {
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64)) made.Settle();
        using (FileMedium again = FileMedium.Keep(_directory, Own, 2 * Bytes, note: 128))
        {
            Assert.That((again.Note, again.Bytes, new FileInfo(File).Length), Is.EqualTo((64UL, 2 * Bytes, Bytes)));
            Assert.That(() => FileMedium.Keep(_directory, Own, Bytes, 1), Throws.TypeOf<GarnetException>().With.Message.Contains("in use"));
            again.Reserve();
            again.Settle();
            Assert.That(new FileInfo(File).Length, Is.EqualTo(2 * Bytes));
        }
        using FileMedium smaller = FileMedium.Keep(_directory, Own, Bytes, note: 1);
        Assert.That(new FileInfo(File).Length, Is.EqualTo(2 * Bytes), "nothing is cut before it is known that nothing lies there");
        smaller.Settle();
        Assert.That(new FileInfo(File).Length, Is.EqualTo(Bytes));
        Assert.That(FileMedium.Look(_directory, Another), Is.Null);
    }

    /// <summary>Where a disk hangs the kernel has the file of a process that has ended, as long as it owes reads.</summary>
    [Test]
    public void One_that_is_locked_for_a_moment_is_waited_for()
    {
        FileMedium held = FileMedium.Keep(_directory, Own, Bytes, note: 64);
        held.Settle();
        Task<FileMedium> opening = Task.Run(() => FileMedium.Keep(_directory, Own, Bytes, note: 1));
        bool hasGivenUp = SpinWait.SpinUntil(() => opening.IsCompleted, 200);
        held.Dispose();
        using FileMedium opened = opening.GetAwaiter().GetResult();
        Assert.That((hasGivenUp, opened.Note), Is.EqualTo((false, 64UL)));
    }

    [Test]
    public void One_that_was_made_and_not_settled_does_not_stay()
    {
        FileMedium.Keep(_directory, Own, Bytes, 1).Dispose();
        Assert.That(Directory.GetFiles(_directory), Is.Empty);
    }

    [Test]
    public void One_that_is_there_is_left_as_it_is_until_it_is_settled()
    {
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64)) made.Settle();
        using (FileStream cut = System.IO.File.OpenWrite(File)) cut.SetLength(5000);
        FileMedium.Keep(_directory, Own, Bytes, note: 1).Dispose();
        Assert.That(new FileInfo(File).Length, Is.EqualTo(5000), "what was found is judged as it was found");
    }

    /// <summary>Whenever the process ends before the file is settled, there is none, and what it left is gone after the next start.</summary>
    [Test]
    public void A_first_start_that_ends_at_any_moment_leaves_nothing_that_the_next_one_minds([Values(0, 100, 4096, -1)] int written, [Values(7, 8)] int id)
    {
        byte[] whole = HeadOf(id);
        Span<byte> left = written < 0 ? [.. whole, .. new byte[Bytes - whole.Length]] : whole.AsSpan(0, written);
        System.IO.File.WriteAllBytes(Path.Combine(_directory, $"tier-{new MediumId(0, (ulong)id)}.tmp"), left);
        Assert.That(FileMedium.IsKept(_directory, new MediumId(0, (ulong)id)), Is.False);
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64))
        {
            Assert.That(FileMedium.IsKept(_directory, Own), Is.False, "it has its name when all of it is there");
            made.Settle();
        }
        Assert.That(Directory.GetFiles(_directory), Is.EqualTo([Path.Combine(_directory, $"tier-{7:x32}")]));
        using FileMedium again = FileMedium.Keep(_directory, Own, Bytes, note: 1);
        Assert.That(again.Note, Is.EqualTo(64));
    }

    [Test]
    public void One_that_another_process_is_making_is_left_to_it()
    {
        using FileMedium other = FileMedium.Keep(_directory, Another, Bytes, note: 64);
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64)) made.Settle();
        Assert.That(() => FileMedium.Keep(_directory, Another, Bytes, 1), Throws.TypeOf<GarnetException>().With.Message.Contains("in use"));
        other.Settle();
        Assert.That((FileMedium.IsKept(_directory, Own), FileMedium.IsKept(_directory, Another)), Is.EqualTo((true, true)));
    }

    private byte[] HeadOf(int id)
    {
        using (FileMedium made = FileMedium.Keep(_directory, new MediumId(0, (ulong)id), Bytes, note: 64)) made.Settle();
        byte[] head = System.IO.File.ReadAllBytes(File)[..4096];
        System.IO.File.Delete(File);
        return head;
    }

    [TestCase(0, "another file")]
    [TestCase(4, "checksum")]
    [TestCase(20, "checksum")]
    [TestCase(34, "checksum")]
    public void A_damaged_head_is_refused_and_left_as_it_is(int at, string why)
    {
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64)) made.Settle();
        byte[] harmed = System.IO.File.ReadAllBytes(File);
        harmed[at] ^= 1;
        System.IO.File.WriteAllBytes(File, harmed);
        Assert.That(() => FileMedium.Keep(_directory, Own, Bytes, 1), Throws.TypeOf<GarnetException>().With.Message.Contains(why));
        Assert.That(System.IO.File.ReadAllBytes(File), Is.EqualTo(harmed));
    }

    /// <summary>What a start refuses, whichever byte is wrong; of those a repair knows what they were that the checksum, or all else, shows.</summary>
    [Test]
    public unsafe void A_head_that_is_damaged_anywhere_is_refused_and_known_again_where_the_rest_shows_it([Values(1, 0x80, 0xFF)] int change)
    {
        const int HeadBytes = 64, CrcAt = 60;
        ulong[] notes = [32, 64, 128];
        byte[] whole = new byte[KeptHead.Block], harmed = new byte[KeptHead.Block];
        fixed (byte* head = whole, found = harmed)
        {
            KeptHead.Write(head, Own, note: 64);
            Assert.That(KeptHead.FaultOf(head, Own), Is.Null);
            for (int first = 0; first < HeadBytes; first++)
            {
                for (int second = 0; second < HeadBytes; second++)
                {
                    whole.CopyTo(harmed, 0);
                    harmed[first] ^= (byte)change;
                    if (second != first) harmed[second] ^= (byte)change;
                    Assert.That(KeptHead.FaultOf(found, Own), Is.Not.Null, $"{first} and {second}");
                    bool isShown = first >= CrcAt == second >= CrcAt;
                    Assert.That(KeptHead.NoteBefore(found, Own, notes), Is.EqualTo(isShown ? 64UL : null), $"{first} and {second}");
                }
            }
        }
    }

    [Test]
    public unsafe void A_note_that_became_another_one_is_known_by_the_checksum([Values(32UL, 128UL)] ulong became)
    {
        ulong[] notes = [32, 64, 128];
        byte[] block = new byte[KeptHead.Block], other = new byte[KeptHead.Block];
        fixed (byte* head = block, wrong = other)
        {
            KeptHead.Write(head, Own, note: 64);
            KeptHead.Write(wrong, Own, became);
            other.AsSpan(32, sizeof(ulong)).CopyTo(block.AsSpan(32));
            Assert.That(KeptHead.NoteBefore(head, Own, notes), Is.EqualTo(64));
        }
    }

    [Test]
    public void A_damaged_head_is_written_anew_only_where_that_is_asked_for()
    {
        ulong[] notes = [32, 64];
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64)) made.Settle();
        byte[] whole = System.IO.File.ReadAllBytes(File), harmed = [.. whole], kept = [];
        Assert.That(FileMedium.CanMendHead(_directory, Own, KeptPart.Disk, notes), Is.False, "nothing is wrong");
        harmed[33] ^= 5;
        System.IO.File.WriteAllBytes(File, harmed);
        Assert.That(FileMedium.CanMendHead(_directory, Own, KeptPart.Disk, notes), Is.True);
        Assert.That(System.IO.File.ReadAllBytes(File), Is.EqualTo(harmed), "a look changes nothing");
        FileMedium.MendHead(_directory, Own, KeptPart.Disk, notes, was => kept = was);
        Assert.That((System.IO.File.ReadAllBytes(File).SequenceEqual(whole), kept.AsSpan().SequenceEqual(harmed.AsSpan(0, KeptHead.Block))), Is.EqualTo((true, true)));
    }

    [Test]
    public void A_head_that_another_owner_or_a_later_version_has_written_is_not_damaged()
    {
        const int VersionAt = 4;
        ulong[] notes = [64];
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64)) made.Settle();
        byte[] later = System.IO.File.ReadAllBytes(File);
        later[VersionAt]++;
        uint crc = ~0u;
        for (int at = 0; at < 60; at += 4) crc = System.Numerics.BitOperations.Crc32C(crc, BitConverter.ToUInt32(later, at));
        BitConverter.TryWriteBytes(later.AsSpan(60), ~crc);
        System.IO.File.Move(File, Path.Combine(_directory, $"tier-{8:x32}"));
        Assert.That(FileMedium.CanMendHead(_directory, Another, KeptPart.Disk, notes), Is.False);
        System.IO.File.WriteAllBytes(File, later);
        Assert.That(FileMedium.CanMendHead(_directory, Another, KeptPart.Disk, notes), Is.False);
    }

    [Test]
    public void Another_owners_file_is_refused()
    {
        using (FileMedium made = FileMedium.Keep(_directory, Own, Bytes, note: 64)) made.Settle();
        System.IO.File.Move(File, Path.Combine(_directory, $"tier-{8:x32}"));
        Assert.That(() => FileMedium.Keep(_directory, Another, Bytes, 1), Throws.TypeOf<GarnetException>().With.Message.Contains("another server"));
    }
}

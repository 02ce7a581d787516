using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Media.Test;

/// <summary>A medium's file that is opened again: by its owner only, one process at a time, and as it was.</summary>
[Platform("Linux")]
internal sealed class KeptFileTests
{
    private const long Bytes = 1 << 20;
    private string _directory = "";

    private string File => Directory.GetFiles(_directory).Single();

    [SetUp]
    public void MakeDirectory() => _directory = Directory.CreateTempSubdirectory("kept").FullName;

    [TearDown]
    public void RemoveDirectory() => Directory.Delete(_directory, recursive: true);

    [Test]
    public void It_is_opened_again_with_its_first_note_and_grows_and_shrinks_when_it_is_settled()
    {
        using (FileMedium made = FileMedium.Keep(_directory, 7, Bytes, note: 64)) made.Settle();
        using (FileMedium again = FileMedium.Keep(_directory, 7, 2 * Bytes, note: 128))
        {
            Assert.That((again.Note, again.Bytes, new FileInfo(File).Length), Is.EqualTo((64UL, 2 * Bytes, 2 * Bytes)));
            Assert.That(() => FileMedium.Keep(_directory, 7, Bytes, 1), Throws.TypeOf<GarnetException>().With.Message.Contains("in use"));
        }
        using FileMedium smaller = FileMedium.Keep(_directory, 7, Bytes, note: 1);
        Assert.That(new FileInfo(File).Length, Is.EqualTo(2 * Bytes), "nothing is cut before it is known that nothing lies there");
        smaller.Settle();
        Assert.That(new FileInfo(File).Length, Is.EqualTo(Bytes));
        Assert.That(FileMedium.Look(_directory, 8), Is.Null);
    }

    [Test]
    public void One_that_was_made_and_not_settled_does_not_stay()
    {
        FileMedium.Keep(_directory, 7, Bytes, 1).Dispose();
        Assert.That(Directory.GetFiles(_directory), Is.Empty);
    }

    [TestCase(0, "another file")]
    [TestCase(4, "checksum")]
    [TestCase(20, "checksum")]
    [TestCase(34, "checksum")]
    public void A_damaged_head_is_refused_and_left_as_it_is(int at, string why)
    {
        using (FileMedium made = FileMedium.Keep(_directory, 7, Bytes, note: 64)) made.Settle();
        byte[] harmed = System.IO.File.ReadAllBytes(File);
        harmed[at] ^= 1;
        System.IO.File.WriteAllBytes(File, harmed);
        Assert.That(() => FileMedium.Keep(_directory, 7, Bytes, 1), Throws.TypeOf<GarnetException>().With.Message.Contains(why));
        Assert.That(System.IO.File.ReadAllBytes(File), Is.EqualTo(harmed));
    }

    [Test]
    public void Another_owners_file_is_refused()
    {
        using (FileMedium made = FileMedium.Keep(_directory, 7, Bytes, note: 64)) made.Settle();
        System.IO.File.Move(File, Path.Combine(_directory, $"tier-{8:x32}"));
        Assert.That(() => FileMedium.Keep(_directory, 8, Bytes, 1), Throws.TypeOf<GarnetException>().With.Message.Contains("another server"));
    }
}

using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;

namespace Garnet.Media.Test;

/// <summary>A tier's part that is mapped, and both parts together: where what is, and what becomes of a file that is not as large as it was.</summary>
[Platform("Linux")]
internal sealed unsafe class PmMediumTests
{
    private const int Block = 4096;
    private const long Bytes = 1 << 20;
    private static readonly MediumId Own = new(0, 7);
    private string _directory = "";

    [SetUp]
    public void MakeDirectory() => _directory = Directory.CreateTempSubdirectory("pm").FullName;

    [TearDown]
    public void RemoveDirectory() => Directory.Delete(_directory, recursive: true);

    [Test]
    public void What_is_written_is_read_where_it_lies_and_by_readers_and_is_there_again()
    {
        using (PmMedium made = Keep())
        {
            Assert.That(Write(made, Bytes - Block, 7), Is.Zero);
            made.File!.Settle();
            Assert.That((made.Bytes, made.Sync(), made.InPlace(Bytes - 10, 10)[9], made.InPlace(Bytes - 10, 11) == null), Is.EqualTo((Bytes, 0, (byte)7, true)));
            Assert.That(made.InPlace(-1, 1) == null);
        }
        using PmMedium again = Keep();
        Assert.That((again.File!.Note, Read(again, Bytes - Block), Read(again, Bytes), Read(again, -Block)), Is.EqualTo((64UL, (7, Block), (0, -5), (0, -5))));
        Assert.That(() => Keep(), Throws.TypeOf<GarnetException>().With.Message.Contains("in use"));
    }

    [Test]
    public void A_file_that_was_cut_is_read_as_one_that_ends_there_and_written_only_with_its_room()
    {
        using (PmMedium made = Keep())
        {
            Write(made, 2 * Block, 7);
            made.File!.Settle();
        }
        using (FileStream cut = File.OpenWrite(Directory.GetFiles(_directory).Single())) cut.SetLength((3 * Block) + 100);
        using PmMedium found = Keep();
        Assert.That((Read(found, 2 * Block), Read(found, 3 * Block), Read(found, 8 * Block)), Is.EqualTo(((7, Block), (0, 100), (0, 0))));
        Assert.That((found.InPlace(2 * Block, 16)[0], found.InPlace(8 * Block, 16) == null), Is.EqualTo(((byte)7, true)));
        Assert.That(Write(found, 8 * Block, 9), Is.Zero);
        Assert.That((Read(found, 8 * Block), found.InPlace(8 * Block, 16)[0]), Is.EqualTo(((9, Block), (byte)9)));
    }

    [Test]
    public void Of_two_parts_each_has_its_places_whatever_their_sizes()
    {
        using LayeredMedium both = new(FileMedium.Make(_directory, Bytes), Keep());
        Assert.That((Write(both, Bytes - Block, 1), Write(both, LayeredMedium.MemoryFrom, 2), both.Sync()), Is.EqualTo((0, 0, 0)));
        Assert.That((Read(both, Bytes - Block), Read(both, LayeredMedium.MemoryFrom)), Is.EqualTo(((1, Block), (2, Block))));
        Assert.That((both.InPlace(Bytes - Block, 1) == null, both.InPlace(LayeredMedium.MemoryFrom, 1)[0]), Is.EqualTo((true, (byte)2)));
        IMedium medium = both;
        Assert.That((medium.Has(0, Bytes), medium.Has(1, Bytes), medium.Has(Bytes, 1), medium.Has(LayeredMedium.MemoryFrom, Bytes), medium.Has(LayeredMedium.MemoryFrom + 1, Bytes)),
            Is.EqualTo((true, false, false, true, false)));
        Assert.That(both.Parts.Select(static part => (part.From, part.Bytes, part.IsInPlace)), Is.EqualTo(((long, long, bool)[])[(0, Bytes, false), (LayeredMedium.MemoryFrom, Bytes, true)]));
        using LayeredMedium alone = new(null, PmMedium.Over(FileMedium.Make(_directory, Bytes + PmMedium.MoreBytes, part: KeptPart.Memory), _directory));
        Assert.That((Read(alone, 0), Read(alone, LayeredMedium.MemoryFrom)), Is.EqualTo(((0, -5), (0, Block))), "there is no disk");
    }

    private PmMedium Keep() => PmMedium.Over(FileMedium.Keep(_directory, Own, Bytes + PmMedium.MoreBytes, note: 64, part: KeptPart.Memory), _directory);

    private static int Write(IMedium medium, long offset, byte value)
    {
        using NativeArray<byte> block = new(Block, Block);
        new Span<byte>(block.Items, Block).Fill(value);
        return medium.Write(offset, block.Items, Block);
    }

    // The first byte, and what the read came to.
    private static (int First, int Result) Read(IMedium medium, long offset)
    {
        using NativeArray<byte> block = new(Block, Block);
        using IMediumReader reader = medium.OpenReader(1, ReaderWake.None);
        Span<FinishedRead> finished = stackalloc FinishedRead[1];
        reader.Begin(3, offset, block.Items, Block);
        reader.Submit();
        while (reader.Take(finished) == 0) reader.Wait();
        return (block.Items[0], finished[0].Result);
    }
}

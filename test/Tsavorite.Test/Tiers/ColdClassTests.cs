using Garnet.Media;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Records of half a KiB to a page on the tier: they lie across the ends of pages, and one page more is read for them at the most.</summary>
internal sealed unsafe class ColdClassTests
{
    private const int Segment = 32 << 10, Page = ColdSegments.PageBytes;

    [TestCase(16, 0, 0, 0)]
    [TestCase(512, 0, 0, 0)]
    [TestCase(513, 1, 1, 1024)]
    [TestCase(1024, 1, 1, 1024)]
    [TestCase(1025, 2, 1, 2048)]
    [TestCase(2049, 3, 1, 4096)]
    [TestCase(4096, 3, 1, 4096)]
    [TestCase(4097, 4, 1, 0)]
    [TestCase(8192, 4, 1, 0)]
    [TestCase(8193, 5, 2, 0)]
    [TestCase(Segment - Page, 6, 3, 0)]
    public void A_record_is_of_the_class_of_its_length(int bytes, int number, int band, int recordMax)
    {
        Assert.That(ColdClass.Of(bytes), Is.EqualTo(new ColdClass(number, band, recordMax)));
        Assert.That(number, Is.LessThan(ColdClass.CountOf(ColdSegments.BandsOf(Segment))));
        Assert.That(ColdClass.IsRecordMax(recordMax));
    }

    // A page each was lost, or the half of one: 5 of 736 bytes went into it, 1 of 2,100.
    [TestCase(700, 1024)]
    [TestCase(1000, 2048)]
    [TestCase(2070, 4096)]
    [TestCase(4000, 4096)]
    public void They_take_what_they_have_and_two_pages_are_read_for_one_at_the_most(int bytes, int recordMax)
    {
        const int Keys = 500;
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { TierId = new MediumId(0, 7) });
        bench.Cold(Keys, bytes);
        long used = bench.Tier().SizeBytes - bench.Tier().FreeBytes;
        Assert.That(used, Is.LessThan(Keys * (bytes + 40L) * 110 / 100 + (2 * Segment)));
        ExpectReads(bench, Keys, bytes, recordMax);
        NamingList list = NamingList.Of(bench.Store);
        medium.Crash(1);
        using Bench again = new(TieredBench.Settings(medium) with { TierId = new MediumId(0, 7) });
        Assert.That(list.Load(again.Store), Is.EqualTo(LoadOutcome.Done));
        ExpectReads(again, Keys, bytes, recordMax); // their segments' heads say how long they are
    }

    [Test]
    public void What_lies_behind_a_damaged_one_is_found_and_moved()
    {
        const int Keys = 40, Left = 10, Bytes = 700, Harmed = 7; // all in one segment
        using SimulatedMedium medium = new(2 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { Partitions = 1 });
        bench.Cold(Keys, Bytes);
        for (int i = Left; i < Keys - Left; i++) bench.Delete("k" + i);
        bench.ExpectNothingUnderWay();
        Span<byte> all = medium.At(0, (int)medium.Bytes);
        int at = all.IndexOf(TieredBench.Value(Harmed, Bytes));
        all[at + 50] ^= 1;
        ColdSegment* segment = bench.Store.Core.Tier!.Segments[(uint)(at / Segment)];
        Assert.That(segment->Live, Is.EqualTo(2 * Left));
        using ColdWriter writer = new(bench.Store.Core, bench.Store.Core.Tier!);
        using ColdCleaner cleaner = new(bench.Store.Core, bench.Store.Core.Tier!, writer, writer);
        Assert.That((cleaner.Compact(bench.Store.Core.Tier!.Segments.Bottom, bench.NowMs), bench.Tier().Compacted, segment->Live), Is.EqualTo((true, (2 * Left) - 1, 1)));
        for (int i = 0; i < Keys; i++)
        {
            if ((i < Left || i >= Keys - Left) && i != Harmed)
                Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, Bytes)), $"key {i}");
        }
    }

    private static void ExpectReads(Bench bench, int keys, int bytes, int recordMax)
    {
        (long reads, long readBytes) = (bench.Tier().Reads, bench.Tier().ReadBytes);
        for (int i = 0; i < keys; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(TieredBench.Value(i, bytes)), $"key {i}");
        double pages = (bench.Tier().ReadBytes - readBytes) / (double)(bench.Tier().Reads - reads) / Page;
        Assert.That(pages, Is.InRange(1, 1.1 + (recordMax / (double)Page)));
    }
}

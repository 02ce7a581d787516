using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>Stores that cannot go on with what a snapshot names on a tier read it (<see cref="NamedReader"/>).</summary>
internal sealed class NamedReaderTests
{
    private const long MediumBytes = 8 << 20;

    [Test]
    public void What_another_wrote_is_read_and_put_in_record_by_record()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        int before = medium.Reads, judged = 2 * list.Segments.Sum(static block => NamedSegments.CountSegments(block));
        using (Store judging = new(TieredBench.KeptSettings(medium) with { ValueCheck = new Believer() }))
        {
            Assert.That(list.Load(judging, origin: BlockOrigin.Foreign), Is.EqualTo(LoadOutcome.Done));
            Assert.That(medium.Reads - before, Is.GreaterThan(judged), "records, too");
            Assert.That(Content.Of(judging), Is.EqualTo(then));
        }
        list.ExpectElsewhere(TieredBench.KeptSettings(medium), medium, then);
    }

    [Test]
    public void A_reference_with_bits_of_another_hash_is_found_by_who_reads_what_is_named_and_the_value_is_not_lost()
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        list.References[0][^1] ^= 0; // as it was
        Assert.That(Read(list).IsAsNamed);
        list.References[0][5] ^= 8; // of the word's tag
        ColdLosses losses = Read(list);
        Assert.That((losses.IsAsNamed, losses.HasAny, losses.Others.Count), Is.EqualTo((false, false, 1)));

        ColdLosses Read(NamingList list)
        {
            using Store again = new(Bench.Tiny() with { Named = medium });
            ColdLosses losses = new();
            Assert.That(list.Load(again, losses: losses), Is.EqualTo(LoadOutcome.Done));
            Assert.That(Content.Of(again), Is.EqualTo(then));
            return losses;
        }
    }

    [Test]
    public void Who_reads_what_is_named_reads_it_once_and_neighbours_together()
    {
        const int Keys = 500, PagesOfSegment = 2;
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = new(TieredBench.KeptSettings(medium));
        bench.Cold(Keys, 100);
        NamingList list = NamingList.Of(bench.Store);
        int before = medium.Reads, segments = list.Segments.Sum(static block => NamedSegments.CountSegments(block));
        using Store again = new(Bench.Tiny() with { Named = medium });
        ColdLosses losses = new();
        Assert.That((list.Load(again, losses: losses), losses.IsAsNamed), Is.EqualTo((LoadOutcome.Done, true)));
        int reads = medium.Reads - before;
        Assert.That(Content.Of(again), Is.EqualTo(Content.Of(bench.Store)));
        Assert.That(reads - (PagesOfSegment * segments), Is.InRange(segments / 2, list.ReferenceCount / 10));
    }

    // What is read together is read again by itself then.
    [TestCase(5)]
    [TestCase(SimulatedMedium.Short)]
    public void A_read_of_neighbours_that_fails_costs_only_those_that_cannot_be_read(int fault)
    {
        using SimulatedMedium medium = new(MediumBytes);
        using Bench bench = TieredBench.Filled(medium, out SortedDictionary<string, string> then);
        NamingList list = NamingList.Of(bench.Store);
        int judged = 2 * list.Segments.Sum(static block => NamedSegments.CountSegments(block));
        foreach (bool goesOn in new[] { false, true })
        {
            using Store again = new(Bench.Tiny() with { Named = medium });
            ColdLosses losses = new();
            int first = medium.Reads + judged + 1;
            medium.FailsRead = number => number == first || (goesOn && number > first) ? fault : 0;
            Assert.That(list.Load(again, losses: losses), Is.EqualTo(LoadOutcome.Done));
            medium.FailsRead = static _ => 0;
            Assert.That(losses.Keys + losses.Pieces, Is.EqualTo(goesOn ? list.ReferenceCount : 0));
            if (!goesOn)
                Assert.That(Content.Of(again), Is.EqualTo(then));
        }
    }
}

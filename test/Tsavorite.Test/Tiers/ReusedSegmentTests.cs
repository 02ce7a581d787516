using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>
/// What was read from the tier is kept for a moment, and the segment that it lay in is not: another use may be made of that meanwhile, in which the same word names
/// another record (store.C3).
/// </summary>
internal sealed unsafe class ReusedSegmentTests
{
    private const int Eio = 5, Segment = 32 << 10, Short = 100, Long = 3 * Segment;

    [Test]
    public void What_was_kept_of_a_segment_is_not_believed_once_another_use_is_made_of_it([Values(Short, Long)] int bytes, [Values] bool fails)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, bytes);
        ulong before = WordOf(bench);
        using StoreSession reader = bench.Store.OpenSession();
        reader.NowMs = bench.NowMs;
        medium.FailsRead = _ => fails ? Eio : 0;
        if (fails)
            Assert.That(() => Read(bench, reader), Throws.TypeOf<GarnetException>());
        else
            Assert.That(Read(bench, reader), Is.EqualTo(TieredBench.Value(1, bytes)));
        Assert.That((reader.Tier!.Keeps, bench.Pins()), Is.EqualTo((true, 0)), "it is kept, and its segment is not");
        medium.FailsRead = static _ => 0;
        int seed = ReuseUntil(bench, before, bytes);
        Assert.That(Read(bench, reader), Is.EqualTo(TieredBench.Value(seed, bytes)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void What_comes_back_is_what_its_word_names_and_not_what_it_named_when_it_was_looked_for()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, Short);
        ulong before = WordOf(bench);
        using StoreSession other = bench.Store.OpenSession();
        other.NowMs = bench.NowMs;
        bench.Get("k");
        int looks = 0;
        StoreTestHooks.OnYield = point =>
        {
            if (point == YieldPoint.BeforeFrequency && looks++ == 0)
                Reuse(bench, other, seed: 2, Short);
        };
        byte[]? found = bench.Get("k");
        StoreTestHooks.OnYield = null;
        Assert.That((found, looks > 0), Is.EqualTo((TieredBench.Value(1, Short), true)), "the read came before the write");
        Assert.That(ColdAddress.Name(WordOf(bench)), Is.EqualTo(ColdAddress.Name(before)), "the same place is used again");
        Assert.That((bench.Tier().Admitted, bench.Tier().Lost, bench.Tier().Promoted), Is.EqualTo((1, 1, 0)));
        Assert.That(bench.Get("k"), Is.EqualTo(TieredBench.Value(2, Short)));
    }

    [Test]
    public void A_segment_is_not_used_again_while_it_is_read()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, Short);
        long free = bench.Tier().FreeBytes;
        using StoreSession reader = bench.Store.OpenSession();
        reader.NowMs = bench.NowMs;
        reader.Tier!.MayPostpone = static () => true;
        bool delays = true;
        medium.Delays = () => delays;
        Assert.That(() => Read(bench, reader), Throws.TypeOf<ColdMissException>());
        reader.Tier.Poll(bench.NowMs);
        medium.Delays = static () => false;
        bench.Delete("k");
        Assert.That((reader.Tier.Pending, bench.Pins(), bench.Tier().FreeBytes), Is.EqualTo((1, 1, free)));
        delays = false;
        for (int i = 0; i < 100 && reader.Tier.Pending > 0; i++) reader.Tier.Poll(bench.NowMs);
        Assert.That((reader.Tier.Keeps, bench.Pins(), bench.Tier().FreeBytes), Is.EqualTo((true, 0, free + Segment)));
        reader.Tier.MayPostpone = null;
        Assert.That(Read(bench, reader), Is.Null);
    }

    // A word of the past, as a look without the lock may come to: what is under way for it is not what the word names later.
    [Test]
    public void What_is_under_way_for_an_earlier_use_is_not_taken_for_the_next([Values(Short, Long)] int bytes, [Values] bool ends)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, bytes);
        ulong word = WordOf(bench);
        bench.Delete("k");
        ColdReads reads = new(bench.Store.Core.Tier!, ReaderWake.None);
        Assert.That(reads.Record(word) == null);
        reads.Begin();
        int seed = ReuseUntil(bench, word, bytes);
        Assert.That(reads.Record(word) == null, "it is read anew");
        if (ends)
        {
            reads.Fetch();
            byte* image = reads.Record(word);
            Assert.That(new ReadOnlySpan<byte>(Record.Value(image), Record.ValueBytes(image)).SequenceEqual(TieredBench.Value(seed, bytes)));
        }
        reads.Dispose();
        Assert.That(bench.Pins(), Is.Zero);
    }

    private static Bench Cold(SimulatedMedium medium, int bytes)
    {
        Bench bench = new(TieredBench.Settings(medium));
        bench.Set("k", TieredBench.Value(1, bytes));
        bench.Demote();
        return bench;
    }

    // The value is changed, which frees the segment of the one before, and demoted to it.
    private static void Reuse(Bench bench, StoreSession by, int seed, int bytes)
    {
        SetValue set = new() { Value = TieredBench.Value(seed, bytes) };
        Assert.That(by.Modify(bench.Key("k"), ref set), Is.EqualTo(Outcome.Done));
        bench.Demote();
    }

    // Until the same word names another value, the seed of which is returned: the segments of a run come back in the other order.
    private static int ReuseUntil(Bench bench, ulong word, int bytes)
    {
        int seed = 2;
        for (; seed < 9; seed++)
        {
            Reuse(bench, bench.Session, seed, bytes);
            if (ColdAddress.Name(WordOf(bench)) == ColdAddress.Name(word)) break;
        }
        Assert.That(seed, Is.LessThan(9), "the same place is used again");
        return seed;
    }

    private static byte[]? Read(Bench bench, StoreSession by)
    {
        CopyOut copy = new();
        return by.Read(bench.Key("k"), ref copy) == Outcome.Done ? copy.Span.ToArray() : null;
    }

    private static ulong WordOf(Bench bench)
    {
        KeyRef key = bench.Key("k");
        Shape* shape = bench.Store.Core.Shape;
        Partition* partition = Shape.PartitionOf(shape, key.Hash);
        ulong tag = Shape.TagOf(shape, key.Hash);
        for (SlotWalk walk = new(partition, Shape.BucketOf(shape, partition, key.Hash)); walk.Next();)
        {
            if ((*walk.Slot ^ tag) >> IndexWord.TagShift == 0 && IndexWord.IsCold(*walk.Slot))
                return *walk.Slot;
        }
        throw new AssertionException("the key lies on the tier");
    }
}

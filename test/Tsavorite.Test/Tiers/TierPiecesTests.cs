using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>Small pieces of the tier, each by itself: what is kept and for how long, what is wanted and until when, what is known of a segment.</summary>
internal sealed unsafe class TierPiecesTests
{
    private const int Segment = 32 << 10;

    [Test]
    public void Each_read_in_memory_counts_over_a_tier_until_the_word_counts_no_higher()
    {
        using SimulatedMedium medium = new(1 << 20);
        using Bench tiered = new(TieredBench.Settings(medium)), alone = new();
        foreach (Bench bench in new[] { tiered, alone })
        {
            bench.Set("k", "value");
            List<int> seen = [];
            for (int read = 0; read < 6; read++)
            {
                bench.Get("k");
                seen.Add(bench.Last.Frequency);
            }
            Assert.That(seen, Is.EqualTo(bench == tiered ? new[] { 0, 1, 2, 3, 3, 3 } : [0, 0, 0, 0, 0, 0]));
        }
    }

    [Test]
    public void A_fetched_record_is_kept_for_a_moment_and_a_long_one_the_longer_the_more_there_is_to_copy()
    {
        const int LongBytes = 256 << 20;
        using SimulatedMedium medium = new(1 << 20);
        using ColdTier tier = new(medium, Segment, id: default);
        List<ulong> gone = [];
        KeptReads kept = new(tier, read => gone.Add(read.Word));
        kept.Add(new ColdRead(1) { Parts = 1, RecordBytes = 100, State = ColdReadState.Ready }, step: 1);
        kept.Add(new ColdRead(2) { Parts = 9, RecordBytes = LongBytes, State = ColdReadState.Ready }, step: 1);
        const long Begin = 1_000_000, End = Begin + KeptReads.KeptMs, LongEnd = End + (LongBytes / KeptReads.LongBytesPerMs);
        (long AtMs, ulong[] Gone)[] course = [(Begin, []), (End - 1, []), (End, [1]), (LongEnd - 1, [1]), (LongEnd, [1, 2])];
        foreach ((long atMs, ulong[] then) in course)
        {
            kept.GiveUp(atMs);
            Assert.That(gone, Is.EqualTo(then), $"after {atMs - Begin} ms");
        }
        Assert.That((LongEnd - End, kept.HasAny, kept.Bytes), Is.EqualTo((512L, false, 0L)));
    }

    [Test]
    public void What_came_since_the_time_was_told_has_it_from_then_on_whatever_went_before()
    {
        KeptQueue queue = new();
        ColdRead[] reads = [.. Enumerable.Range(1, 6).Select(static i => new ColdRead((ulong)i) { Parts = 1 })];
        for (int i = 0; i < 3; i++) queue.Enqueue(reads[i]);
        Assert.That(queue.Dequeue(), Is.SameAs(reads[0]), "before it has one");
        queue.Stamp(100);
        for (int i = 3; i < 6; i++) queue.Enqueue(reads[i]);
        Assert.That((queue.Remove(reads[4]), queue.Remove(reads[4]), queue.Dequeue() == reads[1]), Is.EqualTo((true, false, true)));
        queue.Stamp(200);
        queue.Stamp(300);
        Assert.That(reads.Select(static read => read.KeptSinceMs), Is.EqualTo(new long[] { 0, 100, 100, 200, 0, 200 }));
        Assert.That((queue.Count, queue.Peek() == reads[2], queue.TryPeek(out _)), Is.EqualTo((3, true, true)));
    }

    [Test]
    public void Room_is_wanted_for_as_long_as_who_asks_waits_and_no_longer()
    {
        const int PatienceMs = 1000;
        WantedRoom wanted = new(PatienceMs);
        Assert.That(wanted.Bytes(0), Is.Zero);
        wanted.Ask(100);
        wanted.Ask(50);
        Assert.That((wanted.Bytes(10), wanted.Bytes(10 + PatienceMs - 1), wanted.Bytes(10 + PatienceMs)), Is.EqualTo((100, 100, 0)));
        wanted.Ask(100);
        Assert.That(wanted.Bytes(5000), Is.EqualTo(100));
        wanted.Ask(50);
        Assert.That(wanted.Bytes(5500), Is.EqualTo(100), "somebody still waits: the most counts, and all have their time anew");
        Assert.That((wanted.Bytes(5500 + PatienceMs - 1), wanted.Bytes(5500 + PatienceMs)), Is.EqualTo((100, 0)));
        wanted.Ask(50);
        Assert.That(wanted.Bytes(9000), Is.EqualTo(50), "and not what others wanted before");
    }

    [Test]
    public void What_a_look_at_a_segment_has_learned_counts_only_if_nothing_has_come_into_it_meanwhile()
    {
        using ColdSegments segments = new(1 << 20, Segment);
        uint number = segments.Take(default(ColdClass));
        ColdSegment* segment = segments[number];
        ulong word = ColdAddress.Word(0, segments.OffsetOf(number) + 64);
        Assert.That(segment->TimedFromMs, Is.EqualTo(long.MaxValue));
        segments.NameTimed(word, 500);
        (ulong life, int named) = (segment->Life, segment->TimedNamed);
        segments.LearnTimed(number, life, named, 900);
        Assert.That(segment->TimedFromMs, Is.EqualTo(900));
        segments.NameTimed(word, 700);
        segments.LearnTimed(number, life, named, 5000);
        Assert.That(segment->TimedFromMs, Is.EqualTo(700), "the look did not come to what is due then");
        segments.LearnTimed(number, life + 1, segment->TimedNamed, 5000);
        Assert.That(segment->TimedFromMs, Is.EqualTo(700), "it was another use of the segment");
        segments.LearnTimed(number, life, segment->TimedNamed, 5000);
        Assert.That(segment->TimedFromMs, Is.EqualTo(5000));
    }
}

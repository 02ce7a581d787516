using Garnet.Common;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What promotion promises, one by one. The numbers are the table's in the decision about the tier.</summary>
internal sealed unsafe class PromotionPromiseTests
{
    private const int Eio = 5;

    // Of many keys that become hot at once all come back: none waits for another or loses its turn.
    [Test]
    public void P1_A_burst_of_hot_keys_comes_back_whole()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 300);
        for (int read = 0; read < 2; read++) Read(bench, 300);
        TierFigures tier = bench.Tier();
        Assert.That((tier.Considered, tier.RejectedFrequency, tier.Admitted, tier.Promoted, tier.Lost), Is.EqualTo((600, 300, 300, 300, 0)));
        Assert.That(tier.Records, Is.Zero);
    }

    // Who writes a key while it comes back has won: the old value is not put over the new one.
    [Test]
    public void P2_A_writer_that_comes_between_has_won()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        using StoreSession other = bench.Store.OpenSession();
        bench.Get("k1");
        SetValue set = new() { Value = Value(7, 100) };
        int writes = 0;
        StoreTestHooks.OnYield = point =>
        {
            if (point == YieldPoint.BeforeFrequency && writes++ == 0) other.Modify(bench.Key("k1"), ref set);
        };
        byte[]? found = bench.Get("k1");
        StoreTestHooks.OnYield = null;
        Assert.That(found, Is.EqualTo(Value(1, 100)), "the read came before the write");
        Assert.That((bench.Tier().Admitted, bench.Tier().Lost, bench.Tier().Promoted), Is.EqualTo((1, 1, 0)));
        Assert.That(bench.Get("k1"), Is.EqualTo(Value(7, 100)));
    }

    // What has come back is read from memory: the counter of reads stands still.
    [Test]
    public void P3_A_read_after_the_promotion_does_not_go_to_the_tier()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        for (int read = 0; read < 2; read++) bench.Get("k1");
        (long reads, long hits) = (bench.Tier().Reads, bench.Session.Tier!.Hits);
        Assert.That((reads, hits), Is.EqualTo((1, 2)), "the second read took what the first had fetched");
        bench.ExpectNothingUnderWay();
        for (int read = 0; read < 10; read++) Assert.That(bench.Get("k1"), Is.EqualTo(Value(1, 100)));
        Assert.That((bench.Tier().Reads, bench.Session.Tier!.Hits, medium.Reads), Is.EqualTo((reads, hits, (int)reads)));
    }

    // What was fetched and is not asked for again is given up after a while: memory, and the segment that it lay in.
    [Test]
    public void P4_What_is_fetched_for_nobody_is_given_up()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        long free = bench.Tier().FreeBytes;
        bench.Cold(500, 100);
        bench.Session.Tier!.MayPostpone = static () => true;
        for (int i = 0; i < 50; i++)
        {
            Assert.That(() => bench.Get("k" + i), Throws.TypeOf<ColdMissException>());
            bench.Session.Tier.GiveUp(bench.Session.Tier.TakeWanted());
        }
        Assert.That(bench.Pins(), Is.GreaterThanOrEqualTo(50));
        while (bench.Session.Tier.Pending > 0) bench.Session.Tier.Poll(bench.NowMs);
        Assert.That((bench.Session.Tier.Keeps, bench.Pins()), Is.EqualTo((true, 0)), "the segments are given up once they were read");
        bench.ExpectNothingUnderWay();
        bench.Store.Namespaces.Flush(0, wait: false);
        bench.StepUntilIdle();
        Assert.That(bench.Tier().FreeBytes, Is.EqualTo(free));
    }

    // The room that promotion leaves free is that of all memory, not of a partition: together they never take more.
    [Test]
    public void P5_All_partitions_together_keep_the_headroom()
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = 2 << 20, Partitions = 8 });
        for (int i = 0; i < 8000; i++)
        {
            bench.Set("k" + i, Value(i, 400));
            if (i % 500 == 0) bench.Demote();
        }
        bench.Demote();
        for (int read = 0; read < 4; read++)
        {
            Read(bench, 8000, 400);
            Assert.That(bench.Store.Arena.Used, Is.LessThanOrEqualTo(bench.Store.Arena.Ceiling));
        }
        Assert.That(bench.Tier().RejectedHeadroom, Is.GreaterThan(1000));
        Assert.That(bench.Tier().Promoted, Is.GreaterThan(100));
    }

    // However long a read takes, its memory and its segment stay: nobody else's bytes come in its place.
    [Test]
    public void P6_A_read_under_way_keeps_its_memory_and_its_segment()
    {
        using SimulatedMedium medium = new(512 << 10);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(300, 100);
        bench.Session.Tier!.MayPostpone = static () => true;
        Assert.That(() => bench.Get("k1"), Throws.TypeOf<ColdMissException>());
        for (int round = 0; round < 20; round++)
        {
            Replace(bench, 300);
            bench.NowMs += 3_600_000;
        }
        Assert.That((bench.Pins(), bench.Session.Tier!.Pending), Is.EqualTo((1, 1)));
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().ReadFailures, Is.Zero, "it was still there");
        bench.Session.Tier.MayPostpone = null;
        Assert.That(bench.Get("k1"), Is.EqualTo(Value(1001, 100)));
    }

    // A promotion that succeeded holds nothing: the next one has all that the first had.
    [Test]
    public void P7_A_promotion_that_succeeded_leaves_no_pin_and_no_copy()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        for (int key = 0; key < 100; key++)
        {
            for (int read = 0; read < 2; read++) bench.Get("k" + key);
            bench.ExpectNothingUnderWay();
            Assert.That((bench.Tier().Promoted, bench.Tier().Records), Is.EqualTo((key + 1, 99 - key)));
        }
    }

    // A threshold outside of what can be counted is the nearest that can.
    [TestCase(0, 1)]
    [TestCase(1, 1)]
    [TestCase(2, 2)]
    [TestCase(3, 3)]
    [TestCase(300, 3)]
    public void P8_The_threshold_is_what_can_be_counted(int set, int reads)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        bench.Store.Core.Tier!.Gate.Threshold = set;
        Assert.That(bench.Store.Core.Tier.Gate.Threshold, Is.EqualTo(reads));
        for (int read = 1; read <= reads; read++)
        {
            Assert.That(bench.Tier().Promoted, Is.Zero);
            bench.Get("k1");
        }
        Assert.That(bench.Tier().Promoted, Is.EqualTo(1));
    }

    // Asked for where there is no tier, it says that it is not there, and nothing changes.
    [Test]
    public void P9_Without_a_tier_there_is_no_promotion_and_it_says_so()
    {
        using Bench bench = new();
        bench.Store.Promotion = TierPromotion.Yes;
        Assert.That((bench.Store.Promotion, bench.Store.Figures().Tier), Is.EqualTo((TierPromotion.No, (TierFigures?)null)));
        bench.Store.ResetTierCounts();
        bench.Set("k", "value");
        Assert.That(bench.Text("k"), Is.EqualTo("value"));
    }

    // What one session has fetched is its own: another neither takes it nor ends it, and the key comes back once.
    [Test]
    public void P10_Two_sessions_that_fetch_one_key_do_not_disturb_each_other()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        using StoreSession other = bench.Store.OpenSession();
        other.NowMs = bench.NowMs;
        CopyOut copy = new();
        bench.Get("k1");
        Assert.That(other.Read(bench.Key("k1"), ref copy), Is.EqualTo(Outcome.Done));
        Assert.That(copy.Span.ToArray(), Is.EqualTo(Value(1, 100)));
        Assert.That((bench.Tier().Promoted, bench.Tier().Records), Is.EqualTo((1, 99)), "the second read was another's");
        Assert.That(bench.Get("k1"), Is.EqualTo(Value(1, 100)));
        Assert.That(bench.Tier().Considered, Is.EqualTo(2), "and what the first kept was not looked at again");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    // What was given up is read anew, not shown from memory that others have by now.
    [Test]
    public void P11_What_was_given_up_is_read_anew()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        bool putsOff = true;
        bench.Session.Tier!.MayPostpone = () => putsOff;
        for (int fetch = 1; fetch <= 3; fetch++)
        {
            Assert.That(() => bench.Get("k1"), Throws.TypeOf<ColdMissException>());
            bench.ExpectNothingUnderWay();
            Assert.That(medium.Reads, Is.EqualTo(fetch));
        }
        putsOff = false;
        Assert.That(bench.Get("k1"), Is.EqualTo(Value(1, 100)));
    }

    // Half of a record, or another one in its place, is an error: neither shown nor taken for a key that is not there.
    [TestCase(SimulatedMedium.Short)]
    [TestCase(SimulatedMedium.Elsewhere)]
    [TestCase(SimulatedMedium.Flipped)]
    public void P12_Bytes_that_are_not_the_record_are_an_error(int fault)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 1000);
        medium.FailsRead = _ => fault;
        for (int i = 0; i < 1000; i += 10)
        {
            bench.NowMs += 1000;
            Assert.That(() => bench.Get("k" + i), Throws.TypeOf<GarnetException>(), $"k{i}");
        }
        medium.FailsRead = static _ => 0;
        bench.ExpectNothingUnderWay();
        Read(bench, 1000);
        Assert.That(bench.Tier().Promoted, Is.Zero);
    }

    // Whatever becomes of a key while it is fetched, nothing of the fetch stays, and all its room is free again.
    [Test]
    public void P13_A_key_that_goes_while_it_is_fetched_leaves_nothing_behind([Values("delete", "overwrite", "append", "expire", "flush", "error")] string way)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        long free = bench.Tier().FreeBytes;
        for (int i = 0; i < 200; i++) bench.Set("k" + i, Value(i, 100), 0, bench.NowMs + 1000);
        bench.Demote();
        bool putsOff = true;
        bench.Session.Tier!.MayPostpone = () => putsOff;
        bench.Session.Tier.Poll(bench.NowMs);
        for (int i = 0; i < 20; i++) Assert.That(() => bench.Get("k" + i), Throws.TypeOf<ColdMissException>());
        End(bench, medium, way);
        bench.ExpectNothingUnderWay();
        medium.FailsRead = static _ => 0;
        putsOff = false;
        byte[]? expected = way switch { "overwrite" => Value(3, 50), "append" => [.. Value(3, 100), 1], "error" => Value(3, 100), _ => null };
        bench.NowMs = way == "expire" ? bench.NowMs : 1_000_100;
        Assert.That(bench.Get("k3"), Is.EqualTo(expected));
        bench.Store.Namespaces.Flush(0, wait: false);
        bench.StepUntilIdle();
        bench.NowMs += 1000;
        bench.ExpectNothingUnderWay();
        Assert.That(bench.Tier().FreeBytes, Is.EqualTo(free));
    }

    // A session that ends in the middle of its reads gives all of them back.
    [Test]
    public void P14_A_session_that_ends_leaves_no_pins()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 300);
        using (StoreSession other = bench.Store.OpenSession())
        {
            other.NowMs = bench.NowMs;
            other.Tier!.MayPostpone = static () => true;
            CopyOut copy = new();
            for (int i = 0; i < 100; i++) Assert.That(() => other.Read(bench.Key("k" + i), ref copy), Throws.TypeOf<ColdMissException>());
            Assert.That(bench.Pins(), Is.EqualTo(100), "64 under way, the others behind them");
        }
        Assert.That(bench.Pins(), Is.Zero);
    }

    // A promotion does not wait for a writer, and is not made in the middle of its change; the writer finds what has come back.
    [Test]
    public void P15_Neither_a_writer_nor_a_promotion_ends_what_the_other_began()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        bench.Get("k1");
        Partition* partition = bench.Store.Core.Shape->Partitions + bench.Store.PartitionOf(bench.Key("k1"));
        Partition.Enter(partition);
        Assert.That(bench.Get("k1"), Is.EqualTo(Value(1, 100)), "it does not wait");
        Partition.Exit(partition);
        Assert.That((bench.Tier().RejectedHeld, bench.Tier().Promoted), Is.EqualTo((1, 0)));
        bench.Get("k1");
        Assert.That(bench.Tier().Promoted, Is.EqualTo(1), "the next read brings it back");
        bench.Append("k1", [1]);
        Assert.That(bench.Get("k1"), Is.EqualTo((byte[])[.. Value(1, 100), 1]));
    }

    // Keys that are read together count as those that are read alone, also under the locks of a transaction.
    [Test]
    public void P16_Keys_that_are_read_together_come_back_too()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        using Bench keys = new();
        for (int read = 0; read < 2; read++)
        {
            bench.Session.Lock([bench.Key("k1"), keys.Key("k2")]);
            for (int i = 1; i <= 2; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, 100)));
            bench.Session.Unlock();
        }
        Assert.That((bench.Tier().Considered, bench.Tier().Promoted, bench.Session.Tier!.Hits), Is.EqualTo((4, 2, 4)));
    }

    // Two reads that lie as far apart as memory has records, or some thousands of looks, are two first ones.
    [Test]
    public void Reads_that_lie_far_apart_do_not_add_up()
    {
        const int Keys = 9_000, Between = 100;
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(Keys, 50);
        for (int i = 0; i < Keys; i++)
        {
            bench.Get("k" + i);
            if (i % Between == 0) bench.StepUntilIdle();
        }
        bench.StepUntilIdle();
        Assert.That(bench.Tier().Promoted, Is.Zero);
        bench.Get("k0");
        Assert.That(bench.Tier().Promoted, Is.Zero, "the read of long ago counts");
        bench.Get("k" + (Keys - 1));
        bench.Get("k" + (Keys - 1));
        Assert.That(bench.Tier().Promoted, Is.EqualTo(1));
    }

    // The same name in two databases is two keys: a read of each does not add up.
    [Test]
    public void P17_The_same_key_of_two_databases_counts_for_each()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        uint other = bench.Store.Namespaces.Id(1);
        bench.Set("k", Value(1, 100));
        bench.Set("k", Value(2, 100), other);
        bench.Demote();
        Assert.That((bench.Get("k"), bench.Get("k", other)), Is.EqualTo((Value(1, 100), Value(2, 100))));
        Assert.That((bench.Tier().RejectedFrequency, bench.Tier().Promoted), Is.EqualTo((2, 0)));
        bench.Get("k", other);
        Assert.That((bench.Tier().Promoted, bench.Tier().Records), Is.EqualTo((1, 1)));
    }

    // Nothing of it goes by the clock of the machine: a week between two reads is what a millisecond is.
    [Test]
    public void P18_The_time_between_two_reads_does_not_matter()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        bench.Get("k1");
        bench.NowMs += 7L * 24 * 3_600_000;
        bench.ExpectNothingUnderWay();
        bench.Get("k1");
        Assert.That(bench.Tier().Promoted, Is.EqualTo(1));
    }

    // Two stores share nothing: what one counts, the other does not.
    [Test]
    public void P19_Two_tiers_share_nothing()
    {
        using SimulatedMedium medium = new(8 << 20), beside = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100), quiet = Cold(beside, keys: 100);
        for (int read = 0; read < 2; read++) Read(bench, 100);
        Assert.That((quiet.Tier().Considered, quiet.Tier().Reads, quiet.Tier().Records, quiet.Pins()), Is.EqualTo((0, 0, 100, 0)));
        Assert.That(bench.Tier().Promoted, Is.EqualTo(100));
    }

    // A key that is refused for want of room is not forgotten: the first read once there is room brings it back.
    [Test]
    public void P20_A_key_that_was_refused_for_want_of_room_is_considered_again()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        bench.Get("k1");
        bench.Store.Arena.SetLimit(1);
        for (int read = 0; read < 3; read++) bench.Get("k1");
        Assert.That((bench.Tier().RejectedHeadroom, bench.Tier().Promoted), Is.EqualTo((3, 0)));
        bench.Store.Arena.SetLimit(64 << 20);
        bench.Get("k1");
        Assert.That(bench.Tier().Promoted, Is.EqualTo(1));
    }

    // A step that is put off and done again is one read, however often: nothing comes back for being slow.
    [Test]
    public void P21_A_step_that_is_done_again_counts_once()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        for (uint number = 0; number < 10; number++)
        {
            ChunkEdit edit = new() { Number = number, Bytes = Value((int)number, 200) };
            Assert.That(bench.Session.Edit(bench.Key("root"), ref edit), Is.EqualTo(Outcome.Done));
        }
        bench.Demote();
        bench.Session.Tier!.MayPostpone = static () => true;
        Assert.That(LookUntilThere(bench), Is.GreaterThan(2), "root, chunk and those behind it put it off");
        Assert.That((bench.Tier().Promoted, bench.Session.Tier.Hits), Is.EqualTo((0, 1)));
        LookUntilThere(bench);
        Assert.That((bench.Tier().Promoted, bench.Session.Tier.Hits), Is.EqualTo((11, 2)), "the root and its ten chunks");
    }

    // Reading takes no lock for deciding: only what comes back takes one, its own partition's.
    [Test]
    public void P22_What_is_not_admitted_takes_no_lock()
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 200);
        Shape* shape = bench.Store.Core.Shape;
        for (int i = 0; i < shape->PartitionCount; i++) Partition.Enter(shape->Partitions + i);
        Read(bench, 200);
        for (int i = 0; i < shape->PartitionCount; i++) Partition.Exit(shape->Partitions + i);
        Assert.That((bench.Tier().RejectedFrequency, bench.Tier().RejectedHeld), Is.EqualTo((200, 0)));
    }

    // Only counted, everything is as with promotion but for the moves.
    [Test]
    public void What_is_observed_stays_where_it_is([Values] bool wanted)
    {
        using SimulatedMedium medium = new(8 << 20);
        using Bench bench = Cold(medium, keys: 100);
        bench.Store.Promotion = wanted ? TierPromotion.Observe : TierPromotion.No;
        for (int read = 0; read < 3; read++) Read(bench, 100);
        TierFigures tier = bench.Tier();
        Assert.That((tier.Considered, tier.Admitted, tier.Promoted, tier.Records), Is.EqualTo((300, 0, 0, 100)));
        Assert.That((tier.RejectedOff, tier.RejectedFrequency, tier.Observed), Is.EqualTo(wanted ? (0, 100, 200) : (300, 0, 0)));
        bench.Store.ResetTierCounts();
        Assert.That((bench.Tier().Considered, bench.Tier().Reads, bench.Tier().Records), Is.EqualTo((0, 0, 100)));
    }

    // By a session of its own, which leaves nothing behind.
    private static void Replace(Bench bench, int keys)
    {
        using (StoreSession other = bench.Store.OpenSession())
        {
            other.NowMs = bench.NowMs;
            for (int i = 0; i < keys; i++)
            {
                DeleteKey delete = default;
                SetValue set = new() { Value = Value(i + 1000, 100) };
                other.Modify(bench.Key("k" + i), ref delete);
                other.Modify(bench.Key("k" + i), ref set);
            }
        }
        bench.StepUntilIdle();
        bench.Demote();
    }

    private static Bench Cold(SimulatedMedium medium, int keys)
    {
        Bench bench = new(TieredBench.Settings(medium));
        bench.Cold(keys, 100);
        return bench;
    }

    private static byte[] Value(int seed, int bytes) => TieredBench.Value(seed, bytes);

    private static void Read(Bench bench, int keys, int bytes = 100)
    {
        for (int i = 0; i < keys; i++) Assert.That(bench.Get("k" + i), Is.EqualTo(Value(i, bytes)), $"k{i}");
    }

    // How often it was put off.
    private static int LookUntilThere(Bench bench)
    {
        for (int tries = 0; ; tries++)
        {
            try
            {
                ManyChunks look = new();
                bench.Session.Examine(bench.Key("root"), ref look);
                Assert.That(look.Seen, Is.EqualTo(10));
                return tries;
            }
            catch (ColdMissException)
            {
                ColdWait wanted = bench.Session.Tier!.TakeWanted();
                while (bench.Session.Tier.Awaits(wanted)) bench.Session.Tier.Poll(bench.NowMs);
            }
        }
    }

    private static void End(Bench bench, SimulatedMedium medium, string way)
    {
        using StoreSession other = bench.Store.OpenSession();
        other.NowMs = bench.NowMs;
        for (int i = 0; i < 20 && way is "delete" or "overwrite" or "append"; i++)
        {
            DeleteKey delete = default;
            SetValue set = new() { Value = Value(i, 50) };
            AppendBytes append = new() { Tail = [1] };
            Outcome outcome = way == "delete" ? other.Modify(bench.Key("k" + i), ref delete)
                : way == "append" ? other.Modify(bench.Key("k" + i), ref append) : other.Modify(bench.Key("k" + i), ref set);
            Assert.That(outcome, Is.EqualTo(Outcome.Done));
        }
        if (way == "flush") bench.Store.Namespaces.Flush(0, wait: false);
        if (way == "expire") bench.NowMs += 200_000;
        if (way == "error") medium.FailsRead = static _ => Eio;
        bench.StepUntilIdle();
    }

    private struct ManyChunks : IExamine
    {
        public int Seen;

        public void Look(ref RecordEdit record)
        {
            Seen = 0;
            for (uint number = 0; number < 10; number++)
            {
                if (record.Chunk(number, out int bytes) != null && bytes == 200) Seen++;
            }
        }
    }
}

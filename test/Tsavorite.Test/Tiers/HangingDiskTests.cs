using Garnet.Common;
using NUnit.Framework;
using Stage = Tsavorite.Test.Tiers.HangingDiskStage;

namespace Tsavorite.Test.Tiers;

/// <summary>
/// A disk that does not answer (store.C12): whoever waits for what lies there has an error when the time is over, others have their values, and what the device has stays its own until it
/// gives it back, late or never.
/// </summary>
internal sealed class HangingDiskTests
{
    private const int Bytes = 3000, LongBytes = 200_000;
    private const int OwedOfSegmentMax = 4;
    private const long Second = 1_000_000, TimeoutUs = Store.TierReadTimeoutMs * 1000;

    private static Stage Cold(int keys, int bytes = Bytes)
    {
        Stage stage = new();
        stage.Bench.Cold(keys, bytes);
        return stage;
    }

    [Test]
    public void Who_waits_for_it_has_an_error_when_the_time_is_over_and_others_have_their_values_meanwhile()
    {
        using Stage stage = Cold(100);
        stage.Hang("k1");
        stage.Tier.MayPostpone = static () => true;
        ColdWait hung = stage.Try("k1"), well = stage.Try("k50");
        stage.Pass(Second);
        Assert.That((stage.Tier.Awaits(hung), stage.Tier.Awaits(well)), Is.EqualTo((true, false)));
        stage.ExpectValue("k50");
        stage.Pass(TimeoutUs - Second - 1);
        Assert.That(stage.Tier.Awaits(hung), Is.True, "not a moment earlier");
        stage.Pass(1);
        Assert.That(stage.Tier.Awaits(hung), Is.False);
        stage.ExpectError("k1");
        stage.Expect(owed: 1, pending: 0);
        Assert.That((stage.Figures.LateReads, stage.Figures.ReadFailures), Is.EqualTo((1, 0)));
        Assert.That(stage.Figures.LastFailure, Does.Contain("has not answered"));
    }

    [Test]
    public void What_it_owes_is_refused_at_once_until_it_has_come_and_is_read_again_then()
    {
        using Stage stage = Cold(100);
        stage.Hang("k1");
        stage.Tier.MayPostpone = static () => true;
        stage.Try("k1");
        stage.Pass(TimeoutUs);
        int reads = stage.Medium.UnderWay;
        for (int i = 0; i < 5; i++)
        {
            stage.Pass(Second);
            stage.Pass(Second); // what failed is forgotten, and would be read again
            stage.ExpectError("k1");
        }

        Assert.That((stage.Figures.RefusedReads, stage.Medium.UnderWay), Is.EqualTo((5, reads)));
        Assert.That(stage.Told.Lines, Is.EqualTo((string[])["one did not"]), "once, and not for each");
        stage.Mend();
        stage.Pass(Second);
        stage.Expect(owed: 0, pending: 0);
        Assert.That(stage.Told.Lines, Is.EqualTo((string[])["one did not", "all came"]));
        stage.Pass(Second);
        ColdWait again = stage.Try("k1");
        stage.Pass(1);
        Assert.That(stage.Tier.Awaits(again), Is.False);
        stage.ExpectValue("k1");
    }

    // Its memory would be another read's by then.
    [Test]
    public void What_comes_late_is_written_to_no_memory_of_others_and_shown_to_nobody()
    {
        using Stage stage = Cold(200);
        for (int i = 0; i < 20; i++) stage.Hang("k" + i);
        stage.Tier.MayPostpone = static () => true;
        for (int i = 0; i < 20; i++) stage.Tier.GiveUp(stage.Try("k" + i));
        stage.Pass(TimeoutUs);
        stage.Expect(owed: 20, pending: 0);
        for (int i = 100; i < 200; i++)
        {
            stage.Try("k" + i);
            if (i % 10 != 0) continue;
            if (i == 150) stage.Mend();
            stage.Pass(1);
            for (int of = Math.Max(100, i - 9); of <= i; of++) stage.ExpectValue("k" + of);
        }

        stage.Pass(1);
        stage.Expect(owed: 0, pending: 0);
    }

    [Test]
    public void Who_stands_and_waits_has_his_error_in_time_too()
    {
        using Stage stage = Cold(100);
        stage.Hang("k1");
        long before = stage.NowUs;
        stage.ExpectError("k1");
        Assert.That(stage.NowUs - before, Is.InRange(TimeoutUs, TimeoutUs + Second));
        before = stage.NowUs;
        stage.ExpectError("k1");
        Assert.That(stage.NowUs, Is.EqualTo(before), "at once, as the device owes it");
        stage.ExpectValue("k50");
        stage.Mend();
        for (int i = 0; i < 100 && stage.Figures.OwedReads > 0; i++) stage.AskAnew("k1");
        Assert.That((stage.Figures.OwedReads, stage.Bench.Pins()), Is.EqualTo((0, 0)));
        stage.ExpectValue("k1");
    }

    // A thread that serves others, in a script say.
    [Test]
    public void Who_holds_up_others_waits_for_a_second_at_most_and_for_less_where_the_disk_owes_already()
    {
        using Stage stage = Cold(100);
        for (int i = 0; i < 10; i++) stage.Hang("k" + i);
        stage.Tier.MayPostpone = static () => false;
        long before = stage.NowUs;
        stage.ExpectError("k0");
        Assert.That(stage.NowUs - before, Is.EqualTo(Second));
        string[][] segments = [.. stage.KeysBySegment(10)];
        before = stage.NowUs;
        for (int i = 1; i < 10; i++) stage.ExpectError("k" + i);
        Assert.That(stage.NowUs - before, Is.EqualTo(((segments.Length - 1) * Second) + ((10 - segments.Length) * Second / 10)), "less beside one that was waited for in vain");
        stage.ExpectValue("k50");
        stage.Expect(owed: 0, pending: 10);
        for (int i = 0; i < 2; i++) stage.Pass(TimeoutUs);
        stage.Expect(owed: 10, pending: 0);
        before = stage.NowUs;
        stage.ExpectError("k1");
        Assert.That(stage.NowUs, Is.EqualTo(before), "at once, as the device owes it");
        stage.ExpectValue("k50");
    }

    [Test]
    public void Who_holds_up_others_waits_for_a_second_in_all_of_a_turn_and_what_he_does_not_get_then_others_do()
    {
        using Stage stage = Cold(300);
        string[][] segments = [.. stage.KeysBySegment(300)];
        foreach (string[] keys in segments.Take(20)) stage.Hang(keys[0]);
        long turn = 1;
        (stage.Tier.MayPostpone, stage.Tier.Turn) = (static () => false, () => turn);
        long before = stage.NowUs;
        for (int i = 0; i < 20; i++) stage.ExpectError(segments[i][0]);
        stage.ExpectError("k250");
        Assert.That(stage.NowUs - before, Is.EqualTo(Second));
        stage.Expect(owed: 0, pending: 1);
        turn++;
        stage.ExpectValue("k250");
        stage.ExpectError(segments[1][0]);
        Assert.That(stage.NowUs - before, Is.EqualTo(2 * Second));
        turn++;
        stage.Tier.MayPostpone = static () => true;
        stage.Try("k240");
    }

    // It is slow, or there is much to read: that is not held against whoever waits.
    [Test]
    public void What_comes_soon_is_not_counted_against_a_turn()
    {
        const int Keys = 100;
        using Stage stage = Cold(Keys);
        (stage.Tier.MayPostpone, stage.Tier.Turn) = (static () => false, static () => 1);
        stage.Medium.BeforeTransfer = () => stage.Skip(Second / 50);
        long before = stage.NowUs;
        for (int i = 0; i < Keys; i++) stage.ExpectValue("k" + i);

        Assert.That(stage.NowUs - before, Is.GreaterThan(Second));
    }

    // Beyond the second each wait would be in vain: there is one.
    [TestCase(400_000, 10)]
    [TestCase(999_000, 10)]
    [TestCase(Second + 1000, 0)]
    public void A_disk_that_answers_just_within_the_second_costs_a_turn_time_and_nothing_else(long takesUs, int wereRead)
    {
        using Stage stage = Cold(300);
        string[] keys = [.. stage.KeysBySegment(300).Take(10).Select(static keys => keys[0])];
        long turn = 1, before = stage.NowUs;
        (stage.Tier.MayPostpone, stage.Tier.Turn, stage.Medium.TakesUs) = (static () => false, () => turn, takesUs);
        foreach (string key in keys)
        {
            if (wereRead > 0)
                stage.ExpectValue(key);
            else
                stage.ExpectError(key);
        }

        Assert.That(stage.NowUs - before, Is.EqualTo(wereRead > 0 ? keys.Length * takesUs : Second));
        Assert.That(stage.Figures.LateReads, Is.Zero);
        (turn, stage.Medium.TakesUs) = (2, 0);
        for (int i = 0; i < 2; i++) stage.Pass(Second); // what was late comes, and what failed is forgotten
        foreach (string key in keys) stage.ExpectValue(key);
    }

    // What came counts for nothing, so that the one that does not come still has its whole second, and those behind it have none.
    [Test]
    public void What_a_slow_disk_has_answered_takes_nothing_from_the_second_for_what_it_does_not()
    {
        using Stage stage = Cold(300);
        string[] keys = [.. stage.KeysBySegment(300).Take(6).Select(static keys => keys[0])];
        stage.Hang(keys[3]);
        (stage.Tier.MayPostpone, stage.Tier.Turn, stage.Medium.TakesUs) = (static () => false, static () => 1, 900_000);
        long before = stage.NowUs;
        foreach (string key in keys.Take(3)) stage.ExpectValue(key);
        stage.ExpectError(keys[3]);
        Assert.That(stage.NowUs - before, Is.EqualTo((3 * 900_000) + Second));
        foreach (string key in keys.Skip(4)) stage.ExpectError(key);
        Assert.That(stage.NowUs - before, Is.EqualTo((3 * 900_000) + Second), "at once");
        stage.Expect(owed: 0, pending: 1);
        stage.Medium.TakesUs = 0;
    }

    [Test]
    public void A_disk_that_answers_nothing_is_asked_no_more_than_so_often_and_gets_all_when_it_answers()
    {
        const int Keys = 300;
        using Stage stage = Cold(Keys);
        for (int i = 0; i < Keys; i++) stage.Hang("k" + i);
        stage.Tier.MayPostpone = static () => true;
        for (int i = 0; i < Keys; i++)
        {
            try
            {
                stage.Bench.Get("k" + i);
            }
            catch (ColdMissException)
            {
                stage.Tier.GiveUp(stage.Tier.TakeWanted());
            }
        }

        Assert.That(stage.Medium.UnderWay, Is.EqualTo(64), "one session's");
        stage.Pass(TimeoutUs);
        stage.Expect(owed: 64, pending: 0);
        Assert.That(stage.Figures.RefusedReads, Is.EqualTo(Keys - 64), "what stood behind them is not to wait as long again");
        stage.Pass(Second);
        for (int i = 0; i < 64; i++) stage.ExpectError("k" + i);
        int probes = 0;
        for (int i = 64; i < Keys; i++) probes += stage.IsPutOff("k" + i) ? 1 : 0;
        Assert.That((probes, stage.Medium.UnderWay), Is.EqualTo((DeviceReads.ProbesMax, 64 + DeviceReads.ProbesMax)));
        stage.Mend();
        stage.Pass(Second);
        stage.Pass(Second); // and what failed is forgotten
        stage.Tier.MayPostpone = null;
        for (int i = 0; i < Keys; i++) stage.ExpectValue("k" + i);
    }

    [Test]
    public void Where_it_answers_nothing_a_few_reads_at_a_time_show_what_it_answers()
    {
        const int Hung = 40;
        using Stage stage = Cold(400);
        for (int i = 0; i < Hung; i++) stage.Hang("k" + i);
        long[] segments = [.. Enumerable.Range(0, Hung).Select(i => stage.SegmentOf("k" + i))];
        string[] away = [.. Enumerable.Range(Hung, 400 - Hung).Select(static i => "k" + i).Where(key => !segments.Contains(stage.SegmentOf(key)))];
        stage.Tier.MayPostpone = static () => true;
        for (int i = 0; i < Hung; i++) stage.Tier.GiveUp(stage.Try("k" + i));
        stage.Pass(TimeoutUs);
        stage.Expect(owed: Hung, pending: 0);
        stage.Pass(Second);
        bool delays = true;
        stage.Medium.Delays = () => delays;
        string[] each = [.. away.DistinctBy(stage.SegmentOf).Take(DeviceReads.ProbesMax + 1)];
        for (int i = 0; i < DeviceReads.ProbesMax; i++) stage.Try(each[i]);
        stage.ExpectError(each[DeviceReads.ProbesMax]);
        delays = false;
        stage.Pass(1);
        for (int i = 0; i < DeviceReads.ProbesMax; i++) stage.ExpectValue(each[i]);
        stage.Pass(Second);
        foreach (string key in away[^50..]) stage.Try(key); // it answers there
        stage.Pass(1);
        foreach (string key in away[^50..]) stage.ExpectValue(key);
    }

    // It answers elsewhere, and no segment is over its own bound: what is begun there would take all places in the end.
    [Test]
    public void Where_it_owes_much_a_few_reads_at_a_time_go_on()
    {
        const int Keys = 1000, AtOnce = 64, Rounds = 3, OfSegment = 3;
        using Stage stage = Cold(Keys);
        string[][] segments = [.. Enumerable.Range(0, Keys).Select(static i => "k" + i).GroupBy(stage.SegmentOf).Select(static keys => keys.ToArray())];
        string[] hung = [.. segments.SelectMany(static keys => keys.Take(OfSegment))], well = [.. segments.Select(static keys => keys[^1]).Except(hung)];
        foreach (string key in hung) stage.Hang(key);
        stage.Tier.MayPostpone = static () => true;
        int round = 0;
        for (; round < Rounds; round++)
        {
            Assert.That(hung.Skip(round * AtOnce).Take(AtOnce).Count(stage.IsPutOff), Is.EqualTo(AtOnce));
            stage.Pass(TimeoutUs);
            stage.Pass(Second); // beside one that was late just now none is begun
            string key = round < Rounds - 1 ? well[round] : well[^2];
            stage.Try(key);
            stage.Pass(1);
            stage.ExpectValue(key);
        }

        stage.Expect(owed: Rounds * AtOnce, pending: 0);
        Assert.That(hung.Skip(round * AtOnce).Take(AtOnce).Count(stage.IsPutOff), Is.EqualTo(DeviceReads.ProbesMax));
        stage.Pass(TimeoutUs);
        stage.ExpectError(well[round]);
        stage.Try(well[^1]); // of a segment of which it owes nothing: what places are left are for these
        stage.Pass(1);
        stage.ExpectValue(well[^1]);
    }

    [Test]
    public void What_hangs_in_a_segment_takes_nothing_from_the_others()
    {
        const int Hung = 70;
        using Stage stage = Cold(600);
        for (int i = 0; i < Hung; i++) stage.Hang("k" + i);
        long[] segments = [.. Enumerable.Range(0, Hung).Select(i => stage.SegmentOf("k" + i))];
        string[] away = [.. Enumerable.Range(Hung, 600 - Hung).Select(static i => "k" + i).Where(key => !segments.Contains(stage.SegmentOf(key)))];
        stage.Tier.MayPostpone = static () => true;
        for (int i = 0; i < Hung; i++) stage.IsPutOff("k" + i);
        stage.Pass(TimeoutUs); // those that were begun, and those behind them
        stage.Pass(TimeoutUs);
        stage.Pass(Second);
        for (int round = 0; round < 10; round++)
        {
            for (int i = 0; i < Hung; i++) stage.IsPutOff("k" + i); // somebody always asks for them
            string key = away[round];
            stage.Try(key);
            stage.Pass(Second);
            stage.ExpectValue(key);
        }
    }

    // One after the other, nobody else asking: each would take a place for good.
    [Test]
    public void A_segment_owes_a_few_reads_however_long_it_is_asked()
    {
        using Stage stage = Cold(200);
        string[] keys = [.. stage.KeysBySegment(200).First(static keys => keys.Length > OwedOfSegmentMax)];
        foreach (string key in keys) stage.Hang(key);
        stage.Tier.MayPostpone = static () => true;
        for (int round = 0; round < 3; round++)
        {
            foreach (string key in keys)
            {
                stage.IsPutOff(key);
                stage.Pass(TimeoutUs);
            }
        }

        stage.Expect(owed: OwedOfSegmentMax, pending: 0);
    }

    // Those that were read since, whatever hangs; others as long as there are places.
    [TestCase(80, false)]
    [TestCase(240, true)]
    public void With_many_segments_that_hang_keys_elsewhere_are_read(int hung, bool wereRead)
    {
        const int Keys = 3000, Others = 10;
        using Stage stage = Cold(Keys);
        string[][] segments = [.. stage.KeysBySegment(Keys)];
        foreach (string key in segments.Take(hung).SelectMany(static keys => keys)) stage.Hang(key);
        string[][] others = [.. segments.TakeLast(Others)];
        stage.Tier.MayPostpone = static () => true;
        foreach (string[] keys in segments.Take(hung))
        {
            foreach (string key in keys.Take(6))
            {
                stage.IsPutOff(key);
                stage.Pass(TimeoutUs);
            }

            if (keys == segments[0] && wereRead)
                Array.ForEach(others, keys => Read(stage, keys[0]));
        }

        TestContext.Out.WriteLine($"owed {stage.Figures.OwedReads}, refused {stage.Figures.RefusedReads}");
        Assert.That(stage.Figures.OwedReads, Is.LessThan(256));
        foreach (string[] keys in others) Read(stage, keys[1]);
    }

    [Test]
    public void With_long_values_that_hang_keys_elsewhere_are_read()
    {
        const int Long = 150, Keys = 200, Parts = 7;
        using Stage stage = new();
        stage.Bench.Cold(Keys, Bytes);
        for (int i = Keys; i < Keys + Long; i++) stage.Bench.Set("k" + i, TieredBench.Value(i, LongBytes));
        stage.Bench.Demote();
        stage.Tier.MayPostpone = static () => true;
        for (int i = Keys; i < Keys + Long; i++)
        {
            for (int part = 0; part < Parts; part++) stage.HangAt(stage.SegmentOf("k" + i) + part);
            stage.IsPutOff("k" + i);
            stage.Pass(TimeoutUs);
        }

        TestContext.Out.WriteLine($"owed {stage.Figures.OwedReads}, with it {stage.Medium.UnderWay}");
        Assert.That(stage.Medium.UnderWay, Is.LessThan(256));
        for (int i = 0; i < Keys; i += 20) Read(stage, "k" + i);
    }

    // Whoever sends many commands at once waits for each of these.
    [Test]
    public void Where_it_answers_nothing_one_read_of_a_segment_shows_that_for_all_of_it()
    {
        const int Keys = 600;
        using Stage stage = Cold(Keys);
        string[][] segments = [.. stage.KeysBySegment(Keys)];
        foreach (string key in segments.SelectMany(static keys => keys)) stage.Hang(key);
        stage.Tier.MayPostpone = static () => true;
        stage.IsPutOff(segments[0][0]);
        stage.Pass(TimeoutUs);
        stage.Pass(Second);
        for (int i = 1; i <= DeviceReads.ProbesMax; i++)
            Assert.That(segments[i].Count(stage.IsPutOff), Is.EqualTo(1), "the others at once");
        Assert.That(segments[^1].Count(stage.IsPutOff), Is.Zero);
    }

    // Of the first that is late it learns that the disk hangs: each other bucket would take as long.
    [Test]
    public void A_random_key_is_one_of_those_in_memory_where_the_disk_is_late([Values] bool waits)
    {
        const int Keys = 300, InMemory = 3;
        using Stage stage = Cold(Keys);
        for (int i = 0; i < Keys; i++) stage.Hang("k" + i);
        for (int i = 0; i < InMemory; i++) stage.Bench.Set("memory" + i, [1]);
        stage.Tier.MayPostpone = () => !waits;
        for (int i = 0; i < 5; i++)
        {
            CopyOut copy = new();
            long before = stage.NowUs;
            for (bool isPutOff = true; isPutOff;)
            {
                try
                {
                    Assert.That(stage.Bench.Session.RandomRecord(0, ref copy), Is.True);
                    isPutOff = false;
                }
                catch (ColdMissException)
                {
                    ColdWait wait = stage.Tier.TakeWanted();
                    stage.Pass(TimeoutUs);
                    Assert.That(stage.Tier.Awaits(wait), Is.False);
                }
            }

            Assert.That(copy.Length, Is.EqualTo(1), "one of those in memory");
            Assert.That(stage.NowUs - before, Is.LessThanOrEqualTo(waits ? Second : TimeoutUs));
        }
    }

    [Test]
    public void A_random_key_is_an_error_where_the_disk_is_late_and_nothing_is_in_memory()
    {
        using Stage stage = Cold(300);
        for (int i = 0; i < 300; i++) stage.Hang("k" + i);
        stage.Tier.MayPostpone = static () => false;
        long before = stage.NowUs;
        CopyOut copy = new();
        Assert.That(() => stage.Bench.Session.RandomRecord(0, ref copy), Throws.TypeOf<GarnetException>().With.Message.Contains("the device has not answered"));
        Assert.That(stage.NowUs - before, Is.LessThanOrEqualTo(Second));
    }

    private static void Read(Stage stage, string key)
    {
        stage.Try(key);
        stage.Pass(1);
        stage.ExpectValue(key);
        stage.Pass(Second);
    }

    // Without it all that is dead stays, and writes are refused for want of room.
    [Test]
    public void Segments_that_it_does_not_bring_are_left_out_while_others_are_cleaned()
    {
        const int Keys = 600;
        using Stage stage = Cold(Keys);
        for (int i = 0; i < Keys; i++)
        {
            if (i % 4 != 0)
                stage.Bench.Delete("k" + i);
        }

        string[] live = [.. Enumerable.Range(0, Keys).Where(static i => i % 4 == 0).Select(static i => "k" + i)];
        long[] hung = [stage.SegmentOf("k0"), stage.SegmentOf("k300")], before = [.. live.Select(stage.SegmentOf)];
        foreach (long segment in hung) stage.HangAt(segment);
        ColdSegments part = stage.Bench.Store.Core.Tier!.Segments.Bottom;
        using ColdWriter writer = new(stage.Bench.Store.Core, stage.Bench.Store.Core.Tier!);
        using ColdCleaner cleaner = new(stage.Bench.Store.Core, stage.Bench.Store.Core.Tier!, writer, writer);
        for (int i = 0; i < 400; i++) cleaner.Compact(part, stage.Bench.NowMs += 1000);
        Assert.That(stage.Figures.OwedReads, Is.EqualTo(hung.Length));
        Assert.That(live.Zip(before).Where(key => stage.SegmentOf(key.First) == key.Second).Select(static key => key.Second).Distinct(), Is.EquivalentTo(hung), "all others were cleaned");
        stage.Mend();
        for (int i = 0; i < 100; i++) cleaner.Compact(part, stage.Bench.NowMs += 1000);
        Assert.That(stage.Figures.OwedReads, Is.Zero);
        Assert.That(hung.Where(segment => Enumerable.Range(0, Keys / 4).Any(i => stage.SegmentOf("k" + (4 * i)) == segment)), Is.Empty);
    }

    [Test]
    public void A_part_of_a_long_value_that_does_not_come_costs_the_value_alone()
    {
        using Stage stage = Cold(10, LongBytes);
        stage.Hang("k1");
        stage.Tier.MayPostpone = static () => true;
        ColdWait hung = stage.Try("k1"), well = stage.Try("k2");
        stage.Pass(Second);
        Assert.That((stage.Tier.Awaits(hung), stage.Tier.Awaits(well)), Is.EqualTo((true, false)));
        stage.ExpectValue("k2", LongBytes);
        stage.Pass(TimeoutUs);
        Assert.That(stage.Tier.Awaits(hung), Is.False);
        stage.ExpectError("k1");
        Assert.That((stage.Figures.LateReads, stage.Figures.OwedReads, stage.Medium.UnderWay), Is.EqualTo((1, 1, 1)), "one part of it");
        for (int i = 3; i < 10; i++)
        {
            stage.Pass(Second);
            stage.Try("k" + i);
            stage.Pass(1);
            stage.ExpectValue("k" + i, LongBytes);
        }
    }

    // Each part has its time: a long value of a slow disk is not late because it is long.
    [Test]
    public void A_long_value_that_comes_part_by_part_is_not_late()
    {
        using Stage stage = Cold(2, 5 * LongBytes);
        int given = 0;
        stage.Medium.Delays = () => given-- <= 0;
        stage.Tier.MayPostpone = static () => true;
        ColdWait wait = stage.Try("k1");
        int rounds = 0;
        for (; stage.Tier.Awaits(wait) && rounds < 10_000; rounds++)
        {
            given = 1;
            stage.Pass(TimeoutUs / 20);
        }

        Assert.That(rounds, Is.GreaterThan(5));
        stage.ExpectValue("k1", 5 * LongBytes);
        Assert.That(stage.Figures.LateReads, Is.Zero);
    }

    [Test]
    public void A_session_that_ends_leaves_what_the_disk_has_until_it_gives_it_back()
    {
        using Stage stage = Cold(100);
        stage.Hang("k1");
        StoreSession other = stage.Bench.Store.OpenSession();
        other.NowMs = stage.Bench.NowMs;
        CopyOut copy = new();
        Assert.That(() => other.Read(stage.Bench.Key("k1"), ref copy), Throws.TypeOf<GarnetException>());
        long before = stage.NowUs;
        other.Dispose();
        Assert.That(stage.NowUs - before, Is.InRange(1, 2 * Second));
        stage.Bench.StepUntilIdle();
        Assert.That((stage.Figures.OwedReads, stage.Bench.Pins(), stage.Medium.UnderWay), Is.EqualTo((1, 1, 1)));
        stage.Mend();
        for (int i = 0; i < 20; i++) stage.Bench.Store.StepMovers(stage.Bench.NowMs);
        Assert.That((stage.Figures.OwedReads, stage.Bench.Pins(), stage.Medium.UnderWay), Is.EqualTo((0, 0, 0)));
    }

    [Test]
    public void The_time_may_be_changed_while_somebody_waits()
    {
        using Stage stage = Cold(100);
        stage.Hang("k1");
        stage.Tier.MayPostpone = static () => true;
        ColdWait wait = stage.Try("k1");
        stage.Pass(2 * Second);
        Assert.That(stage.Tier.Awaits(wait), Is.True);
        stage.Bench.Store.LimitTierReads(1000);
        stage.Pass(1);
        Assert.That(stage.Tier.Awaits(wait), Is.False);
    }
}

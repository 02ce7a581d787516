using NUnit.Framework;
using Stage = Tsavorite.Test.Tiers.HangingDiskStage;

namespace Tsavorite.Test.Tiers;

/// <summary>Whoever holds up others waits for the disk for a second (store.C12): what he gives up then is nothing to those who can wait for longer.</summary>
internal sealed class HeldPatienceTests
{
    private const int Bytes = 3000;
    private const long Second = 1_000_000, TimeoutUs = Store.TierReadTimeoutMs * 1000;

    private static Stage Cold(int keys)
    {
        Stage stage = new();
        stage.Bench.Cold(keys, Bytes);
        return stage;
    }

    // A disk that takes more than the second is slow, and not silent: what is said of it is for tier-read-timeout.
    [Test]
    public void What_somebody_has_waited_for_in_place_is_no_proof_against_a_slow_disk_that_others_ask()
    {
        using Stage stage = Cold(300);
        string[][] segments = [.. stage.KeysBySegment(300)];
        long turn = 1;
        (stage.Tier.MayPostpone, stage.Tier.Turn, stage.Medium.TakesUs) = (static () => false, () => turn, Second + 1000);
        stage.ExpectError(segments[0][0]);
        stage.Expect(owed: 0, pending: 1);
        (turn, stage.Tier.MayPostpone) = (2, static () => true);
        string[] asked = [segments[0][0], segments[0][1], .. segments.Skip(1).Take(40).Select(static keys => keys[0])];
        foreach (string key in asked) stage.Try(key);
        stage.Pass(Second + 1000);
        foreach (string key in asked) stage.ExpectValue(key);
        Assert.That((stage.Figures.LateReads, stage.Figures.ReadFailures, stage.Figures.RefusedReads), Is.EqualTo((0, 0, 1)));
        stage.Medium.TakesUs = 0;
    }

    [Test]
    public void What_somebody_has_waited_for_in_place_is_late_when_the_time_is_over_and_not_before()
    {
        using Stage stage = Cold(100);
        stage.Hang("k1");
        stage.Tier.MayPostpone = static () => false;
        stage.ExpectError("k1");
        stage.Pass(TimeoutUs - Second - 1);
        stage.Expect(owed: 0, pending: 1);
        stage.Pass(1);
        stage.Expect(owed: 1, pending: 0);
        stage.ExpectError("k1");
    }

    // Those that are fetched together come one by one: each has its second behind the one before.
    [Test]
    public void Many_that_are_waited_for_side_by_side_have_their_time_as_long_as_some_come()
    {
        const int Chunks = 200;
        using Stage stage = new();
        for (uint number = 0; number < Chunks; number++)
        {
            ChunkEdit edit = new() { Number = number, Bytes = TieredBench.Value((int)number, Bytes) };
            Assert.That(stage.Bench.Session.Edit(stage.Bench.Key("root"), ref edit), Is.EqualTo(Outcome.Done));
        }

        stage.Bench.Demote();
        (stage.Tier.MayPostpone, stage.Tier.Turn, stage.Medium.TakesUs) = (static () => false, static () => 1, 900_000);
        ChunkCopy look = new();
        for (uint number = 0; number < Chunks; number++)
        {
            look.Number = number;
            Assert.That(stage.Bench.Session.Examine(stage.Bench.Key("root"), ref look), Is.EqualTo(Outcome.Done));
        }

        Assert.That((stage.Figures.RefusedReads, stage.Figures.LateReads), Is.EqualTo((0, 0)));
        Assert.That(stage.Tier.Waited, Is.LessThan(12));
        stage.Medium.TakesUs = 0;
    }
}

using Garnet.Common;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What comes back to memory to be changed may take it beyond its limit, as nobody has looked for room for it: but not without end.</summary>
internal sealed class ReturnLimitTests
{
    private const int Keys = 1500, Bytes = 60_000, AtOnce = 20;
    private const long Limit = 4 << 20, Later = 9_000_000;

    [Test]
    public void Changes_of_cold_keys_take_no_more_beyond_the_limit_than_what_nobody_foresaw_may()
    {
        using SimulatedMedium medium = new(192 << 20);
        using Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = Limit, TierSegmentBytes = 1 << 20 });
        for (int i = 0; i < Keys; i += AtOnce)
        {
            for (int key = i; key < i + AtOnce; key++) bench.Set("k" + key, TieredBench.Value(key, Bytes));
            bench.Demote();
        }
        Assert.That(bench.Tier().Records, Is.EqualTo(Keys));
        bench.Session.Tier!.MayPostpone = static () => false; // a core that others need makes no room where it stands
        int done = 0;
        while (done < Keys && bench.Fields("k" + done, Later, etag: 0) == Outcome.Done) done++;
        Assert.That(done, Is.InRange(AtOnce, Keys - 2), "the next is refused");
        Assert.That(bench.Store.Figures().UsedBytes, Is.LessThanOrEqualTo(bench.Store.Core.Arena.Ceiling + Arena.BeyondAssured(bench.Store.Core.Arena.Ceiling)));
        Assert.That(bench.Session.Tier!.Where(bench.Key("k" + done), bench.NowMs).IsCold, Is.True, "it stays where it is");
        Assert.That(bench.Delete("k" + (Keys - 1)), Is.EqualTo(Outcome.Done), "what removes is refused nothing");
        bench.Demote();
        bench.StepUntilIdle();
        Assert.That(bench.Fields("k" + done, Later, etag: 0), Is.EqualTo(Outcome.Done), "there is room again");
        Assert.That(bench.Get("k" + done), Is.EqualTo(TieredBench.Value(done, Bytes)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Nor_do_edits_of_them()
    {
        using SimulatedMedium medium = new(192 << 20);
        using Bench bench = Cold(medium);
        int done = 0;
        while (done < Keys && TryFlip(bench, done)) done++;
        Assert.That(done, Is.InRange(AtOnce, Keys - 2), "the next is refused");
        Assert.That(bench.Store.Figures().UsedBytes, Is.LessThanOrEqualTo(bench.Store.Core.Arena.Ceiling + Arena.BeyondAssured(bench.Store.Core.Arena.Ceiling)));
        Assert.That(bench.Get("k" + done), Is.EqualTo(TieredBench.Value(done, Bytes)), "it is what it was");
        bench.Demote();
        bench.StepUntilIdle();
        Assert.That(TryFlip(bench, done), Is.True, "there is room again");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void An_edit_that_finds_no_room_for_its_root_is_put_off_until_there_is_as_much()
    {
        using SimulatedMedium medium = new(192 << 20);
        using Bench bench = Cold(medium);
        bench.Session.Room.MayPostpone = static () => true;
        int done = 0;
        Assert.That(() =>
        {
            while (done < Keys && TryFlip(bench, done)) done++;
        }, Throws.TypeOf<RoomMissException>().With.Property(nameof(RoomMissException.Bytes)).InRange(Bytes, Bytes + 100));
        Assert.That(done, Is.InRange(AtOnce, Keys - 2));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    private static Bench Cold(SimulatedMedium medium)
    {
        Bench bench = new(TieredBench.Settings(medium) with { MemoryLimitBytes = Limit, TierSegmentBytes = 1 << 20 });
        for (int i = 0; i < Keys; i += AtOnce)
        {
            for (int key = i; key < i + AtOnce; key++) bench.Set("k" + key, TieredBench.Value(key, Bytes));
            bench.Demote();
        }
        bench.Session.Tier!.MayPostpone = static () => false;
        return bench;
    }

    private static bool TryFlip(Bench bench, int key)
    {
        FlipEdit edit = new() { Chunk = FlipEdit.NoChunk };
        try
        {
            return bench.Session.Edit(bench.Key("k" + key), ref edit) == Outcome.Done;
        }
        catch (GarnetException e)
        {
            Assert.That(e.What, Is.EqualTo(Store.NoRoomToReturn));
            return false;
        }
    }
}

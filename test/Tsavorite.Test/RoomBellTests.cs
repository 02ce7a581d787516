using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Who found no room in memory is told when there may be some, by whatever gives it back.</summary>
internal sealed class RoomBellTests
{
    private const int Bytes = 1000;

    [Test]
    public void Who_waits_is_told_once_for_each_time_that_he_waits_when_enough_is_given_back()
    {
        using Bench bench = new(Settings());
        int told = 0;
        StepRoom room = bench.Session.Room;
        room.Wait.OnRoom = () => told++;
        int keys = Fill(bench);
        room.Wait.Ask(0);
        Assert.That(told, Is.Zero, "nothing was given back");
        Empty(bench, keys);
        Assert.That(told, Is.EqualTo(1));
        Assert.That(room.Ensure(0), Is.True);
    }

    [Test]
    public void Who_needs_more_is_told_only_once_there_is_as_much()
    {
        const int Much = 512 << 10;
        using Bench bench = new(Settings());
        using StoreSession other = bench.Store.OpenSession();
        int toldLittle = 0, toldMuch = 0;
        bench.Session.Room.Wait.OnRoom = () => toldLittle++;
        other.Room.Wait.OnRoom = () => toldMuch++;
        int keys = Fill(bench);
        other.Room.Wait.Ask(Much);
        Arena arena = bench.Store.Arena;
        long before = arena.Used;
        for (int i = 0; i < keys / 20; i++) bench.Delete("k" + i);
        while (bench.Store.StepMovers(bench.NowMs)) { }
        Assert.That((before - arena.Used > bench.Store.Settings.SegmentBytes, before - arena.Used < Much), Is.EqualTo((true, true)), "some has come, and not enough");
        Assert.That((toldLittle, toldMuch), Is.EqualTo((0, 0)));
        Empty(bench, keys);
        Assert.That((toldLittle, toldMuch), Is.EqualTo((0, 1)), "nobody else waited");
    }

    [TestCase(true)]
    [TestCase(false)]
    public void Who_needs_less_is_told_before_who_needs_more_whoever_came_first(bool isLittleFirst)
    {
        const int Much = 512 << 10;
        using Bench bench = new(Settings());
        using StoreSession other = bench.Store.OpenSession();
        int toldLittle = 0;
        bench.Session.Room.Wait.OnRoom = () => toldLittle++;
        other.Room.Wait.OnRoom = static () => { };
        int keys = Fill(bench);
        if (isLittleFirst)
            bench.Session.Room.Wait.Ask(0);
        other.Room.Wait.Ask(Much);
        if (!isLittleFirst)
            bench.Session.Room.Wait.Ask(0);
        Arena arena = bench.Store.Arena;
        for (int i = 0; i < keys / 20; i++) bench.Delete("k" + i);
        while (bench.Store.StepMovers(bench.NowMs)) { }
        Assert.That(arena.Ceiling - arena.Used, Is.LessThan(Much), "not enough for both");
        Assert.That(toldLittle, Is.EqualTo(1));
    }

    [Test]
    public void Room_that_came_between_the_look_and_the_wait_is_told_at_once()
    {
        using Bench bench = new(Settings());
        int told = 0;
        bench.Session.Room.Wait.OnRoom = () => told++;
        bench.Session.Room.Wait.Ask(Bytes);
        Assert.That(told, Is.EqualTo(1));
    }

    [TestCase("a promise ends")]
    [TestCase("the limit is raised")]
    public void What_else_makes_room_tells_too(string how)
    {
        using Bench bench = new(Settings());
        int told = 0;
        StepRoom room = bench.Session.Room;
        room.Wait.OnRoom = () => told++;
        Arena arena = bench.Store.Arena;
        long free = arena.Ceiling - arena.Used, limit = arena.Limit;
        Assert.That(arena.TryPromise(free, isForced: true), Is.True);
        room.Wait.Ask(Bytes);
        Assert.That(told, Is.Zero);
        if (how == "the limit is raised")
            arena.SetLimit(2 * limit);
        else
            arena.EndPromise(free);
        Assert.That(told, Is.EqualTo(1));
        if (how == "the limit is raised")
            arena.EndPromise(free);
        arena.SetLimit(limit);
    }

    [Test]
    public void Who_is_gone_is_not_told()
    {
        using Bench bench = new(Settings());
        int told = 0;
        int keys = Fill(bench);
        using (StoreSession other = bench.Store.OpenSession())
        {
            other.Room.Wait.OnRoom = () => told++;
            other.Room.Wait.Ask(0);
        }
        Empty(bench, keys);
        Assert.That(told, Is.Zero);
    }

    private static StoreSettings Settings() => Bench.Tiny() with { MemoryLimitBytes = 2 << 20, Policy = EvictionPolicy.NoEviction };

    private static int Fill(Bench bench)
    {
        int keys = 0;
        for (; bench.Session.Room.Ensure(0); keys++) bench.Set("k" + keys, new byte[Bytes]);
        return keys;
    }

    private static void Empty(Bench bench, int keys)
    {
        for (int i = 0; i < keys; i++) bench.Delete("k" + i);
        while (bench.Store.StepMovers(bench.NowMs)) { }
    }
}

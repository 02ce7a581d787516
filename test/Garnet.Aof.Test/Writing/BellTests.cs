using Garnet.Aof.Writing;
using NUnit.Framework;

namespace Garnet.Aof.Test.Writing;

/// <summary>The bell that wakes a writer: no ring is lost, whoever comes first.</summary>
internal sealed class BellTests
{
    [Test]
    public void A_ring_before_the_wait_ends_it_and_a_later_one_the_next()
    {
        var bell = new Bell();
        int ended = 0;
        var waiter = new Thread(() =>
        {
            for (; ended < 2; Interlocked.Increment(ref ended)) bell.Wait(-1);
        }) { IsBackground = true };
        bell.Ring();
        bell.Ring();
        waiter.Start();
        Assert.That(SpinWait.SpinUntil(() => Volatile.Read(ref ended) > 0, Bench.PatienceMs), Is.True);
        bell.Ring();
        Assert.That(waiter.Join(Bench.PatienceMs), Is.True);
    }

    [Test]
    public void Who_waits_without_end_is_woken_by_every_piece_of_work()
    {
        const int Pieces = 200_000;
        Bell work = new(), done = new();
        int given = 0, taken = 0;
        var worker = new Thread(() =>
        {
            while (taken < Pieces)
            {
                while (Volatile.Read(ref given) == taken) work.Wait(-1);
                Volatile.Write(ref taken, taken + 1);
                done.Ring();
            }
        }) { IsBackground = true };
        var giver = new Thread(() =>
        {
            for (int i = 1; i <= Pieces; i++)
            {
                Volatile.Write(ref given, i);
                work.Ring();
                while (Volatile.Read(ref taken) < i) done.Wait(-1);
            }
        }) { IsBackground = true };
        worker.Start();
        giver.Start();
        Assert.That(giver.Join(Bench.PatienceMs) && worker.Join(Bench.PatienceMs), Is.True, "a ring was lost");
        Assert.That(taken, Is.EqualTo(Pieces));
    }
}

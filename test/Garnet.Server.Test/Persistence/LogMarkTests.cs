using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Server.Clients;
using Garnet.Server.Persistence;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test.Persistence;

/// <summary>What waits for the log waits for one log, and whoever waits is woken (net.R7).</summary>
[NonParallelizable] // threads have to meet
public sealed class LogMarkTests
{
    private const int PatienceMs = 1000; // without a step, with a bell that is known to lose words
    private const int EndMs = 300_000; // longer than anybody waits for the last of those who were not woken

    [Test]
    public void R7_a_batch_of_one_log_is_not_kept_by_the_numbers_of_another()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer server = new(directory: DataDirectory.OpenUnlocked(new MemoryDisk()), sync: AppendSync.Always);
        server.Server.Loaded.Await();
        DataKeeper keeper = server.Server.Keeper!;
        using TestClient client = new(server.Server.Port);
        for (int i = 0; i < 20; i++) client.Call("SET", $"k{i}", "1");
        LogMark kept = new(keeper.Log.Term, 3), never = new(keeper.Log.Term, 1_000_000);
        Assert.That((keeper.Log.Keeps(kept), keeper.Log.Keeps(never), keeper.Log.HasLost(never)), Is.EqualTo((true, false, false)), "it is to come");
        client.Call("REPLICAOF", "127.0.0.1", $"{primary.Server.Port}");
        Assert.That(() => server.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        Assert.That((keeper.Log.Keeps(kept), keeper.Log.Keeps(never), keeper.Log.HasLost(never)), Is.EqualTo((true, false, true)), "its log has ended");
        client.Call("REPLICAOF", "NO", "ONE");
        Assert.That(() => keeper.Log.Term, Is.GreaterThan(kept.Term).After(ReplicaGroup.WaitMs, 5));
        client.Call("SET", "k", "2");
        Assert.That((keeper.Log.Keeps(kept), keeper.Log.Keeps(never), keeper.Log.HasLost(never), keeper.Log.IsDurable(never)), Is.EqualTo((true, false, true, false)));
        Assert.That(keeper.Log.HasLost(new LogMark(keeper.Log.Term + 1, 1)), Is.True, "of a log that nobody knows");
    }

    [TestCase(false)]
    [TestCase(true)]
    public void F4_a_server_whose_log_failed_while_it_led_agrees_with_nobody_about_where_it_stands(bool leadsAgain)
    {
        var disk = new MemoryDisk();
        using EmbeddedServer old = new(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always);
        old.Server.Loaded.Await();
        using EmbeddedServer next = ReplicaGroup.ReplicaOf(old.Server.Port);
        using TestClient one = new(old.Server.Port), two = new(old.Server.Port), looks = new(old.Server.Port), promoted = new(next.Server.Port);
        one.Call("SET", "kept", "1");
        ReplicaGroup.CatchUp(next, old);
        using ManualResetEventSlim syncs = new(), fails = new();
        disk.OnSync = name =>
        {
            if (!name.EndsWith(".log", StringComparison.Ordinal)) return;
            syncs.Set();
            fails.Await();
            throw MemoryDisk.Broken("sync", name);
        };
        one.Send("SET", "written", "1");
        syncs.Await();
        two.Send("SET", "open", "1"); // to a batch that waits for the writer, and that nobody will write
        Assert.That(() => looks.Call("GET", "open"), Is.EqualTo("1").After(ReplicaGroup.WaitMs, 5));
        Assert.That(() => ReplicaGroup.ContentOf(next), Has.Count.EqualTo(2).After(ReplicaGroup.WaitMs, 5));
        fails.Set();
        Assert.That(() => old.Server.Keeper!.Log.Poison, Is.Not.Null.After(ReplicaGroup.WaitMs, 5));
        disk.OnSync = null;
        if (leadsAgain)
        {
            looks.Call("REPLICAOF", "127.0.0.1", "1"); // nobody is there
            looks.Call("REPLICAOF", "NO", "ONE");
            Assert.That(() => looks.Call("ROLE"), Does.Contain("master").After(ReplicaGroup.WaitMs, 5));
            Assert.That(looks.Call("SET", "more", "1"), Does.StartWith("MISCONF"), "the files have a hole, and nothing is kept behind it");
            promoted.Call("REPLICAOF", "127.0.0.1", "1");
            promoted.Call("REPLICAOF", "127.0.0.1", $"{old.Server.Port}");
            Assert.That(() => ReplicaGroup.ContentOf(next), Has.Count.EqualTo(3).After(ReplicaGroup.WaitMs, 5), "what is shown here is shown by whoever follows");
            return;
        }
        promoted.Call("REPLICAOF", "NO", "ONE");
        looks.Call("REPLICAOF", "127.0.0.1", $"{next.Server.Port}");
        Assert.That(() => old.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        ReplicaGroup.AssertSame(next, old);
        Assert.That(ReplicaGroup.ContentOf(old), Has.Count.EqualTo(2), "what no log has is not there");
        Assert.That(promoted.Call("SET", "new", "1"), Is.EqualTo("OK"));
        ReplicaGroup.AssertSame(next, old);
        Assert.That(old.Server.Keeper!.Log.Poison, Is.Null, "all that is in the files is another primary's");
    }

    [Test]
    public void Several_may_wait_for_the_log_and_none_takes_the_word_from_another()
    {
        var bell = new AdvanceBell();
        Assert.That(WakesAll(bell.Ring, bell.Await, waiting: 4, ReplicaGroup.WaitMs), Is.True);
    }

    // The search is worth something only if it finds bells that lose a word.
    [Test]
    public void A_bell_that_loses_a_word_is_found([Values] PlantedBell planted)
    {
        using var set = new ManualResetEventSlim(false, spinCount: 0);
        object gate = new();
        const int TriesMax = 20; // on a busy machine those who wait seldom run at the same time
        bool wakesAll = true;
        for (int tries = 0; wakesAll && tries < TriesMax; tries++)
            wakesAll = planted == PlantedBell.ResetByWaiters ? WakesAll(set.Set, AwaitSet, waiting: 2, PatienceMs) : WakesAll(PulseOne, AwaitPulse, waiting: 2, PatienceMs);
        Assert.That(wakesAll, Is.False, $"{planted} was not found");

        void AwaitSet(Func<bool> condition)
        {
            while (!condition())
            {
                Thread.Yield(); // the word may come here, also where one core is left for all
                set.Reset(); // and with it the word that another has not heard yet
                if (!condition()) set.Await();
            }
        }

        void PulseOne()
        {
            lock (gate) Monitor.Pulse(gate);
        }

        void AwaitPulse(Func<bool> condition)
        {
            lock (gate)
            {
                while (!condition()) Assert.That(Monitor.Wait(gate, EndMs));
            }
        }
    }

    public enum PlantedBell
    {
        /// <summary>Whoever waits takes back what was said before it looked.</summary>
        ResetByWaiters,
        /// <summary>One of those who wait is woken.</summary>
        WakeOne,
    }

    // So many wait for each of the steps of a log; false if somebody is not woken: no step is made any more.
    private static bool WakesAll(Action ring, Action<Func<bool>> wait, int waiting, int patienceMs)
    {
        const int Steps = 20_000, SpinsMax = 512;
        using var together = new Barrier(waiting + 1);
        using var end = new CancellationTokenSource();
        int reached = 0;
        TestThread[] waiters = TestThread.Begin(waiting, number => ForEachStep(step =>
        {
            Thread.SpinWait(step * 31 * (number + 1) % SpinsMax); // now one, now the other comes first, or after the word
            wait(() => Volatile.Read(ref reached) >= step || end.IsCancellationRequested);
        }));
        TestThread log = TestThread.Begin(() => ForEachStep(step =>
        {
            Thread.SpinWait(step * 17 % SpinsMax);
            Volatile.Write(ref reached, step);
            ring();
        }));
        TestThread[] all = [log, .. waiters];
        bool isThrough = false;
        for (int seen = -1; !isThrough && seen != Volatile.Read(ref reached);)
        {
            seen = Volatile.Read(ref reached);
            isThrough = SpinWait.SpinUntil(() => !Array.Exists(all, static one => one.IsAlive), patienceMs);
        }
        end.Cancel();
        Eventually.Holds(() =>
        {
            ring();
            return !Array.Exists(all, static one => one.IsAlive);
        });
        TestThread.Join(all);
        return isThrough;

        void ForEachStep(Action<int> take)
        {
            try
            {
                for (int step = 1; step <= Steps && !end.IsCancellationRequested; step++)
                {
                    Assert.That(together.SignalAndWait(EndMs, end.Token));
                    take(step);
                }
            }
            catch (OperationCanceledException)
            {
                // somebody was not woken
            }
        }
    }
}

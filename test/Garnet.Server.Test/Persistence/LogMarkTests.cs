using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Server.Persistence;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test.Persistence;

/// <summary>What waits for the log waits for one log, and whoever waits is woken (R7).</summary>
public sealed class LogMarkTests
{
    [Test]
    public void R7_a_batch_of_one_log_is_not_kept_by_the_numbers_of_another()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer server = new(directory: DataDirectory.OpenUnlocked(new MemoryDisk()), sync: AppendSync.Always);
        server.Server.Loaded.Wait();
        DataKeeper keeper = server.Server.Keeper!;
        using TestClient client = new(server.Server.Port);
        for (int i = 0; i < 20; i++) client.Call("SET", $"k{i}", "1");
        LogMark kept = new(keeper.Term, 3), never = new(keeper.Term, 1_000_000);
        Assert.That((keeper.Keeps(kept), keeper.Keeps(never), keeper.HasLost(never)), Is.EqualTo((true, false, false)), "it is to come");
        client.Call("REPLICAOF", "127.0.0.1", $"{primary.Server.Port}");
        Assert.That(() => server.Server.Replication.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        Assert.That((keeper.Keeps(kept), keeper.Keeps(never), keeper.HasLost(never)), Is.EqualTo((true, false, true)), "its log has ended");
        client.Call("REPLICAOF", "NO", "ONE");
        Assert.That(() => keeper.Term, Is.GreaterThan(kept.Term).After(ReplicaGroup.WaitMs, 5));
        client.Call("SET", "k", "2");
        Assert.That((keeper.Keeps(kept), keeper.Keeps(never), keeper.HasLost(never), keeper.IsDurable(never)), Is.EqualTo((true, false, true, false)));
        Assert.That(keeper.HasLost(new LogMark(keeper.Term + 1, 1)), Is.True, "of a log that nobody knows");
    }

    [Test]
    public void Several_may_wait_for_the_log_and_none_takes_the_word_from_another()
    {
        const int Waiting = 4, Steps = 2000;
        var bell = new AdvanceBell();
        using var together = new Barrier(Waiting + 1);
        int reached = 0;
        TestThread[] all = TestThread.Begin(Waiting, _ =>
        {
            for (int step = 1; step <= Steps; step++)
            {
                together.SignalAndWait();
                bell.Await(() => Volatile.Read(ref reached) >= step);
            }
        });
        TestThread log = TestThread.Begin(() =>
        {
            for (int step = 1; step <= Steps; step++)
            {
                together.SignalAndWait();
                Volatile.Write(ref reached, step);
                bell.Ring();
            }
        });
        Assert.That(() => Array.Exists([log, .. all], static one => one.IsAlive), Is.False.After(ReplicaGroup.WaitMs, 10));
        TestThread.Join([log, .. all]);
    }
}

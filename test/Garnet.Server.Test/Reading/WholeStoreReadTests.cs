using Garnet.Common.Test;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test.Reading;

/// <summary>Reads of a replica that name no keys, and transactions: all they say is of one batch's end.</summary>
public sealed class WholeStoreReadTests
{
    private const int Looks = 1500;

    [Test]
    public void Dbsize_keys_and_scan_never_see_half_of_a_rename([Values("DBSIZE", "KEYS *", "SCAN 0 COUNT 1000", "RANDOMKEY")] string command) =>
        Watch(command.Split(' '), static (reader, words) =>
        {
            string reply = reader.Call(words);
            Assert.That(reply, Is.EqualTo("1").Or.EqualTo("[left]").Or.EqualTo("[right]").Or.EqualTo("[0 [left]]").Or.EqualTo("[0 [right]]").Or.EqualTo("left").Or.EqualTo("right"));
        });

    [Test]
    public void A_transaction_sees_one_state_and_is_never_told_to_try_again() =>
        Watch([], static (reader, _) =>
        {
            reader.Call("MULTI");
            reader.Call("GET", "left");
            reader.Call("EXISTS", "right");
            reader.Call("DBSIZE");
            Assert.That(reader.Call("EXEC"), Is.EqualTo("[v 0 1]").Or.EqualTo("[nil 1 1]"));
        });

    [Test]
    public void Replay_goes_on_while_the_whole_store_is_read_all_the_time()
    {
        Watch(["KEYS", "*"], static (reader, words) => reader.Call(words), readers: 3);
    }

    private static void Watch(string[] words, Action<TestClient, string[]> look, int readers = 1)
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, static settings => settings.Replication.ReadWaitMs = 20_000);
        using var writer = new TestClient(primary.Server.Port);
        writer.Call("SET", "left", "v");
        ReplicaGroup.CatchUp(replica, primary);
        ulong before = replica.Server.Replication.Applied.Number;
        using var stop = new CancellationTokenSource();
        var writing = TestThread.Begin(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                writer.Call("RENAME", "left", "right");
                writer.Call("RENAME", "right", "left");
            }
        });
        try
        {
            Parallel.For(0, readers, new ParallelOptions { MaxDegreeOfParallelism = readers }, _ =>
            {
                using var reader = new TestClient(replica.Server.Port);
                for (int i = 0; i < Looks; i++) look(reader, words);
            });
        }
        finally
        {
            stop.Cancel();
            writing.Await();
        }
        ReplicaGroup.AssertSame(primary, replica);
        Assert.That(replica.Server.Replication.Applied.Number, Is.GreaterThan(before + 100), "batches were applied meanwhile");
    }
}

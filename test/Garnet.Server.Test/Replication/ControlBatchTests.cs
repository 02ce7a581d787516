using System.Globalization;

namespace Garnet.Server.Test.Replication;

/// <summary>Operations on the whole store among concurrent writes, and a key that everybody writes and reads.</summary>
public sealed class ControlBatchTests
{
    private const int Controls = 150, Readers = 100, LooksEach = 30;

    [Test]
    public void FLUSHALL_and_SWAPDB_between_writes_are_seen_whole_on_two_replicas()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer one = ReplicaGroup.ReplicaOf(primary.Server.Port, Patient), two = ReplicaGroup.ReplicaOf(primary.Server.Port, Patient);
        ReplicaGroup.CatchUp(one, primary);
        ReplicaGroup.CatchUp(two, primary);
        using var stop = new CancellationTokenSource();
        TestThread[] busy =
        [
            TestThread.Begin(() => WritePairs(primary, "0", stop.Token)), TestThread.Begin(() => WritePairs(primary, "1", stop.Token)),
            TestThread.Begin(() => ReadPairs(one, stop)), TestThread.Begin(() => ReadPairs(two, stop)),
        ];
        using (var client = new TestClient(primary.Server.Port))
        {
            var random = new Random(13);
            for (int i = 0; i < Controls && !stop.IsCancellationRequested; i++)
            {
                string[] control = random.Next(4) switch { 0 => ["FLUSHALL"], 1 => ["FLUSHDB"], _ => ["SWAPDB", "0", "1"] };
                Assert.That(client.Call(control), Is.EqualTo("OK"));
                client.Call("WAIT", "2", "1000"); // so that readers see what is between
            }
        }
        Assert.That(stop.IsCancellationRequested, Is.False, "a reader saw half of a pair");
        stop.Cancel();
        TestThread.Join(busy);
        ReplicaGroup.AssertSame(primary, one, two);
    }

    [Test]
    public void A_key_that_all_write_and_all_read_is_read_without_end_and_never_goes_back()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, Patient);
        using (var first = new TestClient(primary.Server.Port)) first.Call("INCR", "hot"); // there is something to see even if no writer comes to run
        ReplicaGroup.CatchUp(replica, primary);
        using var stop = new CancellationTokenSource();
        TestThread[] writers = TestThread.Begin(3, _ =>
        {
            using var client = new TestClient(primary.Server.Port);
            while (!stop.IsCancellationRequested) client.Call("INCR", "hot");
        });
        TestClient[] readers = [.. Enumerable.Range(0, Readers).Select(_ => new TestClient(replica.Server.Port))];
        long[] seen = new long[Readers];
        for (int look = 0; look < LooksEach; look++)
        {
            foreach (TestClient reader in readers) reader.Send("GET", "hot");
            for (int i = 0; i < Readers; i++)
            {
                string reply = readers[i].Read();
                long value = reply == "nil" ? 0 : long.Parse(reply, CultureInfo.InvariantCulture); // an error does not parse: nobody waits longer than for a batch
                Assert.That(value, Is.GreaterThanOrEqualTo(seen[i]));
                seen[i] = value;
            }
        }
        stop.Cancel();
        TestThread.Join(writers);
        foreach (TestClient reader in readers) reader.Dispose();
        Assert.That(seen.Max(), Is.Positive);
        ReplicaGroup.AssertSame(primary, replica);
    }

    private static void Patient(ServerSettings settings) => settings.Replication.ReadWaitMs = 10_000;

    private static void WritePairs(EmbeddedServer primary, string database, CancellationToken stop)
    {
        using var client = new TestClient(primary.Server.Port);
        client.Call("SELECT", database);
        for (long i = 0; !stop.IsCancellationRequested; i++)
        {
            string value = $"{database}.{i}";
            client.Call("MSET", "left", value, "right", value);
        }
    }

    private static void ReadPairs(EmbeddedServer replica, CancellationTokenSource stop)
    {
        using var client = new TestClient(replica.Server.Port);
        while (!stop.IsCancellationRequested)
        {
            string[] pair = client.Call("MGET", "left", "right").Trim('[', ']').Split(' ');
            if (pair[0] != pair[1]) stop.Cancel();
        }
    }
}

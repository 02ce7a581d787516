using System.Globalization;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Replication;

/// <summary>A primary and replicas in one process, their connections cut in the middle of anything, by seed.</summary>
public sealed class GroupTests
{
    private const int Accounts = 24, Total = 1000 * Accounts;

    [Test]
    public void Replicas_whose_connections_are_cut_at_random_bytes_end_with_the_same_data([ValueSource(typeof(LongRun), nameof(LongRun.Seeds))] int seed)
    {
        var random = new Random(seed);
        using EmbeddedServer primary = new();
        using CuttingProxy first = new(primary.Server.Port, Cuts(random, 12, 3_000)), second = new(primary.Server.Port, Cuts(random, 12, 60_000));
        using EmbeddedServer one = ReplicaGroup.ReplicaOf(first.Port, ReplicaGroup.ComesBackAtOnce), two = ReplicaGroup.ReplicaOf(second.Port, ReplicaGroup.ComesBackAtOnce);
        using (var client = new TestClient(primary.Server.Port))
        {
            // As long as there are cuts to come.
            for (int i = 0; first.Connections <= 12 || second.Connections <= 12; i++)
            {
                client.Call("SET", $"k{random.Next(200)}", new string((char)('a' + (i % 26)), random.Next(400)));
                if (random.Next(10) == 0) client.Call("DEL", $"k{random.Next(200)}");
                if (random.Next(500) == 0) client.Call("FLUSHALL");
            }
        }
        ReplicaGroup.AssertSame(primary, one, two);
        Assert.That(primary.Server.Replication.Links.Partial, Is.GreaterThan(3), "they went on where they were");
    }

    [TestCase(1)]
    [LongCase(2)]
    public void A_changed_byte_is_noticed_wherever_it_stands(int seed)
    {
        var random = new Random(seed);
        using EmbeddedServer primary = new();
        using CuttingProxy proxy = new(primary.Server.Port, Cuts(random, 30, 2_000), change: b => (byte)(b ^ (1 << random.Next(8))));
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(proxy.Port, ReplicaGroup.ComesBackAtOnce);
        using (var client = new TestClient(primary.Server.Port))
        {
            for (int i = 0; proxy.Connections <= 30; i++) client.Call("SET", $"k{random.Next(50)}", $"{i}");
        }
        ReplicaGroup.AssertSame(primary, replica);
    }

    [Test]
    public void A_reader_of_a_replica_never_sees_half_of_a_write([Values(1, 4)] int applyThreads)
    {
        using EmbeddedServer primary = new();
        using (var client = new TestClient(primary.Server.Port))
        {
            for (int i = 0; i < Accounts; i++) client.Call("SET", $"account{i}", "1000");
        }
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, settings =>
        {
            settings.Replication.ReadWaitMs = 10_000;
            settings.Replication.ApplyThreads = applyThreads;
        });
        ReplicaGroup.CatchUp(replica, primary);
        using var stop = new CancellationTokenSource();
        TestThread[] writers = TestThread.Begin(3, seed => Transfer(primary, new Random(seed), stop.Token));
        string[] all = ["MGET", .. Enumerable.Range(0, Accounts).Select(static i => $"account{i}")];
        var sums = new HashSet<long>();
        int distinct = 0;
        string before = "";
        using (var reader = new TestClient(replica.Server.Port))
        {
            for (int i = 0; i < 3000 || distinct < 50; i++)
            {
                string reply = reader.Call(all);
                if (reply != before) distinct++;
                before = reply;
                sums.Add(reply.Trim('[', ']').Split(' ').Sum(static balance => long.Parse(balance, CultureInfo.InvariantCulture)));
            }
        }
        stop.Cancel();
        TestThread.Join(writers);
        Assert.That(sums, Is.EqualTo(new HashSet<long> { Total }));
        ReplicaGroup.AssertSame(primary, replica);
    }

    [Test]
    public void What_a_token_covers_can_be_read_on_every_replica()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer one = ReplicaGroup.ReplicaOf(primary.Server.Port), two = ReplicaGroup.ReplicaOf(primary.Server.Port);
        ReplicaGroup.CatchUp(one, primary);
        ReplicaGroup.CatchUp(two, primary);
        using TestClient writer = new(primary.Server.Port), first = new(one.Server.Port), second = new(two.Server.Port);
        for (int i = 0; i < 300; i++)
        {
            string value = i.ToString(CultureInfo.InvariantCulture);
            writer.Call("SET", $"k{i % 7}", value);
            string token = writer.Call("REPL", "TOKEN");
            foreach (TestClient reader in (TestClient[])[first, second])
            {
                Assert.That(reader.Call("REPL", "WAIT", token, "10000"), Is.EqualTo("OK"));
                Assert.That(reader.Call("GET", $"k{i % 7}"), Is.EqualTo(value));
                token = reader.Call("REPL", "TOKEN"); // what the one has shown, the other shows too
            }
        }
    }

    [Test]
    public void A_replica_promoted_again_and_again_keeps_everything_and_takes_the_old_primary_back()
    {
        using EmbeddedServer left = new(), right = new();
        EmbeddedServer primary = left, replica = right;
        for (int round = 0; round < 6; round++)
        {
            using (var client = new TestClient(replica.Server.Port)) Assert.That(client.Call("REPLICAOF", "127.0.0.1", $"{primary.Server.Port}"), Is.EqualTo("OK"));
            using (var client = new TestClient(primary.Server.Port))
            {
                for (int i = 0; i < 100; i++) client.Call("SET", $"k{round}.{i}", "v");
                Assert.That(() => client.Call("WAIT", "1", "1000"), Is.EqualTo("1").After(60_000, 5));
            }
            ReplicaGroup.AssertSame(primary, replica);
            using (var client = new TestClient(replica.Server.Port))
            {
                Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
                Assert.That(client.Call("SET", "round", $"{round}"), Is.EqualTo("OK"));
            }
            (primary, replica) = (replica, primary);
        }
        Assert.That(ReplicaGroup.ContentOf(primary), Has.Count.EqualTo(601));
        Assert.That(primary.Server.Replication.Position.Term, Is.EqualTo(6 * 64));
    }

    private static Func<int, long> Cuts(Random random, int cuts, int bytesMax)
    {
        long[] after = [.. Enumerable.Range(0, cuts).Select(_ => (long)random.Next(60, bytesMax))];
        return connection => connection < after.Length ? after[connection] : long.MaxValue;
    }

    // Any number of accounts in one MSET; reading and writing by one client, with accounts of its own: a third of them.
    private static void Transfer(EmbeddedServer primary, Random random, CancellationToken stop)
    {
        using var client = new TestClient(primary.Server.Port);
        int third = Interlocked.Increment(ref s_thirds) % 3;
        while (!stop.IsCancellationRequested)
        {
            int[] some = [.. Enumerable.Range(0, Accounts).Where(i => i % 3 == third).OrderBy(_ => random.Next()).Take(random.Next(2, 6))];
            long[] balances = [.. client.Call(["MGET", .. some.Select(static i => $"account{i}")]).Trim('[', ']').Split(' ')
                .Select(static text => long.Parse(text, CultureInfo.InvariantCulture))];
            for (int i = 1; i < some.Length; i++)
            {
                long amount = random.Next(1, 50);
                balances[0] -= amount;
                balances[i] += amount;
            }
            client.Call(["MSET", .. some.Zip(balances).SelectMany(static pair => new[] { $"account{pair.First}", $"{pair.Second}" })]);
        }
    }

    private static int s_thirds;
}

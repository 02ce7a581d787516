using System.Diagnostics;
using System.Globalization;
using Garnet.Common.Test;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Failover;

/// <summary>
/// Three stock Sentinels see to three of our servers: the primary is killed or stopped under load, again and again, and nothing
/// that a replica confirmed is lost. GARNET_FAILOVER_ROUNDS says how often (default 2, with CI=true 20).
/// </summary>
[NonParallelizable]
public sealed class FailoverTests
{
    private const int StaleWrites = 5;

    private static readonly int Rounds =
        int.TryParse(Environment.GetEnvironmentVariable("GARNET_FAILOVER_ROUNDS"), NumberStyles.None, CultureInfo.InvariantCulture, out int rounds) ? rounds
        : LongRun.IsWanted ? 20 : 1;

    [Test]
    public void Nothing_confirmed_is_lost_when_the_primary_is_killed_under_load()
    {
        using SentinelGroup group = new(sentinels: 3, "", "", "");
        using WaitingWriters writers = new(() => SentinelGroup.PortOf(group.Sentinels[1]));
        var taken = new List<long>();
        int read = 0, stale = 0;
        for (int round = 0; round < Rounds; round++)
        {
            Assert.That(writers.Await(100), "writes go on");
            ReplicaServer old = group.Primary;
            old.Kill();
            taken.Add(AwaitPromotion(group, old));
            group.AwaitSwitch(old);
            Assert.That(writers.Await(100), "writes go on");
            int written = ComeBackWithWritesOfItsOwn(old);
            ReplicaServer primary = group.AwaitFollowers();
            Assert.That(old.Number("garnet_repl_discarded_writes"), Is.GreaterThanOrEqualTo(written));
            stale += written;
            read += AssertNothingIsLost(writers.Confirmed.Skip(read), primary);
        }
        Assert.That(stale, Is.Positive, "there was something to discard");
        Report(taken, writers);
        AssertAllAgree(group, writers);
    }

    [Test]
    public void A_primary_that_hung_comes_back_as_a_replica_and_what_it_then_took_is_discarded()
    {
        using SentinelGroup group = new(sentinels: 3, "", "", "");
        using WaitingWriters writers = new(() => SentinelGroup.PortOf(group.Sentinels[1]));
        var taken = new List<long>();
        int read = 0;
        for (int round = 0; round < (Rounds + 2) / 3; round++)
        {
            Assert.That(writers.Await(100), "writes go on");
            ReplicaServer old = group.Primary;
            using RespConnection stale = old.Connect();
            old.Signal("STOP");
            taken.Add(AwaitPromotion(group, old));
            group.AwaitSwitch(old);
            Assert.That(writers.Await(100), "writes go on");
            old.Signal("CONT");
            stale.Call("SET", "stale", "1"); // it cannot know yet
            ReplicaServer primary = group.AwaitFollowers();
            using (RespConnection now = old.Connect()) Assert.That(now.Call("EXISTS", "stale").ToString(), Is.EqualTo(":0"));
            read += AssertNothingIsLost(writers.Confirmed.Skip(read), primary);
        }
        Report(taken, writers);
        AssertAllAgree(group, writers);
    }

    // Milliseconds until one of the others says that it is the primary.
    private static long AwaitPromotion(SentinelGroup group, ReplicaServer old)
    {
        long from = Stopwatch.GetTimestamp();
        Assert.That(() => group.Nodes.Any(node => node != old && IsPrimary(node)), Is.True.After(SentinelGroup.DeadlineMs, 10), "nobody is promoted");
        return (long)Stopwatch.GetElapsedTime(from).TotalMilliseconds;
    }

    // Started anew it is the primary that its file says it is, until a Sentinel comes by: returns how many writes it took before.
    private static int ComeBackWithWritesOfItsOwn(ReplicaServer old)
    {
        old.Start();
        int written = 0;
        try
        {
            using RespConnection connection = old.Connect();
            for (; written < StaleWrites; written++)
            {
                string reply = connection.Call("SET", $"stale{written}", "1").ToString();
                if (reply.StartsWith("-READONLY ", StringComparison.Ordinal)) break;
                Assert.That(reply, Is.EqualTo("+OK"));
            }
        }
        catch (Exception e) when (e is System.Net.Sockets.SocketException or IOException)
        {
            // the Sentinel that came by has closed it
        }
        return written;
    }

    // Returns how many there were.
    private static int AssertNothingIsLost(IEnumerable<string> confirmed, ReplicaServer primary)
    {
        string[] keys = [.. confirmed];
        using RespConnection connection = primary.Connect();
        foreach (string[] some in keys.Chunk(1000))
            Assert.That(connection.Call(["MGET", .. some]).Items!.Select(static value => value.Text), Is.EqualTo(some));
        return keys.Length;
    }

    private static void AssertAllAgree(SentinelGroup group, WaitingWriters writers)
    {
        writers.Dispose();
        ReplicaServer primary = group.AwaitFollowers();
        AssertNothingIsLost(writers.Confirmed, primary);
        using (RespConnection connection = primary.Connect())
            Assert.That(connection.Call(["EXISTS", "stale", .. Enumerable.Range(0, StaleWrites).Select(static i => $"stale{i}")]).ToString(), Is.EqualTo(":0"));
        foreach (ReplicaServer node in group.Nodes.Where(node => node != primary))
        {
            node.CatchUp(primary);
            Assert.That(node.Digest(), Is.EqualTo(primary.Digest()));
        }
    }

    private static void Report(List<long> taken, WaitingWriters writers)
    {
        taken.Sort();
        TestContext.Out.WriteLine($"{taken.Count} rounds, {writers.Confirmed.Count} confirmed writes; promoted after {taken[taken.Count / 2]} ms (median), {taken[^1]} ms (longest)");
    }

    private static bool IsPrimary(ReplicaServer server)
    {
        try
        {
            using RespConnection connection = server.Connect();
            return connection.Call("ROLE").Items![0].Text == "master";
        }
        catch (Exception e) when (e is System.Net.Sockets.SocketException or IOException)
        {
            return false; // a Sentinel closes all clients of a server that it promotes
        }
    }
}

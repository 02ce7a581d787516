using System.Globalization;
using Garnet.Common.Test;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Consistency;

/// <summary>
/// Servers as processes, clients that write and read at the same time, and the checker over all they have seen.
/// GARNET_CONSISTENCY_READS sets how much each client reads.
/// </summary>
[Parallelizable] // servers of its own
public sealed class ConsistencyTests
{
    private const int Seed = 1, RoundsUntilCaught = 40;

    private static readonly int Reads =
        int.TryParse(Environment.GetEnvironmentVariable("GARNET_CONSISTENCY_READS"), NumberStyles.None, CultureInfo.InvariantCulture, out int reads) ? reads : 1500;

    [LongCase(1)]
    [LongCase(2)]
    [TestCase(3)]
    public void What_clients_of_a_primary_and_two_replicas_see_is_one_sequence(int applyThreads)
    {
        using ReplicaServer primary = new(keepsData: false), one = new(keepsData: false, $"--replica-apply-threads {applyThreads}"), two = new(keepsData: true);
        one.Follow(primary);
        two.Follow(primary);
        var history = new History();
        var clients = new Clients(primary, history, Seed + applyThreads);
        clients.Run([("primary", primary), ("one", one), ("one", one), ("two", two), ("two", two)], Reads);
        clients.ReadEnd("one", one);
        clients.ReadEnd("two", two);
        TestContext.Out.WriteLine($"{history.Writes.Count} writes, {history.Reads.Count} reads");
        Assert.That(Checker.Fault(history), Is.Null);
        Assert.That(history.Reads, Has.Count.GreaterThan(Reads));
    }

    /// <summary>Without the rule of the two looks readers see the middle of batches: the checker must say so.</summary>
    [Test]
    public void Readers_that_take_what_is_there_are_caught()
    {
        using ReplicaServer primary = new(keepsData: false), replica = new(keepsData: false);
        replica.Follow(primary);
        string? fault = null;
        for (int round = 1; round <= RoundsUntilCaught && fault is null; round++)
        {
            var history = new History();
            using (RespConnection connection = primary.Connect()) connection.Call("FLUSHALL");
            replica.CatchUp(primary);
            new Clients(primary, history, Seed + round).Run([("replica", replica), ("replica", replica)], Reads, "ANY");
            fault = Checker.Fault(history);
        }
        Assert.That(fault, Is.Not.Null);
        TestContext.Out.WriteLine(fault);
    }
}

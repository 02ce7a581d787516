using System.Globalization;
using Garnet.Common.Test;
using Garnet.Wire.Failover;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Consistency;

/// <summary>
/// The checker over real processes whose primary is killed under load, again and again: what a replica confirmed is never missed, no
/// replica goes back, nobody sees half of a write. GARNET_CONSISTENCY_ROUNDS says how often.
/// </summary>
[NonParallelizable]
public sealed class KillTests
{
    private const int Writes = 150, Reads = 300;
    private const string Flags = "--replica-serve-stale-data no";

    private static readonly int? s_asked =
        int.TryParse(Environment.GetEnvironmentVariable("GARNET_CONSISTENCY_ROUNDS"), NumberStyles.None, CultureInfo.InvariantCulture, out int rounds) ? rounds : null;

    // Sentinels take a quarter of a minute for each.
    private static readonly int s_rounds = s_asked ?? (LongRun.IsWanted ? 3 : 1), s_roundsOfSentinels = s_asked ?? (LongRun.IsWanted ? 3 : 1);

    private readonly List<ReplicaServer> _nodes = [];
    private volatile ReplicaServer _primary = null!;

    [TearDown]
    public void End()
    {
        foreach (ReplicaServer node in _nodes) node.Dispose();
        _nodes.Clear();
    }

    [Test]
    public void Primaries_killed_under_load_and_replaced_by_hand_leave_one_sequence()
    {
        StartGroup();
        var history = new History();
        using (var clients = new SurvivingClients(history, () => _primary.Port))
        {
            foreach (ReplicaServer replica in Replicas()) clients.ReadAt($"{replica.Port}", replica.Process.Address, replica.Port);
            for (int round = 1; round <= s_rounds; round++)
            {
                Assert.That(clients.Await(Writes, Reads), "clients write and read");
                ReplicaServer old = _primary, other = Promote(KillPrimary());
                other.Follow(_primary);
                old.Start(string.Create(CultureInfo.InvariantCulture, $"--replicaof \"127.0.0.1 {_primary.Port}\""));
                old.AwaitLink();
                clients.ReadAt($"{old.Port} in round {round}", old.Process.Address, round);
            }
            Assert.That(clients.Await(Writes, Reads), "clients write and read");
        }
        Judge(history);
    }

    [Test]
    public void Primaries_killed_under_load_and_replaced_by_Sentinels_leave_one_sequence()
    {
        using SentinelGroup group = new(sentinels: 3, Flags, Flags, Flags);
        _primary = group.Primary;
        var history = new History();
        using (var clients = new SurvivingClients(history, () => SentinelGroup.PortOf(group.Sentinels[1])))
        {
            foreach (ReplicaServer node in group.Nodes.Where(node => node != _primary)) clients.ReadAt($"{node.Port}", node.Process.Address, node.Port);
            for (int round = 1; round <= s_roundsOfSentinels; round++)
            {
                Assert.That(clients.Await(Writes, Reads), "clients write and read");
                ReplicaServer old = _primary;
                old.Kill();
                _primary = group.AwaitSwitch(old);
                old.Start();
                _primary = group.AwaitFollowers();
                clients.ReadAt($"{old.Port} in round {round}", old.Process.Address, round);
            }
            Assert.That(clients.Await(Writes, Reads), "clients write and read");
        }
        Judge(history);
    }

    /// <summary>Without the rule that a write counts when a replica has it, the checker must miss something.</summary>
    [Test]
    public void A_write_believed_before_a_replica_has_it_is_missed() => Assert.That(FaultWithout(waits: false, lagging: 2), Is.Not.Null);

    /// <summary>Without the rule that the replica with most is promoted, the checker must miss something.</summary>
    [Test]
    public void A_replica_promoted_although_another_one_had_more_is_noticed() => Assert.That(FaultWithout(waits: true, lagging: 1), Is.Not.Null);

    // Some replicas have lost their link when the last writes come, and one of them is promoted.
    private string? FaultWithout(bool waits, int lagging)
    {
        StartGroup();
        var history = new History();
        using (var clients = new SurvivingClients(history, () => _primary.Port, waits))
        {
            Assert.That(clients.Await(Writes, 0), "clients write");
            ReplicaServer[] replicas = Replicas();
            foreach (ReplicaServer replica in replicas[..lagging]) Detach(replica);
            Assert.That(clients.Await(Writes, 0), "clients write");
            _primary.Kill();
            ReplicaServer other = Promote(replicas[0]);
            other.Follow(_primary);
            Assert.That(clients.Await(Writes, 0), "clients write");
        }
        string? fault = Checker.Fault(history);
        TestContext.Out.WriteLine(fault);
        return fault;
    }

    private void StartGroup()
    {
        for (int i = 0; i < 3; i++) _nodes.Add(new ReplicaServer(keepsData: true, Flags));
        _primary = _nodes[0];
        foreach (ReplicaServer replica in Replicas()) replica.Follow(_primary);
    }

    private ReplicaServer[] Replicas() => [.. _nodes.Where(node => node != _primary)];

    // The replica that has received most, when all that was on its way has come.
    private ReplicaServer KillPrimary()
    {
        _primary.Kill();
        foreach (ReplicaServer replica in Replicas())
        {
            using RespConnection connection = replica.Connect();
            Assert.That(() => ReplicaServer.Field(connection, "master_link_status"), Is.EqualTo("down").After(ReplicaServer.TimeoutMs, 10));
        }
        return Replicas().MaxBy(static replica => replica.Number("slave_repl_offset"))!;
    }

    // Returns the replica that is to follow.
    private ReplicaServer Promote(ReplicaServer next)
    {
        ReplicaServer other = Replicas().Single(replica => replica != next);
        using (RespConnection connection = next.Connect()) Assert.That(connection.Call("REPLICAOF", "NO", "ONE").ToString(), Is.EqualTo("+OK"));
        _primary = next;
        return other;
    }

    private static void Detach(ReplicaServer replica)
    {
        using RespConnection connection = replica.Connect();
        connection.Call("REPLICAOF", "127.0.0.1", "1"); // nobody is there
        Assert.That(() => ReplicaServer.Field(connection, "master_link_status"), Is.EqualTo("down").After(ReplicaServer.TimeoutMs, 10));
    }

    private void Judge(History history)
    {
        SurvivingClients.ReadEnd(history, _primary.Process.Address);
        TestContext.Out.WriteLine($"{history.Writes.Count} writes, {history.Writes.Count(static write => write.IsLost)} of them lost, {history.Reads.Count} reads; term {_primary.Number("garnet_repl_term")}"); // the term says whether a Sentinel promoted more often than primaries were killed
        Assert.That(Checker.Fault(history), Is.Null);
    }
}

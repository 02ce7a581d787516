using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Test.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Replication;

/// <summary>Processes whose link is cut behind every byte of what a primary sends, and in the middle of full copies.</summary>
[Parallelizable] // servers of its own
public sealed class DisconnectTests
{
    private const int Seed = 11, FirstBytes = 4_000, PlanEnd = 206, CutBytes = 150, BatchesEach = 4, SnapshotCuts = 6, AwaitMs = 120_000;

    // Behind every byte with CI=true, else behind every third.
    private static readonly int Step = LongRun.IsWanted ? 1 : 3, Cuts = CutBytes / Step;

    [Test]
    public void A_link_cut_behind_every_byte_of_a_batch_goes_on_where_it_was()
    {
        using ReplicaServer primary = new(keepsData: true), replica = new(keepsData: true);
        using CuttingProxy proxy = new(primary.Port, static connection => connection == 0 ? FirstBytes : connection <= Cuts ? PlanEnd + connection * Step : long.MaxValue);
        Follow(replica, proxy.Port);
        replica.AwaitLink(); // the copy of an empty server
        using (RespConnection connection = primary.Connect())
        {
            // Several batches for every connection, so that each reaches its cut, and few enough to be kept for a replica that gets one of them.
            for (int seen = 0; (seen = proxy.Connections) <= Cuts + 1;)
            {
                for (int i = 0; i < BatchesEach; i++) connection.Call("SET", $"k{i}", $"{seen}");
                Assert.That(SpinWait.SpinUntil(() => seen == 1 || proxy.Connections > seen, ReplicaServer.TimeoutMs), () => replica.Info());
            }
        }
        AssertSame(primary, replica);
        Assert.That(primary.Number("sync_full"), Is.EqualTo(1), "only the first time");
        Assert.That(primary.Number("sync_partial_ok"), Is.GreaterThanOrEqualTo(Cuts));
    }

    [Test]
    public void Full_copies_under_writes_that_break_off_begin_anew_and_two_replicas_get_them_at_once()
    {
        using ReplicaServer primary = new(keepsData: true), one = new(keepsData: true), two = new(keepsData: false);
        using (RespConnection connection = primary.Connect())
        {
            for (int i = 0; i < 200; i++) connection.Call("SET", $"big{i}", new string('b', 20_000));
        }
        using CuttingProxy first = new(primary.Port, static connection => connection < SnapshotCuts ? (connection + 1) * 500_000L : long.MaxValue);
        using CuttingProxy second = new(primary.Port, static connection => connection < SnapshotCuts ? (SnapshotCuts - connection) * 300_000L : long.MaxValue);
        using (Load load = new(primary, Seed, expires: false))
        {
            Follow(one, first.Port);
            Follow(two, second.Port);
            Assert.That(SpinWait.SpinUntil(() => first.Connections > SnapshotCuts && second.Connections > SnapshotCuts, AwaitMs), () => one.Info() + two.Info());
            load.Await(500);
        }
        AssertSame(primary, one);
        AssertSame(primary, two);
    }

    private static void Follow(ReplicaServer replica, int port)
    {
        using RespConnection connection = replica.Connect();
        Assert.That(connection.Call("REPLICAOF", "127.0.0.1", port.ToString(CultureInfo.InvariantCulture)).ToString(), Is.EqualTo("+OK"));
    }

    private static void AssertSame(ReplicaServer primary, ReplicaServer replica)
    {
        replica.AwaitLink();
        replica.CatchUp(primary);
        Assert.That(Content.Of(replica), Is.EqualTo(Content.Of(primary)));
    }
}

using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>
/// Replication on one thread, in an order that a seed decides. GARNET_REPLICATION_SEEDS sets how many seeds (200, with CI=true 1,000), GARNET_REPLICATION_SEED the
/// first: with 1 of them, a failure is run again and told step by step.
/// </summary>
public sealed class ReplicationSimulationTests
{
    private const int Seeds = 200, SeedsOfLongRun = 1000, PlantedSeedsMax = 2000, CutsMax = 600;

    [Test]
    public void Whatever_breaks_readers_see_states_of_the_primary_and_all_end_alike()
    {
        int seeds = Number("GARNET_REPLICATION_SEEDS", LongRun.IsWanted ? SeedsOfLongRun : Seeds), first = Number("GARNET_REPLICATION_SEED", 1);
        var figures = new SimulationFigures { Tell = seeds == 1 ? TestContext.Out.WriteLine : null };
        for (int seed = first; seed < first + seeds; seed++)
        {
            if (Run(seed, SimulationFault.None, figures) is { } failure)
                Assert.Fail($"GARNET_REPLICATION_SEEDS=1 GARNET_REPLICATION_SEED={seed}: {failure}");
        }
        TestContext.Out.WriteLine(figures);
        if (seeds < Seeds) return;
        Assert.That(new long[] { figures.ReadsInBatches, figures.Refused, figures.Acknowledged, figures.Cuts, figures.Crashes, figures.Restarts, figures.Promotions, figures.PromotedAmidCopy, figures.Full, figures.Partial, figures.Rotten, figures.Reached, figures.GivenUp, figures.Released, figures.Lost, figures.Demoted, figures.ReadCold },
            Is.All.GreaterThan(0), "the simulation went everywhere");
    }

    // 21607: a server that had been primary twice without writing named a later term at its last batch than the batches behind it have.
    // 302419: a server that was promoted with its old data, before anything of a term it had been told of came, took that term's number for its own.
    [TestCase(21607)]
    [TestCase(302419)]
    public void A_seed_that_failed_once_does_not(int seed) => Assert.That(Run(seed, SimulationFault.None, new SimulationFigures()), Is.Null);

    [Test]
    public void A_rule_left_out_is_missed([Values] SimulationFault fault)
    {
        if (fault == SimulationFault.None) return;
        foreach (int seed in Enumerable.Range(1, PlantedSeedsMax).Prepend(FoundBySeed(fault)))
        {
            if (Run(seed, fault, new SimulationFigures()) is not { } failure) continue;
            TestContext.Out.WriteLine($"{fault}: seed {seed}: {failure.Message}");
            return;
        }
        Assert.Fail($"{fault} was not found by {PlantedSeedsMax} seeds");
    }

    [Test]
    public void A_link_cut_behind_every_byte_goes_on_without_a_full_copy()
    {
        var clock = new ManualClock();
        var random = new Random(1);
        using Node primary = new(0, null, clock, random), replica = new(1, null, clock, random);
        primary.Lead();
        replica.BecomeFollower();
        Connect(primary, replica, clock, int.MaxValue);
        for (int cut = 1; cut <= CutsMax; cut++)
        {
            primary.Write([cut % SimulatedKeys.Count, (cut + 1) % SimulatedKeys.Count], cut);
            for (int turner = 0; turner < primary.Current!.Turners; turner++) primary.Current.Turn(turner);
            Connect(primary, replica, clock, cut);
        }
        Connect(primary, replica, clock, int.MaxValue);
        for (int key = 0; key < SimulatedKeys.Count; key++) Assert.That(replica.Read(key), Is.EqualTo(primary.Read(key)));
        Assert.That((primary.FullSyncs, replica.Applied.Number), Is.EqualTo((1, primary.Backlog.End.Batch)));
        Assert.That(primary.PartialSyncs, Is.EqualTo(CutsMax + 1));
    }

    [Test]
    public void A_server_that_led_twice_without_writing_names_the_term_of_its_last_batch()
    {
        var clock = new ManualClock();
        var random = new Random(1);
        var disk = new SimulatedDisk();
        using Node primary = new(0, null, clock, random);
        primary.Lead();
        primary.Write([1, 2], 7);
        for (int turner = 0; turner < primary.Current!.Turners; turner++) primary.Current.Turn(turner);
        LogPosition at;
        using (Node replica = new(1, disk, clock, random))
        {
            replica.BecomeFollower();
            Connect(primary, replica, clock, int.MaxValue); // it gets a snapshot, and no batch behind it
            at = replica.Follower!.Position;
            disk = disk.Copy();
        }
        for (int life = 0; life < 3; life++)
        {
            using Node node = new(1, disk, clock, random);
            Assert.That(node.Backlog.End, Is.EqualTo(at).Using<LogPosition>(static (one, other) => one.Is(other)), $"life {life}");
            Assert.That(node.Read(2), Is.EqualTo(7));
            node.Lead(); // a file is there for what is to be written in the new term
            disk = disk.Copy();
        }
        using Node back = new(1, disk, clock, random);
        back.BecomeFollower();
        Connect(primary, back, clock, int.MaxValue);
        Assert.That(primary.FullSyncs, Is.EqualTo(1), "it goes on where it was");
    }

    // A connection that breaks behind so many bytes of the primary.
    private static void Connect(Node primary, Node replica, ManualClock clock, int bytes)
    {
        using var link = new Link(primary, replica, clock, _ => replica.Lineage = primary.Lineage);
        for (int sends = 0; sends < 40; sends++) link.Send();
        for (int left = Math.Min(bytes, link.UnderWay); left > 0; left -= 60_000) link.Deliver(Math.Min(left, 60_000));
        Assert.That(link.IsOver, Is.False, link.Reason);
        while (replica.Follower!.Turn())
        {
            // all that came whole
        }
    }

    // What is found seldom is looked for first where it was found last: if that seed goes another way by now, all of them are tried as ever.
    private static int FoundBySeed(SimulationFault fault) => fault switch
    {
        SimulationFault.SplitStep => 379,
        SimulationFault.IgnoreStore => 295,
        SimulationFault.AnyLog => 745,
        _ => 1,
    };

    private static Exception? Run(int seed, SimulationFault fault, SimulationFigures figures)
    {
        using var world = new World(seed, fault, figures);
        try
        {
            world.Run();
            return null;
        }
        catch (Exception e)
        {
            return e;
        }
    }

    private static int Number(string variable, int otherwise) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.Integer, CultureInfo.InvariantCulture, out int value) ? value : otherwise;
}

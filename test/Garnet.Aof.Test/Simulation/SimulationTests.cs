using System.Globalization;
using Garnet.Aof.Test.Disk;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Aof.Test.Simulation;

/// <summary>
/// Store, group committer, sublogs, snapshots and recovery on one thread, in an order that a seed decides, on a machine that goes down.
/// GARNET_SIMULATION_SEEDS sets how many seeds (2,000 with CI=true), GARNET_SIMULATION_SEED the first: with 1 of them, a failure
/// is run again.
/// </summary>
[Parallelizable] // its disks are its own
internal sealed class SimulationTests
{
    private const int PlantedSeedsMax = 2_000, SeedsThatGoEverywhere = 100;

    [Test]
    public void Whatever_happens_what_was_promised_is_there_and_the_state_is_one_the_store_had()
    {
        int seeds = Number("GARNET_SIMULATION_SEEDS", LongRun.IsWanted ? 1_000 : SeedsThatGoEverywhere);
        int first = Number("GARNET_SIMULATION_SEED", 1);
        var figures = new SimulationFigures { Tell = seeds == 1 ? TestContext.Out.WriteLine : null };
        for (int seed = first; seed < first + seeds; seed++)
        {
            try
            {
                new Simulation(seed, DiskFault.None, figures).Run();
            }
            catch (Exception e) when (e is not AssertionException)
            {
                Assert.Fail($"GARNET_SIMULATION_SEEDS=1 GARNET_SIMULATION_SEED={seed}: {e}");
            }
        }
        TestContext.Out.WriteLine(figures);
        if (seeds < SeedsThatGoEverywhere) return;
        Assert.That(new[] { figures.Crashes, figures.Kills, figures.Stops, figures.Snapshots, figures.Cuts, figures.CrashesInRecovery, figures.Refilled, figures.Drains, figures.OnTheSpot, figures.Demoted, figures.FoundCold },
            Is.All.GreaterThan(0), "the simulation went everywhere");
    }

    /// <summary>The simulation is worth something only if it notices a disk, or an order, that breaks the rules.</summary>
    [Test]
    public void A_planted_fault_is_found([Values(DiskFault.SyncOnce, DiskFault.UnsyncedSnapshot, DiskFault.CutBeforePublish,
        DiskFault.BodyAfterSync, DiskFault.NamesNeverSynced, DiskFault.AdvanceBeforeDrain, DiskFault.StaysFull, DiskFault.UnsyncedTier, DiskFault.ForgottenNames, DiskFault.FencedByAnother)] DiskFault fault)
    {
        for (int seed = 1; seed <= PlantedSeedsMax; seed++)
        {
            try
            {
                new Simulation(seed, fault, new SimulationFigures()).Run();
            }
            catch (Exception e) when (e is not SimulatedCrashException)
            {
                TestContext.Out.WriteLine($"{fault}: seed {seed}: {e.Message}");
                return;
            }
        }
        Assert.Fail($"{fault} was not found by {PlantedSeedsMax} seeds");
    }

    [Test]
    public void A_bucket_that_is_not_stamped_is_found()
    {
        Assert.That(StoreFaultProcess.Finds("None", 20, out _), Is.False, "a sound store");
        bool found = StoreFaultProcess.Finds("ForgetBucketStamp", PlantedSeedsMax, out string said);
        TestContext.Out.WriteLine(said.Length > 500 ? said[..500] : said);
        Assert.That(found, Is.True);
    }

    private static int Number(string variable, int otherwise) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.Integer, CultureInfo.InvariantCulture, out int value)
            ? value : otherwise;
}

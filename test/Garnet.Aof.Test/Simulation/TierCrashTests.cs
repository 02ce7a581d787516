using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Reading;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite;
using Tsavorite.Test.Tiers;

namespace Garnet.Aof.Test.Simulation;

/// <summary>A directory whose snapshots name what lies on a tier, on a machine that goes down at every operation of either, one after the other.</summary>
[Parallelizable] // its disks are its own
internal sealed class TierCrashTests
{
    private const int Steps = 160, StepsBehind = 20, OperationsMax = 5_000, SegmentBytes = Primary.TierSegmentBytes, HeadBytes = 64, UnitBytes = 16, Lives = 2, OperationsOfRecovery = 12, OperationsOfLife = 120;
    private const long MemoryBytes = 16 << 20, CrowdedBytes = 14 * SegmentBytes;

    [Test]
    public void A_power_cut_at_any_operation_of_log_snapshot_manifest_and_tier_leaves_what_was_promised([Values(6, 7)] int seed)
    {
        int step = LongRun.IsWanted ? 1 : 5, crashes = 0; // a short run takes every fifth one, others of the one seed than of the other
        for (int operation = 1 + (seed % step); operation <= OperationsMax; operation += step)
        {
            SimulatedDisk disk = new() { CrashAt = operation };
            SimulatedMedium tier = Simulation.TierBeside(() => disk);
            History history = new();
            using Primary first = new(disk, 1, history, new Random(seed), DiskFault.None) { Tier = tier };
            if (!GoesDown(first, disk))
            {
                Assert.That((first.Snapshots > 1, first.Demoted > 5, first.LongDemoted > 0), Is.EqualTo((true, true, true)));
                disk.IsGone = true; // what is given back reaches it no more
                break;
            }
            ulong promised = first.IsOpen ? first.Promised : 0;
            tier.Crash(operation);
            SimulatedDisk found = disk.Crash(operation);
            disk.IsGone = true;
            disk = found;
            crashes++;
            using Primary next = new(found, 1, history, new Random(seed), DiskFault.None) { Tier = tier };
            try
            {
                next.Open(found, promised); // judges all that was published, and the state
            }
            catch (Exception e) when (e is not AssertionException)
            {
                Assert.Fail($"operation {operation}: {e}");
            }
        }
        TestContext.Out.WriteLine($"{crashes} crashes");
        Assert.That(crashes, Is.InRange(100, (OperationsMax / step) - 1), "each operation had its crash");
    }

    /// <summary>
    /// Of a tier that is small, so that records move within it, come back to memory, and their room is used again. Behind each crash is a second life, which goes down too: in its
    /// recovery, or in what it does then.
    /// </summary>
    [Test]
    public void A_power_cut_of_a_tier_whose_room_is_used_again_leaves_what_was_promised_also_one_behind_another([Values(8, 9, 10)] int seed)
    {
        int step = LongRun.IsWanted ? 7 : 61, inRecovery = 0, later = 0, operation = 1 + (seed % step); // a short run takes every 61st one, others with each seed
        for (; operation <= OperationsMax; operation += step)
        {
            Random random = new(operation);
            History history = new();
            SimulatedDisk disk = new() { CrashAt = operation };
            SimulatedMedium tier = Simulation.TierBeside(() => disk, bytes: CrowdedBytes);
            tier.WritesBack = () => random.Next(2) == 0;
            ulong promised = 0;
            for (int life = 0; life < Lives; life++)
            {
                using Primary primary = new(disk, 1, history, new Random(seed + life), DiskFault.None) { Tier = tier, IsCrowded = true };
                bool wentDown = GoesDown(primary, disk, promised);
                if (primary.IsOpen) promised = primary.Promised;
                if (life == 0 && !wentDown)
                {
                    disk.IsGone = true; // what is given back reaches it no more
                    ExpectCrowded(primary);
                    TestContext.Out.WriteLine($"{operation - 1} operations; {inRecovery} second crashes in the recovery, {later} later; {primary}");
                    Assert.That(new[] { inRecovery, later }, Is.All.GreaterThan(OperationsOfLife / step));
                    return;
                }
                if (life == 1 && wentDown) (inRecovery, later) = primary.IsOpen ? (inRecovery, later + 1) : (inRecovery + 1, later);
                SimulatedDisk found = disk.Crash(random.Next());
                tier.Crash(random.Next());
                disk.IsGone = true;
                disk = found;
                if (life == 0) disk.CrashAt = 1 + random.Next(random.Next(2) == 0 ? OperationsOfRecovery : OperationsOfLife);
            }
            using Primary last = new(disk, 1, history, new Random(seed), DiskFault.None) { Tier = tier };
            last.Open(disk, promised);
            disk.IsGone = true;
        }
        Assert.Fail("it comes to no end");
    }

    /// <summary>Of values that come back and go again without a write, beside snapshots that name what was dead there and what lives there again.</summary>
    [Test]
    public void A_power_cut_while_values_come_back_and_go_again_leaves_what_was_promised([Values(11, 12)] int seed)
    {
        int step = LongRun.IsWanted ? 3 : 19, operation = 1 + (seed % step);
        for (; operation <= OperationsMax; operation += step)
        {
            Random random = new(operation);
            History history = new();
            SimulatedDisk disk = new() { CrashAt = operation };
            SimulatedMedium tier = Simulation.TierBeside(() => disk, bytes: 2 * CrowdedBytes);
            tier.WritesBack = () => random.Next(2) == 0;
            using Primary first = new(disk, 1, history, new Random(seed), DiskFault.None) { Tier = tier, Bounces = true };
            if (!GoesDown(first, disk))
            {
                disk.IsGone = true; // what is given back reaches it no more
                TestContext.Out.WriteLine($"{operation - 1} operations, {first.Snapshots} snapshots, demoted {first.Demoted}, of these {first.TierFigures.DemotedClean} without a write");
                Assert.That((first.Snapshots > 3, first.TierFigures.DemotedClean > 40), Is.EqualTo((true, true)));
                return;
            }
            ulong promised = first.IsOpen ? first.Promised : 0;
            tier.Crash(operation);
            SimulatedDisk found = disk.Crash(operation);
            disk.IsGone = true;
            disk = found;
            using Primary next = new(found, 1, history, new Random(seed + 1), DiskFault.None) { Tier = tier, Bounces = true };
            next.Open(found, promised); // judges all that was published, and the state
            for (int steps = 0; steps < StepsBehind; steps++) next.Step();
            found.IsGone = true;
        }
        Assert.Fail("it comes to no end");
    }

    /// <summary>Of a directory some of whose values cannot be read.</summary>
    [Test]
    public void A_repair_can_be_done_again_after_a_power_cut_at_any_operation([Values] bool reachesBack, [Values] bool harmsAll)
    {
        SimulatedDisk sound = new();
        SimulatedMedium tier = Simulation.TierBeside(() => sound);
        using (Primary first = new(sound, 1, new History(), new Random(5), DiskFault.None) { Tier = tier })
        {
            Assert.That(GoesDown(first, sound), Is.False);
            first.SaveCold();
            for (int steps = 0; steps < StepsBehind; steps++) first.Step();
            first.Stop();
        }
        sound = sound.Copy();
        using (DataDirectory directory = DataDirectory.OpenUnlocked(sound)) directory.RaiseTerm(1);
        if (!reachesBack) ForgetThePast(sound);
        // Every record behind the heads, of all segments or of every second.
        for (int at = SegmentBytes; at < tier.Bytes; at += UnitBytes)
        {
            if ((harmsAll || at / SegmentBytes % 2 == 0) && at % SegmentBytes >= HeadBytes) tier.At(at + 5, 1)[0] ^= 1;
        }
        SimulatedDisk plain = sound.Copy();
        Assert.That(Repair(plain, tier), Is.Not.Empty);
        string wanted = Content(plain, tier);
        int crashes = 0;
        for (int operation = 1; operation <= OperationsMax; operation++)
        {
            SimulatedDisk disk = sound.Copy();
            disk.CrashAt = operation;
            try
            {
                Repair(disk, tier);
                break;
            }
            catch (SimulatedCrashException)
            {
                crashes++;
            }
            SimulatedDisk found = disk.Crash(operation);
            Repair(found, tier);
            Assert.That(Repair(found, tier), Is.Empty, "once is enough");
            Assert.That(Content(found, tier), Is.EqualTo(wanted), $"operation {operation}");
        }
        Assert.That(crashes, Is.InRange(3, OperationsMax - 1), "each operation had its crash");
    }

    // False if it came to its end.
    private static bool GoesDown(Primary primary, SimulatedDisk disk, ulong promised = 0)
    {
        try
        {
            primary.Open(disk, promised);
            for (int steps = 0; steps < Steps; steps++) primary.Step();
            return false;
        }
        catch (SimulatedCrashException)
        {
            return true;
        }
    }

    // It did all that there is to be cut off by a crash.
    private static void ExpectCrowded(Primary primary)
    {
        TierFigures tier = primary.TierFigures;
        TestContext.Out.WriteLine($"{primary.Snapshots} snapshots, demoted {tier.Demoted}, moved together {tier.Compacted}, come back {tier.Promoted} and {tier.Returned}, gone back {tier.DemotedClean}, written {tier.WrittenBytes}");
        Assert.That(new[] { primary.Snapshots - 1, tier.Demoted, tier.Compacted, tier.Promoted, tier.Returned, tier.DemotedClean }, Is.All.GreaterThan(0L));
        Assert.That(tier.WrittenBytes, Is.GreaterThan(2 * tier.SizeBytes), "its room was used again");
    }

    // No way back: neither the snapshot before nor the log before the newest.
    private static void ForgetThePast(SimulatedDisk disk)
    {
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk);
        string name = directory.Manifest.Snapshot!.File;
        directory.PublishSnapshot(name, directory.Manifest.Snapshot.Batch, directory.Manifest.Terms, waits: true);
        List<LogFile> logs = LogFiles.All(disk);
        for (int i = 0; i + 1 < logs.Count && logs[i + 1].FirstBatch <= directory.Manifest.Snapshot.Batch + 1; i++) disk.Delete(logs[i].Name);
        Assert.That(LogFiles.All(disk)[0].FirstBatch, Is.GreaterThan(1));
        disk.SyncDirectory();
    }

    private static IReadOnlyList<string> Repair(SimulatedDisk disk, SimulatedMedium tier)
    {
        using TestStore table = new();
        Assert.That(DirectoryRepair.Plan(disk, SnapshotFiles.Instance, TestStore.Progress()).Lines, Is.Empty, "all else is sound");
        TierRepair repair = new(disk, table.Table, new ManualClock(), TestStore.Progress());
        Store Open(Manifest _) => new(TestStore.Settings(Primary.Lanes, MemoryBytes) with { Tier = tier, TierId = Primary.TierName.Id, TierSegmentBytes = SegmentBytes });
        RepairPlan plan = repair.Plan(manifest => Paused(Open(manifest)));
        repair.Apply(manifest => Paused(Open(manifest)));
        return plan.Lines;
    }

    private static Store Paused(Store store)
    {
        store.Logging = false;
        store.PauseExpiry(true);
        return store;
    }

    private static string Content(SimulatedDisk disk, SimulatedMedium tier)
    {
        using TestStore store = new(Primary.Lanes, MemoryBytes, adjust: settings => settings with { Tier = tier, TierId = Primary.TierName.Id, TierSegmentBytes = SegmentBytes });
        using DataDirectory directory = DataDirectory.OpenUnlocked(disk.Copy());
        directory.Recover(store.Store, store.Table, new RecoverySettings { Threads = 1 }, SnapshotFiles.Instance, TestStore.Progress());
        return store.Text();
    }
}

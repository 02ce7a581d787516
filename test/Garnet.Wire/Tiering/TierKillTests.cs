using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>
/// A server with more data than memory is killed in the middle of what it does about that, and started again: everything acknowledged is there, each key with its
/// own value. GARNET_TIER_KILL_ROUNDS sets the rounds per policy (1,000 for a night).
/// </summary>
[Parallelizable(ParallelScope.All)] // servers of its own, each test
public sealed class TierKillTests
{
    private const int Writers = 3, Moved = 100, ChangesMin = 2_000; // nothing is demoted before: memory has 12 MiB, and most values have no more than 4 KB

    [TestCase("noeviction", 1500)]
    [TestCase("allkeys-lru", 4000)]
    [LongCase("volatile-ttl", 1500)]
    [TestCase("noeviction", 2000, "16mb", Description = "persistent memory above the disk")]
    public void Nothing_acknowledged_is_lost_whatever_the_tier_was_at(string policy, int keys, string pm = "")
    {
        int rounds = int.TryParse(Environment.GetEnvironmentVariable("GARNET_TIER_KILL_ROUNDS"), CultureInfo.InvariantCulture, out int set) ? set
            : LongRun.IsWanted ? 15 : KillMoments.All.Length;
        using TierScratch tier = new(memory: "12mb", size: "24mb", pm);
        bool evicts = policy == "allkeys-lru";
        // Else it is seen some time before the log has it that a key was evicted, as nobody's reply waits for that: killed then, the key is there again.
        string durableReads = evicts ? "--aof-durable-reads yes" : "";
        string flags = $"{tier.Flags} --maxmemory-policy {policy} --appendfsync everysec {durableReads}";
        using DataServer server = new(flags);
        TierKillWriter[] writers = [.. Enumerable.Range(0, Writers).Select(i => new TierKillWriter(i, keys, mayVanish: evicts))];
        for (int round = 0; round < rounds; round++)
        {
            string moment = KillMoments.All[round % KillMoments.All.Length];
            KillMoments.Meet(server, writers, moment, Moved);
            if (moment == "start") KillMoments.KillWhileItStarts(server, tier, flags, round);
            server.Start();
            using RespConnection connection = server.Connect();
            foreach (TierKillWriter writer in writers)
                Assert.That(writer.Check(connection), Is.Null, $"round {round}, killed at a {moment}");
        }
        Assert.That(writers.Sum(static writer => writer.Acknowledged), Is.GreaterThan(ChangesMin), "the load ran");
        Assert.That(writers.Sum(static writer => writer.LongMoved), Is.Positive, "also with values that lie in several segments");
    }
}

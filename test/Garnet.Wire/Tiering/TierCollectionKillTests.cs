using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>
/// As <see cref="TierKillTests"/>, over hashes, sets, sorted sets, lists and streams of many pieces, each of which lies where it does: after every start each
/// collection is as it was acknowledged, of a transaction there is all or nothing, and the tier's figures fit each other. GARNET_TIER_KILL_ROUNDS sets the rounds.
/// </summary>
[Parallelizable(ParallelScope.All)] // servers of its own, each test
public sealed class TierCollectionKillTests
{
    private const int Writers = 3, Moved = 20, Keys = 120, Rounds = 10, RoundsOfLongRun = 20;

    // A moment that does not come by itself is not waited for: what was changed meanwhile is worth a kill too.
    private const long ChangesMax = 2_000;

    [TestCase("")]
    [TestCase("16mb", Description = "persistent memory above the disk")]
    public void Every_collection_is_as_it_was_acknowledged(string pm)
    {
        int rounds = int.TryParse(Environment.GetEnvironmentVariable("GARNET_TIER_KILL_ROUNDS"), CultureInfo.InvariantCulture, out int set) ? set
            : LongRun.IsWanted ? RoundsOfLongRun : Rounds;
        using TierScratch tier = new(memory: "12mb", size: "16mb", pm);
        string flags = $"{tier.Flags} --maxmemory-policy noeviction --appendfsync always";
        using DataServer server = new(flags);
        TierCollectionWriter[] writers = [.. Enumerable.Range(0, Writers).Select(static i => new TierCollectionWriter(i, Keys))];
        Dictionary<string, int> met = KillMoments.All.ToDictionary(static moment => moment, static _ => 0);
        for (int round = 0; round < rounds; round++)
        {
            string moment = KillMoments.All[round % KillMoments.All.Length];
            if (KillMoments.Meet(server, writers, moment, Moved, ChangesMax)) met[moment]++;
            if (moment == "start") KillMoments.KillWhileItStarts(server, tier, flags, round);
            server.Start();
            using RespConnection connection = server.Connect();
            foreach (TierCollectionWriter writer in writers)
                Assert.That(writer.Check(connection), Is.Null, $"round {round}, killed at a {moment}");
            AssertFiguresFit(connection);
        }

        TestContext.Out.WriteLine($"{writers.Sum(static writer => writer.Acknowledged)} changes; killed at: {string.Join(", ", met)}");
        Assert.That(met["demotion"], Is.Positive);
        Assert.That(met["snapshot"], Is.Positive);
    }

    private static void AssertFiguresFit(RespConnection connection)
    {
        IReadOnlyList<RespNode> reply = connection.Call("TIER.STATS").Items!;
        Dictionary<string, long> figures = reply.Chunk(2).ToDictionary(static pair => pair[0].Text, static pair => long.Parse(pair[1].Text, CultureInfo.InvariantCulture));
        Assert.That(figures.Values, Has.All.GreaterThanOrEqualTo(0), reply.ToString());
        Assert.That(figures["live_bytes"] + figures["free_bytes"] + figures["kept_bytes"], Is.LessThanOrEqualTo(figures["size_bytes"]));
        long rejected = figures.Where(static figure => figure.Key.StartsWith("promotion_rejected_", StringComparison.Ordinal)).Sum(static figure => figure.Value);
        Assert.That(figures["promotion_considered"], Is.EqualTo(figures["promotion_admitted"] + rejected), "every look has its reason");
        Assert.That(figures["promotion_admitted"], Is.EqualTo(figures["promoted_records"] + figures["promotion_lost"]));
        Assert.That((figures["read_failures"], figures["write_failures"]), Is.EqualTo((0, 0)));
    }
}

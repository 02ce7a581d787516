using Garnet.Common.Test;
using NUnit.Framework;

namespace Tsavorite.Test.Interleaving;

/// <summary>
/// Two operations in every interleaving of their yield points with at most two preemptions, three in random ones. Of the second ones a run tries
/// one in so many, others behind each first; a plain run each pair on one stage.
/// </summary>
internal sealed class InterleavingTests
{
    private static readonly int s_stride = LongRun.IsWanted ? 5 : 16, s_strideOverATier = LongRun.IsWanted ? 10 : 48, s_strideOfSinking = LongRun.IsWanted ? 50 : 150;
    private static readonly string[] s_names = [.. Acts.All.Keys];

    // Two flushes at once would wait for each other outside of the engine's own locks; a second snapshot is refused.
    private static readonly string[] s_alone = ["Flush", "Snapshot", "OpenStep"];

    // An open step is promised that nobody has several locks; a flush would wait for it outside of the engine's own locks.
    private static readonly string[] s_notInStep = ["SwapUp", "SwapDown", "Move", "Flush"];

    // A flush keeps out of steps over several keys by turns (store.U21), which nobody takes here: TurnTests. So it does of who counts the keys of a database.
    private static readonly string[] s_severalKeys = ["SwapUp", "SwapDown", "Move"];

    private static IEnumerable<object[]> Pairs() =>
        from left in Enumerable.Range(0, s_names.Length)
        from right in Enumerable.Range(left, s_names.Length - left)
        where IsAllowed([s_names[left], s_names[right]])
        from kind in new[] { StageKind.Plain, StageKind.Crowded }
        where LongRun.IsWanted || kind == ((left + right) % 2 == 0 ? StageKind.Plain : StageKind.Crowded)
        select new object[] { s_names[left], s_names[right], kind };

    [TestCaseSource(nameof(Pairs))]
    public void Two_operations_look_like_one_after_the_other(string left, string right, StageKind kind)
    {
        using Explorer explorer = new(kind, left, right);
        Assert.That(explorer.ExploreAll(s_stride), Is.Null);
        TestContext.Out.WriteLine($"{left} {right}: {explorer.Runs} interleavings");
    }

    private static IEnumerable<object[]> PairsOverATier() =>
        from mover in TierActs.All.Keys
        from other in s_names
        from kind in new[] { StageKind.Warm, StageKind.Cold }
        where LongRun.IsWanted || kind == (mover == "Demote" ? StageKind.Warm : StageKind.Cold) // elsewhere it has less to move
        select new object[] { mover, other, kind };

    /// <summary>What moves records to a tier, on it, and back, beside each operation and each other movement.</summary>
    [TestCaseSource(nameof(PairsOverATier))]
    public void A_mover_of_a_tier_is_seen_by_nobody(string mover, string other, StageKind kind)
    {
        using Explorer explorer = new(kind, mover, other);
        Assert.That(explorer.ExploreAll(s_strideOverATier), Is.Null);
        TestContext.Out.WriteLine($"{mover} {other}: {explorer.Runs} interleavings");
    }

    private static IEnumerable<object[]> PairsOfOthers() =>
        from other in s_names
        from pair in new[] { ("Sink", StageKind.Above), ("Demote", StageKind.Long), ("Promote", StageKind.ColdLong) }
        select new object[] { pair.Item1, other, pair.Item2 };

    /// <summary>From persistent memory to the disk; and a value of several segments that goes to a tier and comes back.</summary>
    [TestCaseSource(nameof(PairsOfOthers))]
    public void Neither_is_what_sinks_and_what_is_long(string mover, string other, StageKind kind)
    {
        using Explorer explorer = new(kind, mover, other);
        Assert.That(explorer.ExploreAll(mover == "Sink" ? s_strideOfSinking : s_strideOverATier), Is.Null);
        TestContext.Out.WriteLine($"{mover} {other}: {explorer.Runs} interleavings");
    }

    /// <summary>What has come back goes to the tier again without a write, beside whoever reads it, changes it, or moves it.</summary>
    [TestCaseSource(nameof(PairsOfBack))]
    public void What_goes_back_without_a_write_is_seen_by_nobody(string other)
    {
        using Explorer explorer = new(StageKind.Back, "Demote", other);
        Assert.That(explorer.ExploreAll(s_stride), Is.Null);
        TestContext.Out.WriteLine($"{other}: {explorer.Runs} interleavings");
    }

    private static IEnumerable<string> PairsOfBack() => [.. s_names, .. TierActs.All.Keys, "Name", "Reuse"];

    /// <summary>What removes what has expired on a tier, beside whoever sees it as it was, or gives it another time.</summary>
    [TestCaseSource(nameof(Others))]
    public void What_has_expired_on_a_tier_goes_before_or_after(string other)
    {
        using Explorer explorer = new(StageKind.Timed, "Sweep", other);
        Assert.That(explorer.ExploreAll(s_strideOverATier), Is.Null);
    }

    private static IEnumerable<string> Others() => s_names;

    /// <summary>A snapshot that names what lies on a tier, beside what moves there, is changed, and changes its place in the index: read once all has ended, it has what there was at its cut (store.C9).</summary>
    [Test]
    public void What_a_snapshot_names_is_what_there_was_at_its_cut([Values("Demote", "Compact", "Reuse", "Promote", "Read", "PutInPlace", "PutElsewhere", "Append",
        "PutExpiring", "SetExpiry", "Delete", "Split", "Merge", "Clean", "Expire", "SwapUp", "SwapDown", "OpenStep", "Move", "Count", "Sweep", "Flush")] string other)
    {
        using Explorer explorer = new(StageKind.Named, "Name", other);
        Assert.That(explorer.ExploreAll(s_strideOverATier), Is.Null);
        TestContext.Out.WriteLine($"{other}: {explorer.Runs} interleavings");
    }

    /// <summary>
    /// What a full tier gives up, beside whoever wants it: in some order of the two. The other movers are the same thread; who looks at several keys (a count, a snapshot) may find some
    /// of them gone and some not, as they go one after the other.
    /// </summary>
    [Test]
    public void A_segment_that_is_given_up_is_so_before_or_after(
        [Values("Read", "PutInPlace", "PutElsewhere", "Append", "PutExpiring", "SetExpiry", "Delete", "Split", "Merge", "Clean", "Expire",
            "SwapUp", "SwapDown", "Move", "OpenStep", "Flush")] string other)
    {
        // A read is counted behind what it has read: whoever is given up between the two was read before, and not spared for it.
        using Explorer explorer = new(StageKind.Cold, other == "Read" ? "EvictUnlooked" : "Evict", other);
        Assert.That(explorer.ExploreAll(s_strideOverATier), Is.Null);
    }

    [TestCase("Demote", StageKind.Warm)]
    [TestCase("Demote", StageKind.Long)]
    [TestCase("Demote", StageKind.Back)]
    [TestCase("Compact", StageKind.Cold)]
    [TestCase("Promote", StageKind.Cold)]
    [TestCase("Promote", StageKind.ColdLong)]
    [TestCase("Sink", StageKind.Above)]
    [TestCase("Sweep", StageKind.Timed)]
    public void A_mover_has_something_to_move_on_its_stage(string mover, StageKind kind)
    {
        using Stage stage = new(1, kind);
        TierFigures before = stage.Store.Figures().Tier!;
        TierActs.Of(mover)(stage, 0);
        TierFigures after = stage.Store.Figures().Tier!;
        Assert.That(mover switch
        {
            "Demote" when kind == StageKind.Back => after.DemotedClean - before.DemotedClean,
            "Demote" => after.Demoted - before.Demoted,
            "Compact" => after.Compacted - before.Compacted,
            "Promote" => after.Returned - before.Returned,
            "Sweep" => after.Expired - before.Expired,
            _ => after.Memory!.MovedDown - before.Memory!.MovedDown,
        }, Is.Positive);
    }

    [Test]
    public void Promotion_beside_the_other_movers_of_a_tier_is_seen_by_nobody(
        [Values("Demote", "Compact", "Promote")] string mover, [Values(StageKind.Warm, StageKind.Cold)] StageKind kind)
    {
        using Explorer explorer = new(kind, mover, "Promote");
        Assert.That(explorer.ExploreAll(s_strideOverATier), Is.Null);
    }

    // Not beside what expires there: a key that was found and then swept away is nobody's to bring back, and the answer may be either.
    [Test]
    public void Promotion_beside_what_sinks_is_seen_by_nobody()
    {
        using Explorer explorer = new(StageKind.Above, "Sink", "Promote");
        Assert.That(explorer.ExploreAll(s_strideOfSinking), Is.Null);
    }

    [Test]
    public void Three_operations_look_like_some_order_of_them()
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        Random random = new(seed);
        for (int i = 0; i < 60; i++)
        {
            string[] acts = Enumerable.Range(0, 3).Select(_ => s_names[random.Next(s_names.Length)]).ToArray();
            if (!IsAllowed(acts)) continue;
            using Explorer explorer = new(i % 2 == 0 ? StageKind.Crowded : StageKind.Plain, acts);
            Assert.That(explorer.ExploreRandomly(seed + i * 1000, 40), Is.Null, $"seed {seed}: {string.Join(", ", acts)}");
        }
    }

    private static bool IsAllowed(string[] acts) =>
        !s_alone.Any(alone => acts.Count(name => name == alone) > 1) && !(acts.Contains("OpenStep") && acts.Any(s_notInStep.Contains))
        && !(acts.Contains("Flush") && (acts.Count(s_severalKeys.Contains) > 1 || acts.Contains("Count")));

    [Test]
    public void U16_U18_A_snapshot_a_change_of_structure_and_a_writer_look_like_some_order_of_them(
        [Values("Split", "Merge", "Clean", "Flush")] string structure,
        [Values("SwapUp", "PutElsewhere", "Delete", "SetExpiry")] string writer)
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        using Explorer explorer = new(seed % 2 == 0 ? StageKind.Crowded : StageKind.Plain, "Snapshot", structure, writer);
        Assert.That(explorer.ExploreRandomly(seed, 150), Is.Null, $"seed {seed}");
    }
}

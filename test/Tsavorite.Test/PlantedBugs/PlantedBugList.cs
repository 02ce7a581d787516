using NUnit.Framework;
using Tsavorite.Test.Interleaving;
using Tsavorite.Test.Tiers;

namespace Tsavorite.Test.PlantedBugs;

/// <summary>All planted bugs. Every member of <see cref="PlantedFault"/> stands here once.</summary>
internal static class PlantedBugList
{
    public static readonly IReadOnlyList<PlantedBug> All =
    [
        new(PlantedFault.None, Everything),
        new(PlantedFault.SkipRecheck, static () => Interleave("Read", "PutInPlace")),
        new(PlantedFault.SkipStructureRecheck, static () => Interleave("Read", "Split")),
        new(PlantedFault.SkipDrainingRule, new EngineRuleTests().U13_A_record_of_a_draining_segment_is_not_changed_where_it_lies),
        new(PlantedFault.SkipOddSequence, static () => Interleave("Read", "PutInPlace")),
        new(PlantedFault.RelocateUnseen, static () => Interleave("Read", "Clean")),
        new(PlantedFault.StoreFrequencyBlindly, static () => Interleave("Read", "PutElsewhere")),
        new(PlantedFault.LockInKeyOrder, static () => Interleave("SwapUp", "SwapDown")),
        new(PlantedFault.ForgetLiveBytes, new MoverTests().U13_A_cleaned_store_holds_the_same_and_takes_less),
        new(PlantedFault.ForgetOverflowOnSplit, Oracle),
        new(PlantedFault.SkipExpiryCheck, Oracle),
        new(PlantedFault.LoseCursorOnMerge, static () => new ScanTests().Every_key_present_throughout_is_shown_across_splits_and_merges(1)),
        new(PlantedFault.DoubleFreeSegment, new EngineRuleTests().U4_A_dead_segment_is_handed_out_once),
        new(PlantedFault.KeepOldTtlFlag, Oracle),
        new(PlantedFault.SkipHashMixOfNamespace, new EngineRuleTests().Namespaces_spread_the_same_key_over_the_partitions),
        new(PlantedFault.SkipLengthBound, new EngineRuleTests().U2_A_length_that_is_not_true_is_never_shown),
        new(PlantedFault.SkipRetiredCheck, new MoverTests().A_write_that_looked_its_namespace_up_before_a_flush_leaves_nothing_behind),
        new(PlantedFault.SkipLogOfExpiry, new RuleTests().U7_Every_logical_change_passes_the_log_and_replay_gives_the_same_store),
        new(PlantedFault.ForgetEarlierExpiry, new MoverTests().A_key_whose_expiry_is_brought_forward_is_removed_when_it_is_due),
        new(PlantedFault.EvictChunks, new EngineRuleTests().Eviction_never_takes_a_chunk),
        new(PlantedFault.ForgetExtentAccount, new MoverTests().After_a_flush_the_account_is_back_at_the_empty_baseline),
        new(PlantedFault.ForgetBucketStamp, static () => Interleave("Snapshot", "SwapUp")),
        new(PlantedFault.SplitWithoutStamp, static () => Interleave("Snapshot", "Split")),
        new(PlantedFault.MergeDuringSnapshot, static () => Interleave("Snapshot", "Merge")),
        new(PlantedFault.CountBeforeSwitch, static () => new ListeningTests().A_change_is_told_to_who_listens_while_another_begins_and_ends(false)),
        new(PlantedFault.DemoteUnseen, static () => Interleave("Demote", "PutInPlace", StageKind.Warm)),
        new(PlantedFault.BeginUnsaid, static () => new TurnTests().What_a_batch_has_looked_up_is_true_to_its_end(flushes: false)),
        new(PlantedFault.WriteIntoPinned, static () => new PinnedValueTests().Its_bytes_stay_whatever_becomes_of_the_key(PinnedValueTests.KeyFate.Overwritten)),
        new(PlantedFault.BelieveReused, static () => new ReusedSegmentTests().What_was_kept_of_a_segment_is_not_believed_once_another_use_is_made_of_it(100, fails: false)),
        new(PlantedFault.KeepCopyOfChanged, static () => new CleanCopyTests().What_was_changed_in_any_way_is_written_as_it_is(TierParts.Disk, "put", 100, 0)),
        new(PlantedFault.ReviveReused, static () => new CleanCopyTests().What_was_there_is_not_looked_for_once_another_use_is_made_of_the_segment(isNamed: false)),
    ];

    // Without a fault every detecting test passes in the same surroundings. Each is named, so that one that never ends is known.
    private static void Everything()
    {
        foreach (PlantedBug bug in All.Where(bug => bug.Fault != PlantedFault.None).DistinctBy(static bug => bug.Detect))
        {
            Console.WriteLine(bug.Fault);
            bug.Detect();
        }
    }

    private static void Interleave(string left, string right, StageKind kind = StageKind.Plain)
    {
        using Explorer explorer = new(kind, left, right);
        Assert.That(explorer.ExploreAll(), Is.Null);
    }

    private static void Oracle() => new OracleTests().The_store_equals_a_dictionary(1, ulong.MaxValue, 25_000);
}

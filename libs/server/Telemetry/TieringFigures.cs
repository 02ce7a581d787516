using Tsavorite;

namespace Garnet.Server.Telemetry;

/// <summary>Figures of the tier; to be asked for only where there is one. Counters begin at zero with the start, or TIER.RESET.</summary>
internal static class TieringFigures
{
    /// <summary>Of the fields of INFO; TIER.STATS has them without.</summary>
    internal const string Prefix = "tier_";

    private static readonly FigureList List = Declare();

    internal static IReadOnlyList<Figure> All => List.All;

    private static TierFigures Tier(Moment moment) => moment.Store.Tier!;

    private static FigureList Declare()
    {
        var list = new FigureList();
        Room(list);
        Demotions(list);
        Moves(list);
        return list;
    }

    private static void Room(FigureList list)
    {
        list.Gauge(
            "tier_pm_size_bytes", "garnet_tier_pm_size_bytes", "Room in persistent memory.", static m => Tier(m).Memory?.SizeBytes ?? 0);
        list.Gauge(
            "tier_pm_free_bytes", "garnet_tier_pm_free_bytes", "Free room in persistent memory.",
            static m => Tier(m).Memory?.FreeBytes ?? 0);
        list.Gauge(
            "tier_pm_cold_records", "garnet_tier_pm_cold_records", "Records that lie in persistent memory.",
            static m => Tier(m).Memory?.Records ?? 0);
        list.Counter(
            "tier_pm_reads", "garnet_tier_pm_reads_total", "Records looked at in persistent memory.",
            static m => Tier(m).Memory?.Reads ?? 0);
        list.Counter(
            "tier_ssd_reads", "garnet_tier_ssd_reads_total", "Records read from the SSD.",
            static m => Tier(m).Reads - (Tier(m).Memory?.Reads ?? 0));
        list.Counter(
            "tier_pm_moved_records", "garnet_tier_pm_moved_records_total", "Records that went on from persistent memory to the SSD.",
            static m => Tier(m).Memory?.MovedDown ?? 0);
        list.Counter(
            "tier_pm_moved_bytes", "garnet_tier_pm_moved_bytes_total", "Bytes that went on from persistent memory to the SSD.",
            static m => Tier(m).Memory?.MovedDownBytes ?? 0);
        list.Gauge("tier_size_bytes", "garnet_tier_size_bytes", "Room on the tier.", static m => Tier(m).SizeBytes);
        list.Gauge("tier_free_bytes", "garnet_tier_free_bytes", "Free room on the tier.", static m => Tier(m).FreeBytes);
        list.Gauge(
            "tier_live_bytes", "garnet_tier_live_bytes", "Bytes of values that are alive on the tier.",
            static m => Tier(m).LiveBytes);
        list.Gauge("tier_kept_bytes", "garnet_tier_kept_bytes", "Room that waits for the next snapshots.", static m => Tier(m).KeptBytes);
        list.Gauge("tier_cold_records", "garnet_tier_cold_records", "Records that lie on the tier.", static m => Tier(m).Records);
        list.Counter(
            "tier_memory_hits", "garnet_tier_memory_hits_total", "Hits that were answered from memory.",
            static m => m.Totals.Hits - m.Totals.TierHits);
        list.Counter("tier_hits", "garnet_tier_hits_total", "Hits that were answered from the tier.", static m => m.Totals.TierHits);
        list.Counter("tier_reads", "garnet_tier_reads_total", "Records read from the tier.", static m => Tier(m).Reads);
        list.Counter("tier_read_bytes", "garnet_tier_read_bytes_total", "Bytes read from the tier.", static m => Tier(m).ReadBytes);
        list.Counter(
            "tier_segment_reads", "garnet_tier_segment_reads_total", "Segments read as a whole, to be rewritten.",
            static m => Tier(m).SegmentReads);
        list.Gauge(
            "tier_pending_reads", "garnet_tier_pending_reads", "Reads that have not finished.",
            static m => m.Server.Workers.All.Sum(static worker => worker.Session.Tier!.Pending));
        list.Counter("tier_read_failures", "garnet_tier_read_failures_total", "Reads that failed.", static m => Tier(m).ReadFailures);
        list.Counter(
            "tier_late_reads", "garnet_tier_late_reads_total",
            "Reads that were not answered within tier-read-timeout: their commands had an error.",
            static m => Tier(m).LateReads);
        list.Gauge(
            "tier_owed_reads", "garnet_tier_owed_reads",
            "Late reads that the disk has still not answered; not 0: it hangs, or a part of it.",
            static m => Tier(m).OwedReads);
        list.Counter(
            "tier_refused_reads", "garnet_tier_refused_reads_total",
            "Reads that were an error before tier-read-timeout: the disk owes the same one, or many; or waited for in place in vain.",
            static m => Tier(m).RefusedReads);
        list.Gauge(
            "tier_write_ms", "garnet_tier_write_milliseconds", "How long the write that is under way has taken; 0: none is.",
            static m => Tier(m).WriteMs);
        list.Counter(
            "tier_written_bytes", "garnet_tier_written_bytes_total", "Bytes written to the tier.", static m => Tier(m).WrittenBytes);
        list.Counter("tier_write_failures", "garnet_tier_write_failures_total", "Writes that failed.", static m => Tier(m).WriteFailures);
        list.Counter(
            "tier_writes_held_back", "garnet_tier_writes_held_back_total",
            "Rounds in which records stayed in memory for a limit of writes.",
            static m => Tier(m).HeldBack);
    }

    private static void Demotions(FigureList list)
    {
        list.Counter(
            "tier_demoted_records", "garnet_tier_demoted_records_total", "Records that left memory for the tier.",
            static m => Tier(m).Demoted);
        list.Counter(
            "tier_demoted_bytes", "garnet_tier_demoted_bytes_total", "Bytes that left memory for the tier.",
            static m => Tier(m).DemotedBytes);
        list.Counter(
            "tier_demoted_clean_records", "garnet_tier_demoted_clean_records_total",
            "Records that left memory anew, unchanged since they had come back: nothing was written.",
            static m => Tier(m).DemotedClean);
        list.Counter(
            "tier_demoted_clean_bytes", "garnet_tier_demoted_clean_bytes_total", "Bytes that left memory anew without a write.",
            static m => Tier(m).DemotedCleanBytes);
    }

    private static void Moves(FigureList list)
    {
        list.Counter(
            "tier_promotion_considered", "garnet_tier_promotion_considered_total",
            "Looks at records on the tier that might have made them come back.",
            static m => Tier(m).Considered);
        list.Counter(
            "tier_promotion_rejected_off", "garnet_tier_promotion_rejected_off_total", "Looks in vain: nothing is to come back.",
            static m => Tier(m).RejectedOff);
        list.Counter(
            "tier_promotion_rejected_frequency", "garnet_tier_promotion_rejected_frequency_total", "Looks in vain: not read often enough.",
            static m => Tier(m).RejectedFrequency);
        list.Counter(
            "tier_promotion_rejected_headroom", "garnet_tier_promotion_rejected_headroom_total", "Looks in vain: memory has no room.",
            static m => Tier(m).RejectedHeadroom);
        list.Counter(
            "tier_promotion_rejected_held", "garnet_tier_promotion_rejected_held_total",
            "Looks in vain: somebody had the partition locked.",
            static m => Tier(m).RejectedHeld);
        list.Counter(
            "tier_promotion_rejected_observe", "garnet_tier_promotion_rejected_observe_total", "Looks in vain: they are counted only.",
            static m => Tier(m).Observed);
        list.Counter(
            "tier_promotion_admitted", "garnet_tier_promotion_admitted_total", "Looks whose records were to come back.",
            static m => Tier(m).Admitted);
        list.Counter(
            "tier_promotion_lost", "garnet_tier_promotion_lost_total", "Records that were to come back, and somebody was faster.",
            static m => Tier(m).Lost);
        list.Counter(
            "tier_promoted_records", "garnet_tier_promoted_records_total", "Records that came back because they were read.",
            static m => Tier(m).Promoted);
        list.Counter(
            "tier_promoted_bytes", "garnet_tier_promoted_bytes_total", "Bytes that came back because they were read.",
            static m => Tier(m).PromotedBytes);
        list.Counter(
            "tier_returned_records", "garnet_tier_returned_records_total", "Records that came back to be changed, or were asked for.",
            static m => Tier(m).Returned);
        list.Counter(
            "tier_returned_bytes", "garnet_tier_returned_bytes_total", "Bytes that came back to be changed, or were asked for.",
            static m => Tier(m).ReturnedBytes);
        list.Counter(
            "tier_copies_dead_at_birth", "garnet_tier_copies_dead_at_birth_total", "Records that were changed while they were written.",
            static m => Tier(m).Stillborn);
        list.Counter(
            "tier_compacted_records", "garnet_tier_compacted_records_total", "Records moved within the tier to win room.",
            static m => Tier(m).Compacted);
        list.Counter(
            "tier_compacted_bytes", "garnet_tier_compacted_bytes_total", "Bytes moved within the tier to win room.",
            static m => Tier(m).CompactedBytes);
        list.Counter(
            "tier_given_up_records", "garnet_tier_given_up_records_total",
            "Damaged records that made place for a key that was set or removed.", static m => Tier(m).GivenUp);
        list.Counter(
            "tier_evicted_records", "garnet_tier_evicted_records_total", "Records given up by maxmemory-policy.",
            static m => Tier(m).Evicted);
        list.Counter(
            "tier_expired_records", "garnet_tier_expired_records_total", "Records removed because their time had come.",
            static m => Tier(m).Expired);
        list.Counter(
            "tier_postponed_commands", "garnet_tier_postponed_commands_total", "Commands put off until a read had ended.",
            static m => Tier(m).Postponed);
        list.Counter(
            "tier_waits", "garnet_tier_waits_total", "Reads waited for in the middle of a command: all clients of its core waited.",
            static m => Tier(m).Waits);
        list.Counter(
            "tier_waited_usec", "garnet_tier_waited_usec_total", "Microseconds for which all clients of a core waited for reads.",
            static m => Tier(m).WaitedMicros);
    }
}

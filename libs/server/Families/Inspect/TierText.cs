using System.Globalization;
using Garnet.Media;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Tsavorite;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO tiering: what lies on the tier, what went there and came back, and what failed. Empty where there is none.</summary>
internal static class TierText
{
    internal static void Write(InfoText text)
    {
        ServerContext server = text.Server;
        if (text.Figures.Tier is not { } tier)
            return;
        text.Section("Tiering");
        text.Field("tier_path", server.Settings.Tier.Path);
        text.Field("tier_pm_path", server.Settings.Tier.PmPath);
        text.Field("tier_pm_domain", tier.Memory is { } memory ? PersistenceDomains.NameOf(memory.Medium.Domain) : "none");
        text.Field("tier_reading", tier.Medium.Reading);
        text.Field("tier_direct_io", tier.Medium.IsDirect ? 1 : 0);
        text.Field("tier_promotion", server.Settings.Tier.Promotion.ToString().ToLowerInvariant());
        foreach ((string name, long value) in Numbers(server, tier))
            text.Field("tier_" + name, value);
        text.Field("tier_read_usec", ReadTimes(tier, server.Settings.Inspect.LatencyPercentiles.Values));
        text.Field("tier_last_failure", tier.LastFailure ?? "");
    }

    /// <summary>All that is a number, by its name.</summary>
    internal static (string Name, long Value)[] Numbers(ServerContext server, TierFigures tier)
    {
        Statistics.Totals totals = server.Monitoring.Statistics.Now();
        return
        [
            ("pm_size_bytes", tier.Memory?.SizeBytes ?? 0), ("pm_free_bytes", tier.Memory?.FreeBytes ?? 0),
            ("pm_cold_records", tier.Memory?.Records ?? 0),
            ("pm_reads", tier.Memory?.Reads ?? 0), ("ssd_reads", tier.Reads - (tier.Memory?.Reads ?? 0)),
            ("pm_moved_records", tier.Memory?.MovedDown ?? 0), ("pm_moved_bytes", tier.Memory?.MovedDownBytes ?? 0),
            ("size_bytes", tier.SizeBytes), ("free_bytes", tier.FreeBytes), ("kept_bytes", tier.KeptBytes), ("cold_records", tier.Records),
            ("memory_hits", totals.Hits - totals.TierHits), ("hits", totals.TierHits),
            ("reads", tier.Reads), ("read_bytes", tier.ReadBytes), ("segment_reads", tier.SegmentReads),
            ("pending_reads", server.Workers.Sum(static worker => worker.Session.Tier!.Pending)), ("read_failures", tier.ReadFailures),
            ("written_bytes", tier.WrittenBytes), ("write_failures", tier.WriteFailures), ("writes_held_back", tier.HeldBack),
            ("demoted_records", tier.Demoted), ("demoted_bytes", tier.DemotedBytes),
            ("promotion_considered", tier.Considered), ("promotion_rejected_off", tier.RejectedOff),
            ("promotion_rejected_frequency", tier.RejectedFrequency), ("promotion_rejected_headroom", tier.RejectedHeadroom),
            ("promotion_rejected_held", tier.RejectedHeld), ("promotion_rejected_observe", tier.Observed),
            ("promotion_admitted", tier.Admitted), ("promotion_lost", tier.Lost),
            ("promoted_records", tier.Promoted), ("promoted_bytes", tier.PromotedBytes),
            ("returned_records", tier.Returned), ("returned_bytes", tier.ReturnedBytes),
            ("copies_dead_at_birth", tier.Stillborn), ("compacted_records", tier.Compacted), ("compacted_bytes", tier.CompactedBytes),
            ("evicted_records", tier.Evicted), ("expired_records", tier.Expired), ("postponed_commands", tier.Postponed),
        ];
    }

    // As INFO latencystats has the run times of commands.
    private static string ReadTimes(TierFigures tier, IEnumerable<double> percentiles)
    {
        long[] buckets = [.. tier.ReadsByTime];
        return string.Join(',', percentiles.Select(percentile =>
            string.Create(CultureInfo.InvariantCulture, $"p{percentile}={ReactorFigures.BoundOf(buckets, percentile)}")));
    }
}

using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO tiering: what lies on the tier, what went there and came back, and what failed. Empty where there is none.</summary>
internal static class TierText
{
    internal static void Write(InfoText text, ServerContext server)
    {
        if (server.Store.Figures().Tier is not { } tier)
            return;
        text.Section("Tiering");
        text.Field("tier_path", server.Settings.Tier.Path);
        text.Field("tier_reading", tier.Medium.Reading);
        text.Field("tier_direct_io", tier.Medium.IsDirect ? 1 : 0);
        text.Field("tier_size_bytes", tier.SizeBytes);
        text.Field("tier_free_bytes", tier.FreeBytes);
        text.Field("tier_cold_records", tier.Records);
        text.Field("tier_reads", tier.Reads);
        text.Field("tier_read_bytes", tier.ReadBytes);
        text.Field("tier_pending_reads", server.Workers.Sum(static worker => worker.Session.Tier!.Pending));
        text.Field("tier_read_failures", tier.ReadFailures);
        text.Field("tier_written_bytes", tier.WrittenBytes);
        text.Field("tier_write_failures", tier.WriteFailures);
        text.Field("tier_demoted_records", tier.Demoted);
        text.Field("tier_demoted_bytes", tier.DemotedBytes);
        text.Field("tier_promoted_records", tier.Promoted);
        text.Field("tier_returned_records", tier.Returned);
        text.Field("tier_copies_dead_at_birth", tier.Stillborn);
        text.Field("tier_compacted_records", tier.Compacted);
        text.Field("tier_evicted_records", tier.Evicted);
        text.Field("tier_expired_records", tier.Expired);
        text.Field("tier_postponed_commands", tier.Postponed);
        text.Field("tier_last_failure", tier.LastFailure ?? "");
    }
}

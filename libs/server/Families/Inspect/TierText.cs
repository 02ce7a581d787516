using System.Globalization;
using Garnet.Media;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Telemetry;
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
        foreach (Figure figure in TieringFigures.All)
            text.Field(figure);
        text.Field("tier_read_usec", ReadTimes(tier, server.Settings.Inspect.LatencyPercentiles.Values));
        text.Field("tier_last_failure", tier.LastFailure ?? "");
    }

    // As INFO latencystats has the run times of commands.
    private static string ReadTimes(TierFigures tier, IEnumerable<double> percentiles)
    {
        long[] buckets = [.. tier.ReadsByTime];
        return string.Join(',', percentiles.Select(percentile =>
            string.Create(CultureInfo.InvariantCulture, $"p{percentile}={ReactorFigures.BoundOf(buckets, percentile)}")));
    }
}

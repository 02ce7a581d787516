using System.Globalization;
using Garnet.Server.Clients;
using Garnet.Server.Inspect;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO commandstats, latencystats and errorstats.</summary>
internal static class CommandText
{
    internal static void Calls(InfoText info)
    {
        info.Section("Commandstats");
        Statistics.Totals totals = info.Moment.ByCommand;
        for (int i = 1; i < totals.Calls.Length; i++)
        {
            if (totals.Calls[i] + totals.RejectedCalls[i] == 0)
                continue;
            double us = info.Moment.MicrosecondsOf(i);
            double per = totals.Calls[i] == 0 ? 0 : us / totals.Calls[i];
            string name = info.Moment.NameOf(i);
            info.Append(string.Create(CultureInfo.InvariantCulture,
                $"cmdstat_{name}:calls={totals.Calls[i]},usec={(long)us},usec_per_call={per:F2}," +
                $"rejected_calls={totals.RejectedCalls[i]},failed_calls={totals.Failed[i]}\r\n"));
        }
    }

    /// <summary>Percentiles of the commands that are timed by themselves, as LATENCY HISTOGRAM has them: bounds of powers of two of microseconds.</summary>
    internal static void Percentiles(InfoText info)
    {
        info.Section("Latencystats");
        if (!info.Server.Settings.Inspect.LatencyTracking)
            return;
        for (int i = 1; i < info.Server.Commands.Specs.Count; i++)
        {
            ReadOnlySpan<long> timed = info.Moment.BucketsOf(i);
            if (!timed.ContainsAnyExcept(0))
                continue;
            info.Append("latency_percentiles_usec_" + info.Moment.NameOf(i));
            char before = ':';
            foreach (double percentile in info.Server.Settings.Inspect.LatencyPercentiles.Values)
            {
                double bound = ReactorFigures.BoundOf(timed, percentile);
                info.Append(string.Create(CultureInfo.InvariantCulture, $"{before}p{percentile}={bound:F3}"));
                before = ',';
            }

            info.Append("\r\n");
        }
    }

    internal static void Errors(InfoText info)
    {
        info.Section("Errorstats");
        foreach ((string code, long count) in info.Totals.ErrorsByCode.OrderBy(pair => pair.Key, StringComparer.Ordinal))
        {
            if (count > 0)
                info.Append(string.Create(CultureInfo.InvariantCulture, $"errorstat_{code}:count={count}\r\n"));
        }
    }
}

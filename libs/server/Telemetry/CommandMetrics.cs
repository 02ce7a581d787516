using System.Globalization;
using Garnet.Server.Clients;
using Garnet.Server.Inspect;

namespace Garnet.Server.Telemetry;

/// <summary>Metrics by command, by error and by database.</summary>
internal static class CommandMetrics
{
    // Powers of two of microseconds that the histogram shows, from 16 µs to 17 s: every other one of those that are counted by.
    private const int FirstBound = 4, LastBound = 24, BoundStep = 2;

    internal static readonly IReadOnlyList<LabelledMetric> All =
    [
        LabelledMetric.Counter("redis_commands_total", "cmd", "Runs of a command.",
            static (moment, text) => ByCommand(moment, text, static (m, i) => m.ByCommand.Calls[i])),
        LabelledMetric.Counter("redis_commands_duration_seconds_total", "cmd",
            "Time of those runs of a command that are timed by themselves, all but short ones.", Durations),
        LabelledMetric.Counter("redis_commands_failed_calls_total", "cmd", "Runs of a command that answered an error.",
            static (moment, text) => ByCommand(moment, text, static (m, i) => m.ByCommand.Failed[i])),
        LabelledMetric.Counter("redis_commands_rejected_calls_total", "cmd", "Commands refused before they ran.",
            static (moment, text) => ByCommand(moment, text, static (m, i) => m.ByCommand.RejectedCalls[i])),
        new(new MetricDeclaration("redis_commands_latencies_usec", MetricKind.Histogram, "cmd",
            "How long runs took of commands that are timed by themselves; none while latency-tracking is off.", ""), Latencies),
        LabelledMetric.Counter("redis_errors_total", "err", "Error replies by their first word.", Errors),
        LabelledMetric.Gauge("redis_db_keys", "db", "Keys of a database.",
            static (moment, text) => ByDatabase(moment, text, static one => one.Keys)),
        LabelledMetric.Gauge("redis_db_keys_expiring", "db", "Keys of a database that expire.",
            static (moment, text) => ByDatabase(moment, text, static one => one.Expiring)),
        LabelledMetric.Gauge("redis_slowlog_length", "", "Entries of the slow log.",
            static (moment, text) => text.Sample(moment.Server.Monitoring.Slowlog.Count)),
    ];

    private static void ByCommand(Moment moment, MetricText text, Func<Moment, int, double> read)
    {
        Statistics.Totals totals = moment.ByCommand;
        for (int i = 1; i < totals.Calls.Length; i++)
        {
            if (totals.Calls[i] + totals.RejectedCalls[i] > 0)
                text.Sample(read(moment, i), moment.NameOf(i));
        }
    }

    // INFO shares the rest out to the others, by a mean that goes up and down: a counter must not fall.
    private static void Durations(Moment moment, MetricText text)
    {
        for (int i = 1; i < moment.ByCommand.TimedCalls.Length; i++)
        {
            if (moment.ByCommand.TimedCalls[i] > 0)
                text.Sample(moment.ByCommand.TimedUs[i] / 1e6, moment.NameOf(i));
        }
    }

    private static void Latencies(Moment moment, MetricText text)
    {
        if (!moment.Server.Settings.Inspect.LatencyTracking)
            return;
        for (int i = 1; i < moment.ByCommand.TimedCalls.Length; i++)
        {
            ReadOnlySpan<long> timed = moment.BucketsOf(i);
            if (timed.ContainsAnyExcept(0))
                Latencies(text, timed, moment.ByCommand.TimedUs[i], moment.NameOf(i));
        }
    }

    // Counted from the buckets alone: what is read from other threads a moment apart would not add up.
    private static void Latencies(MetricText text, ReadOnlySpan<long> timed, long sumUs, string name)
    {
        long below = 0;
        int next = 0;
        for (int bound = FirstBound; bound <= LastBound; bound += BoundStep)
        {
            while (next <= bound)
                below += timed[next++];
            text.Bucket((1L << bound).ToString(CultureInfo.InvariantCulture) + ".0", below, name);
        }

        while (next < timed.Length)
            below += timed[next++];
        text.Bucket("+Inf", below, name);
        text.Sums(below, sumUs, name);
    }

    private static void Errors(Moment moment, MetricText text)
    {
        var byLabel = new Dictionary<string, long>(StringComparer.Ordinal);
        foreach ((string code, long count) in moment.Totals.ErrorsByCode)
        {
            string label = MetricText.Shown(code); // scripts choose codes, and may choose some that look the same
            byLabel[label] = byLabel.GetValueOrDefault(label) + count;
        }

        foreach ((string label, long count) in byLabel)
        {
            if (count > 0)
                text.Sample(count, label);
        }
    }

    private static void ByDatabase(Moment moment, MetricText text, Func<DatabaseFigures, long> read)
    {
        foreach (DatabaseFigures database in moment.Databases)
            text.Sample(read(database), "db" + database.Number.ToString(CultureInfo.InvariantCulture));
    }
}

using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;

namespace Garnet.Server.Families.Inspect;

/// <summary>LATENCY: what took long, and how long commands take.</summary>
internal static class LatencyCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(InspectCommands.Spec("LATENCY", "", "Looks at latency events.", "2.8.13"));
        table.Add<LatencyLatest>();
        table.Add<LatencyHistory>();
        table.Add<LatencyReset>();
        table.Add<LatencyGraph>();
        table.Add<LatencyDoctor>();
        table.Add<LatencyHistogram>();
    }
}

internal readonly struct LatencyLatest : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("LATENCY|LATEST", "", "Returns the newest sample and the worst time of every event.", "2.8.13", 2);

    public static Reply Run(ref Call call)
    {
        List<(string Name, LatencySample Newest, long WorstMs)> events = call.Server.Monitoring.Latency.Latest();
        call.Out.Array(events.Count);
        foreach ((string name, LatencySample newest, long worstMs) in events)
        {
            call.Out.Array(4);
            call.Out.Bulk(name);
            call.Out.Int(newest.UnixSeconds);
            call.Out.Int(newest.Milliseconds);
            call.Out.Int(worstMs);
        }

        return Reply.Sent;
    }
}

internal readonly struct LatencyHistory : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("LATENCY|HISTORY", "event", "Returns the samples of an event.", "2.8.13", 3);

    public static Reply Run(ref Call call)
    {
        LatencySample[] samples = call.Server.Monitoring.Latency.History(call.Text(2));
        call.Out.Array(samples.Length);
        foreach (LatencySample sample in samples)
        {
            call.Out.Array(2);
            call.Out.Int(sample.UnixSeconds);
            call.Out.Int(sample.Milliseconds);
        }

        return Reply.Sent;
    }
}

internal readonly struct LatencyReset : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("LATENCY|RESET", "[event [event ...]]", "Forgets the samples of events.", "2.8.13");

    public static Reply Run(ref Call call)
    {
        var names = new List<string>();
        for (int i = 2; i < call.Count; i++)
            names.Add(call.Text(i));
        return call.Int(call.Server.Monitoring.Latency.Reset(names));
    }
}

internal readonly struct LatencyGraph : ICommand
{
    private const int Rows = 4;

    public static CommandSpec Spec => InspectCommands.Spec("LATENCY|GRAPH", "event", "Draws the samples of an event.", "2.8.13", 3);

    public static Reply Run(ref Call call)
    {
        LatencySample[] samples = call.Server.Monitoring.Latency.History(call.Text(2));
        if (samples.Length == 0)
            return call.FailBytes([.. "ERR No samples available for event '"u8, .. call[2], (byte)'\'']);
        long high = samples.Max(sample => sample.Milliseconds), low = samples.Min(sample => sample.Milliseconds);
        var text = new StringBuilder($"{call.Text(2)} - high {high} ms, low {low} ms (all time high {high} ms)\n");
        text.Append('-', 80).Append('\n');
        for (int row = Rows; row > 0; row--)
        {
            foreach (LatencySample sample in samples)
                text.Append(sample.Milliseconds * Rows >= high * row ? '#' : ' ');
            text.Append('\n');
        }

        call.Out.Verbatim(Encoding.UTF8.GetBytes(text.ToString()));
        return Reply.Sent;
    }
}

internal readonly struct LatencyDoctor : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("LATENCY|DOCTOR", "", "Explains the latency events.", "2.8.13", 2);

    public static Reply Run(ref Call call)
    {
        if (call.Server.Settings.Inspect.LatencyMonitorMilliseconds <= 0)
        {
            call.Out.Verbatim("The latency monitor is off. Switch it on with: CONFIG SET latency-monitor-threshold <milliseconds>\n"u8);
            return Reply.Sent;
        }

        List<(string Name, LatencySample Newest, long WorstMs)> events = call.Server.Monitoring.Latency.Latest();
        var text = new StringBuilder(events.Count == 0 ? "Nothing has been slow since the start or the last reset.\n" : "");
        foreach ((string name, _, long worstMs) in events)
            text.Append($"{name}: {call.Server.Monitoring.Latency.History(name).Length} samples, worst {worstMs} ms. SLOWLOG GET names " +
                "the commands.\n");
        call.Out.Verbatim(Encoding.UTF8.GetBytes(text.ToString()));
        return Reply.Sent;
    }
}

/// <summary>
/// Run times of the commands that are timed by themselves (all but the short ones, or all while slowlog-log-slower-than is below
/// a millisecond), cumulated by powers of two of microseconds.
/// </summary>
internal readonly struct LatencyHistogram : ICommand
{
    public static CommandSpec Spec => InspectCommands.Spec("LATENCY|HISTOGRAM", "[command [command ...]]", "Returns the distribution of the run times of commands.", "7.0.0");

    public static Reply Run(ref Call call)
    {
        Statistics.Totals totals = call.Server.Monitoring.Statistics.NowByCommand();
        long[] buckets = call.Server.Monitoring.Statistics.TimedByBucket();
        var wanted = new List<int>();
        for (int i = 1; i < totals.TimedCalls.Length && call.Server.Settings.Inspect.LatencyTracking; i++)
        {
            if (totals.TimedCalls[i] > 0 && (call.Count == 2 || IsNamed(ref call, i)))
                wanted.Add(i);
        }

        call.Out.Map(wanted.Count);
        foreach (int id in wanted)
        {
            call.Out.Bulk(call.Server.Commands.Specs[id].Name.ToLowerInvariant());
            call.Out.Map(2);
            call.Out.Bulk("calls"u8);
            call.Out.Int(totals.TimedCalls[id]);
            call.Out.Bulk("histogram_usec"u8);
            WriteBuckets(ref call, buckets.AsSpan(id * ReactorFigures.TimeBuckets, ReactorFigures.TimeBuckets));
        }

        return Reply.Sent;
    }

    // Each bucket with runs in it: its upper bound and how many runs took no longer.
    private static void WriteBuckets(ref Call call, ReadOnlySpan<long> buckets)
    {
        int filled = buckets.Length - buckets.Count(0);
        call.Out.Map(filled);
        long sum = 0;
        for (int i = 0; i < buckets.Length; i++)
        {
            sum += buckets[i];
            if (buckets[i] == 0)
                continue;
            call.Out.Int(1L << i);
            call.Out.Int(sum);
        }
    }

    private static bool IsNamed(ref Call call, int id)
    {
        for (int i = 2; i < call.Count; i++)
        {
            int named = call.Server.Commands.FindByFullName(call[i]);
            if (named == id || (named > 0 && IsChild(call.Server.Commands.Specs[id].Name, call.Server.Commands.Specs[named].Name)))
                return true;
        }

        return false;
    }

    private static bool IsChild(string name, string parent) =>
        name.Length > parent.Length && name[parent.Length] == '|' && name.StartsWith(parent, StringComparison.Ordinal);
}

using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>One sample of a latency event.</summary>
internal readonly record struct LatencySample(long UnixSeconds, long Milliseconds);

/// <summary>
/// What took longer than <c>latency-monitor-threshold</c>: the last samples of each event, one per second at most, and the
/// worst ever. Events are Redis's: <c>command</c>, and <c>fast-command</c> for those marked fast.
/// </summary>
internal sealed class LatencyMonitor(InspectSettings settings)
{
    private const int SamplesMax = 160;

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Event> _events = new(StringComparer.Ordinal);

    /// <summary>Keeps the command's time if it is over the threshold.</summary>
    internal void Consider(CommandFlags flags, long microseconds, long nowMs)
    {
        long threshold = settings.LatencyMonitorMilliseconds;
        if (threshold > 0 && microseconds >= threshold * 1000)
            Add((flags & CommandFlags.Fast) != 0 ? "fast-command" : "command", nowMs / 1000, microseconds / 1000);
    }

    /// <summary>Name, newest sample and worst time of every event.</summary>
    internal List<(string Name, LatencySample Newest, long WorstMs)> Latest()
    {
        lock (_gate)
            return [.. _events.OrderBy(pair => pair.Key, StringComparer.Ordinal)
                .Select(pair => (pair.Key, pair.Value.Samples[^1], pair.Value.WorstMs))];
    }

    /// <summary>The samples of an event, oldest first; empty if there are none.</summary>
    internal LatencySample[] History(string name)
    {
        lock (_gate)
            return _events.TryGetValue(name, out Event? found) ? [.. found.Samples] : [];
    }

    /// <summary>Forgets the named events, all without names; returns how many there were.</summary>
    internal int Reset(IReadOnlyCollection<string> names)
    {
        lock (_gate)
        {
            int count = names.Count == 0 ? _events.Count : names.Count(_events.ContainsKey);
            if (names.Count == 0)
                _events.Clear();
            foreach (string name in names)
                _events.Remove(name);
            return count;
        }
    }

    private void Add(string name, long unixSeconds, long milliseconds)
    {
        lock (_gate)
        {
            if (!_events.TryGetValue(name, out Event? found))
                _events[name] = found = new Event();
            List<LatencySample> samples = found.Samples;
            if (samples.Count > 0 && samples[^1].UnixSeconds == unixSeconds)
                samples[^1] = new LatencySample(unixSeconds, Math.Max(samples[^1].Milliseconds, milliseconds));
            else
                samples.Add(new LatencySample(unixSeconds, milliseconds));
            if (samples.Count > SamplesMax)
                samples.RemoveAt(0);
            found.WorstMs = Math.Max(found.WorstMs, milliseconds);
        }
    }

    private sealed class Event
    {
        internal List<LatencySample> Samples { get; } = [];
        internal long WorstMs { get; set; }
    }
}

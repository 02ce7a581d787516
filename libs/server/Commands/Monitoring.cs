using Garnet.Common;
using Garnet.Server.Clients;
using Garnet.Server.Inspect;
using Garnet.Server.Replication;

namespace Garnet.Server.Commands;

/// <summary>Who looks at the commands that run: counters, MONITOR, the logs of slow and of large ones, latency.</summary>
internal sealed class Monitoring : IDisposable
{
    private readonly InspectSettings _settings;
    private volatile bool _measuresAll;

    internal Monitoring(ServerCore core, int commands, Func<(long Received, long Rejected)> connections, LinkTraffic links)
    {
        InspectSettings inspect = _settings = core.Settings.Inspect;
        var secrets = new Secrets(core.Table);
        Monitors = new Monitors(secrets);
        Slowlog = new CommandLog(secrets, () => inspect.SlowerThanMicroseconds, () => inspect.SlowEntriesMax);
        LargeRequests = new CommandLog(secrets, () => inspect.RequestLargerThanBytes, () => inspect.LargeRequestsMax);
        LargeReplies = new CommandLog(secrets, () => inspect.ReplyLargerThanBytes, () => inspect.LargeRepliesMax);
        Statistics = new Statistics(core.Store, core.Clock, core.Workers, commands, connections, links);
        Latency = new LatencyMonitor(inspect);
        Audit = new AuditTrail(core.Settings.Security, core.Clock, core.Log, core.Fail);
        Follow(core.Table);
    }

    internal Monitors Monitors { get; }
    internal CommandLog Slowlog { get; }
    internal CommandLog LargeRequests { get; }
    internal CommandLog LargeReplies { get; }

    /// <summary>True if replies are measured one by one: the threshold is too low to be found when much is sent.</summary>
    internal bool MeasuresReplies { get; private set; }
    internal Statistics Statistics { get; }
    internal LatencyMonitor Latency { get; }
    internal AuditTrail Audit { get; }
    internal HotKeys HotKeys { get; } = new();
    internal RecentKeys RecentKeys { get; } = new();

    /// <summary>True if every command is timed or measured, or somebody watches them.</summary>
    internal bool WatchesAll => Monitors.Any | _measuresAll | HotKeys.IsActive;

    /// <summary>A reply of so many bytes has been written: noted if it is large.</summary>
    internal void ConsiderReply(Connection client, Arguments arguments, long bytes) => LargeReplies.Consider(client, arguments, bytes);

    /// <summary>True if a reply of so many bytes is to be noted.</summary>
    internal bool WantsReply(long bytes) => LargeReplies.Wants(bytes);

    /// <inheritdoc/>
    public void Dispose() => Audit.Dispose();

    /// <summary>Takes a closing client out.</summary>
    internal void Forget(Connection client) => Monitors.Remove(client);

    private void Follow(SettingTable table)
    {
        string[] thresholds =
            ["slowlog-log-slower-than", "commandlog-request-larger-than", "commandlog-reply-larger-than", "latency-monitor-threshold"];
        table.OnSet(thresholds, Apply);
        Apply();
        table.OnSet("slowlog-max-len", Slowlog.Trim);
        table.OnSet("commandlog-large-request-max-len", LargeRequests.Trim);
        table.OnSet("commandlog-large-reply-max-len", LargeReplies.Trim);
    }

    // Takes over settings that are read on hot paths.
    private void Apply()
    {
        InspectSettings inspect = _settings;
        MeasuresReplies = inspect.ReplyLargerThanBytes is >= 0 and < Worker.SendEarlyBytes;
        _measuresAll = MeasuresReplies | inspect.RequestLargerThanBytes is >= 0 and < Worker.PlainRequestBytesMax
            || inspect.SlowerThanMicroseconds is >= 0 and < 1000 || inspect.LatencyMonitorMilliseconds > 0;
    }
}

using Garnet.Common;

namespace Garnet.Server;

/// <summary>What the server records about itself and where it says so.</summary>
public sealed partial class InspectSettings
{
    [Setting("slowlog-log-slower-than", "Commands slower than this enter SLOWLOG; 0 logs all, a negative number none.",
        Aliases = "commandlog-execution-slower-than", Unit = SettingUnit.Microseconds, Min = -1, Live = true)]
    public long SlowerThanMicroseconds { get; set; } = 10_000;

    [Setting("slowlog-max-len", "Entries SLOWLOG keeps.", Aliases = "commandlog-slow-execution-max-len",
        Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long SlowEntriesMax { get; set; } = 128;

    [Setting("commandlog-request-larger-than", "Requests larger than this enter COMMANDLOG; a negative number logs none.",
        Unit = SettingUnit.Bytes, Min = -1, Live = true)]
    public long RequestLargerThanBytes { get; set; } = 1 << 20;

    [Setting("commandlog-large-request-max-len", "Large requests COMMANDLOG keeps.", Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long LargeRequestsMax { get; set; } = 128;

    [Setting("commandlog-reply-larger-than", "Replies larger than this enter COMMANDLOG; a negative number logs none.",
        Unit = SettingUnit.Bytes, Min = -1, Live = true)]
    public long ReplyLargerThanBytes { get; set; } = 1 << 20;

    [Setting("commandlog-large-reply-max-len", "Large replies COMMANDLOG keeps.", Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long LargeRepliesMax { get; set; } = 128;

    [Setting("latency-monitor-threshold", "Events slower than this enter LATENCY; 0 switches the monitor off.",
        Unit = SettingUnit.Milliseconds, Min = 0, Live = true)]
    public long LatencyMonitorMilliseconds { get; set; }

    [Setting("latency-tracking", "Keeps a latency histogram per command.", Live = true)]
    public bool LatencyTracking { get; set; } = true;

    [Setting("latency-tracking-info-percentiles", "Percentiles that INFO latencystats shows.", Live = true)]
    public Percentiles LatencyPercentiles { get; set; } = Percentiles.Default;

    [Setting("notify-keyspace-events",
        "Keyspace events to publish on K keyspace and E keyevent channels: g generic, $ string, l list, s set, h hash, z sorted set, t " +
        "stream, x expired, e evicted, n new, m missed, A for g$lshzxetd; empty for none.",
        Live = true)]
    public NotifyClasses NotifyClasses { get; set; } = NotifyClasses.None;

    [Setting("tracking-table-max-keys",
        "Keys remembered for client-side caching, fewer where their names take more than 128 bytes on the mean; 0 for no limit.",
        Unit = SettingUnit.Count, Min = 0, Live = true)]
    public long TrackedKeysMax { get; set; } = 1_000_000;

    [Setting("loglevel", "How much to log.", Values = "debug verbose notice warning nothing", Live = true)]
    public LogVerbosity LogLevel { get; set; } = LogVerbosity.Notice;

    [Setting("logfile", "File to log to; empty for standard output.")]
    public string LogFile { get; set; } = "";

    [Setting("redis-version", "Version of redis the server says it is compatible with, in HELLO and INFO.")]
    public string RedisVersion { get; set; } = "7.4.0";
}

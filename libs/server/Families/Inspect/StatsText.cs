using System.Globalization;
using Garnet.Server.Inspect;
using Garnet.Server.Telemetry;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO stats and keyspace.</summary>
internal static class StatsText
{
    internal static void Write(InfoText info)
    {
        Statistics.Rate rate = info.Server.Monitoring.Statistics.Rates();
        info.Section("Stats");
        info.Fields(WorkFigures.Connections, WorkFigures.Commands);
        info.Field("instantaneous_ops_per_sec", rate.Ops);
        info.Fields(WorkFigures.BytesIn, WorkFigures.BytesOut, WorkFigures.LinksIn, WorkFigures.LinksOut);
        info.Field("instantaneous_input_kbps", InfoText.Fraction(rate.InKb));
        info.Field("instantaneous_output_kbps", InfoText.Fraction(rate.OutKb));
        info.Field("instantaneous_input_repl_kbps", InfoText.Fraction(rate.LinksInKb));
        info.Field("instantaneous_output_repl_kbps", InfoText.Fraction(rate.LinksOutKb));
        info.Field(WorkFigures.Rejected);
        info.Fields(KeepingFigures.FullSyncs, KeepingFigures.PartialSyncs, KeepingFigures.DeniedSyncs);
        info.Field(WorkFigures.Expired);
        info.Field("expired_stale_perc", "0.00");
        info.Field("expired_time_cap_reached_count", 0);
        info.Fields(WorkFigures.Evicted, WorkFigures.EvictedClients);
        info.Field("total_eviction_exceeded_time", 0);
        info.Field("current_eviction_exceeded_time", 0);
        info.Fields(WorkFigures.Hits, WorkFigures.Misses, WorkFigures.Channels, WorkFigures.Patterns, WorkFigures.ShardChannels);
        info.Field(KeepingFigures.CutTook); // what stops everybody meanwhile: there the fork, here the cut
        foreach (string name in (ReadOnlySpan<string>)["total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys",
            "active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits", "active_defrag_key_misses", "total_active_defrag_time",
            "current_active_defrag_time"])
            info.Field(name, 0);
        info.Field("tracking_total_keys", info.Server.Observers.Tracker.Keys);
        info.Field("tracking_total_items", info.Server.Observers.Tracker.Items);
        info.Field("tracking_total_prefixes", info.Server.Observers.Tracker.PrefixCount);
        info.Fields(WorkFigures.Denied);
        info.Fields(WorkFigures.AuditWritten, WorkFigures.AuditLost);
        info.Fields(WorkFigures.Handshakes, WorkFigures.HandshakesFailed, WorkFigures.HandshakesUnderWay);
        info.Fields(WorkFigures.FailedCommands, WorkFigures.LogLinesLost);
        info.Field("unexpected_error_replies", 0);
        info.Field(WorkFigures.ErrorReplies);
        info.Field("dump_payload_sanitizations", 0);
        info.Fields(WorkFigures.OutputLimitCloses, WorkFigures.ProtocolErrors);
        info.Fields(WorkFigures.Splits, WorkFigures.Merges, WorkFigures.CleanedBytes);
    }

    internal static void Keyspace(InfoText info)
    {
        info.Section("Keyspace");
        foreach (DatabaseFigures one in info.Moment.Databases)
            info.Field(string.Create(CultureInfo.InvariantCulture, $"db{one.Number}"), $"keys={one.Keys},expires={one.Expiring},avg_ttl=0");
    }
}

using System.Globalization;
using Garnet.Server.Clients;
using Garnet.Server.Inspect;
using Garnet.Server.Rights;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO stats and keyspace.</summary>
internal static class StatsText
{
    internal static void Write(InfoText info)
    {
        Statistics.Rate rate = info.Server.Monitoring.Statistics.Rates();
        (long expired, long evicted) = info.Server.Monitoring.Statistics.StoreEvents(info.Figures);
        info.Section("Stats");
        info.Field("total_connections_received", info.Totals.Connections);
        info.Field("total_commands_processed", info.Totals.Commands);
        info.Field("instantaneous_ops_per_sec", rate.Ops);
        info.Field("total_net_input_bytes", info.Totals.BytesIn);
        info.Field("total_net_output_bytes", info.Totals.BytesOut);
        info.Field("total_net_repl_input_bytes", info.Totals.LinksIn);
        info.Field("total_net_repl_output_bytes", info.Totals.LinksOut);
        info.Field("instantaneous_input_kbps", InfoText.Fraction(rate.InKb));
        info.Field("instantaneous_output_kbps", InfoText.Fraction(rate.OutKb));
        info.Field("instantaneous_input_repl_kbps", InfoText.Fraction(rate.LinksInKb));
        info.Field("instantaneous_output_repl_kbps", InfoText.Fraction(rate.LinksOutKb));
        info.Field("rejected_connections", info.Totals.Rejected);
        info.Field("sync_full", info.Server.Replication.Links.Full);
        info.Field("sync_partial_ok", info.Server.Replication.Links.Partial);
        info.Field("sync_partial_err", info.Server.Replication.Links.Denied);
        info.Field("expired_keys", expired);
        info.Field("expired_stale_perc", "0.00");
        info.Field("expired_time_cap_reached_count", 0);
        info.Field("evicted_keys", evicted);
        info.Field("evicted_clients", info.Server.Workers.Sum(static worker => worker.Figures.EvictedClients));
        info.Field("total_eviction_exceeded_time", 0);
        info.Field("current_eviction_exceeded_time", 0);
        info.Field("keyspace_hits", info.Totals.Hits);
        info.Field("keyspace_misses", info.Totals.Misses);
        info.Field("pubsub_channels", info.Server.Observers.Channels.CountNames(ChannelKind.Channel));
        info.Field("pubsub_patterns", info.Server.Observers.Channels.CountNames(ChannelKind.Pattern));
        info.Field("pubsubshard_channels", info.Server.Observers.Channels.CountNames(ChannelKind.Shard));
        info.Field("latest_fork_usec", info.Server.Keeper?.Saves?.LastCutUs ?? 0); // what stops everybody meanwhile: there the fork, here the cut
        foreach (string name in (ReadOnlySpan<string>)["total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys", "active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits", "active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time"])
            info.Field(name, 0);
        info.Field("tracking_total_keys", info.Server.Observers.Tracker.Keys);
        info.Field("tracking_total_items", info.Server.Observers.Tracker.Items);
        info.Field("tracking_total_prefixes", info.Server.Observers.Tracker.PrefixCount);
        DenialLog denials = info.Server.Rights.Denials;
        info.Field("acl_access_denied_auth", denials.CountOf(DenialReason.Auth));
        info.Field("acl_access_denied_cmd", denials.CountOf(DenialReason.Command));
        info.Field("acl_access_denied_key", denials.CountOf(DenialReason.Key));
        info.Field("acl_access_denied_channel", denials.CountOf(DenialReason.Channel));
        info.Field("acl_access_denied_db", denials.CountOf(DenialReason.Database));
        info.Field("garnet_audit_written", info.Server.Monitoring.Audit.Written);
        info.Field("garnet_audit_lost", info.Server.Monitoring.Audit.Lost);
        (long done, long failed, long underWay) = info.Server.Handshakes();
        info.Field("garnet_tls_handshakes", done);
        info.Field("garnet_tls_handshakes_failed", failed);
        info.Field("garnet_tls_handshakes_under_way", underWay);
        info.Field("garnet_failed_commands", info.Server.Workers.Sum(static worker => worker.Figures.CommandFailures));
        info.Field("garnet_log_lines_lost", info.Server.Log.Lost);
        info.Field("unexpected_error_replies", 0);
        info.Field("total_error_replies", info.Totals.Errors);
        info.Field("dump_payload_sanitizations", 0);
        info.Field("client_output_buffer_limit_disconnections", info.Totals.OutputLimitCloses);
        info.Field("garnet_protocol_errors", info.Totals.ProtocolErrors);
        info.Field("garnet_index_splits", info.Figures.Splits);
        info.Field("garnet_index_merges", info.Figures.Merges);
        info.Field("garnet_cleaned_bytes", info.Figures.CleanedBytes);
    }

    internal static void Keyspace(InfoText info)
    {
        info.Section("Keyspace");
        for (int i = 0; i < info.Server.Settings.Memory.Databases; i++)
        {
            uint ns = info.Server.Store.Namespaces.Id(i);
            long keys = info.Server.Store.Count(ns);
            if (keys > 0)
                info.Text.Append(CultureInfo.InvariantCulture, $"db{i}:keys={keys},expires={info.Server.Store.CountWithExpiry(ns)},avg_ttl=0\r\n");
        }
    }
}

using Garnet.Server.Clients;
using Garnet.Server.Rights;

namespace Garnet.Server.Telemetry;

/// <summary>Figures of what the server has done since the start, or the last CONFIG RESETSTAT.</summary>
internal static class WorkFigures
{
    private static readonly FigureList List = new();

    internal static readonly Figure Connections = List.Counter(
        "total_connections_received", "redis_connections_received_total", "Connections accepted.", static m => m.Totals.Connections);
    internal static readonly Figure Commands = List.Counter(
        "total_commands_processed", "redis_commands_processed_total", "Commands run.", static m => m.Totals.Commands);
    internal static readonly Figure BytesIn = List.Counter(
        "total_net_input_bytes", "redis_net_input_bytes_total", "Bytes received, those of links to other servers too.",
        static m => m.Totals.BytesIn);
    internal static readonly Figure BytesOut = List.Counter(
        "total_net_output_bytes", "redis_net_output_bytes_total", "Bytes sent, those of links to other servers too.",
        static m => m.Totals.BytesOut);
    internal static readonly Figure LinksIn = List.Counter(
        "total_net_repl_input_bytes", "redis_net_repl_input_bytes_total", "Bytes received on links to other servers.",
        static m => m.Totals.LinksIn);
    internal static readonly Figure LinksOut = List.Counter(
        "total_net_repl_output_bytes", "redis_net_repl_output_bytes_total", "Bytes sent on links to other servers.",
        static m => m.Totals.LinksOut);
    internal static readonly Figure Rejected = List.Counter(
        "rejected_connections", "redis_rejected_connections_total", "Connections refused because of maxclients.",
        static m => m.Totals.Rejected);
    internal static readonly Figure Expired = List.Counter(
        "expired_keys", "redis_expired_keys_total", "Keys removed because their time had come.", static m => m.StoreEvents.Expired);
    internal static readonly Figure Evicted = List.Counter(
        "evicted_keys", "redis_evicted_keys_total", "Keys removed by maxmemory-policy.", static m => m.StoreEvents.Evicted);
    internal static readonly Figure EvictedClients = List.Counter(
        "evicted_clients", "redis_evicted_clients_total", "Clients closed because of maxmemory-clients.",
        static m => m.Server.Workers.All.Sum(static worker => worker.Figures.EvictedClients));
    internal static readonly Figure Hits = List.Counter(
        "keyspace_hits", "redis_keyspace_hits_total", "Reads of keys that were there.", static m => m.Totals.Hits);
    internal static readonly Figure Misses = List.Counter(
        "keyspace_misses", "redis_keyspace_misses_total", "Reads of keys that were not.", static m => m.Totals.Misses);
    internal static readonly Figure Channels = List.Gauge(
        "pubsub_channels", "redis_pubsub_channels", "Channels that somebody listens to.",
        static m => m.Server.Observers.Channels.CountNames(ChannelKind.Channel));
    internal static readonly Figure Patterns = List.Gauge(
        "pubsub_patterns", "redis_pubsub_patterns", "Patterns of channels that somebody listens to.",
        static m => m.Server.Observers.Channels.CountNames(ChannelKind.Pattern));
    internal static readonly Figure ShardChannels = List.Gauge(
        "pubsubshard_channels", "redis_pubsubshard_channels", "Shard channels that somebody listens to.",
        static m => m.Server.Observers.Channels.CountNames(ChannelKind.Shard));
    /// <summary>For each reason to refuse somebody.</summary>
    internal static readonly Figure[] Denied = [.. DenialReasons.All.Select(static row => List.Counter(
        row.Figure.Field, row.Figure.Metric, row.Figure.Help, moment => moment.Server.Rights.Denials.CountOf(row.Reason)))];
    internal static readonly Figure AuditWritten = List.Counter(
        "garnet_audit_written", "garnet_audit_written_total", "Events of the audit trail.", static m => m.Server.Monitoring.Audit.Written);
    internal static readonly Figure AuditLost = List.Counter(
        "garnet_audit_lost", "garnet_audit_lost_total", "Events that the audit trail lacks.", static m => m.Server.Monitoring.Audit.Lost);
    internal static readonly Figure Handshakes = List.Counter(
        "garnet_tls_handshakes", "garnet_tls_handshakes_total", "TLS handshakes that came to a good end.",
        static m => m.Server.Core.Handshakes().Done);
    internal static readonly Figure HandshakesFailed = List.Counter(
        "garnet_tls_handshakes_failed", "garnet_tls_handshakes_failed_total", "TLS handshakes that did not.",
        static m => m.Server.Core.Handshakes().Failed);
    internal static readonly Figure HandshakesUnderWay = List.Gauge(
        "garnet_tls_handshakes_under_way", "garnet_tls_handshakes_under_way", "TLS handshakes under way.",
        static m => m.Server.Core.Handshakes().UnderWay);
    internal static readonly Figure FailedCommands = List.Counter(
        "garnet_failed_commands", "garnet_failed_commands_total", "Commands that failed through a mistake of the server.",
        static m => m.Server.Workers.All.Sum(static worker => worker.Figures.CommandFailures));
    internal static readonly Figure LogLinesLost = List.Counter(
        "garnet_log_lines_lost", "garnet_log_lines_lost_total", "Lines that the log lacks.", static m => m.Server.Log.Lost);
    internal static readonly Figure ErrorReplies = List.Counter(
        "total_error_replies", "redis_error_replies_total", "Error replies.", static m => m.Totals.Errors);
    internal static readonly Figure OutputLimitCloses = List.Counter(
        "client_output_buffer_limit_disconnections", "redis_client_output_buffer_limit_disconnections_total",
        "Clients closed because they did not read.",
        static m => m.Totals.OutputLimitCloses);
    internal static readonly Figure ProtocolErrors = List.Counter(
        "garnet_protocol_errors", "garnet_protocol_errors_total", "Connections closed because they did not speak the protocol.",
        static m => m.Totals.ProtocolErrors);
    internal static readonly Figure Splits = List.Counter(
        "garnet_index_splits", "garnet_index_splits_total", "Parts of the index that grew.", static m => m.Store.Splits);
    internal static readonly Figure Merges = List.Counter(
        "garnet_index_merges", "garnet_index_merges_total", "Parts of the index that shrank.", static m => m.Store.Merges);
    internal static readonly Figure CleanedBytes = List.Counter(
        "garnet_cleaned_bytes", "garnet_cleaned_bytes_total", "Bytes of records moved to win room in memory.",
        static m => m.Store.CleanedBytes);

    internal static IReadOnlyList<Figure> All => List.All;
}

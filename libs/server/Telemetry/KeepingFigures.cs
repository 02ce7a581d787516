using Garnet.Server.Persistence;

namespace Garnet.Server.Telemetry;

/// <summary>Figures of what keeps the data: the log, snapshots, replicas.</summary>
internal static class KeepingFigures
{
    private static readonly FigureList List = new();

    internal static readonly Figure Loading = List.Gauge(
        "loading", "redis_loading_dump_file", "1 while the data is being loaded.",
        static m => m.Server.Keeper is { Loading: true } || m.Server.Replication.IsLoading ? 1 : 0);
    internal static readonly Figure ChangesSinceSave = List.Gauge(
        "rdb_changes_since_last_save", "redis_rdb_changes_since_last_save", "Changes since the last snapshot.",
        static m => Saves(m)?.Changes ?? 0);
    internal static readonly Figure Saving = List.Gauge(
        "rdb_bgsave_in_progress", "redis_rdb_bgsave_in_progress", "1 while a snapshot is being taken.",
        static m => Saves(m) is { IsRunning: true } ? 1 : 0);
    internal static readonly Figure LastSave = List.Gauge(
        "rdb_last_save_time", "redis_rdb_last_save_timestamp_seconds", "When the last snapshot was published; the start if there was none.",
        static m => (Saves(m)?.LastSaveMs ?? m.Server.Core.StartedUnixMs) / 1000);
    internal static readonly Figure LastSaveGood = List.Gauge(
        "rdb_last_bgsave_status", "redis_rdb_last_bgsave_status", "0 if the last snapshot failed.",
        static m => Saves(m) is { LastFailed: true } ? 0 : 1);
    internal static readonly Figure LastSaveTook = List.Gauge(
        "rdb_last_bgsave_time_sec", "redis_rdb_last_bgsave_duration_sec", "How long the last snapshot took, seconds; -1 without one.",
        static m => Saves(m) is null or { LastMs: < 0 } ? -1 : Saves(m)!.LastMs / 1000);
    internal static readonly Figure SavingFor = List.Gauge(
        "rdb_current_bgsave_time_sec", "redis_rdb_current_bgsave_duration_sec", "For how long one has been taken, seconds; -1 if none is.",
        static m => Saves(m) is { IsRunning: true } saves ? (m.Server.Clock.UnixMs - saves.BeganMs) / 1000 : -1);
    internal static readonly Figure Saved = List.Counter(
        "rdb_saves", "redis_rdb_saves_total", "Snapshots published since the start.", static m => Saves(m)?.Published ?? 0);
    internal static readonly Figure CutTook = List.Gauge(
        "latest_fork_usec", "redis_latest_fork_usec", "For how long the beginning of the last snapshot stopped writers.",
        static m => Saves(m)?.LastCutUs ?? 0);
    internal static readonly Figure SnapshotBytes = List.Gauge(
        "current_cow_size", "garnet_snapshot_saved_bytes", "What writers saved for the snapshot that is being taken.",
        static m => m.Store.SnapshotBytes);

    internal static readonly Figure BackingUp = List.Gauge(
        "garnet_backup_in_progress", "garnet_backup_in_progress", "1 while a backup is being taken.",
        static m => m.Server.Backups.IsRunning ? 1 : 0);
    internal static readonly Figure LastBackup = List.Gauge(
        "garnet_backup_last_ok_unix", "garnet_backup_last_ok_timestamp_seconds",
        "The moment of the last backup that was verified; 0 if there is none.",
        static m => m.Server.Backups.LastOkMs / 1000);
    internal static readonly Figure FailedBackups = List.Counter(
        "garnet_backup_failures", "garnet_backup_failures_total", "Backups that failed since the start.",
        static m => m.Server.Backups.Failed);
    internal static readonly Figure Backups = List.Gauge(
        "garnet_backups", "garnet_backups", "Backups in the directory of backup-path.", static m => m.Server.Backups.Known.Count);

    internal static readonly Figure LogIsOn = List.Gauge(
        "aof_enabled", "redis_aof_enabled", "1 if there is a log.", static m => m.Server.Keeper is { HasLog: true } ? 1 : 0);
    internal static readonly Figure LogIsGood = List.Gauge(
        "aof_last_write_status", "redis_aof_last_write_status", "0 while the log cannot be written.",
        static m => m.Server.Keeper?.Trouble is null ? 1 : 0);
    internal static readonly Figure LogBytes = List.Gauge(
        "aof_current_size", "redis_aof_current_size_bytes", "Bytes of the log's files.",
        static m => m.Server.Keeper?.Figures?.SegmentBytes ?? 0);
    internal static readonly Figure StagedBytes = List.Gauge(
        "aof_buffer_length", "redis_aof_buffer_length", "Bytes of the log that are not written yet.",
        static m => m.Server.Keeper?.Figures?.StagedBytes ?? 0);
    internal static readonly Figure OpenBatch = List.Gauge(
        "garnet_aof_open_batch", "garnet_aof_open_batch", "The number of the batch that changes go into.",
        static m => (long)(m.Server.Keeper?.OpenBatch ?? 0));
    internal static readonly Figure DurableBatch = List.Gauge(
        "garnet_aof_durable_batch", "garnet_aof_durable_batch", "The last batch that a power cut leaves alone.",
        static m => (long)(m.Server.Keeper?.Durable ?? 0));
    internal static readonly Figure Entries = List.Counter(
        "garnet_aof_entries", "garnet_aof_entries_total", "Changes in the log since the start.",
        static m => (long)(m.Server.Keeper?.Figures?.Entries ?? 0));
    internal static readonly Figure Syncs = List.Counter(
        "garnet_aof_syncs", "garnet_aof_syncs_total", "How often the log was made durable.",
        static m => m.Server.Keeper?.Figures?.Syncs ?? 0);
    internal static readonly Figure SyncTook = List.Seconds(
        "garnet_aof_last_sync_usec", "garnet_aof_last_sync_seconds", "How long it took to make the log durable, the last time.", 1_000_000,
        static m => m.Server.Keeper?.Figures?.LastSyncUs ?? 0);
    internal static readonly Figure Segments = List.Gauge(
        "garnet_aof_segments", "garnet_aof_segments", "Files of the log.", static m => m.Server.Keeper?.Figures?.Segments ?? 0);

    internal static readonly Figure Replicas = List.Gauge(
        "connected_slaves", "redis_connected_slaves", "Replicas connected.", static m => m.Server.Replication.Links.All.Count);
    internal static readonly Figure FullSyncs = List.Gauge(
        "sync_full", "redis_replica_resyncs_full", "Replicas that got all data.", static m => m.Server.Replication.Links.Full);
    internal static readonly Figure PartialSyncs = List.Gauge(
        "sync_partial_ok", "redis_replica_partial_resync_accepted", "Replicas that got what they lacked.",
        static m => m.Server.Replication.Links.Partial);
    internal static readonly Figure DeniedSyncs = List.Gauge(
        "sync_partial_err", "redis_replica_partial_resync_denied", "Replicas that asked for that in vain.",
        static m => m.Server.Replication.Links.Denied);
    internal static readonly Figure Offset = List.Gauge(
        "master_repl_offset", "redis_master_repl_offset", "Where the log stands, for comparison between servers.",
        static m => m.Server.Replication.Position.Offset);
    internal static readonly Figure BacklogActive = List.Gauge(
        "repl_backlog_active", "redis_repl_backlog_is_active", "1 while the last batches are kept for replicas.",
        static m => m.Server.Replication.Backlog.IsKept ? 1 : 0);
    internal static readonly Figure BacklogMax = List.Gauge(
        "repl_backlog_size", "redis_replication_backlog_bytes", "Bytes of batches kept at most.",
        static m => m.Server.Replication.Backlog.BytesMax);
    internal static readonly Figure BacklogBytes = List.Gauge(
        "repl_backlog_histlen", "redis_repl_backlog_history_bytes", "Bytes of batches kept.",
        static m => m.Server.Replication.Backlog.Bytes);
    internal static readonly Figure Term = List.Gauge(
        "garnet_repl_term", "garnet_repl_term", "The history that the log belongs to.", static m => m.Server.Replication.Position.Term);
    internal static readonly Figure AppliedBatch = List.Gauge(
        "garnet_repl_applied_batch", "garnet_repl_applied_batch", "The last batch that readers see.",
        static m => (long)m.Server.Replication.Position.LastBatch);
    internal static readonly Figure Lag = List.Seconds(
        "garnet_repl_lag_ms", "garnet_repl_lag_seconds",
        "How old what a replica shows is; 0 while it shows all it was sent and hears its primary.", 1000,
        static m => m.LagMs);
    internal static readonly Figure WaitingBytes = List.Gauge(
        "garnet_repl_waiting_bytes", "garnet_repl_waiting_bytes", "Bytes received by a replica and not applied.",
        static m => m.Server.Replication.Role.Follower?.WaitingBytes ?? 0);
    internal static readonly Figure WaitingReads = List.Gauge(
        "garnet_repl_waiting_reads", "garnet_repl_waiting_reads", "Reads that wait for a batch to be applied.",
        static m => m.Server.Replication.Access.Reads.Waiting);
    internal static readonly Figure ReadWaits = List.Counter(
        "garnet_repl_read_waits", "garnet_repl_read_waits_total", "Reads that have waited for a batch to be applied.",
        static m => m.Server.Replication.Access.Reads.Waits);
    internal static readonly Figure ReadRetries = List.Counter(
        "garnet_repl_read_retries", "garnet_repl_read_retries_total", "Reads that ran again because a batch came in between.",
        static m => m.Server.Replication.Access.Reads.Retries);
    internal static readonly Figure Divergences = List.Counter(
        "garnet_repl_divergences", "garnet_repl_divergences_total", "Comparisons in which a replica had other data.",
        static m => m.Server.Replication.Links.Divergences);
    internal static readonly Figure Comparisons = List.Counter(
        "garnet_repl_comparisons", "garnet_repl_comparisons_total", "Comparisons of a replica's data with its primary's.",
        static m => m.Server.Replication.Adoption.Comparisons);
    internal static readonly Figure Discards = List.Counter(
        "garnet_repl_discards", "garnet_repl_discards_total", "How often writes were discarded for the history of another server.",
        static m => m.Server.Replication.Adoption.Discards);
    internal static readonly Figure DiscardedWrites = List.Counter(
        "garnet_repl_discarded_writes", "garnet_repl_discarded_writes_total",
        "Writes that were discarded for the history of another server.",
        static m => m.Server.Replication.Adoption.DiscardedWrites);

    internal static IReadOnlyList<Figure> All => List.All;

    private static SaveJob? Saves(Moment moment) => moment.Server.Keeper?.Saves;
}

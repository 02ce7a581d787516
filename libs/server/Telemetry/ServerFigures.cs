using Garnet.Server.Clients;

namespace Garnet.Server.Telemetry;

/// <summary>Figures of the process, its clients and its memory.</summary>
internal static class ServerFigures
{
    private static readonly FigureList List = new();

    internal static readonly Figure Uptime = List.Gauge(
        "uptime_in_seconds", "redis_uptime_in_seconds", "Seconds since the start.", static m => m.UptimeSeconds);
    internal static readonly Figure Process = List.Gauge(
        "process_id", "redis_process_id", "The process.", static _ => Environment.ProcessId);
    internal static readonly Figure Reactors = List.Gauge(
        "garnet_reactors", "garnet_reactors", "Threads that serve connections.", static m => m.Server.Workers.All.Length);
    internal static readonly Figure OpenToNetwork = List.Gauge(
        "garnet_open_to_network", "garnet_open_to_network", "1: anybody who reaches a port of it from another machine may do everything.",
        static m => m.Server.ClientLimits.IsOpenToNetwork ? 1 : 0);
    internal static readonly Figure CertificateExpires = List.Gauge(
        "garnet_tls_certificate_expires", "garnet_tls_certificate_expiry_timestamp_seconds",
        "When the certificate of encrypted connections expires; 0 without one.",
        static m => m.Server.Core.Tls.ExpiresUnixSeconds);
    internal static readonly Figure CpuSystem = List.Seconds(
        "used_cpu_sys", "redis_cpu_sys_seconds_total", "Processor time in the kernel.", 1_000_000,
        static m => (long)m.Processor.PrivilegedTime.TotalMicroseconds);
    internal static readonly Figure CpuUser = List.Seconds(
        "used_cpu_user", "redis_cpu_user_seconds_total", "Processor time outside the kernel.", 1_000_000,
        static m => (long)m.Processor.UserTime.TotalMicroseconds);

    internal static readonly Figure ConnectedClients = List.Gauge(
        "connected_clients", "redis_connected_clients", "Clients connected.", static m => m.Clients.Count);
    internal static readonly Figure ClientsMax = List.Gauge(
        "maxclients", "redis_max_clients", "Clients that may be connected.", static m => m.Server.Settings.Network.ClientsMax);
    internal static readonly Figure InputMax = List.Gauge(
        "client_recent_max_input_buffer", "redis_client_recent_max_input_buffer_bytes", "Room for requests of a client, the most.",
        static m => m.Clients.Count == 0 ? 0 : m.Clients.Max(static client => (long)client.Pending.Capacity));
    internal static readonly Figure OutputMax = List.Gauge(
        "client_recent_max_output_buffer", "redis_client_recent_max_output_buffer_bytes", "Room for replies of a client, the most.",
        static m => m.Clients.Count == 0 ? 0 : m.Clients.Max(static client => (long)client.Out.Capacity));
    internal static readonly Figure BlockedClients = List.Gauge(
        "blocked_clients", "redis_blocked_clients", "Clients whose command waits.",
        static m => m.Clients.Count(static client => client.Parked));
    internal static readonly Figure TrackingClients = List.Gauge(
        "tracking_clients", "redis_tracking_clients", "Clients that cache what they read.", static m => m.Server.Observers.Tracker.Clients);
    internal static readonly Figure PubSubClients = List.Gauge(
        "pubsub_clients", "redis_pubsub_clients", "Clients that listen to channels.",
        static m => m.Clients.Count(static client => client.Subscriptions is { Count: > 0 }));
    internal static readonly Figure WatchingClients = List.Gauge(
        "watching_clients", "redis_watching_clients", "Clients that watch keys, or move them (MIGRATE).",
        static m => m.Server.Observers.Watches.Clients);
    internal static readonly Figure TimedClients = List.Gauge(
        "clients_in_timeout_table", "redis_clients_in_timeout_table", "Clients whose command waits for a time.",
        static m => m.Clients.Count(static client => client.Waiting is { IsBlocking: true, DeadlineMs: < Parking.Never }));
    internal static readonly Figure WatchedKeys = List.Gauge(
        "total_watched_keys", "redis_total_watched_keys", "Keys that are watched, or moved.", static m => m.Server.Observers.Watches.Keys);
    internal static readonly Figure BlockingKeys = List.Gauge(
        "total_blocking_keys", "redis_total_blocking_keys", "Keys that commands wait for.", static m => m.Server.Observers.Waits.Keys);
    internal static readonly Figure BlockingKeysToGo = List.Gauge(
        "total_blocking_keys_on_nokey", "redis_total_blocking_keys_on_nokey", "Keys that commands wait for which end when the key goes.",
        static m => m.Server.Observers.Waits.KeysToStay);

    internal static readonly Figure UsedMemory = List.Gauge(
        "used_memory", "redis_memory_used_bytes", "Memory of the store, clients and client-side caching.", static m => m.UsedBytes);
    internal static readonly Figure ResidentMemory = List.Gauge(
        "used_memory_rss", "redis_memory_used_rss_bytes", "Memory of the process that is resident.", static m => m.ResidentBytes);
    internal static readonly Figure PeakMemory = List.Gauge(
        "used_memory_peak", "redis_memory_used_peak_bytes", "The most that was used since the start.", static m => m.PeakBytes);
    internal static readonly Figure Overhead = List.Gauge(
        "used_memory_overhead", "redis_memory_used_overhead_bytes", "What is used and is no record.",
        static m => m.UsedBytes - m.Store.LiveBytes);
    internal static readonly Figure StartupMemory = List.Gauge(
        "used_memory_startup", "redis_memory_used_startup_bytes", "What an empty store takes.", static m => m.Store.FixedBytes);
    internal static readonly Figure Dataset = List.Gauge(
        "used_memory_dataset", "redis_memory_used_dataset_bytes", "Records: headers, keys and values.", static m => m.Store.LiveBytes);
    internal static readonly Figure MemoryMax = List.Gauge(
        "maxmemory", "redis_memory_max_bytes", "The limit of memory in force.", static m => m.Server.MemoryLimitBytes);
    internal static readonly Figure ClientMemory = List.Gauge(
        "mem_clients_normal", "redis_mem_clients_normal", "Memory of clients.", static m => m.ClientBytes);
    internal static readonly Figure ReplicaMemory = List.Gauge(
        "mem_clients_slaves", "redis_mem_clients_slaves", "Memory of links to replicas.",
        static m => m.Server.Replication.Links.MemoryBytes);
    internal static readonly Figure ScriptTexts = List.Gauge(
        "used_memory_scripts_eval", "redis_memory_used_scripts_eval_bytes", "Memory of the texts of scripts.",
        static m => m.Server.Scripts.MemoryBytes);
    internal static readonly Figure CachedScripts = List.Gauge(
        "number_of_cached_scripts", "redis_number_of_cached_scripts", "Scripts that are kept.", static m => m.Server.Scripts.Count);
    internal static readonly Figure IndexBytes = List.Gauge(
        "garnet_index_bytes", "garnet_index_bytes", "Memory of the index.", static m => m.Store.IndexBytes);
    internal static readonly Figure HugePages = List.Gauge(
        "garnet_huge_pages", "garnet_huge_pages", "1: the system granted pages of 2 MiB.", static m => m.Store.HugePages ? 1 : 0);
    internal static readonly Figure TrackingTable = List.Gauge(
        "garnet_tracking_table_bytes", "garnet_tracking_table_bytes", "Memory of client-side caching.",
        static m => m.Server.Observers.Tracker.MemoryBytes);
    internal static readonly Figure ManagedHeap = List.Gauge(
        "garnet_managed_heap_bytes", "garnet_managed_heap_bytes", "Memory of the managed heap.",
        static _ => GC.GetTotalMemory(forceFullCollection: false));

    internal static IReadOnlyList<Figure> All => List.All;
}

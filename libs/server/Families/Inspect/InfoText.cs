using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Replication;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Inspect;
using Tsavorite;

namespace Garnet.Server.Families.Inspect;

/// <summary>
/// The text of INFO: Redis's sections, field names and order, since tools parse it by line. What this server has and Redis
/// does not is added at the end of a section, prefixed <c>garnet_</c>.
/// </summary>
internal sealed class InfoText(ServerContext server, StringBuilder text)
{
    /// <summary>This server's own, where <c>redis-version</c> is what clients are told of.</summary>
    internal static readonly string Version = typeof(InfoText).Assembly.GetName().Version?.ToString(3) ?? "";

    private StoreFigures? _store;

    // Of one moment for all sections; only those who show them pay for them.
    private Statistics.Totals Totals => field ??= server.Statistics.Now();

    private StoreFigures Store => _store ??= server.Store.Figures();

    internal void Server()
    {
        long uptime = Math.Max(server.Clock.UnixMs - server.StartedUnixMs, 0) / 1000;
        Section("Server");
        Field("redis_version", server.Settings.Inspect.RedisVersion);
        Field("redis_git_sha1", "00000000");
        Field("redis_git_dirty", "0");
        Field("redis_build_id", "0");
        Field("redis_mode", "standalone");
        Field("os", RuntimeInformation.OSDescription.Replace('\n', ' '));
        Field("arch_bits", "64");
        Field("monotonic_clock", "system");
        Field("multiplexing_api", server.Settings.Network.Transport == TransportKind.Sockets || !OperatingSystem.IsLinux() ? "sockets" : "epoll");
        Field("atomicvar_api", "dotnet");
        Field("gcc_version", "0.0.0");
        Field("process_id", Environment.ProcessId);
        Field("process_supervised", "no");
        Field("run_id", server.Replication.RunId);
        Field("tcp_port", server.Port);
        Field("server_time_usec", server.Clock.UnixUs);
        Field("uptime_in_seconds", uptime);
        Field("uptime_in_days", uptime / 86_400);
        Field("hz", 10);
        Field("configured_hz", 10);
        Field("lru_clock", server.Clock.UnixMs / 1000 & 0xFFFFFF);
        Field("executable", Environment.ProcessPath ?? "");
        Field("config_file", server.ConfigurationFile is { } file ? Path.GetFullPath(file) : "");
        Field("io_threads_active", server.Workers.Count > 1 ? 1 : 0);
        Field("garnet_version", Version);
        Field("garnet_reactors", server.Workers.Count);
    }

    internal void Clients()
    {
        List<Connection> clients = server.Clients();
        Section("Clients");
        Field("connected_clients", clients.Count);
        Field("cluster_connections", 0);
        Field("maxclients", server.Settings.Network.ClientsMax);
        Field("client_recent_max_input_buffer", clients.Count == 0 ? 0 : clients.Max(client => (long)client.Pending.Capacity));
        Field("client_recent_max_output_buffer", clients.Count == 0 ? 0 : clients.Max(client => (long)client.Out.Capacity));
        Field("blocked_clients", clients.Count(client => client.Parked));
        Field("tracking_clients", server.Tracker.Clients);
        Field("pubsub_clients", clients.Count(client => client.Subscriptions is { Count: > 0 }));
        Field("watching_clients", server.Watches.Clients);
        Field("clients_in_timeout_table", clients.Count(static client => client.Waiting is { IsBlocking: true, DeadlineMs: < long.MaxValue }));
        Field("total_watched_keys", server.Watches.Keys);
        Field("total_blocking_keys", server.Waits.Keys);
        Field("total_blocking_keys_on_nokey", server.Waits.KeysToStay);
    }

    internal void Memory()
    {
        long clients = server.Clients().Sum(client => client.MemoryBytes);
        long used = Store.UsedBytes + clients;
        long peak = Math.Max(Store.PeakBytes + clients, used);
        long rss = MemoryPlan.ResidentBytes();
        long total = MemoryPlan.AvailableBytes();
        Section("Memory");
        Size("used_memory", used);
        Size("used_memory_rss", rss);
        Size("used_memory_peak", peak);
        Field("used_memory_peak_perc", Percent(used, peak));
        Field("used_memory_overhead", used - Store.LiveBytes);
        Field("used_memory_startup", Store.FixedBytes);
        Field("used_memory_dataset", Store.LiveBytes);
        Field("used_memory_dataset_perc", Percent(Store.LiveBytes, used));
        Field("allocator_allocated", used);
        Field("allocator_active", used);
        Field("allocator_resident", rss);
        Size("total_system_memory", total);
        ScriptMemory();
        Size("maxmemory", server.MemoryLimitBytes);
        Field("maxmemory_policy", server.Table.Get("maxmemory-policy") is [var policy, ..] ? policy.Value : "noeviction");
        Field("allocator_frag_ratio", "1.00");
        Field("allocator_frag_bytes", 0);
        Field("allocator_rss_ratio", Ratio(rss, used));
        Field("allocator_rss_bytes", rss - used);
        Field("rss_overhead_ratio", "1.00");
        Field("rss_overhead_bytes", 0);
        Field("mem_fragmentation_ratio", Ratio(rss, used));
        Field("mem_fragmentation_bytes", rss - used);
        Field("mem_not_counted_for_evict", clients); // maxmemory is the store's
        ReplicaMemory();
        Field("mem_clients_normal", clients);
        Field("mem_cluster_links", 0);
        Field("mem_aof_buffer", server.Keeper?.Figures?.StagedBytes ?? 0);
        Field("mem_allocator", "tsavorite");
        Field("active_defrag_running", 0);
        Field("lazyfree_pending_objects", 0);
        Field("lazyfreed_objects", 0);
        Field("garnet_index_bytes", Store.IndexBytes);
        Field("garnet_huge_pages", Store.HugePages ? 1 : 0);
        Field("garnet_managed_heap_bytes", GC.GetTotalMemory(forceFullCollection: false));
    }

    // As there: what is kept beyond the backlog's size is there for replicas alone.
    private void ReplicaMemory()
    {
        long kept = server.Replication.Backlog.Bytes, replicas = server.Replication.Links.MemoryBytes;
        Field("mem_replication_backlog", Math.Min(kept, server.Replication.Backlog.BytesMax));
        Field("mem_total_replication_buffers", Math.Min(kept, server.Replication.Backlog.BytesMax) + replicas);
        Field("mem_clients_slaves", replicas);
    }

    // Functions and scripts share the state of a reactor: what both hold stands with the scripts.
    private void ScriptMemory()
    {
        long states = server.Workers.Sum(static worker => ScriptHost.Of(worker).MemoryBytes);
        long texts = server.Scripts.MemoryBytes;
        long functions = server.Workers.Max(static worker => ScriptHost.Of(worker).Functions.MemoryBytes);
        Size("used_memory_lua", states);
        Field("used_memory_vm_eval", states);
        Field("used_memory_scripts_eval", texts);
        Field("number_of_cached_scripts", server.Scripts.Count);
        Field("number_of_functions", server.Workers.Max(static worker => ScriptHost.Of(worker).Functions.FunctionCount));
        Field("number_of_libraries", server.Workers.Max(static worker => ScriptHost.Of(worker).Functions.LibraryCount));
        Field("used_memory_vm_functions", 0);
        Size("used_memory_vm_total", states);
        Field("used_memory_functions", functions);
        Size("used_memory_scripts", texts + functions);
        Field("garnet_evicted_scripts", server.Scripts.Evicted);
    }

    internal void Persistence() => PersistenceText.Write(this, server);

    internal void Tiering() => TierText.Write(this, server);

    internal void Stats()
    {
        Statistics.Rate rate = server.Statistics.Rates();
        (long expired, long evicted) = server.Statistics.StoreEvents(Store);
        Section("Stats");
        Field("total_connections_received", Totals.Connections);
        Field("total_commands_processed", Totals.Commands);
        Field("instantaneous_ops_per_sec", rate.Ops);
        Field("total_net_input_bytes", Totals.BytesIn);
        Field("total_net_output_bytes", Totals.BytesOut);
        Field("total_net_repl_input_bytes", Totals.LinksIn);
        Field("total_net_repl_output_bytes", Totals.LinksOut);
        Field("instantaneous_input_kbps", Fraction(rate.InKb));
        Field("instantaneous_output_kbps", Fraction(rate.OutKb));
        Field("instantaneous_input_repl_kbps", Fraction(rate.LinksInKb));
        Field("instantaneous_output_repl_kbps", Fraction(rate.LinksOutKb));
        Field("rejected_connections", Totals.Rejected);
        Field("sync_full", server.Replication.Links.Full);
        Field("sync_partial_ok", server.Replication.Links.Partial);
        Field("sync_partial_err", server.Replication.Links.Denied);
        Field("expired_keys", expired);
        Field("expired_stale_perc", "0.00");
        Field("expired_time_cap_reached_count", 0);
        Field("evicted_keys", evicted);
        Field("evicted_clients", server.Workers.Sum(static worker => worker.Figures.EvictedClients));
        Field("total_eviction_exceeded_time", 0);
        Field("current_eviction_exceeded_time", 0);
        Field("keyspace_hits", Totals.Hits);
        Field("keyspace_misses", Totals.Misses);
        Field("pubsub_channels", server.Channels.CountNames(ChannelKind.Channel));
        Field("pubsub_patterns", server.Channels.CountNames(ChannelKind.Pattern));
        Field("pubsubshard_channels", server.Channels.CountNames(ChannelKind.Shard));
        Field("latest_fork_usec", server.Keeper?.Saves?.LastCutUs ?? 0); // what stops everybody meanwhile: there the fork, here the cut
        foreach (string name in (ReadOnlySpan<string>)["total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys", "active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits", "active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time"])
            Field(name, 0);
        Field("tracking_total_keys", server.Tracker.Keys);
        Field("tracking_total_items", server.Tracker.Items);
        Field("tracking_total_prefixes", server.Tracker.PrefixCount);
        Field("garnet_failed_commands", server.Workers.Sum(static worker => worker.Figures.CommandFailures));
        Field("garnet_log_lines_lost", server.Log.Lost);
        Field("unexpected_error_replies", 0);
        Field("total_error_replies", Totals.Errors);
        Field("dump_payload_sanitizations", 0);
        Field("client_output_buffer_limit_disconnections", Totals.OutputLimitCloses);
        Field("garnet_protocol_errors", Totals.ProtocolErrors);
        Field("garnet_index_splits", Store.Splits);
        Field("garnet_index_merges", Store.Merges);
        Field("garnet_cleaned_bytes", Store.CleanedBytes);
    }

    internal void Replication() => new ReplicationText(server).Write(Section, Field, Field);

    internal void Cpu()
    {
        Environment.ProcessCpuUsage usage = OperatingSystem.IsIOS() || OperatingSystem.IsTvOS() ? default : Environment.CpuUsage;
        Section("CPU");
        Field("used_cpu_sys", usage.PrivilegedTime.TotalSeconds.ToString("F6", CultureInfo.InvariantCulture));
        Field("used_cpu_user", usage.UserTime.TotalSeconds.ToString("F6", CultureInfo.InvariantCulture));
        Field("used_cpu_sys_children", "0.000000");
        Field("used_cpu_user_children", "0.000000");
    }

    internal void Modules() => Section("Modules");

    internal void CommandStats()
    {
        Section("Commandstats");
        Statistics.Totals totals = server.Statistics.NowByCommand();
        double quickUs = QuickUs(totals);
        for (int i = 1; i < totals.Calls.Length; i++)
        {
            if (totals.Calls[i] + totals.RejectedCalls[i] == 0)
                continue;
            double us = totals.TimedUs[i] + ((totals.Calls[i] - totals.TimedCalls[i]) * quickUs);
            double per = totals.Calls[i] == 0 ? 0 : us / totals.Calls[i];
            string name = server.Commands.Specs[i].Name.ToLowerInvariant();
            text.Append(CultureInfo.InvariantCulture, $"cmdstat_{name}:calls={totals.Calls[i]},usec={(long)us},usec_per_call={per:F2},rejected_calls={totals.RejectedCalls[i]},failed_calls={totals.Failed[i]}\r\n");
        }
    }

    /// <summary>Percentiles of the commands that are timed by themselves, as LATENCY HISTOGRAM has them: bounds of powers of two of microseconds.</summary>
    internal void LatencyStats()
    {
        Section("Latencystats");
        if (!server.Settings.Inspect.LatencyTracking)
            return;
        long[] buckets = server.Statistics.TimedByBucket();
        for (int i = 1; i < server.Commands.Specs.Count; i++)
        {
            ReadOnlySpan<long> timed = buckets.AsSpan(i * ReactorFigures.TimeBuckets, ReactorFigures.TimeBuckets);
            if (!timed.ContainsAnyExcept(0))
                continue;
            text.Append("latency_percentiles_usec_").Append(server.Commands.Specs[i].Name.ToLowerInvariant());
            char before = ':';
            foreach (double percentile in server.Settings.Inspect.LatencyPercentiles.Values)
            {
                text.Append(CultureInfo.InvariantCulture, $"{before}p{percentile}={ReactorFigures.BoundOf(timed, percentile):F3}");
                before = ',';
            }

            text.Append("\r\n");
        }
    }

    internal void ErrorStats()
    {
        Section("Errorstats");
        foreach ((string code, long count) in Totals.ErrorsByCode.OrderBy(pair => pair.Key, StringComparer.Ordinal))
        {
            if (count > 0)
                text.Append(CultureInfo.InvariantCulture, $"errorstat_{code}:count={count}\r\n");
        }
    }

    internal void Cluster()
    {
        Section("Cluster");
        Field("cluster_enabled", 0);
    }

    internal void Keyspace()
    {
        Section("Keyspace");
        for (int i = 0; i < server.Settings.Memory.Databases; i++)
        {
            uint ns = server.Store.Namespaces.Id(i);
            long keys = server.Store.Count(ns);
            if (keys > 0)
                text.Append(CultureInfo.InvariantCulture, $"db{i}:keys={keys},expires={server.Store.CountWithExpiry(ns)},avg_ttl=0\r\n");
        }
    }

    // Commands that are not timed by themselves share the rest of the busy time evenly.
    private static double QuickUs(Statistics.Totals totals)
    {
        long timedUs = 0, timedCalls = 0;
        for (int i = 0; i < totals.TimedUs.Length; i++)
        {
            timedUs += totals.TimedUs[i];
            timedCalls += totals.TimedCalls[i];
        }

        long quickCalls = totals.Commands - timedCalls;
        return quickCalls <= 0 ? 0 : Math.Max(totals.BusyUs - timedUs, 0) / (double)quickCalls;
    }

    internal void Section(string name)
    {
        if (text.Length > 0)
            text.Append("\r\n");
        text.Append("# ").Append(name).Append("\r\n");
    }

    internal void Field(string name, string value) => text.Append(name).Append(':').Append(value).Append("\r\n");

    internal void Field(string name, long value) => text.Append(name).Append(':').Append(value).Append("\r\n");

    private void Size(string name, long bytes)
    {
        Field(name, bytes);
        Field(name + "_human", Human(bytes));
    }

    private static string Human(long bytes) => bytes switch
    {
        < 1 << 10 => $"{bytes}B",
        < 1 << 20 => Scaled(bytes, 10, "K"),
        < 1 << 30 => Scaled(bytes, 20, "M"),
        < 1L << 40 => Scaled(bytes, 30, "G"),
        _ => Scaled(bytes, 40, "T"),
    };

    private static string Scaled(long bytes, int shift, string unit) => (bytes / (double)(1L << shift)).ToString("F2", CultureInfo.InvariantCulture) + unit;

    private static string Percent(long part, long whole) => Fraction(whole == 0 ? 0 : part * 100.0 / whole) + "%";

    private static string Ratio(long left, long right) => Fraction(right == 0 ? 0 : left / (double)right);

    internal static string Fraction(double number) => number.ToString("F2", CultureInfo.InvariantCulture);
}

using Garnet.Server.Families.Scripting;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO memory: the store, replicas and scripts.</summary>
internal static class MemoryText
{
    internal static void Write(InfoText info)
    {
        long clients = info.Server.Clients().Sum(client => client.MemoryBytes);
        long tracked = info.Server.Observers.Tracker.MemoryBytes;
        long used = info.Figures.UsedBytes + clients + tracked;
        long peak = Math.Max(info.Figures.PeakBytes + clients + tracked, used);
        long rss = MemoryPlan.ResidentBytes();
        long total = MemoryPlan.AvailableBytes();
        info.Section("Memory");
        info.Size("used_memory", used);
        info.Size("used_memory_rss", rss);
        info.Size("used_memory_peak", peak);
        info.Field("used_memory_peak_perc", InfoText.Percent(used, peak));
        info.Field("used_memory_overhead", used - info.Figures.LiveBytes);
        info.Field("used_memory_startup", info.Figures.FixedBytes);
        info.Field("used_memory_dataset", info.Figures.LiveBytes);
        info.Field("used_memory_dataset_perc", InfoText.Percent(info.Figures.LiveBytes, used));
        info.Field("allocator_allocated", used);
        info.Field("allocator_active", used);
        info.Field("allocator_resident", rss);
        info.Size("total_system_memory", total);
        Scripts(info);
        info.Size("maxmemory", info.Server.MemoryLimitBytes);
        info.Field("maxmemory_policy", info.Server.Table.Get("maxmemory-policy") is [var policy, ..] ? policy.Value : "noeviction");
        info.Field("allocator_frag_ratio", "1.00");
        info.Field("allocator_frag_bytes", 0);
        info.Field("allocator_rss_ratio", InfoText.Ratio(rss, used));
        info.Field("allocator_rss_bytes", rss - used);
        info.Field("rss_overhead_ratio", "1.00");
        info.Field("rss_overhead_bytes", 0);
        info.Field("mem_fragmentation_ratio", InfoText.Ratio(rss, used));
        info.Field("mem_fragmentation_bytes", rss - used);
        info.Field("mem_not_counted_for_evict", clients + tracked); // maxmemory is the store's
        Replicas(info);
        info.Field("mem_clients_normal", clients);
        info.Field("mem_cluster_links", 0);
        info.Field("mem_aof_buffer", info.Server.Keeper?.Figures?.StagedBytes ?? 0);
        info.Field("mem_allocator", "tsavorite");
        info.Field("active_defrag_running", 0);
        info.Field("lazyfree_pending_objects", 0);
        info.Field("lazyfreed_objects", 0);
        info.Field("garnet_index_bytes", info.Figures.IndexBytes);
        info.Field("garnet_huge_pages", info.Figures.HugePages ? 1 : 0);
        info.Field("garnet_tracking_table_bytes", tracked);
        info.Field("garnet_managed_heap_bytes", GC.GetTotalMemory(forceFullCollection: false));
    }

    // As there: what is kept beyond the backlog's size is there for replicas alone.
    private static void Replicas(InfoText info)
    {
        long kept = info.Server.Replication.Backlog.Bytes, replicas = info.Server.Replication.Links.MemoryBytes;
        info.Field("mem_replication_backlog", Math.Min(kept, info.Server.Replication.Backlog.BytesMax));
        info.Field("mem_total_replication_buffers", Math.Min(kept, info.Server.Replication.Backlog.BytesMax) + replicas);
        info.Field("mem_clients_slaves", replicas);
    }

    // Functions and scripts share the state of a reactor: what both hold stands with the scripts.
    private static void Scripts(InfoText info)
    {
        long states = info.Server.Workers.Sum(static worker => ScriptHost.Of(worker).MemoryBytes);
        long texts = info.Server.Scripts.MemoryBytes;
        long functions = info.Server.Workers.Max(static worker => ScriptHost.Of(worker).Functions.MemoryBytes);
        info.Size("used_memory_lua", states);
        info.Field("used_memory_vm_eval", states);
        info.Field("used_memory_scripts_eval", texts);
        info.Field("number_of_cached_scripts", info.Server.Scripts.Count);
        info.Field("number_of_functions", info.Server.Workers.Max(static worker => ScriptHost.Of(worker).Functions.FunctionCount));
        info.Field("number_of_libraries", info.Server.Workers.Max(static worker => ScriptHost.Of(worker).Functions.LibraryCount));
        info.Field("used_memory_vm_functions", 0);
        info.Size("used_memory_vm_total", states);
        info.Field("used_memory_functions", functions);
        info.Size("used_memory_scripts", texts + functions);
        info.Field("garnet_evicted_scripts", info.Server.Scripts.Evicted);
    }
}

using Garnet.Common;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Families.Scripting.Functions;
using Garnet.Server.Telemetry;

namespace Garnet.Server.Families.Inspect;

/// <summary>INFO memory: the store, replicas and scripts.</summary>
internal static class MemoryText
{
    internal static void Write(InfoText info)
    {
        Moment moment = info.Moment;
        long used = moment.UsedBytes, rss = moment.ResidentBytes;
        long total = MemoryPlan.AvailableBytes();
        info.Section("Memory");
        info.Size(ServerFigures.UsedMemory);
        info.Size(ServerFigures.ResidentMemory);
        info.Size(ServerFigures.PeakMemory);
        info.Field("used_memory_peak_perc", InfoText.Percent(used, moment.PeakBytes));
        info.Fields(ServerFigures.Overhead, ServerFigures.StartupMemory, ServerFigures.Dataset);
        info.Field("used_memory_dataset_perc", InfoText.Percent(info.Figures.LiveBytes, used));
        info.Field("allocator_allocated", used);
        info.Field("allocator_active", used);
        info.Field("allocator_resident", rss);
        info.Size("total_system_memory", total);
        Scripts(info);
        info.Size(ServerFigures.MemoryMax);
        bool hasPolicy = info.Server.Core.Table.TryFind("maxmemory-policy", out Setting? policy);
        info.Field("maxmemory_policy", hasPolicy ? policy!.Text : "noeviction");
        info.Field("allocator_frag_ratio", "1.00");
        info.Field("allocator_frag_bytes", 0);
        info.Field("allocator_rss_ratio", InfoText.Ratio(rss, used));
        info.Field("allocator_rss_bytes", rss - used);
        info.Field("rss_overhead_ratio", "1.00");
        info.Field("rss_overhead_bytes", 0);
        info.Field("mem_fragmentation_ratio", InfoText.Ratio(rss, used));
        info.Field("mem_fragmentation_bytes", rss - used);
        info.Field("mem_not_counted_for_evict", used - info.Figures.UsedBytes); // maxmemory is the store's
        Replicas(info);
        info.Field(ServerFigures.ClientMemory);
        info.Field("mem_cluster_links", 0);
        info.Field("mem_aof_buffer", info.Server.Keeper?.Figures?.StagedBytes ?? 0);
        info.Field("mem_allocator", "tsavorite");
        info.Field("active_defrag_running", 0);
        info.Field("lazyfree_pending_objects", 0);
        info.Field("lazyfreed_objects", 0);
        info.Fields(ServerFigures.IndexBytes, ServerFigures.HugePages, ServerFigures.TrackingTable, ServerFigures.ManagedHeap);
    }

    // As there: what is kept beyond the backlog's size is there for replicas alone.
    private static void Replicas(InfoText info)
    {
        long kept = info.Server.Replication.Backlog.Bytes, replicas = info.Server.Replication.Links.MemoryBytes;
        info.Field("mem_replication_backlog", Math.Min(kept, info.Server.Replication.Backlog.BytesMax));
        info.Field("mem_total_replication_buffers", Math.Min(kept, info.Server.Replication.Backlog.BytesMax) + replicas);
        info.Field(ServerFigures.ReplicaMemory);
    }

    // Functions and scripts share the state of a reactor: what both hold stands with the scripts.
    private static void Scripts(InfoText info)
    {
        long states = ScriptHost.MemoryBytesOf(info.Server);
        FunctionSet functions = FunctionHost.Kept(info.Asker);
        info.Size("used_memory_lua", states);
        info.Field("used_memory_vm_eval", states);
        info.Field(ServerFigures.ScriptTexts);
        info.Field(ServerFigures.CachedScripts);
        info.Field("number_of_functions", functions.Count);
        info.Field("number_of_libraries", functions.Libraries.Count);
        info.Field("used_memory_vm_functions", 0);
        info.Size("used_memory_vm_total", states);
        info.Field("used_memory_functions", functions.MemoryBytes);
        info.Size("used_memory_scripts", info.Server.Scripts.MemoryBytes + functions.MemoryBytes);
        info.Field("garnet_evicted_scripts", info.Server.Scripts.Evicted);
    }
}

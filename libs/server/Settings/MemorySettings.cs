using Garnet.Common;
using Tsavorite;

namespace Garnet.Server;

/// <summary>How much memory the server may take and what it gives up when that is full.</summary>
public sealed partial class MemorySettings
{
    private const string HeatHasTwoBits = "A key's heat has four steps; some of its reads raise it, and evictions lower it.";

    [Setting("maxmemory",
        "Memory for keys, values and index together; 0 takes 75 % of what the machine or container has, 60 % with a tier.",
        Unit = SettingUnit.Bytes, Min = 0, Live = true)]
    public long MaxMemoryBytes { get; set; }

    [Setting("maxmemory-policy", "What to give up when memory is full.", Live = true, Values = EvictionPolicies.Names)]
    public EvictionPolicy Policy { get; set; } = EvictionPolicy.NoEviction;

    [Setting("maxmemory-samples", "Keys compared per eviction; more is more exact and slower.",
        Unit = SettingUnit.Count, Min = 1, Max = int.MaxValue, Live = true,
        Note = "An eviction compares all keys of three buckets of the index, and of up to 1,024 until it has found five.")]
    public int EvictionSamples { get; set; } = 5;

    [Setting("maxmemory-clients", "Memory all client buffers may take together, as bytes or as a share of maxmemory; 0 for no limit.",
        Live = true)]
    public MemoryShare ClientsShare { get; set; } = MemoryShare.None;

    [Setting("databases", "Numbered databases that SELECT can reach.", Unit = SettingUnit.Count, Min = 1, Max = 65535)]
    public int Databases { get; set; } = 16;

    [Setting("lazyfree-lazy-user-flush", "FLUSHALL and FLUSHDB without a mode free memory in the background.", Live = true)]
    public bool LazyUserFlush { get; set; }

    [Setting("lazyfree-lazy-user-del", "DEL frees in the background, as UNLINK does.", Live = true, Note = "Deleted memory is always freed in the background.")]
    public bool LazyUserDelete { get; set; }

    [Setting("lfu-log-factor", "Accesses needed to count as hot under an lfu policy; larger needs more.",
        Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true, Note = HeatHasTwoBits)]
    public int LfuLogFactor { get; set; } = 10;

    [Setting("lfu-decay-time", "Minutes until an unused key loses one step of its heat under an lfu policy; 0 never.",
        Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true, Note = HeatHasTwoBits)]
    public int LfuDecayMinutes { get; set; } = 1;
}

namespace Tsavorite;

/// <summary>What the policies have in common.</summary>
public static class EvictionPolicies
{
    /// <summary>All names, as they stand in redis.conf: those of the enumeration, with dashes.</summary>
    public const string Names = "volatile-lru volatile-lfu volatile-random volatile-ttl allkeys-lru allkeys-lfu allkeys-random noeviction";

    /// <summary>True if only keys with an expiry are given up.</summary>
    public static bool IsVolatile(this EvictionPolicy policy) => policy is EvictionPolicy.VolatileLru or EvictionPolicy.VolatileLfu or EvictionPolicy.VolatileRandom or EvictionPolicy.VolatileTtl;

    /// <summary>True if the least frequently used goes first.</summary>
    public static bool IsByFrequency(this EvictionPolicy policy) => policy is EvictionPolicy.AllKeysLfu or EvictionPolicy.VolatileLfu;
}

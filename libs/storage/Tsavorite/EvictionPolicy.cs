namespace Tsavorite;

/// <summary>What to give up when memory is full; names as in redis.conf's <c>maxmemory-policy</c>.</summary>
public enum EvictionPolicy : byte
{
    /// <summary>Nothing: writes that need room are refused.</summary>
    NoEviction,
    /// <summary>Any key, least recently used first (approximate).</summary>
    AllKeysLru,
    /// <summary>Any key, least frequently used first (approximate).</summary>
    AllKeysLfu,
    /// <summary>Any key, at random.</summary>
    AllKeysRandom,
    /// <summary>Keys with an expiry, least recently used first.</summary>
    VolatileLru,
    /// <summary>Keys with an expiry, least frequently used first.</summary>
    VolatileLfu,
    /// <summary>Keys with an expiry, at random.</summary>
    VolatileRandom,
    /// <summary>Keys with an expiry, nearest expiry first.</summary>
    VolatileTtl,
}

/// <summary>What the policies have in common.</summary>
public static class EvictionPolicies
{
    /// <summary>All names, as they stand in redis.conf: those of the enumeration, with dashes.</summary>
    public const string Names = "volatile-lru volatile-lfu volatile-random volatile-ttl allkeys-lru allkeys-lfu allkeys-random noeviction";

    /// <summary>True if only keys with an expiry are given up.</summary>
    public static bool IsVolatile(this EvictionPolicy policy) => policy is EvictionPolicy.VolatileLru or EvictionPolicy.VolatileLfu or EvictionPolicy.VolatileRandom or EvictionPolicy.VolatileTtl;

    /// <summary>True if the least recently used goes first.</summary>
    public static bool IsByRecency(this EvictionPolicy policy) => policy is EvictionPolicy.AllKeysLru or EvictionPolicy.VolatileLru;

    /// <summary>True if the least frequently used goes first.</summary>
    public static bool IsByFrequency(this EvictionPolicy policy) => policy is EvictionPolicy.AllKeysLfu or EvictionPolicy.VolatileLfu;

    /// <summary>True if chance decides.</summary>
    public static bool IsRandom(this EvictionPolicy policy) => policy is EvictionPolicy.AllKeysRandom or EvictionPolicy.VolatileRandom;
}

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

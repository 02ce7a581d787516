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

/// <summary>
/// The table of policies: whoever adds one writes its order in a file of its own (<see cref="IEvictionOrder"/>) and here its name, its row and
/// its member of <see cref="EvictionPolicy"/>; the setting, the evictor and the tests of eviction read them.
/// </summary>
public static class EvictionPolicies
{
    /// <summary>All names, as they stand in redis.conf: those of the enumeration, with dashes. A constant, as the attribute of the setting takes nothing else.</summary>
    public const string Names =
        "volatile-lru volatile-lfu volatile-random volatile-ttl "
        + "allkeys-lru allkeys-lfu allkeys-random noeviction";

    private static readonly EvictionRule Nothing = new(isVolatile: false, isByFrequency: false, sparesRead: false, static (_, _) => false);

    private static readonly (EvictionPolicy Policy, EvictionRule Rule)[] Table =
    [
        (EvictionPolicy.NoEviction, Nothing),
        (EvictionPolicy.AllKeysLru, EvictionRule.By<LeastRecent>(isVolatile: false)),
        (EvictionPolicy.AllKeysLfu, EvictionRule.By<LeastFrequent>(isVolatile: false)),
        (EvictionPolicy.AllKeysRandom, EvictionRule.By<AtRandom>(isVolatile: false)),
        (EvictionPolicy.VolatileLru, EvictionRule.By<LeastRecent>(isVolatile: true)),
        (EvictionPolicy.VolatileLfu, EvictionRule.By<LeastFrequent>(isVolatile: true)),
        (EvictionPolicy.VolatileRandom, EvictionRule.By<AtRandom>(isVolatile: true)),
        (EvictionPolicy.VolatileTtl, EvictionRule.By<NearestExpiry>(isVolatile: true)),
    ];

    private static readonly EvictionRule[] ByPolicy = Placed();

    private static EvictionRule[] Placed()
    {
        var rules = new EvictionRule[Table.Length];
        foreach ((EvictionPolicy policy, EvictionRule rule) in Table) rules[(int)policy] = rule;
        Garnet.Common.Faults.Check.That(
            Array.TrueForAll(rules, static rule => rule is not null), "a policy has no row in the table of policies");
        return rules;
    }

    /// <summary>True if only keys with an expiry are given up.</summary>
    public static bool IsVolatile(this EvictionPolicy policy) => policy.Rule().IsVolatile;

    /// <summary>True if the least frequently used goes first.</summary>
    public static bool IsByFrequency(this EvictionPolicy policy) => policy.Rule().IsByFrequency;

    internal static EvictionRule Rule(this EvictionPolicy policy) => ByPolicy[(int)policy];
}

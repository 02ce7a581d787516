namespace Tsavorite;

/// <summary>One policy: which keys may go at all, and in which order (<see cref="IEvictionOrder"/>). A row of <see cref="EvictionPolicies"/>.</summary>
/// <param name="isVolatile">Only keys with an expiry are given up.</param>
/// <param name="isByFrequency">Who is used least often goes first.</param>
/// <param name="sparesRead">What was read lately is kept where all of a segment of the tier is given up.</param>
/// <param name="evictOne">Evicts one record in the policy's order; false if there is none that may go.</param>
internal sealed class EvictionRule(bool isVolatile, bool isByFrequency, bool sparesRead, Func<Evictor, EvictionPolicy, bool> evictOne)
{
    internal bool IsVolatile => isVolatile;

    internal bool IsByFrequency => isByFrequency;

    internal bool SparesRead => sparesRead;

    internal bool EvictOne(Evictor evictor, EvictionPolicy policy) => evictOne(evictor, policy);

    /// <summary>A rule that follows an order.</summary>
    internal static EvictionRule By<T>(bool isVolatile) where T : struct, IEvictionOrder =>
        new(isVolatile, T.IsByFrequency, T.SparesRead, static (evictor, policy) => evictor.EvictOne<T>(policy));
}

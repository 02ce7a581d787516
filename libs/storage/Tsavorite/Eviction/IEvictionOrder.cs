namespace Tsavorite;

/// <summary>
/// In which order keys are given up when memory is full: a struct for each order, and <see cref="EvictionPolicies"/> says which policies follow it.
/// Asked under the partition's lock about candidates; must not wait.
/// </summary>
internal interface IEvictionOrder
{
    /// <summary>True if who is used least often goes first.</summary>
    static abstract bool IsByFrequency { get; }

    /// <summary>True if what was read lately is kept where all of a segment of the tier is given up.</summary>
    static abstract bool SparesRead { get; }

    /// <summary>True if this choice costs the records of a bucket that it looks at a step of their frequency.</summary>
    static abstract bool Ages(ref ulong random);

    /// <summary>
    /// Of the candidates the one with the lowest score goes; 0, the lowest there is, ends the search; one with <see cref="long.MaxValue"/> is not chosen. Where no candidate is found
    /// among those that are looked at, whatever the sweep comes to goes, without a score.
    /// </summary>
    static abstract long Score(StoreCore core, ulong word, ref ulong random);
}

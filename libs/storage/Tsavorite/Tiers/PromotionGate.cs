namespace Tsavorite;

/// <summary>
/// Decides whether a record that was read on the tier comes back to memory, the cheapest question first, and counts the answers.
/// store.C8: whatever was considered was refused for one reason or admitted, and whatever was admitted came back or lost its place to somebody
/// who was faster. Nothing waits in between: a refused record is considered again with its next read, and nothing is kept of it but its frequency.
/// A look that has no more than the head of a record is not asked about: there is nothing to take back.
/// </summary>
internal sealed class PromotionGate(ColdTier tier)
{
    /// <summary>The index word has two bits for it.</summary>
    private const int ThresholdMax = 3;
    private const int HeadroomPart = 64;
    /// <summary>Of records in persistent memory, which costs a reader little: these give memory's room to what is on a disk until the words can count no higher.</summary>
    private const int ThresholdOfMemory = ThresholdMax + 1;
    private int _threshold = 2;

    /// <summary>What is done with those that are read often enough.</summary>
    public volatile TierPromotion Mode;

    /// <summary>How often a record on the tier is read until it comes back to memory, 1 to 3; what lies outside is the nearest of these.</summary>
    public int Threshold
    {
        get => _threshold;
        set => _threshold = Math.Clamp(value, 1, ThresholdMax);
    }

    /// <summary>True if a record of that many bytes may come back to memory: room that demotion has made is not taken to its last.</summary>
    public static bool HasHeadroom(Arena arena, long bytes) => arena.Used + bytes <= arena.Ceiling - (arena.Ceiling / HeadroomPart);

    /// <summary>
    /// A record of that many bytes, which lies on the tier, was read; <paramref name="word"/> named it before. True: it is to come back, and the caller says with
    /// <see cref="ColdTier.Count"/> what has become of that.
    /// </summary>
    public bool Admits(ulong word, Arena arena, long bytes, bool isHeld)
    {
        TierCount verdict = Judge(word, arena, bytes, isHeld);
        tier.Count(TierCount.Considered);
        tier.Count(verdict);
        return verdict == TierCount.Admitted;
    }

    private TierCount Judge(ulong word, Arena arena, long bytes, bool isHeld)
    {
        TierPromotion mode = Mode;
        if (mode == TierPromotion.No)
            return TierCount.RejectedOff;
        if (IndexWord.Frequency(word) + 1 < (tier.IsInMemory(word) ? Math.Max(_threshold, ThresholdOfMemory) : _threshold))
            return TierCount.RejectedFrequency;
        if (!HasHeadroom(arena, bytes))
            return TierCount.RejectedHeadroom;
        if (isHeld)
            return TierCount.RejectedHeld;
        return mode == TierPromotion.Observe ? TierCount.Observed : TierCount.Admitted;
    }
}

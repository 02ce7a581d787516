namespace Tsavorite;

/// <summary>What becomes of records that are read again on the tier.</summary>
public enum TierPromotion
{
    /// <summary>They come back to memory.</summary>
    Yes,
    /// <summary>They stay.</summary>
    No,
    /// <summary>They stay, and those that would have come back are counted.</summary>
    Observe,
}

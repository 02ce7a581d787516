namespace Tsavorite;

/// <summary>Where a key's records lie: its own, and of a large collection the chunks.</summary>
/// <param name="Exists">There is a live record.</param>
/// <param name="IsCold">It lies on the tier.</param>
/// <param name="ChunksInMemory">Chunks in memory.</param>
/// <param name="ChunksOnTier">Chunks on the tier; what index words tell, and so now and then one too many.</param>
public readonly record struct TierPlaces(bool Exists, bool IsCold, int ChunksInMemory, int ChunksOnTier)
{
    /// <summary>Its own record lies on the tier's part in persistent memory.</summary>
    public bool IsInPersistentMemory { get; init; }
}

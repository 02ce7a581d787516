namespace Tsavorite.Test.Tiers;

/// <summary>What a tier of a test lies on.</summary>
public enum TierParts
{
    Disk,
    Memory,
    MemoryOverDisk,
}

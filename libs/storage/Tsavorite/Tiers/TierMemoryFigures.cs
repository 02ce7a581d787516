using Garnet.Media;

namespace Tsavorite;

/// <summary>Figures of a tier's part in persistent memory; counters since the start or the last <see cref="Store.ResetTierCounts"/>.</summary>
public sealed record TierMemoryFigures
{
    /// <summary>What it lies on.</summary>
    public required MediumFacts Medium { get; init; }
    /// <summary>Bytes it can have.</summary>
    public required long SizeBytes { get; init; }
    /// <summary>Bytes of segments that are free.</summary>
    public required long FreeBytes { get; init; }
    /// <summary>Records that lie there.</summary>
    public required long Records { get; init; }
    /// <summary>Records of it that were looked at where they lie, once for each moment that a session keeps them.</summary>
    public required long Reads { get; init; }
    /// <summary>Records that went on from it to the disk.</summary>
    public required long MovedDown { get; init; }
    /// <summary>Bytes of these records.</summary>
    public required long MovedDownBytes { get; init; }
    /// <summary>There is a disk below it.</summary>
    public required bool HasDisk { get; init; }
}

namespace Tsavorite;

/// <summary>A segment of a tier: its number, the records of it that a snapshot names, and those of them that cannot be read.</summary>
public readonly record struct SegmentLoss(uint Number, int Named, int Lost);

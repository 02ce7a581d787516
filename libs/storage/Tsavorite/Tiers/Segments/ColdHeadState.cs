namespace Tsavorite;

/// <summary>What the head of a segment, or its last page, says of it.</summary>
internal enum ColdHeadState
{
    /// <summary>It is the one that is named.</summary>
    Named,
    /// <summary>A checksum does not hold, or it cannot be read: each of its records shows for itself what it is.</summary>
    Damaged,
    /// <summary>It is another, or another use of it, or nothing at all.</summary>
    Other,
}

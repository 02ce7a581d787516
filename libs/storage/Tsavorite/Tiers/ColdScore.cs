namespace Tsavorite;

/// <summary>How much is won by rewriting a segment; 0 or less: it is left alone.</summary>
internal unsafe delegate double ColdScore(ColdSegment* segment, long nowMs);

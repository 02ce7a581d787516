namespace Tsavorite;

/// <summary>What a tier counts, from its start or the last <see cref="Store.ResetTierCounts"/> on; <see cref="TierFigures"/> says what each is.</summary>
internal enum TierCount
{
    Reads,
    ReadBytes,
    SegmentReads,
    ReadFailures,
    WrittenBytes,
    WriteFailures,
    HeldBack,
    Demoted,
    DemotedBytes,
    Considered,
    RejectedOff,
    RejectedFrequency,
    RejectedHeadroom,
    RejectedHeld,
    Observed,
    Admitted,
    Lost,
    Promoted,
    PromotedBytes,
    Returned,
    ReturnedBytes,
    Stillborn,
    Compacted,
    CompactedBytes,
    GivenUp,
    Evicted,
    Expired,
    Postponed,
    MemoryReads,
    MovedDown,
    MovedDownBytes,
    /// <summary>How many there are.</summary>
    Length,
}

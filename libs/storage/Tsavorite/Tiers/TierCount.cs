namespace Tsavorite;

/// <summary>What a tier counts, from its start or the last <see cref="Store.ResetTierCounts"/> on; <see cref="TierFigures"/> says what each is.</summary>
internal enum TierCount
{
    Reads,
    ReadBytes,
    SegmentReads,
    ReadFailures,
    LateReads,
    RefusedReads,
    WrittenBytes,
    WriteFailures,
    HeldBack,
    Demoted,
    DemotedBytes,
    DemotedClean,
    DemotedCleanBytes,
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
    /// <summary>Back to be changed.</summary>
    Returned,
    /// <summary>Back because somebody asked for them.</summary>
    Requested,
    ReturnedBytes,
    Stillborn,
    Compacted,
    CompactedBytes,
    GivenUp,
    Evicted,
    Expired,
    Postponed,
    Waits,
    WaitedMicros,
    MemoryReads,
    MovedDown,
    MovedDownBytes,
    /// <summary>How many there are.</summary>
    Length,
}

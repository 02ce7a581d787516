using Garnet.Media;

namespace Tsavorite;

/// <summary>Figures of a tier; counters since the start or the last <see cref="Store.ResetTierCounts"/>.</summary>
public sealed record TierFigures
{
    /// <summary>Powers of two of microseconds that reads are counted by.</summary>
    public const int TimeBuckets = 32;

    /// <summary>What it lies on.</summary>
    public required MediumFacts Medium { get; init; }
    /// <summary>Bytes it can have, and those of free segments.</summary>
    public required long SizeBytes { get; init; }
    /// <summary>Bytes of segments that are free.</summary>
    public required long FreeBytes { get; init; }
    /// <summary>Bytes of what lies there and is named, to within the difference of records of one segment: the rest is free, or will be once it is compacted.</summary>
    public required long LiveBytes { get; init; }
    /// <summary>Bytes of segments that hold nothing but what a snapshot on disk names: they wait for the next ones.</summary>
    public long KeptBytes { get; init; }
    /// <summary>Those of its part in persistent memory, which the others include; null: there is none.</summary>
    public TierMemoryFigures? Memory { get; init; }
    /// <summary>Records that lie on it; one that is just moving may count in both its places.</summary>
    public required long Records { get; init; }
    /// <summary>Records read from it for commands, snapshots and movers: the honest proof of what memory did not have.</summary>
    public required long Reads { get; init; }
    /// <summary>Bytes of these reads, whole pages.</summary>
    public required long ReadBytes { get; init; }
    /// <summary>These reads by the time from when the device was given them until they were taken: number n has those below 2^n microseconds.</summary>
    public required IReadOnlyList<long> ReadsByTime { get; init; }
    /// <summary>Segments read as a whole, to be rewritten.</summary>
    public required long SegmentReads { get; init; }
    /// <summary>Reads that failed, or brought a wrong checksum.</summary>
    public required long ReadFailures { get; init; }
    /// <summary>Reads that the device has not answered in time, whose waiters had an error.</summary>
    public long LateReads { get; init; }
    /// <summary>Reads that were not begun, since the device owes the same one, or many; and those that somebody waited for in place and gave up.</summary>
    public long RefusedReads { get; init; }
    /// <summary>Of the late ones, those that it has not given back yet.</summary>
    public long OwedReads { get; init; }
    /// <summary>How long the write that is under way has taken, milliseconds; 0: none is.</summary>
    public long WriteMs { get; init; }
    /// <summary>Bytes written, whole pages.</summary>
    public required long WrittenBytes { get; init; }
    /// <summary>Writes that failed.</summary>
    public required long WriteFailures { get; init; }
    /// <summary>Rounds in which records should have left memory for it, and <see cref="Store.LimitTierWrites"/> did not let them.</summary>
    public required long HeldBack { get; init; }
    /// <summary>Records that left memory for it.</summary>
    public required long Demoted { get; init; }
    /// <summary>Bytes of these records.</summary>
    public required long DemotedBytes { get; init; }
    /// <summary>Of these, those that had come back from it and had not changed since: nothing was written.</summary>
    public required long DemotedClean { get; init; }
    /// <summary>Bytes of these records.</summary>
    public required long DemotedCleanBytes { get; init; }
    /// <summary>Looks at records on it that might have made them come back: all of those below and <see cref="Admitted"/> (store.C8).</summary>
    public required long Considered { get; init; }
    /// <summary>Refused because nothing is to come back.</summary>
    public required long RejectedOff { get; init; }
    /// <summary>Refused because they were not read often enough.</summary>
    public required long RejectedFrequency { get; init; }
    /// <summary>Refused because memory has no room for them.</summary>
    public required long RejectedHeadroom { get; init; }
    /// <summary>Refused because somebody had the partition locked, who would have had to be waited for.</summary>
    public required long RejectedHeld { get; init; }
    /// <summary>Refused because what would come back is to be counted only.</summary>
    public required long Observed { get; init; }
    /// <summary>Those that were to come back: all of <see cref="Promoted"/> and <see cref="Lost"/>.</summary>
    public required long Admitted { get; init; }
    /// <summary>Admitted, and then somebody was faster who changed the key or moved the record, or there was no address space.</summary>
    public required long Lost { get; init; }
    /// <summary>Records that came back because they were read again.</summary>
    public required long Promoted { get; init; }
    /// <summary>Bytes of these records.</summary>
    public required long PromotedBytes { get; init; }
    /// <summary>Records that came back to be changed, or because somebody asked for them.</summary>
    public required long Returned { get; init; }
    /// <summary>Bytes of these records.</summary>
    public required long ReturnedBytes { get; init; }
    /// <summary>Copies that were dead when they were written, because their record had changed.</summary>
    public required long Stillborn { get; init; }
    /// <summary>Records moved from one segment to another.</summary>
    public required long Compacted { get; init; }
    /// <summary>Bytes of these records.</summary>
    public required long CompactedBytes { get; init; }
    /// <summary>Damaged records that were given up, because a command has set or removed the key whose hash they had.</summary>
    public required long GivenUp { get; init; }
    /// <summary>Records evicted from it by policy.</summary>
    public required long Evicted { get; init; }
    /// <summary>Records removed from it because their time had come.</summary>
    public required long Expired { get; init; }
    /// <summary>Steps that were put off until their records had come.</summary>
    public required long Postponed { get; init; }
    /// <summary>Waits where a step stood, as it could not be put off: whoever else the thread serves waited too.</summary>
    public required long Waits { get; init; }
    /// <summary>Microseconds of these.</summary>
    public required long WaitedMicros { get; init; }
    /// <summary>What failed last; null: nothing has.</summary>
    public required string? LastFailure { get; init; }
}

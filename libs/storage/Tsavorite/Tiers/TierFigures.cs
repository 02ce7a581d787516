using Garnet.Media;

namespace Tsavorite;

/// <summary>Figures of a tier; counters since the start.</summary>
public sealed record TierFigures
{
    /// <summary>What it lies on.</summary>
    public required MediumFacts Medium { get; init; }
    /// <summary>Bytes it can have, and those of free segments.</summary>
    public required long SizeBytes { get; init; }
    /// <summary>Bytes of segments that are free.</summary>
    public required long FreeBytes { get; init; }
    /// <summary>Records that lie on it.</summary>
    public required long Records { get; init; }
    /// <summary>Records read from it for commands, snapshots and movers: the honest proof of what memory did not have.</summary>
    public required long Reads { get; init; }
    /// <summary>Bytes of these reads, whole pages.</summary>
    public required long ReadBytes { get; init; }
    /// <summary>Reads that failed, or brought a wrong checksum.</summary>
    public required long ReadFailures { get; init; }
    /// <summary>Bytes written, whole pages.</summary>
    public required long WrittenBytes { get; init; }
    /// <summary>Writes that failed.</summary>
    public required long WriteFailures { get; init; }
    /// <summary>Records that left memory for it.</summary>
    public required long Demoted { get; init; }
    /// <summary>Bytes of these records.</summary>
    public required long DemotedBytes { get; init; }
    /// <summary>Records that came back because they were read again.</summary>
    public required long Promoted { get; init; }
    /// <summary>Records that came back to be changed or removed.</summary>
    public required long Returned { get; init; }
    /// <summary>Copies that were dead when they were written, because their record had changed.</summary>
    public required long Stillborn { get; init; }
    /// <summary>Records moved from one segment to another.</summary>
    public required long Compacted { get; init; }
    /// <summary>Records evicted from it by policy.</summary>
    public required long Evicted { get; init; }
    /// <summary>Records removed from it because their time had come.</summary>
    public required long Expired { get; init; }
    /// <summary>Steps that were put off until their records had come.</summary>
    public required long Postponed { get; init; }
    /// <summary>What failed last; null: nothing has.</summary>
    public required string? LastFailure { get; init; }
}

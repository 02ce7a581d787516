namespace Garnet.Bulk;

/// <summary>What is pinned for devices, and what is not.</summary>
public sealed record BulkPinFigures
{
    public required BulkPinMode Mode { get; init; }
    public required ulong PinnedBytes { get; init; }
    /// <summary>Not tried yet, or refused and to be tried again.</summary>
    public required ulong WaitingBytes { get; init; }
    public required ulong BudgetBytes { get; init; }
    /// <summary>Attempts that the driver refused.</summary>
    public required ulong Failures { get; init; }
    /// <summary>That the budget had no room for.</summary>
    public required ulong SkippedBytes { get; init; }
    /// <summary>That the driver would not let go of, whose memory is never given back.</summary>
    public required ulong LeakedBytes { get; init; }
}

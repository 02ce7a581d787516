namespace Garnet.Aof;

/// <summary>What a recovery found and did.</summary>
public sealed record RecoveryReport
{
    /// <summary>Where the log goes on.</summary>
    public required AofStart Start { get; init; }
    /// <summary>The snapshot that was loaded; null = none.</summary>
    public string? Snapshot { get; init; }
    /// <summary>Its records, those on a tier too; 0 without one.</summary>
    public long SnapshotRecords { get; init; }
    /// <summary>The last batch of that snapshot, 0 without one.</summary>
    public ulong SnapshotBatch { get; init; }
    /// <summary>Batches replayed behind the snapshot.</summary>
    public long Batches { get; init; }
    /// <summary>Entries replayed, operations on the whole store among them.</summary>
    public long Entries { get; init; }
    /// <summary>Bytes of log replayed.</summary>
    public long Bytes { get; init; }
    /// <summary>Milliseconds the whole recovery took.</summary>
    public long ElapsedMs { get; init; }
    /// <summary>True if something behind the last batch was cut away; the term was raised then.</summary>
    public bool WasCut { get; init; }
    /// <summary>What an operator should know, a sentence each.</summary>
    public required IReadOnlyList<string> Messages { get; init; }
    /// <summary>What is as it should be and may be worth knowing, a sentence each.</summary>
    public IReadOnlyList<string> Notes { get; init; } = [];
}

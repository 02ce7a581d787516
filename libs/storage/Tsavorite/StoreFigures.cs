namespace Tsavorite;

/// <summary>Memory and event figures of a store at one moment; bytes unless the name says otherwise.</summary>
public readonly record struct StoreFigures
{
    /// <summary>Limit in force.</summary>
    public long LimitBytes { get; init; }
    /// <summary>Memory taken: segments, extents, index and fixed parts.</summary>
    public long UsedBytes { get; init; }
    /// <summary>Highest <see cref="UsedBytes"/> since the start.</summary>
    public long PeakBytes { get; init; }
    /// <summary>Bytes of live records (headers, keys, values, slack).</summary>
    public long LiveBytes { get; init; }
    /// <summary>Bytes of the index.</summary>
    public long IndexBytes { get; init; }
    /// <summary>Bytes that are taken with an empty store.</summary>
    public long FixedBytes { get; init; }
    /// <summary>What writers saved for a snapshot whose sink has it not yet; not in <see cref="UsedBytes"/>: nothing is evicted for it.</summary>
    public long SnapshotBytes { get; init; }
    /// <summary>True if the system granted 2 MiB pages.</summary>
    public bool HugePages { get; init; }
    /// <summary>Keys removed because their time had come.</summary>
    public long ExpiredKeys { get; init; }
    /// <summary>Keys removed by the memory policy.</summary>
    public long EvictedKeys { get; init; }
    /// <summary>Index segments split since the start.</summary>
    public long Splits { get; init; }
    /// <summary>Index segments merged since the start.</summary>
    public long Merges { get; init; }
    /// <summary>The tier; null: there is none.</summary>
    public TierFigures? Tier { get; init; }
    /// <summary>Bytes the cleaner moved since the start.</summary>
    public long CleanedBytes { get; init; }
}

namespace Tsavorite;

/// <summary>How much a snapshot may use.</summary>
public sealed record SnapshotOptions
{
    /// <summary>
    /// Bytes of records saved by writers and not yet taken by the sink, from which on <see cref="Store.SnapshotBehind"/> asks
    /// writers to wait before they take locks.
    /// </summary>
    public long BufferBytes { get; init; } = 64L << 20;

    /// <summary>
    /// Bytes at which the snapshot gives up rather than take more memory, whatever writers do; 0 = eight times
    /// <see cref="BufferBytes"/>. May be passed by the content of one bucket.
    /// </summary>
    public long BufferBytesMax { get; init; }

    /// <summary>Buckets the walker takes in one lock hold: how long it may keep a writer waiting.</summary>
    public int BucketsPerHold { get; init; } = 8;

    /// <summary>Lock holds of one <see cref="StoreSnapshot.Step"/> at most.</summary>
    public int HoldsPerStep { get; init; } = 64;

    /// <summary>
    /// Partitions among which the walker takes turns. With several, a writer that meets it finds the lock free right after one hold;
    /// with one, a sink that needs whole partitions (<see cref="IPartitionSink"/>) gathers the least.
    /// </summary>
    public int PartitionsAtOnce { get; init; } = 8;

    /// <summary>
    /// What lies in sealed segments of a tier that outlives the store is named instead of copied: for a sink (<see cref="INamingSink"/>) whose snapshot is
    /// loaded where that tier is. Not for others.
    /// </summary>
    public bool NamesSegments { get; init; }

    /// <summary>Whoever takes it is to end: it does not wait for a tier's disk then.</summary>
    public CancellationToken Ended { get; init; }
}

using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>How a snapshot file is written.</summary>
public sealed record SnapshotJobOptions
{
    /// <summary>Term of the log, for the file's header.</summary>
    public uint Term { get; init; }

    /// <summary>Bytes of records per second at most, on average since the start; 0 = no limit. Lifted while writers wait.</summary>
    public long BytesPerSecondMax { get; init; }

    /// <summary>Makes the cut where it is not the store alone that decides when (a replica between two batches); null = now.</summary>
    public Func<SnapshotOptions, StoreSnapshot>? Cut { get; init; }

    /// <summary>What the file is sealed with, if it is for our own directory and the store's values were judged; null = it has no seal.</summary>
    public DirectoryKey? Key { get; init; }

    /// <summary>Lets others have the core between two steps: where cores are few, those who serve clients wait for a step of the snapshot and not for a time slice.</summary>
    public Action Yield { get; init; } = static () => Thread.Yield();

    /// <summary>Memory for what writers save.</summary>
    public SnapshotOptions Snapshot { get; init; } = new();
}

using Garnet.Media;

namespace Garnet.Aof.Snapshots;

/// <summary>What a snapshot file says of itself.</summary>
public readonly record struct SnapshotFileFacts
{
    /// <summary>Name in the data directory, as published.</summary>
    public required string Name { get; init; }
    /// <summary>Term of the log at the cut.</summary>
    public required uint Term { get; init; }
    /// <summary>Last batch of the log that the snapshot holds; 0 if there was no log.</summary>
    public required ulong Batch { get; init; }
    /// <summary>Seed of the key hash of the store it was taken of.</summary>
    public required ulong HashSeed { get; init; }
    /// <summary>Partitions of that store.</summary>
    public required uint Partitions { get; init; }
    /// <summary>When the cut was made, Unix microseconds.</summary>
    public required long StartUnixUs { get; init; }
    /// <summary>True if its parts have tags of whoever wrote it (<see cref="DirectoryKey"/>).</summary>
    public bool IsSealed { get; init; }
    /// <summary>True if it may name segments of a tier.</summary>
    public bool NamesSegments { get; init; }
    /// <summary>Of the records, those that lie on a tier, and in how many segments; known as the totals are.</summary>
    public ulong References { get; init; }
    /// <inheritdoc cref="References"/>
    public ulong Segments { get; init; }
    /// <summary>Of the references and segments: how many lie in persistent memory, where the tier has a disk below it and all of the file was read.</summary>
    public long ReferencesToMemory { get; init; }
    /// <inheritdoc cref="ReferencesToMemory"/>
    public long SegmentsInMemory { get; init; }
    /// <summary>The tier that the segments are of, where all of the file was read; else none.</summary>
    public MediumId TierId { get; init; }
    /// <summary>Blocks in the file.</summary>
    public ulong Blocks { get; init; }
    /// <summary>Records in all blocks.</summary>
    public ulong Records { get; init; }
    /// <summary>Bytes of these records.</summary>
    public ulong RecordBytes { get; init; }
    /// <summary>Bytes of the file.</summary>
    public long FileBytes { get; init; }
}

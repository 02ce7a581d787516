using Garnet.Media;

namespace Garnet.Aof;

/// <summary>Figures of the log at one moment. Counts begin at the start of the process.</summary>
public sealed record AofFigures
{
    /// <summary>Batches closed.</summary>
    public long Batches { get; init; }
    /// <summary>Entries in them.</summary>
    public long Entries { get; init; }
    /// <summary>Bytes written to the files, padding included.</summary>
    public long BytesWritten { get; init; }
    /// <summary>Writes to the files.</summary>
    public long Writes { get; init; }
    /// <summary>Syncs of the files.</summary>
    public long Syncs { get; init; }
    /// <summary>How long the last sync took, microseconds; the slowest sublog's.</summary>
    public long LastSyncUs { get; init; }
    /// <summary>Bytes of memory that wait for the disk.</summary>
    public long StagedBytes { get; init; }
    /// <summary>Segment files in all sublogs.</summary>
    public int Segments { get; init; }
    /// <summary>Bytes of these files, room set aside included.</summary>
    public long SegmentBytes { get; init; }
    /// <summary>The first batch that all sublogs still hold; 0 before the start.</summary>
    public ulong FirstBatch { get; init; }
    /// <summary>What a sync of the files is worth; the least of the sublogs'.</summary>
    public PersistenceDomain Domain { get; init; } = PersistenceDomain.Disk;
    /// <summary>What went wrong with the disk last, null if nothing did.</summary>
    public string? LastError { get; init; }
}

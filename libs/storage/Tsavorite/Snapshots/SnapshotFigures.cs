namespace Tsavorite;

/// <summary>How far a snapshot is; a peek while it runs.</summary>
public readonly record struct SnapshotFigures
{
    /// <summary>Records the sink has taken.</summary>
    public long Records { get; init; }
    /// <summary>Records there were at the cut; more than the sink takes if a database was given up before.</summary>
    public long RecordsAtCut { get; init; }
    /// <summary>Bytes the sink has taken.</summary>
    public long Bytes { get; init; }
    /// <summary>Of the records, those that writers saved before they changed them.</summary>
    public long SavedRecords { get; init; }
    /// <summary>Bytes saved by writers that wait for the sink.</summary>
    public long BufferedBytes { get; init; }
    /// <summary>Partitions walked to the end.</summary>
    public int PartitionsDone { get; init; }
    /// <summary>Partitions there are.</summary>
    public int PartitionsTotal { get; init; }
    /// <summary>How long the cut stopped writers, from the first partition's lock to the last one's release, microseconds.</summary>
    public long CutUs { get; init; }
}

namespace Garnet.Aof.Snapshots;

/// <summary>What a block of a snapshot file holds.</summary>
internal enum SnapshotBlockKind
{
    /// <summary>Records.</summary>
    Records,
    /// <summary>What names records on a tier.</summary>
    References,
    /// <summary>A part of the table of the segments they lie in.</summary>
    Segments,
}

namespace Garnet.Aof.Format;

/// <summary>A snapshot as the manifest names it: its file, and the last batch whose changes it holds.</summary>
public sealed record SnapshotName(string File, ulong Batch)
{
    /// <summary>Length of the file; 0 = not known (manifests before version 3, and while a file of the same name takes its place).</summary>
    public long Bytes { get; init; }

    /// <summary>Checksum of its first bytes, which say whose it is.</summary>
    public uint HeadCrc { get; init; }
}

namespace Garnet.Aof.Format;

/// <summary>A snapshot as the manifest names it: its file, and the last batch whose changes it holds.</summary>
public sealed record SnapshotName(string File, ulong Batch);

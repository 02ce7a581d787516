namespace Garnet.Server.Persistence;

/// <summary>A snapshot file that is written and synced, not yet named by the manifest.</summary>
internal readonly record struct SavedSnapshot(string Name, ulong Batch, long Records, long Bytes);

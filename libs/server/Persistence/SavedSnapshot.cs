using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>What taking a snapshot came to: if <see cref="SnapshotState.Whole"/>, a file that is synced and not yet named by the manifest.</summary>
internal readonly record struct SavedSnapshot(SnapshotState Outcome, string Name, ulong Batch, long Records, long Bytes);

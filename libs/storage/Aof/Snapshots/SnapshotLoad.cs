using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// What loading a file came to: <see cref="LoadOutcome.Done"/>, or <see cref="LoadOutcome.OutOfMemory"/> with how far it came and
/// how the store stands.
/// </summary>
public readonly record struct SnapshotLoad(LoadOutcome Outcome, SnapshotFileFacts Facts, long Records, long Bytes, StoreFigures Store)
{
    /// <summary>Segments of a tier that the file names, and whose heads are damaged.</summary>
    public IReadOnlyList<string> DamagedHeads { get; init; } = [];
}

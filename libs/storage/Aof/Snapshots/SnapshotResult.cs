using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// What a job came to. <see cref="SnapshotState.Whole"/>: the file is durable under its temporary name and waits for
/// <see cref="SnapshotWriter.Publish"/>. <see cref="SnapshotState.OutOfRoom"/> and <see cref="SnapshotState.Abandoned"/>
/// (cancelled): there is no file.
/// </summary>
public readonly record struct SnapshotResult(SnapshotState State, SnapshotFileFacts Facts, SnapshotFigures Figures);

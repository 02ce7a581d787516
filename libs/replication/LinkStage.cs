namespace Garnet.Replication;

/// <summary>How far a replica's link has come.</summary>
public enum LinkStage
{
    /// <summary>It is to be decided how the replica comes up to date.</summary>
    Planning,
    /// <summary>A snapshot has been cut; the log's place there is about to be known.</summary>
    Cut,
    /// <summary>The snapshot is on its way.</summary>
    Snapshot,
    /// <summary>Batches are on their way.</summary>
    Streaming,
    /// <summary>Over.</summary>
    Ended,
}

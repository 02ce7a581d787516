namespace Garnet.Replication.Frames;

/// <summary>
/// What a frame between a primary and a replica is. Frames follow the handshake REPL HELLO on the same connection; layouts
/// in website/docs/format/replication.md. This room knows bytes only: what a frame brings about is decided by the links.
/// </summary>
public enum FrameKind : byte
{
    /// <summary>How the replica comes up to date: from where on, or by which snapshot.</summary>
    Plan = 1,
    /// <summary>A block of a snapshot.</summary>
    Snapshot = 2,
    /// <summary>The snapshot's footer.</summary>
    SnapshotEnd = 3,
    /// <summary>A part of a batch.</summary>
    Batch = 4,
    /// <summary>How far the replica is.</summary>
    Ack = 5,
    /// <summary>The sender is there, and what time it has.</summary>
    Ping = 6,
    /// <summary>The sender closes, for the reason given.</summary>
    Bye = 7,
    /// <summary>What the primary's data were behind a batch.</summary>
    Digest = 8,
    /// <summary>So many blocks of the snapshot have come whole.</summary>
    SnapshotAck = 9,
}

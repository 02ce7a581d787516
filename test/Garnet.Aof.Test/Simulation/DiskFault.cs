namespace Garnet.Aof.Test.Simulation;

/// <summary>What a <see cref="FaultyDisk"/>, or the order of steps, does wrong.</summary>
internal enum DiskFault
{
    None,
    /// <summary>A file of the log is synced the first time only.</summary>
    SyncOnce,
    /// <summary>A snapshot is published without having been synced.</summary>
    UnsyncedSnapshot,
    /// <summary>The log is cut before the manifest names the snapshot that takes its place.</summary>
    CutBeforePublish,
    /// <summary>The first sector of a write to the log, with the header, is there at once, the rest after the next sync.</summary>
    BodyAfterSync,
    /// <summary>A file behind a ring takes a write that met a full disk for made.</summary>
    AdvanceBeforeDrain,
    /// <summary>A file that met a full disk takes nothing any more, whatever room there is.</summary>
    StaysFull,
    /// <summary>The directory is never synced.</summary>
    NamesNeverSynced,
    /// <summary>The tier is said to be synced and is not.</summary>
    UnsyncedTier,
    /// <summary>What snapshots on disk name of the tier is used again.</summary>
    ForgottenNames,
    /// <summary>Who writes to persistent memory on the spot leaves the fence to another thread.</summary>
    FencedByAnother,
}

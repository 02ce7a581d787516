namespace Garnet.Server.Backups;

/// <summary>What came of asking for a backup.</summary>
internal enum BackupStart
{
    Started,

    /// <summary>One is being taken.</summary>
    Running,

    /// <summary>No directory is set.</summary>
    NoPath,

    /// <summary>All data are coming in, or the server stops.</summary>
    NotNow,
}

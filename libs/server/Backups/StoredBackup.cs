namespace Garnet.Server.Backups;

/// <summary>A backup that lies in the directory, as its two ends tell.</summary>
internal sealed record StoredBackup(BackupName Name, long Bytes, BackupHeader Header, BackupTrailer Trailer);

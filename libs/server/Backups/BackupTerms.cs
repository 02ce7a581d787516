namespace Garnet.Server.Backups;

/// <summary>How one backup is taken.</summary>
/// <param name="CreatedMs">Its moment, Unix milliseconds.</param>
/// <param name="Key">What it is encrypted with; null if it is not.</param>
/// <param name="RedisVersion">The version of Redis that its RDB file names.</param>
/// <param name="SavedBytesMax">What writers may save for it, which it has not written yet: more, and it is given up.</param>
internal sealed record BackupTerms(long CreatedMs, byte[]? Key, string RedisVersion, long SavedBytesMax);

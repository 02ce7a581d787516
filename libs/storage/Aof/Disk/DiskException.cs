namespace Garnet.Aof.Disk;

/// <summary>
/// A disk operation failed: which, on what file, why. Caught where the log's background roles end and where a data
/// directory is opened; there it becomes the log's state or a <see cref="Garnet.Common.GarnetException"/>.
/// </summary>
public sealed class DiskException(string operation, string file, string why, bool isFull) : IOException($"{operation} {file}: {why}")
{
    /// <summary>True if space ran out: the same call may succeed later.</summary>
    public bool IsFull { get; } = isFull;
}

namespace Garnet.Aof.Snapshots;

/// <summary>A snapshot file is refused: which, from which byte on, and why.</summary>
public sealed class SnapshotFileException(string file, long offset, string why, bool isNewer = false)
    : IOException($"{file} at {offset}: {why}")
{
    /// <summary>Name of the file.</summary>
    public string File { get; } = file;

    /// <summary>Where and why, for a sentence that has named the file.</summary>
    public string Fault { get; } = $"offset {offset}: {why}";

    /// <summary>Where the part begins that does not hold.</summary>
    public long Offset { get; } = offset;

    /// <summary>True if the file is whole as far as one can tell, but of a version this code does not know.</summary>
    public bool IsNewer { get; } = isNewer;
}

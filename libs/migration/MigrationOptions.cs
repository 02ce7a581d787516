namespace Garnet.Migration;

/// <summary>What a migration is told.</summary>
/// <param name="Source">Whose data are taken.</param>
/// <param name="Target">Who gets them.</param>
public sealed record MigrationOptions(ServerAddress Source, ServerAddress Target)
{
    /// <summary>True if what the target holds is removed first.</summary>
    public bool Replaces { get; init; }

    /// <summary>Keys to compare at the end.</summary>
    public long Verified { get; init; } = 1000;

    /// <summary>True if it ends when the target has all that the source had at one moment.</summary>
    public bool EndsCaughtUp { get; init; }

    /// <summary>True if it ends for good then: the target forgets that it was a copy.</summary>
    public bool CutsOver { get; init; }

    /// <summary>How long the source is to let writers wait for the end; 0: whoever runs this sees to it.</summary>
    public int PauseSeconds { get; init; }

    /// <summary>True if keys are asked for one by one, where PSYNC is forbidden.</summary>
    public bool Scans { get; init; }

    /// <summary>True if lines are objects of JSON.</summary>
    public bool AsJson { get; init; }
}

namespace Garnet.Types.Streams;

/// <summary>What trying to claim an entry came to.</summary>
public enum ClaimResult
{
    /// <summary>Nothing has changed.</summary>
    Left,
    Claimed,
    /// <summary>The entry is no more, and is not pending any longer.</summary>
    Gone,
    NoMemory,
}

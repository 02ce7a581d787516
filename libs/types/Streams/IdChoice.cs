namespace Garnet.Types.Streams;

/// <summary>How much of a new entry's id the caller has said.</summary>
public enum IdChoice : byte
{
    /// <summary>All of it.</summary>
    Given,
    /// <summary>The milliseconds.</summary>
    NextInMs,
    /// <summary>Nothing: the clock's, or the one behind the last.</summary>
    Next,
}

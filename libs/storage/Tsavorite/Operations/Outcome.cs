namespace Tsavorite;

/// <summary>What a store call came to. Expected results are values, never exceptions.</summary>
public enum Outcome : byte
{
    /// <summary>The callback ran and the change, if any, is in place.</summary>
    Done,

    /// <summary>There is no live record under the key (an expired one counts as absent).</summary>
    NotFound,

    /// <summary>The operation looked and decided to change nothing.</summary>
    Unchanged,

    /// <summary>The memory limit leaves no room and the policy allows no eviction.</summary>
    OutOfMemory,

    /// <summary>Key or value is longer than the format can hold; nothing was changed.</summary>
    TooLarge,
}

namespace Tsavorite;

/// <summary>What loading a block came to.</summary>
public enum LoadOutcome
{
    /// <summary>All its records are in the store.</summary>
    Done,

    /// <summary>A record is not whole or says what cannot be; those before it are in the store.</summary>
    Damaged,

    /// <summary>The store's memory limit leaves no room for more; those before are in the store.</summary>
    OutOfMemory,
}

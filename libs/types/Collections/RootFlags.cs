namespace Garnet.Types.Collections;

/// <summary>What the first byte of a collection's value says.</summary>
[Flags]
public enum RootFlags : byte
{
    None = 0,
    /// <summary>The entries are in chunks.</summary>
    Chunked = 1,
    /// <summary>Passed a threshold once: OBJECT ENCODING answers the name of the large form from then on.</summary>
    Converted = 2,
    /// <summary>An entry had an expiry once.</summary>
    Expiring = 4,
    /// <summary>A set of integers, sorted.</summary>
    Integers = 8,
    /// <summary>The directory of pages has branches.</summary>
    Branched = 16,
}

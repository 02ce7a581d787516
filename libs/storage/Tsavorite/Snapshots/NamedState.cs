namespace Tsavorite;

/// <summary>What a reference of a snapshot comes to.</summary>
internal enum NamedState
{
    /// <summary>There is no record, or not the one that was written.</summary>
    Unreadable,
    /// <summary>The record can be read, and its key has another hash than the reference says.</summary>
    Misnamed,
    AsNamed,
}

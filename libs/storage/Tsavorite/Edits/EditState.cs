namespace Tsavorite;

/// <summary>Whether an edit can come to a part of the value that lies on a tier, and what becomes of what it has changed by then (store.C7).</summary>
internal enum EditState
{
    /// <summary>It can, and has changed nothing.</summary>
    Unchanged,
    /// <summary>It can, and what it has changed is kept as it was (<see cref="BeforeImages"/>).</summary>
    Kept,
    /// <summary>
    /// No part lies there: there is no tier, nothing has ever gone to it (under the partition's lock none of its records can), the value is new, or all that was changed was taken back.
    /// </summary>
    AllHere,
}

namespace Garnet.Types.SortedSets;

/// <summary>When and how ZADD changes a score.</summary>
[Flags]
public enum PutScore : byte
{
    None = 0,
    /// <summary>NX: only members that are not there.</summary>
    IfAbsent = 1,
    /// <summary>XX: only members that are there.</summary>
    IfPresent = 2,
    /// <summary>GT: a member that is there only to a greater score.</summary>
    IfGreater = 4,
    /// <summary>LT: only to a smaller one.</summary>
    IfLess = 8,
    /// <summary>INCR: adds to the score there is.</summary>
    Add = 16,
    /// <summary>A member that is there keeps its expiry (ZINCRBY); else it has none afterwards.</summary>
    KeepExpiry = 64,
}

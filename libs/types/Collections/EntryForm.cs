namespace Garnet.Types.Collections;

/// <summary>What an entry of a collection carries beside its key.</summary>
public enum EntryForm : byte
{
    /// <summary>Nothing: a member of a set.</summary>
    Member,
    /// <summary>A value of any length, perhaps an expiry: a field of a hash.</summary>
    Pair,
    /// <summary>Eight bytes, perhaps an expiry: a member of a sorted set and its score.</summary>
    Scored,
}

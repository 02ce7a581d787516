namespace Garnet.Types.Keys;

/// <summary>When EXPIRE takes effect.</summary>
[Flags]
public enum ExpireCondition : byte
{
    Always = 0,
    /// <summary>NX: only without an expiry.</summary>
    IfNone = 1,
    /// <summary>XX: only with an expiry.</summary>
    IfAny = 2,
    /// <summary>GT: only later than now set; no expiry counts as infinite.</summary>
    IfLater = 4,
    /// <summary>LT: only earlier.</summary>
    IfEarlier = 8,
}

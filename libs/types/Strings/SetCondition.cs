namespace Garnet.Types.Strings;

/// <summary>When a SET takes effect.</summary>
public enum SetCondition : byte
{
    Always,
    /// <summary>NX: only a key that is not there.</summary>
    IfAbsent,
    /// <summary>XX: only a key that is there.</summary>
    IfPresent,
    /// <summary>IFEQ: only if the value equals.</summary>
    IfEqual,
    /// <summary>IFNE: only if it does not (or is not there).</summary>
    IfNotEqual,
    /// <summary>IFDEQ: only if the digest of the value equals.</summary>
    IfDigestEqual,
    /// <summary>IFDNE: only if it does not.</summary>
    IfDigestNotEqual,
}

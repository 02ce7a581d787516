using Garnet.Common;

namespace Garnet.Server.Rights;

/// <summary>A pattern of keys with what it allows to be done with them; compiled once.</summary>
internal sealed class KeyPattern(string pattern, KeyAccess access)
{
    private readonly Glob _glob = new(RuleText.Bytes(pattern));

    /// <summary>The pattern alone.</summary>
    internal string Pattern { get; } = pattern;

    /// <summary>What it allows.</summary>
    internal KeyAccess Access { get; } = access;

    /// <summary>True if it allows the access to the key.</summary>
    internal bool Allows(ReadOnlySpan<byte> key, KeyAccess access) => (Access & access) == access && _glob.Matches(key);

    /// <summary>As a rule that is read back behind others: "~*" stands for all keys, behind which a pattern is refused, and what came as %RW~* is written so.</summary>
    internal string Rule => Access == KeyAccess.Both && Pattern == "*" ? "%RW~*" : ToString();

    /// <summary>As a rule, as it is shown.</summary>
    public override string ToString() => Access switch
    {
        KeyAccess.Read => "%R~" + Pattern,
        KeyAccess.Write => "%W~" + Pattern,
        _ => "~" + Pattern,
    };
}

using Garnet.Common;
using Garnet.Common.Faults;

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
    public override string ToString()
    {
        string? sign = SignOf(Access);
        Check.That(sign is not null, $"access {Access} to keys has no sign: as text it would be another right");
        return sign + Pattern;
    }

    /// <summary>What stands in front of a pattern that allows this; null for what no pattern is made with.</summary>
    internal static string? SignOf(KeyAccess access) => access switch
    {
        KeyAccess.Read => "%R~",
        KeyAccess.Write => "%W~",
        KeyAccess.Both => "~",
        _ => null,
    };
}

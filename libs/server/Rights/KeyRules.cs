namespace Garnet.Server.Rights;

/// <summary>Which keys may be read and written: all of them, or those of patterns.</summary>
internal sealed class KeyRules : RulePart
{
    private readonly OrderedDictionary<string, KeyPattern> _named;
    private KeyPattern[]? _patterns; // the same, to be walked without an enumerator
    private bool _allowsAll;

    /// <summary>Allows none.</summary>
    internal KeyRules() => _named = new OrderedDictionary<string, KeyPattern>(StringComparer.Ordinal);

    private KeyRules(KeyRules other)
    {
        _named = new OrderedDictionary<string, KeyPattern>(other._named, StringComparer.Ordinal);
        _allowsAll = other._allowsAll;
    }

    internal override string Name => "keys";

    internal override bool AllowsAll => _allowsAll;

    /// <summary>True if every key may be read.</summary>
    internal bool ReadsAll => _allowsAll || (_named.TryGetValue("*", out KeyPattern? all) && (all.Access & KeyAccess.Read) != 0);

    internal override string Text => _allowsAll ? "~*" : string.Join(' ', Patterns);

    internal override string Rules => _allowsAll ? Text : string.Join(' ', Patterns.Select(static one => one.Rule));

    /// <summary>The patterns, where not all keys are allowed.</summary>
    internal IReadOnlyCollection<KeyPattern> Patterns => _named.Values;

    /// <summary>True if the key may be used so.</summary>
    internal bool Allows(ReadOnlySpan<byte> key, KeyAccess access)
    {
        if (_allowsAll)
            return true;
        foreach (KeyPattern pattern in _patterns ??= [.. _named.Values])
        {
            if (pattern.Allows(key, access))
                return true;
        }

        return false;
    }

    internal override bool Takes(string rule) => rule[0] is '~' or '%' || RuleText.Is(rule, "allkeys") || RuleText.Is(rule, "resetkeys");

    internal override RuleError Apply(string rule)
    {
        if (rule[0] is not ('~' or '%') || rule == "~*")
        {
            _allowsAll = !RuleText.Is(rule, "resetkeys");
            _named.Clear();
            _patterns = null;
            return RuleError.None;
        }

        return _allowsAll ? RuleError.AllKeysAlready : ApplyPattern(rule);
    }

    internal override RulePart Copy() => new KeyRules(this);

    private RuleError ApplyPattern(string rule)
    {
        int at = 0;
        KeyAccess access = KeyAccess.Both;
        if (rule[0] == '%' && !TryAccess(rule, out access, out at))
            return RuleError.Syntax;
        string pattern = at < rule.Length ? rule[(at + 1)..] : "";
        if (RuleText.HasBlanks(pattern))
            return RuleError.Syntax;
        if (_named.TryGetValue(pattern, out KeyPattern? known))
            _named[pattern] = new KeyPattern(pattern, known.Access | access);
        else
            _named.Add(pattern, new KeyPattern(pattern, access));
        _patterns = null;
        return RuleError.None;
    }

    // Each letter once, at least one of them, then the sign; without it the pattern is empty, as Redis has it.
    private static bool TryAccess(string rule, out KeyAccess access, out int sign)
    {
        access = KeyAccess.None;
        for (sign = 1; sign < rule.Length && rule[sign] != '~'; sign++)
        {
            KeyAccess letter = rule[sign] switch
            {
                'R' or 'r' => KeyAccess.Read,
                'W' or 'w' => KeyAccess.Write,
                _ => KeyAccess.None,
            };
            if (letter == KeyAccess.None || (access & letter) != 0)
                return false;
            access |= letter;
        }

        return access != KeyAccess.None;
    }
}

namespace Garnet.Server.Rights;

/// <summary>Which channels may be used: all of them, or those of patterns.</summary>
internal sealed class ChannelRules : RulePart
{
    private readonly OrderedDictionary<string, ChannelPattern> _named;
    private bool _allowsAll;

    /// <summary>Allows all or none.</summary>
    internal ChannelRules(bool allowsAll)
    {
        _named = new OrderedDictionary<string, ChannelPattern>(StringComparer.Ordinal);
        _allowsAll = allowsAll;
    }

    private ChannelRules(ChannelRules other)
    {
        _named = new OrderedDictionary<string, ChannelPattern>(other._named, StringComparer.Ordinal);
        _allowsAll = other._allowsAll;
    }

    internal override string Name => "channels";

    internal override bool AllowsAll => _allowsAll;

    internal override string Text => _allowsAll ? "&*" : string.Join(' ', _named.Values);

    // Whether a new selector allows all goes by a setting.
    internal override string Rules
    {
        get
        {
            if (_allowsAll)
                return Text;
            return _named.Count == 0 ? "resetchannels" : $"resetchannels {Text}";
        }
    }

    /// <summary>True if the channel may be used; a pattern must be one of the patterns allowed.</summary>
    internal bool Allows(ReadOnlySpan<byte> name, bool isPattern)
    {
        if (_allowsAll)
            return true;
        foreach ((_, ChannelPattern pattern) in _named)
        {
            if (pattern.Allows(name, isPattern))
                return true;
        }

        return false;
    }

    internal override bool Takes(string rule) => rule[0] == '&' || RuleText.Is(rule, "allchannels") || RuleText.Is(rule, "resetchannels");

    internal override RuleError Apply(string rule)
    {
        if (rule[0] != '&' || rule == "&*")
        {
            _allowsAll = !RuleText.Is(rule, "resetchannels");
            _named.Clear();
            return RuleError.None;
        }

        if (_allowsAll)
            return RuleError.AllChannelsAlready;
        string pattern = rule[1..];
        if (RuleText.HasBlanks(pattern))
            return RuleError.Syntax;
        _named.TryAdd(pattern, new ChannelPattern(pattern));
        return RuleError.None;
    }

    internal override RulePart Copy() => new ChannelRules(this);
}

namespace Garnet.Server.Rights;

/// <summary>
/// One set of rules: commands, and what they may be used on. A command is allowed if one selector of its user allows all of it.
///
/// rights.R1  Rules are changed on a copy; what has been published never changes, so that it is read without a lock.
/// </summary>
internal sealed class Selector
{
    private readonly RuleTerms _terms;
    private readonly CommandRules _commands;
    private readonly DatabaseRules _databases;
    private readonly OrderedDictionary<string, KeyPattern> _keys;
    private readonly OrderedDictionary<string, ChannelPattern> _channels;
    private KeyPattern[]? _keyPatterns; // the same, to be walked without an enumerator

    /// <summary>A new one, which allows no command.</summary>
    internal Selector(RuleTerms terms)
    {
        _terms = terms;
        _commands = new CommandRules(terms.Commands);
        _databases = new DatabaseRules();
        _keys = new OrderedDictionary<string, KeyPattern>(StringComparer.Ordinal);
        _channels = new OrderedDictionary<string, ChannelPattern>(StringComparer.Ordinal);
        AllowsAllChannels = terms.OpensChannels;
    }

    /// <summary>A copy.</summary>
    internal Selector(Selector other)
    {
        _terms = other._terms;
        _commands = new CommandRules(other._commands);
        _databases = new DatabaseRules(other._databases);
        _keys = new OrderedDictionary<string, KeyPattern>(other._keys, StringComparer.Ordinal);
        _channels = new OrderedDictionary<string, ChannelPattern>(other._channels, StringComparer.Ordinal);
        (AllowsAllKeys, AllowsAllChannels) = (other.AllowsAllKeys, other.AllowsAllChannels);
    }

    internal bool AllowsAllKeys { get; private set; }

    /// <summary>True if every key may be read.</summary>
    internal bool ReadsAllKeys => AllowsAllKeys || (_keys.TryGetValue("*", out KeyPattern? all) && (all.Access & KeyAccess.Read) != 0);

    internal bool AllowsAllChannels { get; private set; }

    internal bool AllowsAllDatabases => _databases.AllowsAll;

    /// <summary>True if there is nothing that it does not allow.</summary>
    internal bool AllowsEverything => _commands.AllowsAll && AllowsAllKeys && AllowsAllChannels && AllowsAllDatabases;

    /// <summary>The rules about commands.</summary>
    internal string CommandText => _commands.ToString();

    /// <summary>The patterns of keys.</summary>
    internal string KeyText => AllowsAllKeys ? "~*" : string.Join(' ', _keys.Values);

    /// <summary>The patterns of channels.</summary>
    internal string ChannelText => AllowsAllChannels ? "&*" : string.Join(' ', _channels.Values);

    /// <summary>The databases.</summary>
    internal string DatabaseText => _databases.ToString();

    /// <summary>True if the command is allowed, with that first argument behind its name (empty for none).</summary>
    internal bool AllowsCommand(int id, ReadOnlySpan<byte> firstArgument) =>
        _commands.Allows(id) || _commands.AllowsFirst(id, firstArgument);

    /// <summary>True if the key may be used so.</summary>
    internal bool AllowsKey(ReadOnlySpan<byte> key, KeyAccess access)
    {
        if (AllowsAllKeys)
            return true;
        foreach (KeyPattern pattern in _keyPatterns ??= [.. _keys.Values])
        {
            if (pattern.Allows(key, access))
                return true;
        }

        return false;
    }

    /// <summary>True if the channel may be used; a pattern must be one of the patterns allowed.</summary>
    internal bool AllowsChannel(ReadOnlySpan<byte> name, bool isPattern)
    {
        if (AllowsAllChannels)
            return true;
        foreach ((_, ChannelPattern pattern) in _channels)
        {
            if (pattern.Allows(name, isPattern))
                return true;
        }

        return false;
    }

    /// <summary>True if the database may be used.</summary>
    internal bool AllowsDatabase(int database) => _databases.Allows(database);

    /// <summary>Applies a rule; what is wrong with it, or nothing.</summary>
    internal RuleError Apply(string rule)
    {
        if (TryApplyWord(rule))
            return RuleError.None;
        if (DatabaseRules.IsRule(rule))
            return _databases.Apply(rule, _terms.Databases);
        return rule[0] switch
        {
            '~' or '%' => ApplyKeys(rule),
            '&' => ApplyChannels(rule),
            '+' or '-' => _commands.Apply(rule),
            _ => RuleError.Syntax,
        };
    }

    /// <summary>As rules, in the order in which Redis lists them.</summary>
    public override string ToString()
    {
        var words = new List<string>();
        if (KeyText.Length > 0)
            words.Add(KeyText);
        if (!AllowsAllChannels)
            words.Add("resetchannels");
        if (ChannelText.Length > 0)
            words.Add(ChannelText);
        if (!AllowsAllDatabases)
            words.Add(DatabaseText);
        words.Add(CommandText);
        return string.Join(' ', words);
    }

    private bool TryApplyWord(string rule)
    {
        switch (rule.ToLowerInvariant())
        {
            case "allkeys" or "~*":
                ResetKeys(all: true);
                return true;
            case "resetkeys":
                ResetKeys(all: false);
                return true;
            case "allchannels" or "&*":
                ResetChannels(all: true);
                return true;
            case "resetchannels":
                ResetChannels(all: false);
                return true;
            case "allcommands" or "+@all":
                _commands.SetAll(allow: true);
                return true;
            case "nocommands" or "-@all":
                _commands.SetAll(allow: false);
                return true;
            default:
                return false;
        }
    }

    private void ResetKeys(bool all)
    {
        AllowsAllKeys = all;
        _keys.Clear();
        _keyPatterns = null;
    }

    private void ResetChannels(bool all)
    {
        AllowsAllChannels = all;
        _channels.Clear();
    }

    private RuleError ApplyKeys(string rule)
    {
        if (AllowsAllKeys)
            return RuleError.AllKeysAlready;
        int at = 0;
        KeyAccess access = KeyAccess.Both;
        if (rule[0] == '%' && !TryAccess(rule, out access, out at))
            return RuleError.Syntax;
        string pattern = at < rule.Length ? rule[(at + 1)..] : "";
        if (RuleText.HasBlanks(pattern))
            return RuleError.Syntax;
        if (_keys.TryGetValue(pattern, out KeyPattern? known))
            _keys[pattern] = new KeyPattern(pattern, known.Access | access);
        else
            _keys.Add(pattern, new KeyPattern(pattern, access));
        _keyPatterns = null;
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

    private RuleError ApplyChannels(string rule)
    {
        if (AllowsAllChannels)
            return RuleError.AllChannelsAlready;
        string pattern = rule[1..];
        if (RuleText.HasBlanks(pattern))
            return RuleError.Syntax;
        _channels.TryAdd(pattern, new ChannelPattern(pattern));
        return RuleError.None;
    }
}

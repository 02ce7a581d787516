namespace Garnet.Server.Rights;

/// <summary>
/// One set of rules: commands, and what they may be used on. A command is allowed if one selector of its user allows all of it.
///
/// rights.R1  Rules are changed on a copy; what has been published never changes, so that it is read without a lock.
/// </summary>
internal sealed class Selector
{
    private readonly RulePart[] _parts;
    private readonly CommandRules _commands;
    private readonly KeyRules _keys;
    private readonly ChannelRules _channels;
    private readonly DatabaseRules _databases;

    /// <summary>A new one, which allows no command. Whatever kinds of rules there are stand here, commands first.</summary>
    internal Selector(RuleTerms terms)
        : this(
        [
            new CommandRules(terms.Commands), new KeyRules(), new ChannelRules(terms.OpensChannels), new DatabaseRules(terms.Databases),
        ])
    {
    }

    /// <summary>A copy.</summary>
    internal Selector(Selector other)
        : this(Array.ConvertAll(other._parts, static part => part.Copy()))
    {
    }

    private Selector(RulePart[] parts)
    {
        _parts = parts;
        _commands = One<CommandRules>();
        _keys = One<KeyRules>();
        _channels = One<ChannelRules>();
        _databases = One<DatabaseRules>();
    }

    /// <summary>The parts that are told of, in Redis's order.</summary>
    internal IReadOnlyList<RulePart> Told => Array.FindAll(_parts, static part => !part.IsOurs || !part.AllowsAll);

    internal bool AllowsAllKeys => _keys.AllowsAll;

    /// <summary>True if every key may be read.</summary>
    internal bool ReadsAllKeys => _keys.ReadsAll;

    internal bool AllowsAllChannels => _channels.AllowsAll;

    internal bool AllowsAllDatabases => _databases.AllowsAll;

    /// <summary>True if there is nothing that it does not allow.</summary>
    internal bool AllowsEverything => Array.TrueForAll(_parts, static part => part.AllowsAll);

    /// <summary>
    /// Why the command may not be run, with that first argument behind its name (empty for none), before anybody looks at what it is used on. Every rule that is about neither
    /// databases, keys nor channels is asked here: for clients (<c>RightsCheck</c>) as well as for those who look on without being one (<see cref="UserRights.AllowsCommand"/>).
    /// </summary>
    internal Refusal RefusalOf(int command, ReadOnlySpan<byte> firstArgument) =>
        _commands.Allows(command) || _commands.AllowsFirst(command, firstArgument) ? default : new Refusal(DenialReason.Command);

    /// <summary>True if the key may be used so.</summary>
    internal bool AllowsKey(ReadOnlySpan<byte> key, KeyAccess access) => _keys.Allows(key, access);

    /// <summary>True if the channel may be used; a pattern must be one of the patterns allowed.</summary>
    internal bool AllowsChannel(ReadOnlySpan<byte> name, bool isPattern) => _channels.Allows(name, isPattern);

    /// <summary>True if the database may be used.</summary>
    internal bool AllowsDatabase(int database) => _databases.Allows(database);

    /// <summary>Applies a rule, which is not empty; what is wrong with it, or nothing.</summary>
    internal RuleError Apply(string rule)
    {
        foreach (RulePart part in _parts)
        {
            if (part.Takes(rule))
                return part.Apply(rule);
        }

        return RuleError.Syntax;
    }

    /// <summary>As rules, in the order in which Redis lists them: commands last.</summary>
    public override string ToString() =>
        string.Join(' ', [.. _parts[1..].Select(static part => part.Rules).Where(static rules => rules.Length > 0), _parts[0].Rules]);

    private T One<T>() where T : RulePart => (T)Array.Find(_parts, static part => part is T)!;
}

namespace Garnet.Server.Rights;

/// <summary>All commands that rules can name.</summary>
internal sealed class RuleCommands
{
    private readonly RuleCommand[] _all;
    private readonly Dictionary<string, RuleCommand> _byName;
    private readonly ILookup<int, RuleCommand> _children;

    internal RuleCommands(IEnumerable<RuleCommand> all)
    {
        _all = [.. all];
        _byName = _all.ToDictionary(static one => one.Name, StringComparer.OrdinalIgnoreCase);
        _children = _all.Where(static one => one.Parent != 0).ToLookup(static one => one.Parent);
        IdsMax = _all.Length == 0 ? 0 : _all.Max(static one => one.Id);
    }

    /// <summary>The largest number of a command.</summary>
    internal int IdsMax { get; }

    /// <summary>The command of that name, in any case; null if there is none.</summary>
    internal RuleCommand? Find(string name) => _byName.GetValueOrDefault(name);

    /// <summary>The subcommands of a command.</summary>
    internal IEnumerable<RuleCommand> Children(RuleCommand parent) => _children[parent.Id];

    /// <summary>True for a command that only its subcommands make sense of.</summary>
    internal bool HasChildren(RuleCommand command) => _children.Contains(command.Id);

    /// <summary>The commands of a category, subcommands too.</summary>
    internal IEnumerable<RuleCommand> In(CommandCategories category) => _all.Where(one => (one.Categories & category) != 0);
}

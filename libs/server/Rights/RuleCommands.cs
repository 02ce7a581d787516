namespace Garnet.Server.Rights;

/// <summary>All commands that rules can name.</summary>
internal sealed class RuleCommands
{
    private readonly RuleCommand[] _all;
    private readonly Dictionary<string, RuleCommand> _byName;
    private readonly Dictionary<int, List<RuleCommand>> _children = [];

    internal RuleCommands(RuleCommand[] all)
    {
        _all = all;
        _byName = new Dictionary<string, RuleCommand>(all.Length, StringComparer.OrdinalIgnoreCase);
        foreach (RuleCommand one in all)
        {
            _byName.Add(one.Name, one);
            IdsMax = Math.Max(IdsMax, one.Id);
            if (one.Parent == 0)
                continue;
            if (!_children.TryGetValue(one.Parent, out List<RuleCommand>? its))
                _children[one.Parent] = its = [];
            its.Add(one);
        }
    }

    /// <summary>The largest number of a command.</summary>
    internal int IdsMax { get; }

    /// <summary>The command of that name, in any case; null if there is none.</summary>
    internal RuleCommand? Find(string name) => _byName.GetValueOrDefault(name);

    /// <summary>The subcommands of a command.</summary>
    internal IEnumerable<RuleCommand> Children(RuleCommand parent) => _children.GetValueOrDefault(parent.Id, []);

    /// <summary>True for a command that only its subcommands make sense of.</summary>
    internal bool HasChildren(RuleCommand command) => _children.ContainsKey(command.Id);

    /// <summary>The commands of a category, subcommands too.</summary>
    internal IEnumerable<RuleCommand> In(CommandCategories category) => _all.Where(one => (one.Categories & category) != 0);
}

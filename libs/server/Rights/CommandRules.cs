using Garnet.Server.Base;

namespace Garnet.Server.Rights;

/// <summary>
/// Which commands are allowed: a bit for each, and the rules that led there as text. Rules are kept in the order in which they were given, an earlier
/// one left out once a later one about the same has made it void; so what is listed still means the same to a server that knows other commands.
/// </summary>
internal sealed class CommandRules
{
    private const int ShortBytes = 64; // of an argument that is looked at without taking memory

    private readonly RuleCommands _commands;
    private readonly ulong[] _allowed;
    private readonly OrderedDictionary<string, bool> _rules;
    private readonly Dictionary<int, HashSet<byte[]>> _firstArguments; // in small letters

    /// <summary>Allows nothing.</summary>
    internal CommandRules(RuleCommands commands)
    {
        _commands = commands;
        _allowed = new ulong[(commands.IdsMax / 64) + 1];
        _rules = new OrderedDictionary<string, bool>(StringComparer.Ordinal);
        _firstArguments = [];
    }

    /// <summary>A copy.</summary>
    internal CommandRules(CommandRules other)
    {
        _commands = other._commands;
        _allowed = [.. other._allowed];
        _rules = new OrderedDictionary<string, bool>(other._rules, StringComparer.Ordinal);
        _firstArguments = other._firstArguments
            .ToDictionary(static pair => pair.Key, static pair => new HashSet<byte[]>(pair.Value, ByteString.Comparer));
        (AllowsAll, BeganWithAll) = (other.AllowsAll, other.BeganWithAll);
    }

    /// <summary>True if every command is allowed.</summary>
    internal bool AllowsAll { get; private set; }

    /// <summary>True if what no rule names is allowed: commands of later versions too.</summary>
    private bool BeganWithAll { get; set; }

    /// <summary>True if the command is allowed whatever its arguments are.</summary>
    internal bool Allows(int id) => AllowsAll || (_allowed[id >> 6] >> (id & 63) & 1) != 0;

    /// <summary>True if the command is allowed with that first argument, though not with all others.</summary>
    internal bool AllowsFirst(int id, ReadOnlySpan<byte> argument)
    {
        if (!_firstArguments.TryGetValue(id, out HashSet<byte[]>? allowed))
            return false;
        Span<byte> lower = argument.Length <= ShortBytes ? stackalloc byte[ShortBytes] : new byte[argument.Length];
        lower = lower[..argument.Length];
        for (int i = 0; i < lower.Length; i++)
            lower[i] = argument[i] is >= (byte)'A' and <= (byte)'Z' ? (byte)(argument[i] | 0x20) : argument[i];
        return allowed.GetAlternateLookup<ReadOnlySpan<byte>>().Contains(lower);
    }

    /// <summary>All commands, or none: what was said before is void.</summary>
    internal void SetAll(bool allow)
    {
        (AllowsAll, BeganWithAll) = (allow, allow);
        _allowed.AsSpan().Fill(allow ? ulong.MaxValue : 0);
        _rules.Clear();
        _firstArguments.Clear();
    }

    /// <summary>Applies a rule about commands or a category (<c>+get</c>, <c>-config|set</c>, <c>+@read</c>, <c>+select|0</c>); its sign comes first.</summary>
    internal RuleError Apply(string rule)
    {
        bool allow = rule[0] == '+';
        string name = rule[1..];
        if (name.StartsWith('@'))
            return ApplyCategory(name, allow);
        if (_commands.Find(name) is { } command)
        {
            Change(command, allow);
            Remember(command.Name, allow);
            return RuleError.None;
        }

        return allow && name.Contains('|') ? AllowFirst(name) : RuleError.UnknownCommand;
    }

    /// <summary>As rules.</summary>
    public override string ToString() =>
        string.Join(' ', [BeganWithAll ? "+@all" : "-@all", .. _rules.Select(static rule => (rule.Value ? "+" : "-") + rule.Key)]);

    private RuleError ApplyCategory(string name, bool allow)
    {
        CommandCategories category = CategoryNames.Find(name[1..]);
        if (category == CommandCategories.None)
            return RuleError.UnknownCommand;
        foreach (RuleCommand command in _commands.In(category))
            Change(command, allow);
        string[] voided = [.. _rules.Keys.Where(rule => IsAbout(rule, category))];
        foreach (string rule in voided)
            _rules.Remove(rule);
        Remember(name.ToLowerInvariant(), allow);
        return RuleError.None;
    }

    // A rule about one command, which the category has or whose parent it has.
    private bool IsAbout(string rule, CommandCategories category)
    {
        int bar = rule.IndexOf('|');
        bool isOf = rule[0] != '@' && _commands.Find(rule) is { } command && (command.Categories & category) != 0;
        return isOf || (bar > 0 && _commands.Find(rule[..bar]) is { } parent && (parent.Categories & category) != 0);
    }

    // What stands behind the last bar is no subcommand that there is.
    private RuleError AllowFirst(string name)
    {
        int bar = name.LastIndexOf('|');
        string argument = name[(bar + 1)..];
        if (_commands.Find(name[..bar]) is not { } command)
            return RuleError.UnknownCommand;
        if (command.Parent != 0)
            return RuleError.FirstArgumentOfSubcommand;
        if (argument.Length == 0 || RuleText.HasBlanks(argument))
            return RuleError.Syntax;
        if (_commands.HasChildren(command))
            return RuleError.UnknownCommand;
        if (Allows(command.Id))
            return RuleError.None; // a rule that takes the command away takes this one along
        if (!_firstArguments.TryGetValue(command.Id, out HashSet<byte[]>? allowed))
            _firstArguments[command.Id] = allowed = new HashSet<byte[]>(ByteString.Comparer);
        if (allowed.Add(RuleText.Bytes(RuleText.Lower(argument))))
            Remember($"{command.Name}|{RuleText.Lower(argument)}", allow: true);
        return RuleError.None;
    }

    // A command's subcommands go with it.
    private void Change(RuleCommand command, bool allow)
    {
        AllowsAll &= allow;
        SetBit(command.Id, allow);
        _firstArguments.Remove(command.Id);
        foreach (RuleCommand child in _commands.Children(command))
            SetBit(child.Id, allow);
    }

    private void SetBit(int id, bool allow)
    {
        ulong bit = 1UL << (id & 63);
        _allowed[id >> 6] = allow ? _allowed[id >> 6] | bit : _allowed[id >> 6] & ~bit;
    }

    private void Remember(string name, bool allow)
    {
        _rules.Remove(name);
        string children = name + "|";
        if (name[0] != '@' && !name.Contains('|'))
        {
            string[] voided = [.. _rules.Keys.Where(rule => rule.StartsWith(children, StringComparison.Ordinal))];
            foreach (string rule in voided)
                _rules.Remove(rule);
        }

        if (!IsVoid(name, allow))
            _rules.Add(name, allow);
    }

    // It says what the list begins with, and nothing else that is listed says otherwise.
    private bool IsVoid(string name, bool allow)
    {
        if (allow != BeganWithAll || name[0] == '@' || _rules.Keys.Any(static rule => rule[0] == '@'))
            return false;
        int bar = name.IndexOf('|');
        return bar < 0 || !_rules.ContainsKey(name[..bar]);
    }
}

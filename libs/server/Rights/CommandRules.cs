using Garnet.Server.Base;

namespace Garnet.Server.Rights;

/// <summary>
/// Which commands are allowed: a bit for each, and the rules that led there as text. Rules are kept in the order in which they were given, an earlier
/// one left out once a later one about the same has made it void; so what is listed still means the same to a server that knows other commands.
/// </summary>
internal sealed class CommandRules : RulePart
{
    private const int ShortBytes = 64; // of an argument that is looked at without taking memory

    private readonly RuleCommands _commands;
    private readonly ulong[] _allowed;
    private readonly LinkedDictionary<bool> _rules;
    private int _categories; // rules about one
    private readonly Dictionary<int, HashSet<byte[]>> _firstArguments; // in small letters
    private bool _allowsAll;

    /// <summary>Allows nothing.</summary>
    internal CommandRules(RuleCommands commands)
    {
        _commands = commands;
        _allowed = new ulong[(commands.IdsMax / 64) + 1];
        _rules = new LinkedDictionary<bool>();
        _firstArguments = [];
    }

    private CommandRules(CommandRules other)
    {
        _commands = other._commands;
        _allowed = [.. other._allowed];
        (_rules, _categories) = (new LinkedDictionary<bool>(other._rules), other._categories);
        _firstArguments = other._firstArguments
            .ToDictionary(static pair => pair.Key, static pair => new HashSet<byte[]>(pair.Value, ByteString.Comparer));
        (_allowsAll, BeganWithAll) = (other._allowsAll, other.BeganWithAll);
    }

    internal override string Name => "commands";

    /// <summary>True if every command is allowed.</summary>
    internal override bool AllowsAll => _allowsAll;

    internal override string Text =>
        string.Join(' ', [BeganWithAll ? "+@all" : "-@all", .. _rules.Select(static rule => (rule.Value ? "+" : "-") + rule.Key)]);

    /// <summary>True if what no rule names is allowed: commands of later versions too.</summary>
    private bool BeganWithAll { get; set; }

    /// <summary>True if the command is allowed whatever its arguments are.</summary>
    internal bool Allows(int id) => _allowsAll || (_allowed[id >> 6] >> (id & 63) & 1) != 0;

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

    internal override bool Takes(string rule) =>
        rule[0] is '+' or '-' || RuleText.Is(rule, "allcommands") || RuleText.Is(rule, "nocommands");

    /// <summary>Applies a rule about all commands, one or a category (<c>+get</c>, <c>-config|set</c>, <c>+@read</c>, <c>+select|0</c>).</summary>
    internal override RuleError Apply(string rule)
    {
        bool allow = rule[0] == '+' || RuleText.Is(rule, "allcommands");
        if (rule[0] is not ('+' or '-') || RuleText.Is(rule[1..], "@all"))
            return SetAll(allow);
        string name = rule[1..];
        if (name.StartsWith('@'))
            return ApplyCategory(name, allow);
        if (_commands.Find(name) is { } command)
        {
            Change(command, allow);
            if (!IsVoid(command, allow))
                _rules.Set(command.Name, allow);
            return RuleError.None;
        }

        return allow && name.Contains('|') ? AllowFirst(name) : RuleError.UnknownCommand;
    }

    internal override RulePart Copy() => new CommandRules(this);

    // What was said before is void.
    private RuleError SetAll(bool allow)
    {
        (_allowsAll, BeganWithAll) = (allow, allow);
        for (int i = 0; i < _allowed.Length; i++) _allowed[i] = allow ? ulong.MaxValue : 0;
        _rules.Clear();
        _categories = 0;
        _firstArguments.Clear();
        return RuleError.None;
    }

    private RuleError ApplyCategory(string name, bool allow)
    {
        CommandCategories category = CategoryNames.Find(name[1..]);
        if (category == CommandCategories.None)
            return RuleError.UnknownCommand;
        foreach (RuleCommand command in _commands.In(category))
            Change(command, allow);
        string rule = name.ToLowerInvariant();
        _categories += _rules.Remove(rule) ? 0 : 1;
        _rules.Set(rule, allow);
        return RuleError.None;
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
            _rules.Set(RuleOf(command, RuleText.Lower(argument)), true);
        return RuleError.None;
    }

    // A command's subcommands and first arguments go with it; rules about any of them are void.
    private void Change(RuleCommand command, bool allow)
    {
        _allowsAll &= allow;
        SetBit(command.Id, allow);
        _rules.Remove(command.Name);
        if (_firstArguments.Remove(command.Id, out HashSet<byte[]>? arguments))
        {
            foreach (byte[] argument in arguments)
                _rules.Remove(RuleOf(command, RuleText.Of(argument)));
        }

        foreach (RuleCommand child in _commands.Children(command))
        {
            SetBit(child.Id, allow);
            _rules.Remove(child.Name);
        }
    }

    private static string RuleOf(RuleCommand command, string firstArgument) => $"{command.Name}|{firstArgument}";

    private void SetBit(int id, bool allow)
    {
        ulong bit = 1UL << (id & 63);
        _allowed[id >> 6] = allow ? _allowed[id >> 6] | bit : _allowed[id >> 6] & ~bit;
    }

    // It says what the list begins with, and nothing else that is listed says otherwise.
    private bool IsVoid(RuleCommand command, bool allow)
    {
        if (allow != BeganWithAll || _categories > 0)
            return false;
        int bar = command.Name.IndexOf('|');
        return bar < 0 || !_rules.Has(command.Name[..bar]);
    }
}

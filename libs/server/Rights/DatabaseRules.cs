using System.Globalization;

namespace Garnet.Server.Rights;

/// <summary>Which numbered databases are allowed, as Valkey 9.1 has it: all of them, unless a rule names some.</summary>
internal sealed class DatabaseRules : RulePart
{
    private const string Prefix = "db=";

    private readonly int _databases;
    private readonly List<int> _named; // each once, in order
    private bool _allowsAll;

    /// <summary>Allows all.</summary>
    /// <param name="databases">How many there are.</param>
    internal DatabaseRules(int databases)
    {
        _databases = databases;
        _named = [];
        _allowsAll = true;
    }

    private DatabaseRules(DatabaseRules other)
    {
        _databases = other._databases;
        _named = [.. other._named];
        _allowsAll = other._allowsAll;
    }

    internal override string Name => "databases";

    internal override bool AllowsAll => _allowsAll;

    internal override bool IsOurs => true;

    internal override string Text
    {
        get
        {
            if (_allowsAll)
                return "alldbs";
            return _named.Count == 0 ? "resetdbs" : Prefix + string.Join(',', _named);
        }
    }

    /// <summary>True if the database is allowed.</summary>
    internal bool Allows(int database) => _allowsAll || _named.BinarySearch(database) >= 0;

    internal override bool Takes(string rule) =>
        rule.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase) || RuleText.Is(rule, "alldbs") || RuleText.Is(rule, "resetdbs");

    internal override RuleError Apply(string rule)
    {
        if (!rule.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase))
        {
            _allowsAll = RuleText.Is(rule, "alldbs");
            _named.Clear();
            return RuleError.None;
        }

        var named = new List<int>();
        foreach (string number in rule[Prefix.Length..].Split(','))
        {
            if (!int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out int database))
                return RuleError.Syntax;
            if (database >= _databases)
                return RuleError.NoSuchDatabase;
            if (named.BinarySearch(database) is var at && at < 0)
                named.Insert(~at, database);
        }

        _allowsAll = false;
        _named.Clear();
        _named.AddRange(named);
        return RuleError.None;
    }

    internal override RulePart Copy() => new DatabaseRules(this);
}

using System.Globalization;

namespace Garnet.Server.Rights;

/// <summary>Which numbered databases are allowed, as Valkey 9.1 has it: all of them, unless a rule names some.</summary>
internal sealed class DatabaseRules
{
    private const string Prefix = "db=";

    private readonly List<int> _named; // each once, in order

    /// <summary>Allows all.</summary>
    internal DatabaseRules()
    {
        _named = [];
        AllowsAll = true;
    }

    /// <summary>A copy.</summary>
    internal DatabaseRules(DatabaseRules other)
    {
        _named = [.. other._named];
        AllowsAll = other.AllowsAll;
    }

    /// <summary>True if all are allowed.</summary>
    internal bool AllowsAll { get; private set; }

    /// <summary>True if the database is allowed.</summary>
    internal bool Allows(int database) => AllowsAll || _named.BinarySearch(database) >= 0;

    /// <summary>True if the rule is one about databases.</summary>
    internal static bool IsRule(string rule) =>
        rule.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase) || RuleText.Is(rule, "alldbs") || RuleText.Is(rule, "resetdbs");

    /// <summary>Applies one; nothing is changed if it is wrong.</summary>
    /// <param name="rule">The rule.</param>
    /// <param name="databases">How many databases there are.</param>
    internal RuleError Apply(string rule, int databases)
    {
        if (!rule.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase))
        {
            AllowsAll = RuleText.Is(rule, "alldbs");
            _named.Clear();
            return RuleError.None;
        }

        var named = new List<int>();
        foreach (string number in rule[Prefix.Length..].Split(','))
        {
            if (!int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out int database))
                return RuleError.Syntax;
            if (database >= databases)
                return RuleError.NoSuchDatabase;
            if (named.BinarySearch(database) is var at && at < 0)
                named.Insert(~at, database);
        }

        AllowsAll = false;
        _named.Clear();
        _named.AddRange(named);
        return RuleError.None;
    }

    /// <summary>As a rule.</summary>
    public override string ToString()
    {
        if (AllowsAll)
            return "alldbs";
        return _named.Count == 0 ? "resetdbs" : Prefix + string.Join(',', _named);
    }
}

using System.Collections;
using System.Reflection;
using Garnet.Server.Rights;

namespace Garnet.Server.Test.Rights;

/// <summary>
/// Whatever a rule sets is in the text of the user, which ACL SAVE writes and ACL LOAD reads, and in a copy. The fields are looked at by reflection:
/// a restriction that a new kind of rule brings would be lost without a word if the text or the copy left it out.
/// </summary>
public sealed class RulesAsTextTests
{
    private const int Depth = 12;

    // Together they set every field at least once.
    private static readonly string[] s_users =
    [
        "on nopass ~* &* +@all",
        "on >secret >other skip-sanitize-payload ~a* %R~b %W~b* &c &d* db=1,2 +@read -get +select|3 -config|set (~x resetchannels resetdbs +set) (+get)",
        "off sanitize-payload resetchannels resetkeys resetdbs -@all +config|get",
        "(+@all ~* &*)",
        "on %RW~* ~a &a +get", // as "~*" it would refuse what stands behind it
    ];

    // What is no rule: what rules are read by, and what is worked out of the patterns when it is first asked for.
    private static readonly HashSet<string> s_beside = ["UserRights._terms", "KeyRules._patterns", "CommandRules._commands", "DatabaseRules._databases"];

    private static readonly RuleCommands s_commands = new(
    [
        new RuleCommand(1, "get", CommandCategories.Read, 0),
        new RuleCommand(2, "set", CommandCategories.Write, 0),
        new RuleCommand(3, "config", CommandCategories.Slow, 0),
        new RuleCommand(4, "config|get", CommandCategories.Admin, 3),
        new RuleCommand(5, "config|set", CommandCategories.Admin, 3),
        new RuleCommand(6, "select", CommandCategories.Connection, 0),
    ]);

    [TestCaseSource(nameof(s_users))]
    public void What_rules_set_is_in_the_text_and_in_a_copy(string rules)
    {
        UserRights rights = Of(rules);
        string state = State(rights, Depth);
        Assert.That(State(Of(rights.ToString()), Depth), Is.EqualTo(state), $"read from {rights}");
        Assert.That(State(new UserRights(rights), Depth), Is.EqualTo(state), "a copy");
    }

    [Test]
    public void The_users_above_set_every_field_of_rights()
    {
        var unset = new HashSet<string>(Parts(new UserRights(Terms())).SelectMany(Fields).Select(Name).Except(s_beside));
        Assert.That(unset, Has.Count.GreaterThan(12));
        foreach (string rules in s_users)
        {
            foreach ((object part, object fresh) in Parts(Of(rules)).Zip(Parts(new UserRights(Terms()))))
                unset.ExceptWith(Fields(part).Where(field => State(field.GetValue(part), Depth) != State(field.GetValue(fresh), Depth)).Select(Name));
        }

        Assert.That(unset, Is.Empty, "add a rule that sets it");
    }

    [Test]
    public void The_users_above_have_patterns_of_keys_for_every_access()
    {
        var unset = new HashSet<KeyAccess>(Enum.GetValues<KeyAccess>().Where(static access => access != KeyAccess.None));
        unset.ExceptWith(s_users.SelectMany(static rules => Parts(Of(rules))).OfType<KeyRules>().SelectMany(static keys => keys.Patterns).Select(static pattern => pattern.Access));
        Assert.That(unset, Is.Empty, "add a pattern with it");
    }

    private static UserRights Of(string rules)
    {
        Assert.That(RuleWords.TryJoin(rules.Split(' '), out List<string> joined, out _));
        var rights = new UserRights(Terms());
        foreach (string rule in joined) Assert.That(rights.Apply(rule), Is.EqualTo(RuleError.None), rule);
        return rights;
    }

    private static RuleTerms Terms() => new(s_commands, databases: 16, static () => false);

    // Rights, their first selector, and what that is put together from.
    private static object[] Parts(UserRights rights)
    {
        Selector own = rights.Selectors[0];
        return [rights, own, .. Fields(own).Select(field => field.GetValue(own)).OfType<object>().Where(static one => one is RulePart)];
    }

    private static FieldInfo[] Fields(object part) => part.GetType().GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);

    private static string Name(FieldInfo field) => $"{field.DeclaringType!.Name}.{field.Name}";

    // All that an object holds. What is in no order is put into one.
    private static string State(object? value, int depth) => value switch
    {
        null => "none",
        string text => text,
        Enum or ValueType when value is Enum || value.GetType().IsPrimitive => value.ToString()!,
        _ when depth == 0 => throw new InvalidOperationException($"{value.GetType()} lies too deep"),
        IEnumerable many => "[" + string.Join(' ', Ordered(many, many.Cast<object?>().Select(one => State(one, depth - 1)))) + "]",
        _ => "{" + string.Join(' ', Fields(value).Where(static field => !s_beside.Contains(Name(field)))
            .Select(field => $"{field.Name}={State(field.GetValue(value), depth - 1)}")) + "}",
    };

    private static IEnumerable<string> Ordered(IEnumerable many, IEnumerable<string> states) =>
        many is HashSet<byte[]> or IDictionary ? states.Order(StringComparer.Ordinal) : states;
}

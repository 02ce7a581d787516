using Garnet.Server.Rights;

namespace Garnet.Server.Test.Rights;

/// <summary>Rules by themselves: what they allow, and how they are told.</summary>
internal sealed class RuleTests
{
    private const int Get = 1, Set = 2, Config = 3, ConfigGet = 4, ConfigSet = 5, Select = 6;

    private static readonly RuleCommands Commands = new(
    [
        new RuleCommand(Get, "get", CommandCategories.Read | CommandCategories.String, 0),
        new RuleCommand(Set, "set", CommandCategories.Write | CommandCategories.String, 0),
        new RuleCommand(Config, "config", CommandCategories.Slow, 0),
        new RuleCommand(ConfigGet, "config|get", CommandCategories.Admin, Config),
        new RuleCommand(ConfigSet, "config|set", CommandCategories.Admin, Config),
        new RuleCommand(Select, "select", CommandCategories.Connection, 0),
    ]);

    [TestCase("", "-@all")]
    [TestCase("+get", "-@all +get")]
    [TestCase("+get +set -get", "-@all +set")]
    [TestCase("+@all -set", "+@all -set")]
    [TestCase("+@all -set +set", "+@all")]
    [TestCase("+@string -set +@string", "-@all +@string")]
    [TestCase("+@string -set", "-@all +@string -set")]
    [TestCase("+config|get", "-@all +config|get")]
    [TestCase("+config|get +config", "-@all +config")]
    [TestCase("+config -config|set", "-@all +config -config|set")]
    [TestCase("+CONFIG|Get", "-@all +config|get")]
    [TestCase("+select|1 +select|2 +select|1", "-@all +select|1 +select|2")]
    [TestCase("+select|1 +select", "-@all +select")]
    [TestCase("+select|1 -select", "-@all")]
    [TestCase("+@all +get|x", "+@all")]
    [TestCase("+@all -get +get|X", "+@all -get +get|x")]
    [TestCase("+@read +@all", "+@all")]
    [TestCase("+@all nocommands +get", "-@all +get")]
    public void Rules_about_commands_are_told_in_their_order_without_those_that_are_void(string rules, string told) =>
        Assert.That(Of(rules).Selectors[0].Told[0].Text, Is.EqualTo(told));

    [TestCase("+get", Get, "", true)]
    [TestCase("+get", Set, "", false)]
    [TestCase("+@write", Set, "", true)]
    [TestCase("+@all -@write", Set, "", false)]
    [TestCase("+@all -@write", Get, "", true)]
    [TestCase("+config", ConfigSet, "", true)]
    [TestCase("+config -config|set", ConfigSet, "", false)]
    [TestCase("+config|get", ConfigGet, "", true)]
    [TestCase("+config|get", ConfigSet, "", false)]
    [TestCase("+@slow", ConfigSet, "", true)] // a category that a command is in takes its subcommands along
    [TestCase("+select|1", Select, "1", true)]
    [TestCase("+select|1", Select, "2", false)]
    [TestCase("+select|1", Select, "", false)]
    [TestCase("+select|AbC", Select, "aBc", true)]
    [TestCase("+select|1 -@connection", Select, "1", false)]
    public void Commands_are_allowed_by_the_last_rule_that_names_them(string rules, int command, string argument, bool allowed) =>
        Assert.That(Of(rules).AllowsCommand(command, RuleText.Bytes(argument)), Is.EqualTo(allowed));

    [TestCase("~a*", "ab", KeyAccess.Both, true)]
    [TestCase("%R~a*", "ab", KeyAccess.Read, true)]
    [TestCase("%R~a*", "ab", KeyAccess.Write, false)]
    [TestCase("%R~a*", "ab", KeyAccess.None, true)]
    [TestCase("%R~a* %W~*b", "ab", KeyAccess.Both, false)] // one pattern must allow all of it
    [TestCase("%R~a %W~a", "a", KeyAccess.Both, true)] // the same pattern is one
    [TestCase("~*", "anything", KeyAccess.Both, true)]
    [TestCase("", "a", KeyAccess.None, false)]
    [TestCase("~a resetkeys ~b", "a", KeyAccess.Read, false)]
    public void Keys_are_allowed_by_a_pattern_for_their_use(string rules, string key, KeyAccess access, bool allowed) =>
        Assert.That(Of(rules).Selectors[0].AllowsKey(RuleText.Bytes(key), access), Is.EqualTo(allowed));

    /// <summary>What ACL SAVE writes and ACL LOAD reads: an access that is told as another gives rights away, or takes them.</summary>
    [Test]
    public void Every_access_to_keys_is_read_back_as_what_it_was()
    {
        KeyAccess[] all = [.. Enum.GetValues<KeyAccess>().Where(static access => access != KeyAccess.None)];
        Assert.That(all.Select(KeyPattern.SignOf), Is.Unique.And.None.Null);
        foreach (KeyAccess access in all)
        {
            Selector selector = Of(new KeyPattern("a*", access).ToString()).Selectors[0];
            Assert.That(all.Where(other => selector.AllowsKey("ab"u8, other)), Is.EquivalentTo(all.Where(other => (other & access) == other)), $"{access}");
        }
    }

    [TestCase("&a*", "ab", false, true)]
    [TestCase("&a*", "a*", true, true)]
    [TestCase("&a*", "ab*", true, false)]
    [TestCase("&*", "ab*", true, true)]
    [TestCase("", "a", false, false)]
    public void Channels_match_and_patterns_to_subscribe_to_are_named(string rules, string name, bool isPattern, bool allowed) =>
        Assert.That(Of(rules).AllowsChannel(RuleText.Bytes(name), isPattern), Is.EqualTo(allowed));

    [TestCase("", "alldbs", true, true)]
    [TestCase("db=1", "db=1", false, true)]
    [TestCase("db=3,1,1", "db=1,3", false, true)]
    [TestCase("db=2 db=1", "db=1", false, true)]
    [TestCase("resetdbs", "resetdbs", false, false)]
    [TestCase("db=1 ALLDBS", "alldbs", true, true)]
    [TestCase("db=1 reset", "alldbs", true, true)]
    public void Databases_are_those_of_the_last_rule(string rules, string told, bool zero, bool one)
    {
        Selector selector = Of(rules).Selectors[0];
        string text = selector.Told.SingleOrDefault(static part => part.Name == "databases")?.Text ?? "alldbs";
        Assert.That((text, selector.AllowsDatabase(0), selector.AllowsDatabase(1)), Is.EqualTo((told, zero, one)));
    }

    [TestCase("db=", RuleError.Syntax)]
    [TestCase("db=1,", RuleError.Syntax)]
    [TestCase("db=-1", RuleError.Syntax)]
    [TestCase("db=x", RuleError.Syntax)]
    [TestCase("db=16", RuleError.NoSuchDatabase)]
    [TestCase("db=99999999999", RuleError.Syntax)]
    [TestCase("(db=1", RuleError.Syntax)]
    [TestCase("~", RuleError.None)]
    [TestCase("%", RuleError.Syntax)]
    [TestCase("\0", RuleError.Syntax)]
    [TestCase("on ", RuleError.Syntax)]
    [TestCase("((+get))", RuleError.Syntax)]
    [TestCase("(nopass)", RuleError.Syntax)]
    [TestCase("+select|a b", RuleError.Syntax)]
    [TestCase("+select|a\nuser evil on nopass", RuleError.Syntax)]
    [TestCase("(+select|x) +set)", RuleError.Syntax)]
    [TestCase("(~x) +get)", RuleError.Syntax)]
    [TestCase("((~x +get)", RuleError.Syntax)]
    public void What_is_no_rule_is_told_so(string rule, RuleError error) => Assert.That(new UserRights(Terms()).Apply(rule), Is.EqualTo(error));

    [Test]
    public void A_user_is_told_as_rules_that_make_the_same_user()
    {
        const string Rules = "on >secret ~a* %R~b &c db=1,2 +@read -get +select|3 (~x resetchannels resetdbs +set) (+get)";
        UserRights rights = Of(Rules);
        string told = rights.ToString();
        Assert.That(told, Does.Not.Contain("secret"));
        Assert.That(RuleWords.TryJoin(told.Split(' '), out List<string> again, out _));
        var same = new UserRights(Terms());
        foreach (string rule in again) Assert.That(same.Apply(rule), Is.EqualTo(RuleError.None), rule);
        Assert.That(same.ToString(), Is.EqualTo(told));
    }

    [Test]
    public void Whoever_may_do_everything_by_one_selector_has_nothing_to_be_asked()
    {
        Assert.That(Of("+@all ~* &*").AllowsEverything);
        Assert.That(Of("+@all ~* &* db=0").AllowsEverything, Is.False);
        Assert.That(Of("+@all ~* &* -get").AllowsEverything, Is.False);
        Assert.That(Of("+@all ~* (~* &*) &a").AllowsEverything, Is.False, "no selector allows all of it");
        Assert.That(Of("(+@all ~* &*)").AllowsEverything);
    }

    [Test]
    public void A_copy_is_changed_without_the_one_it_is_of()
    {
        UserRights rights = Of("+get ~a &c db=1 +select|1 >x");
        string told = rights.ToString();
        var copy = new UserRights(rights);
        foreach (string rule in "+set ~b &d db=2 +select|2 >y (+get) on".Split(' ')) copy.Apply(rule);
        Assert.That(rights.ToString(), Is.EqualTo(told));
        Assert.That(copy.ToString(), Is.Not.EqualTo(told));
    }

    [Test]
    public void Every_byte_of_names_and_patterns_is_kept()
    {
        string odd = string.Concat(Enumerable.Range(1, 255).Select(static at => (char)at).Where(static at => !char.IsWhiteSpace(at) && at != '\u0085' && at != '\u00a0'));
        UserRights rights = Of("");
        Assert.That(rights.Apply("~" + odd), Is.EqualTo(RuleError.None));
        Assert.That(rights.Selectors[0].Told[1].Text, Is.EqualTo("~" + odd));
        Assert.That(RuleText.Of(RuleText.Bytes(odd)), Is.EqualTo(odd));
    }

    [Test]
    public void Random_rules_are_applied_or_refused_and_what_is_told_can_be_read()
    {
        const int Seed = 20_261_125, Rounds = 20_000;
        var random = new Random(Seed);
        const string Letters = "+-@~%&<>#!()|=*? RWrw,01allgetsetconfigdbon";
        var rights = new UserRights(Terms());
        for (int i = 0; i < Rounds; i++)
        {
            string rule = string.Concat(Enumerable.Range(0, random.Next(12)).Select(_ => Letters[random.Next(Letters.Length)]));
            rights.Apply(rule);
            if (i % 100 != 0) continue;
            Assert.That(RuleWords.TryJoin(rights.ToString().Split(' '), out List<string> told, out string unclosed), unclosed);
            var again = new UserRights(Terms());
            foreach (string one in told) Assert.That(again.Apply(one), Is.EqualTo(RuleError.None), $"{one} of {rights}");
            Assert.That(again.ToString(), Is.EqualTo(rights.ToString()));
            rights = new UserRights(Terms());
        }
    }

    private static RuleTerms Terms() => new(Commands, 16, static () => false);

    private static UserRights Of(string rules)
    {
        Assert.That(RuleWords.TryJoin(rules.Split(' ', StringSplitOptions.RemoveEmptyEntries), out List<string> joined, out _));
        var rights = new UserRights(Terms());
        foreach (string rule in joined) Assert.That(rights.Apply(rule), Is.EqualTo(RuleError.None), rule);
        return rights;
    }
}

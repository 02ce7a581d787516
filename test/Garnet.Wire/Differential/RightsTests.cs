using NUnit.Framework;

namespace Garnet.Wire.Differential;

/// <summary>
/// Random rules for users, and random commands, to both servers: what a user may is the same, and so is what is told of him. The rules about commands are listed in the order
/// in which they were given here, in one of its own there (differences.md): of those it is looked at what they mean.
/// </summary>
[TestFixture]
internal sealed class RightsTests
{
    private const int Seed = 20_261_125, Rounds = 400, RulesMax = 6, TriesPerRound = 12;

    private RespConnection _ours = null!, _redis = null!;
    private Random _random = null!;
    private List<(string[] Name, int Arity)> _commands = null!;

    [SetUp]
    public void SetUp()
    {
        (_ours, _redis, _random) = (new RespConnection(Servers.Ours.Address), new RespConnection(Servers.Redis.Address), new Random(Seed));
        Both("ACL", "DELUSER", "one", "two", "copy");
        // DEBUG has subcommands of its own here, and no categories: each of them has; WAIT counts as blocking, as in later versions.
        _commands = [.. Names().Where(static name => !name.StartsWith("debug", StringComparison.Ordinal) && name != "wait").Select(name => (name.Split('|'), ArityOf(name)))];
    }

    [TearDown]
    public void TearDown()
    {
        Both("ACL", "DELUSER", "one", "two", "copy");
        _ours.Dispose();
        _redis.Dispose();
    }

    [Test]
    public void Random_rules_allow_the_same_and_are_told_the_same()
    {
        int allowed = 0, refused = 0;
        for (int round = 0; round < Rounds; round++)
        {
            string user = _random.Next(2) == 0 ? "one" : "two";
            string[] command = ["ACL", "SETUSER", user, .. Enumerable.Range(0, _random.Next(RulesMax + 1)).Select(_ => Rule())];
            AssertSame(command);
            AssertSameUser(user, string.Join(' ', command));
            for (int i = 0; i < TriesPerRound; i++)
            {
                bool may = AssertSame(["ACL", "DRYRUN", user, .. Command()]).StartsWith("+OK", StringComparison.Ordinal);
                (allowed, refused) = may ? (allowed + 1, refused) : (allowed, refused + 1);
            }
        }
        Assert.That(allowed, Is.GreaterThan(Rounds), "both happen");
        Assert.That(refused, Is.GreaterThan(Rounds), "both happen");
    }

    [Test]
    public void What_one_lists_means_the_same_to_the_other()
    {
        for (int round = 0; round < Rounds / 4; round++)
        {
            string[] rules = ["reset", .. Enumerable.Range(0, RulesMax).Select(_ => Rule())];
            if (AssertSame(["ACL", "SETUSER", "one", .. rules]) != "+OK") continue;
            string[] listed = LineOf(_ours, "one"), theirs = LineOf(_redis, "one");
            Assert.That(_redis.Call(["ACL", "SETUSER", "copy", "reset", .. listed]).ToString(), Is.EqualTo("+OK"), string.Join(' ', listed));
            Assert.That(_ours.Call(["ACL", "SETUSER", "copy", "reset", .. theirs]).ToString(), Is.EqualTo("+OK"), string.Join(' ', theirs));
            for (int i = 0; i < TriesPerRound; i++)
            {
                string[] command = Command();
                string wanted = _redis.Call(["ACL", "DRYRUN", "one", .. command]).ToString();
                string said = $"{string.Join(' ', command)} after {string.Join(' ', rules)}";
                Assert.That(_redis.Call(["ACL", "DRYRUN", "copy", .. command]).ToString(), Is.EqualTo(wanted), said);
                Assert.That(_ours.Call(["ACL", "DRYRUN", "copy", .. command]).ToString(), Is.EqualTo(wanted), said);
            }
        }
    }

    private static string[] LineOf(RespConnection of, string user) =>
        of.Call("ACL", "LIST").Items!.Select(static line => line.Text.Split(' ')).Single(words => words[1] == user)[2..];

    private string AssertSame(string[] command)
    {
        string wanted = _redis.Call(command).ToString();
        Assert.That(_ours.Call(command).ToString(), Is.EqualTo(wanted), string.Join(' ', command));
        return wanted;
    }

    // All parts but the commands.
    private void AssertSameUser(string user, string after)
    {
        string wanted = Told(_redis.Call("ACL", "GETUSER", user)), got = Told(_ours.Call("ACL", "GETUSER", user));
        Assert.That(got, Is.EqualTo(wanted), after);
    }

    private static string Told(RespNode user)
    {
        if (user.Items is not { } parts) return user.ToString();
        List<string> told = [];
        for (int i = 0; i + 1 < parts.Count; i += 2)
        {
            string name = parts[i].Text;
            if (name == "selectors") told.AddRange(parts[i + 1].Items!.Select(Told));
            else if (name != "commands") told.Add($"{name} {parts[i + 1]}");
        }
        return string.Join('\n', told);
    }

    private string Rule() => _random.Next(100) switch
    {
        < 12 => Sign() + "@" + One("all", "read", "write", "keyspace", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "nosuch"),
        < 34 => Sign() + string.Join('|', Any().Name),
        < 38 => "+" + One("select|1", "get|a", "SELECT|2", "ping|x", "config|nosuch", "config|get|x", "nosuch|x", "get|"),
        < 55 => One("~", "%R~", "%W~", "%RW~", "%r~", "%X~", "%~", "%RR~") + Pattern(),
        < 64 => "&" + Pattern(),
        < 68 => One("allkeys", "resetkeys", "allchannels", "resetchannels", "ALLKEYS", "~*", "&*"),
        < 72 => One("allcommands", "nocommands", "-@all", "+@all"),
        < 80 => One(">", "<") + One("a", "b", "c", ""),
        < 84 => One("#", "!") + One("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", "CA978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", "ca97"),
        < 90 => One("on", "off", "nopass", "resetpass", "sanitize-payload", "skip-sanitize-payload", "clearselectors", "reset", ""),
        < 97 => "(" + string.Join(' ', Enumerable.Range(0, _random.Next(4)).Select(_ => Inner())) + ")",
        _ => One("bogus", "(", ")", "%", "+", "-", "@", "( on )", "+@"),
    };

    private string Inner()
    {
        while (true)
        {
            string rule = Rule();
            if (!rule.Contains('(') && !rule.Contains(')')) return rule;
        }
    }

    private string[] Command()
    {
        (string[] name, int arity) = Any();
        int least = Math.Abs(arity) - name.Length;
        int count = arity > 0 ? least : least + _random.Next(4);
        if (_random.Next(30) == 0) count = _random.Next(6);
        return [.. name, .. Enumerable.Range(0, Math.Max(count, 0)).Select(_ => Argument())];
    }

    private (string[] Name, int Arity) Any() => _random.Next(3) == 0
        ? _commands.Find(command => command.Name[0] == One("get", "set", "publish", "subscribe", "psubscribe", "select", "mget", "copy", "bitfield", "eval", "sort"))
            is { Name: not null } found ? found : _commands[_random.Next(_commands.Count)]
        : _commands[_random.Next(_commands.Count)];

    private string Argument() => One("a", "b", "ab", "abc", "x", "1", "2", "0", "STORE", "GET", "STREAMS", "KEYS", "");

    private string Pattern() => One("a", "a*", "*b", "?", "[ab]*", "x", "**", "\\a", "b");

    private string Sign() => _random.Next(3) == 0 ? "-" : "+";

    private string One(params string[] of) => of[_random.Next(of.Length)];

    private void Both(params string[] command)
    {
        _ours.Call(command);
        _redis.Call(command);
    }

    // Those that both have.
    private List<string> Names()
    {
        HashSet<string> ours = Flat(_ours);
        return [.. Flat(_redis).Where(ours.Contains).Order(StringComparer.Ordinal)];
    }

    private static HashSet<string> Flat(RespConnection of)
    {
        HashSet<string> names = [.. of.Call("COMMAND", "LIST").Items!.Select(static name => name.Text)];
        foreach (string name in names.ToList())
            names.UnionWith(of.Call("COMMAND", "LIST", "FILTERBY", "PATTERN", name + "|*").Items!.Select(static child => child.Text));
        return names;
    }

    private int ArityOf(string name)
    {
        RespNode info = _redis.Call("COMMAND", "INFO", name).Items![0];
        return int.Parse(info.Items![1].Text, System.Globalization.CultureInfo.InvariantCulture);
    }
}

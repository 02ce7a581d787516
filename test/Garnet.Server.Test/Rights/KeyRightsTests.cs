using System.Globalization;
using System.Text.RegularExpressions;
using Garnet.Server.Commands;

namespace Garnet.Server.Test.Rights;

/// <summary>
/// Every command whose syntax names keys or channels asks about each of them: the syntax, which people write for people, is held against what the rules about
/// keys and channels were told of the command. A place that these were not told of would be open to everybody.
/// </summary>
public sealed partial class KeyRightsTests
{
    private const string Allowed = "allowed:a", AllowedPattern = "allowed:*", Forbidden = "secret";
    private const int OptionalMax = 12, Repeated = -2; // optional parts of one command; each is tried by itself

    // Words of a syntax that stand for a key, or for a channel.
    private static readonly HashSet<string> Keys =
        ["key", "key1", "key2", "newkey", "source", "destination", "dst", "src", "destkey", "sourcekey"];

    private static readonly HashSet<string> Channels = ["channel", "shardchannel"];

    // Words that stand for something else. A word that is in none of the three is a question: may it be the name of a key?
    private static readonly HashSet<string> Values =
    [
        "value", "digest", "k", "ratio", "slot", "seconds", "milliseconds", "unix-time-seconds", "unix-time-milliseconds", "offset", "start", "end", "min-match-len",
        "numkeys", "etag", "provider", ",provider", "address", "region", "base", "length", "host", "version", "crc32c", "parts", "capacity", "from",
        "token", "at", "part", "increment", "decrement", "lowerbound", "upperbound", "bit", "encoding", "element", "subcommand", "field", "count",
        "cursor", "pattern", "numfields", "member", "limit", "index", "stop", "pivot", "rank", "num-matches", "len", "timeout", "score", "min", "max",
        "weight", "nummembers", "longitude", "latitude", "member1", "member2", "radius", "width", "height", "num-vertices", "producer-id",
        "idempotent-id", "threshold", "id", "numids", "group", "last-id", "entries-added", "max-deleted-id", "entries-read", "consumer",
        "min-idle-time", "ms", "destination-db", "db", "ttl", "serialized-value", "frequency", "port", "password", "username", "type", "index1",
        "index2", "message", "protover", "clientname", "connection-name", "libname", "libver", "client-id", "ip:port", "capability", "prefix",
        "category", "command", "arg", "bits", "rule", "script", "sha1", "function", "function-code", "library-name", "library-name-pattern",
        "numlocal", "numreplicas", "run-id", "position", "earlier", "copy", "replicationid", "option", "parameter", "command-name", "module-name",
        "event", "string", "integer", "double", "bignum", "null", "array", "set", "map", "attrib", "push", "verbatim", "true", "false", "section",
    ];

    // Words of a syntax at which nobody is refused for want of a right to it, with the reason: the command, and the place of the word among those of its syntax.
    private static readonly Dictionary<string, string> Exceptions = new(StringComparer.Ordinal)
    {
        ["BULK.REG key 3"] = "what a device calls the client's memory, no key of ours",
        ["UNSUBSCRIBE channel 1"] = "it hears less", ["UNSUBSCRIBE channel 3"] = "it hears less",
        ["SUNSUBSCRIBE shardchannel 1"] = "it hears less", ["SUNSUBSCRIBE shardchannel 3"] = "it hears less",
        ["PUBSUB|NUMSUB channel 1"] = "as in Redis: how many, no message", ["PUBSUB|NUMSUB channel 3"] = "the same",
        ["PUBSUB|SHARDNUMSUB shardchannel 1"] = "the same", ["PUBSUB|SHARDNUMSUB shardchannel 3"] = "the same",
        ["DEBUG|OBJECT key 0"] = "off unless enable-debug-command allows it",
    };

    // Words that follow a second alternative, or that want another word to be empty.
    private static readonly Dictionary<string, string[]> ByHand = new(StringComparer.Ordinal)
    {
        ["GEORADIUS key 39"] = ["GEORADIUS", Allowed, "1", "1", "1", "M", "STOREDIST", Forbidden],
        ["GEORADIUSBYMEMBER key 38"] = ["GEORADIUSBYMEMBER", Allowed, "1", "1", "M", "STOREDIST", Forbidden],
        ["MIGRATE key 25"] = ["MIGRATE", "1", "1", "", "1", "1", "KEYS", Forbidden],
        ["MIGRATE key 27"] = ["MIGRATE", "1", "1", "", "1", "1", "KEYS", Allowed, Forbidden],
    };

    // What a command says that was put together wrongly, as not every optional part goes with every other: that shows nothing.
    private static readonly string[] Malformed =
        ["ERR wrong number of arguments", "ERR syntax error", "ERR Unbalanced", "ERR When using MIGRATE KEYS"];

    [Test]
    public void Whoever_has_no_right_to_a_key_or_channel_is_refused_wherever_a_command_names_it()
    {
        using var table = new CommandTable(CommandFamilies.Register);
        using var server = new EmbeddedServer();
        using (var admin = new TestClient(server.Server.Port))
            Assert.That(admin.Call("ACL", "SETUSER", "ann", "on", "nopass", "+@all", "~allowed:*", "&allowed:*"), Is.EqualTo("OK"));
        using var hand = new TestClient(server.Server.Port);
        hand.Call("AUTH", "ann", "any");
        HashSet<string> refused = [.. ByHand.Where(one => hand.Call(one.Value).Contains("NOPERM", StringComparison.Ordinal)).Select(static one => one.Key)];
        var open = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (CommandSpec spec in table.Specs)
        {
            foreach ((string place, string[] words) in Calls(spec))
            {
                open.TryAdd(place, "");
                using var client = new TestClient(server.Server.Port); // one may wait, or close
                client.Call("AUTH", "ann", "any");
                string reply = client.Call(words);
                if (reply.Contains("NOPERM", StringComparison.Ordinal))
                    refused.Add(place);
                else if (!Array.Exists(Malformed, start => reply.StartsWith(start, StringComparison.Ordinal)))
                    open[place] = $"{string.Join(' ', words)}: {reply}";
            }
        }

        string[] unasked = [.. open.Where(place => place.Value.Length > 0 || !refused.Contains(place.Key)).Select(static place => place.Key)];
        Assert.That(open, Has.Count.GreaterThan(200), "places");
        Assert.That(unasked, Is.EquivalentTo(Exceptions.Keys), string.Join('\n', unasked.Except(Exceptions.Keys).Select(place => $"{place}: {open[place]}")));
    }

    [Test]
    public void Every_word_of_a_syntax_is_known_to_be_a_key_or_none()
    {
        using var table = new CommandTable(CommandFamilies.Register);
        HashSet<string> words = [.. table.Specs.SelectMany(static spec => Words().Matches(spec.Syntax)).Select(static match => match.Value).Where(IsPlaceholder)];
        Assert.That(string.Join(' ', words.Except(Keys).Except(Channels).Except(Values)), Is.Empty, "put it where it belongs");
        Assert.That(string.Join(' ', Values.Except(words)), Is.Empty, "no syntax has it any more");
    }

    // One call for each word that stands for a key or channel: that one is forbidden, all others are allowed.
    private static IEnumerable<(string Place, string[] Words)> Calls(CommandSpec spec)
    {
        foreach (List<(string Word, int At)> form in Forms(spec.Syntax))
        {
            string keys = form.Count(static one => one.Word == "key").ToString(CultureInfo.InvariantCulture);
            for (int i = 0; i < form.Count; i++)
            {
                if (!IsNamed(form[i].Word) && !IsChannelPattern(spec, form[i].Word))
                    continue;
                string[] arguments = [.. form.Select((one, at) => at == i ? Forbidden : one.Word == "numkeys" ? keys
                    : IsChannelPattern(spec, one.Word) ? AllowedPattern : ValueOf(one.Word))];
                yield return ($"{spec.Name} {form[i].Word} {form[i].At}", [.. spec.Name.Split('|'), .. arguments]);
            }
        }
    }

    // What is not optional; that with each optional part by itself; and with all that may be repeated. Each form twice: | skips one word, or everything up to the end of the group.
    private static IEnumerable<List<(string Word, int At)>> Forms(string syntax)
    {
        string[] words = [.. Words().Matches(syntax).Select(static match => match.Value)];
        for (int chosen = Repeated; chosen < OptionalMax; chosen++)
        {
            foreach (bool skipsOne in (bool[])[false, true])
            {
                int at = 0, optional = 0;
                yield return Take(words, ref at, chosen, skipsOne, ref optional);
            }
        }
    }

    // Up to the end of the group.
    private static List<(string Word, int At)> Take(string[] words, ref int at, int chosen, bool skipsOne, ref int optional)
    {
        var taken = new List<(string Word, int At)>();
        bool isTaken = true;
        for (; at < words.Length && words[at] is not ("]" or ">"); at++)
        {
            string word = words[at];
            if (word == "|")
            {
                isTaken = false;
                continue;
            }

            if (word is "[" or "<")
            {
                at++;
                bool isRepeated = words.AsSpan(at, Array.IndexOf(words, "]", at) is var end and >= 0 ? end - at : 0).Contains("...");
                bool isChosen = word == "<" || optional++ == chosen || (chosen == Repeated && isRepeated);
                List<(string Word, int At)> inner = Take(words, ref at, chosen, skipsOne, ref optional);
                if (isTaken && isChosen)
                    taken.AddRange(inner);
            }
            else if (isTaken && word != "...")
            {
                taken.Add((word, at));
            }

            isTaken |= skipsOne;
        }

        return taken;
    }

    // The word stands for patterns of keys, and of other things, elsewhere.
    private static bool IsChannelPattern(CommandSpec spec, string word) => spec.Name == "PSUBSCRIBE" && word == "pattern";

    private static bool IsNamed(string word) => Keys.Contains(word) || Channels.Contains(word);

    private static bool IsPlaceholder(string word) => word.Any(char.IsAsciiLetterLower);

    private static string ValueOf(string word) =>
        IsNamed(word) ? Allowed
        : !IsPlaceholder(word) ? word
        : "1"; // a number, or whatever else: rights are asked about before a command reads the rest

    [GeneratedRegex(@"[\[\]<>]|[^\[\]<>\s]+")]
    private static partial Regex Words();
}

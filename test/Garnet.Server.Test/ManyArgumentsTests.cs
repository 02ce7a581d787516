using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Test;

/// <summary>No command takes time out of proportion to its arguments: while it holds locks, others wait.</summary>
[NonParallelizable] // the time of the processor that this process takes is judged
public sealed class ManyArgumentsTests
{
    private const int Arguments = 100_000, LongBytes = 1 << 20;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(4); // of the processor, whatever else runs; a square of the arguments takes some ten seconds or more
    // What ends the server or the connection, or leaves it without replies, is not asked. REPL and PSYNC turn the connection into a link.
    private static readonly string[] Spared = ["SHUTDOWN", "DEBUG", "CLIENT|REPLY", "MONITOR", "REPL|", "SYNC", "PSYNC", "REPLICAOF", "SLAVEOF", "FAILOVER"];

    private static readonly string[] s_operands = ["1", "*[x]1", ""];

    // What needs more than a key and numbers: the words before the many arguments (# = how many), and those behind.
    private static readonly Dictionary<string, (string Before, string Behind)> Shapes = new()
    {
        ["BLPOP"] = ("", "0.01"), ["BRPOP"] = ("", "0.01"), ["BZPOPMIN"] = ("", "0.01"), ["BZPOPMAX"] = ("", "0.01"),
        ["LMPOP"] = ("#", "LEFT"), ["ZMPOP"] = ("#", "MIN"), ["BLMPOP"] = ("0.01 #", "LEFT"), ["BZMPOP"] = ("0.01 #", "MIN"),
        ["SINTERCARD"] = ("#", ""), ["ZINTERCARD"] = ("#", ""), ["ZUNION"] = ("#", ""), ["ZINTER"] = ("#", ""), ["ZDIFF"] = ("#", ""),
        ["ZUNIONSTORE"] = ("to #", ""), ["ZINTERSTORE"] = ("to #", ""), ["ZDIFFSTORE"] = ("to #", ""),
        ["BITOP"] = ("OR to", ""), ["XADD"] = ("x *", ""), ["XACK"] = ("x g", ""), ["XCLAIM"] = ("x g c 0", ""), ["XDEL"] = ("x", ""),
        ["HEXPIRE"] = ("h 100 FIELDS #", ""), ["HPERSIST"] = ("h FIELDS #", ""), ["HTTL"] = ("h FIELDS #", ""), ["HGETDEL"] = ("h FIELDS #", ""),
        ["HSETEX"] = ("h FIELDS #/2", ""), ["HGETEX"] = ("h FIELDS #", ""), ["MSETEX"] = ("#/2", ""), ["GEOADD"] = ("geo", ""),
        ["BITFIELD"] = ("b", ""), ["SORT"] = ("s", ""), ["PFMERGE"] = ("to", ""),
        ["CLIENT|TRACKING"] = ("ON BCAST", ""), ["CLIENT|KILL"] = ("SKIPME YES", ""), ["CLIENT|LIST"] = ("ID", ""), ["CLIENT|PAUSE"] = ("1", ""),
        ["EVAL"] = ("return{} #", ""), ["EVAL_RO"] = ("return{} #", ""), ["EVALSHA"] = ("x #", ""), ["EVALSHA_RO"] = ("x #", ""), ["FCALL"] = ("f #", ""), ["FCALL_RO"] = ("f #", ""),
    };

    [Test]
    public void A_hundred_thousand_arguments_take_no_square_of_their_number([Values] bool theSame)
    {
        using var server = new EmbeddedServer();
        var slow = new List<string>();
        foreach (CommandSpec spec in LongRun.PartOf(Asked(server), every: 2, first: theSame ? 1 : 0)) // a short run asks each one way or the other
        {
            if ((spec.Flags & CommandFlags.Blocking) != 0)
                server.Send("FLUSHALL\r\n", "+OK\r\n"); // it is to wait
            (string before, string behind) = Shapes.GetValueOrDefault(spec.Name, ("", (spec.Flags & CommandFlags.Blocking) != 0 ? "0.01" : ""));
            Judge(server, [.. spec.Name.Split('|'), .. Request(before, behind, i => theSame ? "1" : Text(i))], slow);
        }

        Judge(server, ["CONFIG", "GET", .. Many(Arguments, i => "*" + (theSame ? "" : Text(i)))], slow);
        Judge(server, ["CLIENT", "KILL", .. Enumerable.Range(1, Arguments).SelectMany(static i => new[] { "ID", (((long)i << 32) | (uint)i).ToString(CultureInfo.InvariantCulture) })], slow); // of one hash code
        foreach (string read in new[] { "XREAD STREAMS", "XREAD BLOCK 1 STREAMS" })
            Judge(server, [.. read.Split(' '), .. Many(Arguments / 2, i => "k" + (theSame ? "" : Text(i))), .. Many(Arguments / 2, static _ => "0")], slow);
        Assert.That(slow, Is.Empty);
    }

    // The words of a command's syntax, each again and again with what stands behind it: what is given twice is looked for among what was given.
    [Test]
    public void A_word_that_is_said_a_hundred_thousand_times_takes_no_square_of_that([ValueSource(nameof(s_operands))] string operand)
    {
        using var server = new EmbeddedServer();
        var slow = new List<string>();
        var all = Asked(server).SelectMany(static spec => Words(spec.Syntax).Select(words => (spec, words)));
        foreach ((CommandSpec spec, string[] words) in LongRun.PartOf(all, 2 * s_operands.Length, first: 2 * Array.IndexOf(s_operands, operand))) // a short run says every second one, with one operand
        {
            string before = Shapes.TryGetValue(spec.Name, out (string Before, string Behind) shape) ? shape.Before.Replace("#", "1", StringComparison.Ordinal) : string.Join(' ', Required(spec.Syntax));
            Judge(server, [.. spec.Name.Split('|'), .. Request(before, "", i => i % words.Length == 0 ? words[0] : operand.Length > 0 ? operand : Text(Arguments + i))], slow);
        }

        Assert.That(slow, Is.Empty);
    }

    [TestCase("KEYS")]
    [TestCase("SCAN 0 COUNT 10000 MATCH")]
    [TestCase("SSCAN members 0 COUNT 10000 MATCH")]
    [TestCase("CONFIG GET")]
    [TestCase("COMMAND LIST FILTERBY PATTERN")]
    [TestCase("PUBSUB CHANNELS")]
    public void A_long_pattern_is_read_once_and_not_for_every_name(string command)
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        string[] names = [.. Enumerable.Range(0, 2_000).Select(static i => Text(i))];
        client.Call(["MSET", .. names.SelectMany(static name => new[] { name, "" })]);
        client.Call(["SADD", "members", .. names]);
        using var subscriber = new TestClient(server.Server.Port);
        subscriber.Pipeline(1, [.. names.Select(static name => new[] { "SUBSCRIBE", name })]);
        using var asker = new TestClient(server.Server.Port);
        var slow = new List<string>();
        foreach (string pattern in new[] { $"[{new string('a', LongBytes)}]*", $"{new string('*', LongBytes)}[z]", $"*[{new string('a', LongBytes)}]*[{new string('b', LongBytes)}]z" })
            Judge(asker, [.. command.Split(' '), pattern], slow, Limit / 8);
        Assert.That(slow, Is.Empty);
    }

    [Test]
    public void A_long_pattern_that_is_kept_costs_those_who_publish_nothing()
    {
        using var server = new EmbeddedServer();
        using TestClient subscriber = new(server.Server.Port), publisher = new(server.Server.Port);
        subscriber.Call("PSUBSCRIBE", $"[{new string('a', LongBytes)}]*");
        TimeSpan began = Environment.CpuUsage.TotalTime;
        publisher.Pipeline(2_000, ["PUBLISH", "b", "x"]);
        Assert.That(Environment.CpuUsage.TotalTime - began, Is.LessThan(Limit / 4));
    }

    private static IEnumerable<CommandSpec> Asked(EmbeddedServer server) => server.Server.Commands.Specs.Where(static spec => spec.Arity < 0
        && !Array.Exists(Spared, spared => spec.Name == spared || (spared.EndsWith('|') && spec.Name.StartsWith(spared, StringComparison.Ordinal)) || spec.Name.StartsWith(spared + "|", StringComparison.Ordinal)));

    // Each word in capitals, with the operands behind it.
    private static IEnumerable<string[]> Words(string syntax)
    {
        string[] parts = syntax.Split([' ', '[', ']', '<', '>', '|'], StringSplitOptions.RemoveEmptyEntries);
        for (int i = 0; i < parts.Length; i++)
        {
            int end = i + 1;
            while (end < parts.Length && !IsWord(parts[end]) && parts[end] != "...") end++;
            if (IsWord(parts[i])) yield return parts[i..Math.Min(end, i + 3)];
        }
    }

    // What stands before the first choice.
    private static IEnumerable<string> Required(string syntax) =>
        syntax.Split(' ', StringSplitOptions.RemoveEmptyEntries).TakeWhile(static part => part[0] is not ('[' or '<')).Select(static part => IsWord(part) ? part : "1");

    private static bool IsWord(string part) => part.All(static c => c is >= 'A' and <= 'Z' or '-');

    private static void Judge(EmbeddedServer server, string[] request, List<string> slow)
    {
        using var client = new TestClient(server.Server.Port);
        Judge(client, request, slow, Limit);
    }

    private static void Judge(TestClient client, string[] request, List<string> slow, TimeSpan limit)
    {
        TimeSpan began = Environment.CpuUsage.TotalTime;
        try
        {
            client.Call(request);
        }
        catch (IOException)
        {
            slow.Add($"{Begin(request)} was not answered");
        }

        TimeSpan took = Environment.CpuUsage.TotalTime - began;
        if (took > limit)
            slow.Add($"{Begin(request)} took {took}");
        if (took > limit / 4)
            TestContext.Out.WriteLine($"{Begin(request)} took {took}");
    }

    private static string Begin(string[] request) => string.Join(' ', request.Take(5).Select(static word => word.Length > 20 ? word[..20] : word));

    private static string[] Request(string before, string behind, Func<int, string> argument)
    {
        string[] first = [.. before.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(static word => word == "#" ? Text(Arguments) : word == "#/2" ? Text(Arguments / 2) : word)];
        return [.. first, .. Many(Arguments, argument), .. behind.Split(' ', StringSplitOptions.RemoveEmptyEntries)];
    }

    private static IEnumerable<string> Many(int count, Func<int, string> argument) => Enumerable.Range(0, count).Select(argument);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

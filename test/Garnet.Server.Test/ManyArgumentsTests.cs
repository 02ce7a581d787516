using System.Diagnostics;
using System.Globalization;
using Garnet.Server.Commands;

namespace Garnet.Server.Test;

/// <summary>No command takes time out of proportion to its arguments: while it holds locks, others wait.</summary>
public sealed class ManyArgumentsTests
{
    private const int Arguments = 100_000;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(4); // a square of the arguments takes some ten seconds or more
    private static readonly string[] Groups = ["string", "list", "set", "sorted-set", "hash", "generic", "hyperloglog", "bitmap", "geo", "stream", "transactions", "pubsub"];

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
    };

    [Test]
    public void A_hundred_thousand_arguments_take_no_square_of_their_number([Values] bool theSame)
    {
        using var server = new EmbeddedServer();
        var slow = new List<string>();
        foreach (CommandSpec spec in server.Server.Commands.Specs.Where(static spec => spec.Arity < 0 && Groups.Contains(spec.Group)))
        {
            if ((spec.Flags & CommandFlags.Blocking) != 0)
                server.Send("FLUSHALL\r\n", "+OK\r\n"); // it is to wait
            (string before, string behind) = Shapes.GetValueOrDefault(spec.Name, ("", (spec.Flags & CommandFlags.Blocking) != 0 ? "0.01" : ""));
            Judge(server, [.. spec.Name.Split('|'), .. Request(before, behind, i => theSame ? "1" : Text(i))], slow);
        }

        foreach (string read in new[] { "XREAD STREAMS", "XREAD BLOCK 1 STREAMS" })
            Judge(server, [.. read.Split(' '), .. Many(Arguments / 2, i => "k" + (theSame ? "" : Text(i))), .. Many(Arguments / 2, static _ => "0")], slow);
        Assert.That(slow, Is.Empty);
    }

    private static void Judge(EmbeddedServer server, string[] request, List<string> slow)
    {
        using var client = new TestClient(server.Server.Port);
        long began = Stopwatch.GetTimestamp();
        try
        {
            client.Call(request);
        }
        catch (IOException)
        {
            slow.Add($"{request[0]} was not answered");
        }

        TimeSpan took = Stopwatch.GetElapsedTime(began);
        if (took > Limit)
            slow.Add($"{request[0]} took {took}");
        if (took > Limit / 4)
            TestContext.Out.WriteLine($"{string.Join(' ', request.Take(4))} took {took}");
    }

    private static string[] Request(string before, string behind, Func<int, string> argument)
    {
        string[] first = [.. before.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(static word => word == "#" ? Text(Arguments) : word == "#/2" ? Text(Arguments / 2) : word)];
        return [.. first, .. Many(Arguments, argument), .. behind.Split(' ', StringSplitOptions.RemoveEmptyEntries)];
    }

    private static IEnumerable<string> Many(int count, Func<int, string> argument) => Enumerable.Range(0, count).Select(argument);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

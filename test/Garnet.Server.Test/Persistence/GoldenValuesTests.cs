using System.Globalization;
using System.Text.RegularExpressions;
using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Recovery;
using Tsavorite;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// How values lie in a snapshot, and operations in the log, is read for ever: a data directory of each layout that there has been, with values of
/// every type, small and in chunks, and what they were byte by byte when that layout was written. Whoever changes a byte raises <see cref="ValueLayout.Current"/> and writes
/// the directory of that number (<see cref="Write_a_golden_directory"/>); an old one is never written again.
/// </summary>
public sealed partial class GoldenValuesTests
{
    private const int Latest = ValueLayout.Current, Many = 600, Entries = 250, StoresMax = 5;
    private const string FarAway = "4102444800000";

    private const string LayoutFile = "layout.txt", ContentFile = "content.txt";

    private static readonly string[] Prefixes = ["snapshot", "log"];

    [Test]
    public void A_directory_of_each_layout_holds_what_it_held([Range(1, Latest)] int layout)
    {
        DirectoryInfo copy = Directory.CreateTempSubdirectory("garnet-golden-");
        try
        {
            foreach (string file in Directory.GetFiles(Golden(layout)).Where(static file => !file.EndsWith(".txt", StringComparison.Ordinal)))
                File.Copy(file, Path.Combine(copy.FullName, Path.GetFileName(file)));
            using EmbeddedServer server = Start(copy.FullName);
            using var client = new TestClient(server.Server.Port);
            Eventually.Holds(() => client.Call("PING") == "PONG");
            Assert.That(Content(client), Is.EqualTo(File.ReadAllText(Path.Combine(Golden(layout), ContentFile))));
        }
        finally
        {
            copy.Delete(recursive: true);
        }
    }

    [Test]
    public void Values_and_operations_lie_as_the_layout_that_files_name_says()
    {
        string golden = File.ReadAllText(Path.Combine(Golden(Latest), LayoutFile)), today = "";
        // Free room in a page is not part of a layout: it is zeros in a fresh store, unless the cleaner was so fast that memory was used again. Then another store is looked at.
        for (int store = 0; store < StoresMax && today != golden; store++)
            today = LayoutText.OfToday(static client => Fill(client, Prefixes[0]));
        Assert.That(today, Is.EqualTo(golden), "a change of how values lie wants the next ValueLayout.Current, and its golden directory");
    }

    [Test, Explicit("writes a golden directory; for new layouts only")]
    public void Write_a_golden_directory()
    {
        string path = Directory.CreateDirectory(Golden(Latest)).FullName;
        using (EmbeddedServer server = Start(path))
        using (var client = new TestClient(server.Server.Port))
        {
            Eventually.Holds(() => client.Call("PING") == "PONG");
            Fill(client, Prefixes[0]);
            client.Call("FUNCTION", "LOAD", "#!lua name=golden\nredis.register_function('one', function() return 1 end)");
            client.Call("BGSAVE");
            Eventually.Holds(() => client.Call("INFO", "persistence") is var figures && figures.Contains("rdb_saves:1", StringComparison.Ordinal) && figures.Contains("rdb_bgsave_in_progress:0", StringComparison.Ordinal));
            Fill(client, Prefixes[1]);
            File.WriteAllText(Path.Combine(path, ContentFile), Content(client));
        }

        File.WriteAllText(Path.Combine(path, LayoutFile), LayoutText.OfToday(static client => Fill(client, Prefixes[0])));
        File.Delete(Path.Combine(path, DirectoryKey.FileName));
        Assert.That(Directory.GetFiles(path, "*.snap"), Is.Not.Empty);
    }

    private static EmbeddedServer Start(string path) =>
        new(directory: DataDirectory.OpenUnlocked(new FileDisk(path)), sync: AppendSync.No, adjust: static settings => (settings.Persistence.SegmentBytes, settings.Persistence.Sublogs) = (256 << 10, 1));

    private static string Golden(int layout) => Path.Combine(Repository.Root, "test", "golden", $"values-v{layout.ToString(CultureInfo.InvariantCulture)}");

    private static string[] Row(int count, string name) => [.. Enumerable.Range(0, count).Select(number => name + number.ToString(CultureInfo.InvariantCulture))];

    private static string[] Pairs(int count, string name, Func<int, string> value) => [.. Row(count, name).SelectMany((key, number) => new[] { key, value(number) })];

    private static void Fill(TestClient client, string p)
    {
        static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
        string[][] commands =
        [
            ["SET", p + ":text", "some text"], ["SET", p + ":number", "12345"], ["INCRBY", p + ":number", "5"], ["SET", p + ":expiring", "v", "PXAT", FarAway],
            ["SETRANGE", p + ":bits", "100", "x"], ["SETBIT", p + ":bits", "7", "1"], ["SET", p + ":long", new string('l', 20_000)],
            ["HSET", p + ":hash", "a", "1", "b", "2"], ["HPEXPIREAT", p + ":hash", FarAway, "FIELDS", "1", "a"],
            ["HSET", p + ":hash-many", .. Pairs(Many, "field-", static number => "value-" + Text(number))], ["HPEXPIREAT", p + ":hash-many", FarAway, "FIELDS", "1", "field-7"], ["HDEL", p + ":hash-many", "field-8"],
            ["RPUSH", p + ":list", "a", "b", "1"], ["RPUSH", p + ":list-many", .. Row(Many, "element-of-a-long-list-")], ["LPUSH", p + ":list-many", "first"], ["LSET", p + ":list-many", "300", "set"],
            ["SADD", p + ":integers", "1", "2", "70000", "-5"], ["SADD", p + ":set", "a", "b"], ["SADD", p + ":set-many", .. Row(Many, "member-")], ["SREM", p + ":set-many", "member-9"],
            ["ZADD", p + ":sorted", "1", "a", "2.5", "b", "-inf", "c"], ["ZADD", p + ":sorted-many", .. Enumerable.Range(0, Many).SelectMany(static number => new[] { Text(number * 7 % Many), "member-" + Text(number) })], ["ZINCRBY", p + ":sorted-many", "0.5", "member-3"],
            ["GEOADD", p + ":places", "13.361389", "38.115556", "Palermo", "15.087269", "37.502669", "Catania"],
            ["PFADD", p + ":sparse", .. Row(20, "e")], ["PFADD", p + ":dense", .. Row(5000, "e")],
            .. Enumerable.Range(1, Entries).Select(number => (string[])["XADD", p + ":stream", Text(number) + "-1", "name", "value-" + Text(number)]),
            ["XDEL", p + ":stream", "5-1", "6-1"], ["XTRIM", p + ":stream", "MINID", "=", "3"],
            ["XGROUP", "CREATE", p + ":stream", "group", "0"], ["XGROUP", "CREATECONSUMER", p + ":stream", "group", "idle"], ["XREADGROUP", "GROUP", "group", "first", "COUNT", "50", "STREAMS", p + ":stream", ">"],
            ["XACK", p + ":stream", "group", "7-1", "8-1"], ["XCLAIM", p + ":stream", "group", "second", "0", "9-1", "10-1"], ["XGROUP", "CREATE", p + ":stream", "late", "$"],
            ["SELECT", "3"], ["SET", p + ":elsewhere", "3"], ["SELECT", "0"],
        ];
        Assert.That(client.Pipeline(1, commands), Has.None.StartsWith("ERR").And.None.StartsWith("WRONG"));
    }

    private static string Content(TestClient client) => string.Concat(Prefixes.SelectMany(p => (string[])
    [
        $"GET {p}:text", $"GET {p}:number", $"GET {p}:expiring", $"PEXPIRETIME {p}:expiring", $"STRLEN {p}:bits", $"BITPOS {p}:bits 1", $"BITCOUNT {p}:bits", $"STRLEN {p}:long", $"GETRANGE {p}:long 19990 -1",
        $"HGETALL {p}:hash", $"HPEXPIRETIME {p}:hash FIELDS 2 a b", $"HLEN {p}:hash-many", $"HGETALL {p}:hash-many", $"HPEXPIRETIME {p}:hash-many FIELDS 2 field-7 field-9",
        $"LRANGE {p}:list 0 -1", $"LRANGE {p}:list-many 0 -1", $"SMEMBERS {p}:integers", $"SMEMBERS {p}:set", $"SMEMBERS {p}:set-many",
        $"ZRANGE {p}:sorted 0 -1 WITHSCORES", $"ZRANGE {p}:sorted-many 0 -1 WITHSCORES", $"ZRANK {p}:sorted-many member-3", $"GEOPOS {p}:places Palermo Catania", $"PFCOUNT {p}:sparse", $"PFCOUNT {p}:dense",
        $"XLEN {p}:stream", $"XRANGE {p}:stream - +", $"XINFO GROUPS {p}:stream", $"XPENDING {p}:stream group", $"XPENDING {p}:stream group - + 100", $"XPENDING {p}:stream late",
        "SELECT 3", $"GET {p}:elsewhere", "SELECT 0", "DBSIZE", "FUNCTION LIST",
    ]).Select(command => $"{command}\n{Shown(command, client.Call(command.Split(' ')))}\n"));

    // Hashes and sets have no order to rely on; how long something has been pending depends on when it is asked.
    private static string Shown(string command, string reply)
    {
        if (command.StartsWith("HGETALL", StringComparison.Ordinal) || command.StartsWith("SMEMBERS", StringComparison.Ordinal))
            return string.Join(' ', reply.Trim('[', ']').Split(' ').Chunk(command[0] == 'H' ? 2 : 1).Select(static words => string.Join('=', words)).Order(StringComparer.Ordinal));
        return command.EndsWith("- + 100", StringComparison.Ordinal) ? Idle().Replace(reply, "$1 idle $2") : reply;
    }

    [GeneratedRegex(@"(\d+-\d+ \w+) \d+ (\d+)")]
    private static partial Regex Idle();
}

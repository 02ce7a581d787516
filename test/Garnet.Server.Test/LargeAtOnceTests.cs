using System.Globalization;
using System.Text;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>A collection that one command makes is the one that many commands make, whatever its size and however often the command says the same.</summary>
public sealed class LargeAtOnceTests
{
    private static readonly string[] Commands = ["SADD", "HSET", "ZADD"];

    [Test]
    public void All_at_once_is_one_by_one([ValueSource(nameof(Commands))] string command, [Values(2, 70, 129, 600, 9_000)] int entries, [Values(1, 10, 100_000)] int repeats)
    {
        using var server = new EmbeddedServer();
        int distinct = Math.Max(entries / repeats, 1);
        string[] pairs = [.. Enumerable.Range(0, entries).Select(i => Pair(command, i, distinct))];
        var text = new StringBuilder();
        Append(text, [command, "whole", .. pairs.SelectMany(static pair => pair.Split(' '))]);
        foreach (string pair in pairs) Append(text, [command, "single", .. pair.Split(' ')]);
        server.Send(text + "PING\r\n", "+PONG\r\n");
        AssertSame(server);
        // Down to one entry and to none: chunks that were made for more than came are merged, and the record goes.
        foreach (string key in (string[])["whole", "single"])
        {
            text.Clear();
            for (int i = distinct; --i > 0;) Append(text, [Removal(command), key, Name(i)]);
            server.Send(text + "PING\r\n", "+PONG\r\n");
        }

        AssertSame(server);
        text.Clear();
        foreach (string key in (string[])["whole", "single"]) Append(text, [Removal(command), key, Name(0)]);
        server.Send(text + "PING\r\n", "+PONG\r\n");
        Assert.That(StoreContent.Of(server.Server.Store, server.Server.Store.Namespaces.Id(0)), Is.Empty);
    }

    /// <summary>Of the fields, those get in for which there is memory: in the reply, in the hash and in its number the same.</summary>
    [Test]
    public void Without_memory_for_all_there_is_nothing_half_done([ValueSource(nameof(Commands))] string command)
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = 4 << 20);
        var text = new StringBuilder();
        Append(text, [command, "whole", .. Enumerable.Range(0, 200_000).SelectMany(i => Pair(command, i, 200_000).Split(' '))]);
        Append(text, [command, "after", .. Pair(command, 1, 2).Split(' ')]);
        server.Send(text + "PING\r\n", "+PONG\r\n");
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
        // Reading everything counts the entries and checks both parts of a sorted set against each other.
        StoreContent.Of(server.Server.Store, server.Server.Store.Namespaces.Id(0));
        server.Send("FLUSHALL\r\nPING\r\n", "+PONG\r\n");
        server.Send(Inline([command, "whole", .. Pair(command, 1, 2).Split(' ')]), ":1\r\n");
    }

    /// <summary>Chunks are made for what they will hold: they take about what grown ones take, also where few large values share them.</summary>
    [TestCase(4, 300_000), TestCase(300, 5_000), TestCase(1_000, 100), TestCase(1_000, 40), TestCase(20_000, 10)]
    public void All_at_once_takes_no_more_memory(int entries, int valueBytes)
    {
        using var server = new EmbeddedServer();
        string value = new('v', valueBytes);
        var text = new StringBuilder();
        Append(text, ["HSET", "whole", .. Enumerable.Range(0, entries).SelectMany(i => (string[])[Name(i), value])]);
        for (int i = 0; i < entries; i++) Append(text, ["HSET", "single", Name(i), value]);
        server.Send(text + "PING\r\n", "+PONG\r\n");
        long whole = Usage(server, "whole"), single = Usage(server, "single");
        TestContext.Out.WriteLine($"{whole} and {single} bytes");
        Assert.That(whole, Is.LessThan(single * 1.1));
    }

    /// <summary>Chunks are made for every pair that is brought, and have room for those that count in the end.</summary>
    [Test]
    public void What_is_said_many_times_takes_no_memory([ValueSource(nameof(Commands))] string command)
    {
        const int Times = 20_000, BytesMax = 4096;
        using var server = new EmbeddedServer();
        var text = new StringBuilder();
        Append(text, [command, "whole", .. Enumerable.Range(0, Times).SelectMany(i => Pair(command, i, 2).Split(' '))]);
        server.Send(text + "PING\r\n", "+PONG\r\n");
        Assert.That(Usage(server, "whole"), Is.LessThan(BytesMax));
    }

    private static long Usage(EmbeddedServer server, string key) =>
        long.Parse(server.Send(Inline(["MEMORY", "USAGE", key]), "\r\n").AsSpan(1).Trim(), CultureInfo.InvariantCulture);

    private static void AssertSame(EmbeddedServer server)
    {
        SortedDictionary<string, string> content = StoreContent.Of(server.Server.Store, server.Server.Store.Namespaces.Id(0));
        Assert.That(content["whole"], Is.EqualTo(content["single"]));
        Assert.That(StoreCheck.Run(server.Server.Store), Is.Empty);
    }

    private static string Name(int index) => string.Create(CultureInfo.InvariantCulture, $"name:{index}");

    private static string Pair(string command, int index, int distinct) => command switch
    {
        "SADD" => Name(index % distinct),
        "HSET" => string.Create(CultureInfo.InvariantCulture, $"{Name(index % distinct)} value:{index}"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{index * 7919 % 1000} {Name(index % distinct)}"),
    };

    private static string Removal(string command) => command switch { "SADD" => "SREM", "HSET" => "HDEL", _ => "ZREM" };

    private static string Inline(string[] words) => string.Join(' ', words) + "\r\n";

    private static void Append(StringBuilder text, string[] words)
    {
        text.Append(CultureInfo.InvariantCulture, $"*{words.Length}\r\n");
        foreach (string word in words) text.Append(CultureInfo.InvariantCulture, $"${word.Length}\r\n{word}\r\n");
    }
}

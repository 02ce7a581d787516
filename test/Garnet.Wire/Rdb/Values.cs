using System.Globalization;

namespace Garnet.Wire.Rdb;

/// <summary>Values of every kind, made and looked at through commands.</summary>
internal static class Values
{
    public static readonly string[] Kinds = ["string", "list", "set", "integers", "hash", "sorted set", "stream"];

    /// <summary>Makes a value of a kind and size, the same on every call.</summary>
    public static void Fill(RespConnection to, string key, string kind, int size)
    {
        var random = new Random(size);
        if (kind == "string")
        {
            to.Call("SET", key, size == 1 ? "-12345" : new string((char)random.Next(256), size));
            return;
        }
        if (kind == "stream")
        {
            FillStream(to, key, size, random);
            return;
        }
        for (int at = 0; at < size; at += 500)
        {
            IEnumerable<int> numbers = Enumerable.Range(at, Math.Min(500, size - at));
            to.Call([kind switch { "list" => "RPUSH", "hash" => "HSET", "sorted set" => "ZADD", _ => "SADD" }, key, .. numbers.SelectMany(number => Words(kind, number, random))]);
        }
    }

    // Entries of different fields, some deleted; groups that have read some of them, with what is pending since a time that is told.
    private static void FillStream(RespConnection to, string key, int size, Random random)
    {
        for (int i = 0; i < size; i++)
        {
            string[] fields = random.Next(9) == 0 ? [$"own {i}", new string('v', random.Next(80))] : ["user", $"{i * 37 % 1000}", "status", i % 2 == 0 ? "open" : "closed", "ratio", $"{i / 8.0}"];
            to.Send(RespConnection.Encode(["XADD", key, $"{1000 + i / 3}-{i % 3 + 1}", .. fields]));
            if (i % 500 != 499 && i != size - 1) continue;
            for (int reply = i % 500; reply >= 0; reply--) to.Read();
        }
        for (int i = 5; i < size; i += 50) to.Call("XDEL", key, $"{1000 + i / 3}-{i % 3 + 1}");
        to.Call("XGROUP", "CREATE", key, "from the start", "0");
        to.Call("XGROUP", "CREATE", key, "idle", "$");
        to.Call("XGROUP", "CREATECONSUMER", key, "idle", "nobody");
        foreach (string consumer in (string[])["first", "second"]) to.Call("XGROUP", "CREATECONSUMER", key, "from the start", consumer);
        foreach (string consumer in (string[])["first", "second"])
        {
            RespNode read = to.Call("XREADGROUP", "GROUP", "from the start", consumer, "COUNT", $"{1 + size / 4}", "STREAMS", key, ">");
            string[] ids = read.Items is null ? [] : [.. read.Items[0].Items![1].Items!.Select(static entry => entry.Items![0].Text)];
            if (ids.Length == 0) continue;
            to.Call(["XCLAIM", key, "from the start", consumer, "0", .. ids, "TIME", $"{1_500_000_000_000 + size}", "RETRYCOUNT", "2", "JUSTID"]);
            to.Call(["XACK", key, "from the start", .. ids.Where(static (_, i) => i % 3 == 1)]);
        }
    }

    private static string[] Words(string kind, int number, Random random) => kind switch
    {
        "integers" => [$"{number * 977 - 5000}"],
        "hash" => [$"field {number}", number % 3 == 0 ? $"{number}" : new string('v', random.Next(60))],
        "sorted set" => [(random.Next(1000) / 8.0).ToString(CultureInfo.InvariantCulture), $"member {number}"],
        _ => [number % 3 == 0 ? $"{number}" : $"{new string('e', random.Next(40))} {number}"],
    };

    /// <summary>All of a value as text, in an order that does not depend on the server.</summary>
    public static string Digest(RespConnection side, string key)
    {
        string type = side.Call("TYPE", key).ToString();
        if (type == "+stream") return $"{type}{side.Call("XRANGE", key, "-", "+")}{StreamText(side.Call("XINFO", "STREAM", key, "FULL", "COUNT", "0"))}";
        RespNode all = type switch
        {
            "+string" => side.Call("GET", key),
            "+list" => side.Call("LRANGE", key, "0", "-1"),
            "+set" => side.Call("SMEMBERS", key),
            "+zset" => side.Call("ZRANGE", key, "0", "-1", "WITHSCORES"),
            _ => side.Call("HGETALL", key),
        };
        IEnumerable<string> items = all.Items is null ? [all.ToString()] : all.Items.Select(static item => item.ToString());
        if (type == "+hash") items = items.Chunk(2).Select(static pair => string.Join('=', pair));
        return type + string.Join(' ', type is "+set" or "+hash" ? items.Order(StringComparer.Ordinal) : items);
    }

    // Without how it is laid out, and without when consumers were heard of.
    private static string StreamText(RespNode node)
    {
        if (node.Items is not { } items) return node.ToString();
        if (items.Count == 0 || !items[0].Text.Any(char.IsLetter) || items.Count % 2 != 0) return $"[{string.Join(' ', items.Select(StreamText))}]";
        IEnumerable<RespNode[]> pairs = items.Chunk(2).Where(static pair => !pair[0].Text.StartsWith("radix", StringComparison.Ordinal) && !pair[0].Text.EndsWith("-time", StringComparison.Ordinal));
        return $"{{{string.Join(' ', pairs.Select(static pair => $"{pair[0].Text}={StreamText(pair[1])}"))}}}";
    }
}

using System.Globalization;

namespace Garnet.Wire.Rdb;

/// <summary>Values of every kind, made and looked at through commands.</summary>
internal static class Values
{
    public static readonly string[] Kinds = ["string", "list", "set", "integers", "hash", "sorted set"];

    /// <summary>Makes a value of a kind and size, the same on every call.</summary>
    public static void Fill(RespConnection to, string key, string kind, int size)
    {
        var random = new Random(size);
        if (kind == "string")
        {
            to.Call("SET", key, size == 1 ? "-12345" : new string((char)random.Next(256), size));
            return;
        }
        for (int at = 0; at < size; at += 500)
        {
            IEnumerable<int> numbers = Enumerable.Range(at, Math.Min(500, size - at));
            to.Call([kind switch { "list" => "RPUSH", "hash" => "HSET", "sorted set" => "ZADD", _ => "SADD" }, key, .. numbers.SelectMany(number => Words(kind, number, random))]);
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
}

using System.Globalization;

namespace Garnet.Wire.Tiering;

/// <summary>What a collection must hold, of whichever type; and random changes of it, from single elements to as many as make dozens of pieces.</summary>
internal sealed class KilledCollection(string key, char type)
{
    private const int Few = 3, Many = 150, EntriesMax = 500, Names = 800, ValueBytesMax = 250;

    private readonly SortedDictionary<string, string> _members = new(StringComparer.Ordinal);
    private readonly List<string> _items = [];
    private int _lastId;

    public string Key => key;

    public bool IsEmpty => type == 'l' ? _items.Count == 0 : _members.Count == 0;

    public KilledCollection Copy()
    {
        KilledCollection copy = new(key, type) { _lastId = _lastId };
        foreach ((string name, string value) in _members) copy._members.Add(name, value);
        copy._items.AddRange(_items);
        return copy;
    }

    /// <summary>All of it, as a client asks for it.</summary>
    public string[] Ask() => type switch
    {
        'h' => ["HGETALL", key],
        's' => ["SMEMBERS", key],
        'z' => ["ZRANGE", key, "0", "-1", "WITHSCORES"],
        'l' => ["LRANGE", key, "0", "-1"],
        _ => ["XRANGE", key, "-", "+"],
    };

    /// <summary>A look at a part of it.</summary>
    public string[] Peek(Random random) => type switch
    {
        'h' => ["HGET", key, Name(random)],
        's' => ["SISMEMBER", key, Name(random)],
        'z' => ["ZSCORE", key, Name(random)],
        'l' => ["LINDEX", key, Text(random.Next(EntriesMax))],
        _ => ["XRANGE", key, Id(random.Next(_lastId + 1)), Id(_lastId), "COUNT", "1"],
    };

    /// <summary>Null if the answer to <see cref="Ask"/> is what it must be, else what is not.</summary>
    public string? Differs(RespNode reply)
    {
        if (reply.Items is not { } items) return $"{key}: {reply}";
        string[] found = [.. type is 'l' ? items.Select(static item => item.Text) : Flat(items).Order(StringComparer.Ordinal)];
        string[] wanted = type == 'l' ? [.. _items] : [.. _members.Select(static pair => $"{pair.Key}={pair.Value}").Order(StringComparer.Ordinal)];
        if (found.SequenceEqual(wanted)) return null;
        return $"{key}: {found.Length} and not {wanted.Length}; lacks {Some(wanted.Except(found))}; has {Some(found.Except(wanted))}";
    }

    /// <summary>Changes it, and answers how a client does that.</summary>
    public string[] Change(Random random)
    {
        int count = random.Next(3) == 0 ? random.Next(1, Many) : random.Next(1, Few);
        bool isLarge = (type == 'l' ? _items.Count : _members.Count) > EntriesMax;
        if (random.Next(60) == 0)
        {
            _members.Clear();
            _items.Clear();
            _lastId = 0;
            return ["DEL", key];
        }

        bool adds = !isLarge && random.Next(3) != 0;
        if (type == 'l') return ChangeList(random, count, adds);
        if (type == 'x') return ChangeStream(random, count, adds);
        string[] names = [.. Enumerable.Range(0, count).Select(_ => Name(random)).Distinct()];
        foreach (string name in names)
        {
            _members.Remove(name);
            if (adds) _members.Add(name, type switch { 's' => "", 'z' => Text(random.Next(1000)), _ => Value(random) });
        }

        return (type, adds) switch
        {
            ('h', true) => ["HSET", key, .. names.SelectMany(name => (string[])[name, _members[name]])],
            ('h', false) => ["HDEL", key, .. names],
            ('s', _) => [adds ? "SADD" : "SREM", key, .. names],
            (_, true) => ["ZADD", key, .. names.SelectMany(name => (string[])[_members[name], name])],
            _ => ["ZREM", key, .. names],
        };
    }

    private string[] ChangeList(Random random, int count, bool adds)
    {
        if (adds)
        {
            string[] values = [.. Enumerable.Range(0, count).Select(_ => Value(random))];
            bool isLeft = random.Next(2) == 0;
            if (isLeft) _items.InsertRange(0, values.Reverse());
            else _items.AddRange(values);
            return [isLeft ? "LPUSH" : "RPUSH", key, .. values];
        }

        if (_items.Count > count && random.Next(2) == 0)
        {
            int at = random.Next(_items.Count);
            _items[at] = Value(random);
            return ["LSET", key, Text(at), _items[at]];
        }

        _items.RemoveRange(0, Math.Min(count, _items.Count));
        return ["LPOP", key, Text(count)];
    }

    private string[] ChangeStream(Random random, int count, bool adds)
    {
        if (adds)
        {
            string id = Id(++_lastId), value = Value(random);
            _members.Add(id, value);
            return ["XADD", key, id, "f", value];
        }

        string[] ids = [.. Enumerable.Range(0, count).Select(_ => Id(random.Next(_lastId + 1))).Distinct()];
        foreach (string id in ids) _members.Remove(id);
        return ["XDEL", key, .. ids];
    }

    private IEnumerable<string> Flat(IReadOnlyList<RespNode> items) => type switch
    {
        's' => items.Select(static item => $"{item.Text}="),
        'x' => items.Select(static item => $"{item.Items![0].Text}={item.Items[1].Items![1].Text}"),
        _ => items.Chunk(2).Select(static pair => $"{pair[0].Text}={pair[1].Text}"),
    };

    private static string Some(IEnumerable<string> entries) => string.Join(' ', entries.Take(3)) is { Length: > 0 } text ? text : "nothing";

    private static string Name(Random random) => "name" + Text(random.Next(Names));

    private static string Id(int number) => "7-" + Text(number);

    private static string Value(Random random) => Text(random.Next()).PadRight(random.Next(ValueBytesMax), 'v');

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

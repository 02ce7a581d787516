using System.Globalization;

namespace Garnet.Server.Test;

/// <summary>
/// Streams against a plain model: entries by id, and what is pending of a group, in pages of a few entries and of the usual size, so that
/// they are made, cut, emptied and joined all the time.
/// </summary>
public sealed class StreamModelTests
{
    private const int Steps = 3000;

    private readonly SortedDictionary<int, string> _entries = [];
    private readonly SortedDictionary<int, string> _pending = [];
    private int _last, _delivered;

    [Test]
    public void Entries_and_what_is_pending_are_those_of_a_model([Values(1, 2)] int seed, [Values(3, 100)] int pageEntries)
    {
        using var server = new EmbeddedServer();
        server.Server.Settings.Encoding.StreamNodeEntriesMax = pageEntries;
        using var client = new TestClient(server.Server.Port);
        var random = new Random(seed);
        _entries.Clear();
        _pending.Clear();
        _last = _delivered = 0;
        client.Call("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM");
        for (int i = 0; i < Steps; i++)
        {
            Step(client, random);
            if (i % 100 == 0) Compare(client, random);
        }

        Compare(client, random);
    }

    [Test]
    public void Thousands_that_are_pending_go_in_any_order([Values(1, 2)] int seed)
    {
        const int Count = 5000;
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM");
        for (int i = 1; i <= Count; i++) client.Call("XADD", "s", Id(i), "f", Text(i));
        for (int i = 0; i < 5; i++) client.Call("XREADGROUP", "GROUP", "g", "c" + Text(i % 2), "COUNT", Text(Count / 5), "STREAMS", "s", ">");
        var random = new Random(seed);
        int[] order = [.. Enumerable.Range(1, Count)];
        random.Shuffle(order);
        int left = Count;
        foreach (int[] some in order.Chunk(250))
        {
            Assert.That(client.Call(["XACK", "s", "g", .. some.Select(Id)]), Is.EqualTo(Text(some.Length)));
            left -= some.Length;
            int[] rest = [.. order[^left..].Order()];
            string summary = left == 0 ? "[0 nil nil nil]" : $"[{Text(left)} {Id(rest[0])} {Id(rest[^1])} ";
            Assert.That(client.Call("XPENDING", "s", "g"), Does.StartWith(summary));
            Assert.That(client.Call("XPENDING", "s", "g", "-", "+", "100000").Split("[1-").Length - 1, Is.EqualTo(left));
        }

        Assert.That(client.Call("XGROUP", "DESTROY", "s", "g"), Is.EqualTo("1"));
    }

    private void Step(TestClient client, Random random)
    {
        switch (random.Next(20))
        {
            case < 9:
                _entries[++_last] = Value(random);
                Assert.That(client.Call("XADD", "s", Id(_last), "f", _entries[_last]), Is.EqualTo(Id(_last)));
                break;
            case < 12:
                int id = random.Next(1, _last + 2);
                Assert.That(client.Call("XDEL", "s", Id(id)), Is.EqualTo(_entries.Remove(id) ? "1" : "0"));
                break;
            case 12:
                int kept = Math.Max(_entries.Count - random.Next(12), 0);
                int[] trimmed = [.. _entries.Keys.Take(_entries.Count - kept)];
                Assert.That(client.Call("XTRIM", "s", "MAXLEN", Text(kept)), Is.EqualTo(Text(trimmed.Length)));
                foreach (int one in trimmed) _entries.Remove(one);
                break;
            case < 16:
                string consumer = "c" + Text(random.Next(3));
                int count = random.Next(1, 30);
                int[] given = [.. _entries.Keys.Where(one => one > _delivered).Take(count)];
                string reply = client.Call("XREADGROUP", "GROUP", "g", consumer, "COUNT", Text(count), "STREAMS", "s", ">");
                Assert.That(reply, Is.EqualTo(given.Length == 0 ? "nil" : $"[[s {Shown(given)}]]"));
                foreach (int one in given) _pending[_delivered = one] = consumer;
                break;
            default:
                int first = random.Next(1, _last + 2);
                int[] acknowledged = [.. Enumerable.Range(first, random.Next(1, 10))];
                Assert.That(client.Call(["XACK", "s", "g", .. acknowledged.Select(Id)]), Is.EqualTo(Text(acknowledged.Count(_pending.Remove))));
                break;
        }
    }

    private void Compare(TestClient client, Random random)
    {
        int[] all = [.. _entries.Keys];
        Assert.That(client.Call("XLEN", "s"), Is.EqualTo(Text(all.Length)));
        Assert.That(client.Call("XRANGE", "s", "-", "+"), Is.EqualTo(Shown(all)));
        Assert.That(client.Call("XREVRANGE", "s", "+", "-"), Is.EqualTo(Shown([.. all.Reverse()])));
        int from = random.Next(_last + 1), to = from + random.Next(_last + 1);
        int[] some = [.. all.Where(one => one >= from && one <= to)];
        Assert.That(client.Call("XRANGE", "s", Id(from), Id(to), "COUNT", "7"), Is.EqualTo(Shown([.. some.Take(7)])));
        Assert.That(client.Call("XREVRANGE", "s", Id(to), Id(from), "COUNT", "7"), Is.EqualTo(Shown([.. some.Reverse().Take(7)])));
        foreach (string consumer in (string[])["c0", "c1", "c2"])
        {
            int[] own = [.. _pending.Where(one => one.Value == consumer).Select(static one => one.Key)];
            string reply = client.Call("XPENDING", "s", "g", "-", "+", "100000", consumer);
            Assert.That(reply.Split('[').Skip(2).Select(static one => one.Split(' ')[0]), Is.EqualTo(own.Select(Id)));
        }
    }

    private string Shown(int[] ids) => "[" + string.Join(' ', ids.Select(one => $"[{Id(one)} [f {_entries[one]}]]")) + "]";

    private static string Value(Random random) => random.Next(4) switch
    {
        0 => Text(random.Next(-5, 70_000)),
        1 => new string((char)('a' + random.Next(26)), random.Next(1, 40)),
        2 => "12:" + Text(random.Next(60)),
        _ => new string('~', random.Next(1, 200)),
    };

    private static string Id(int number) => "1-" + Text(number);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

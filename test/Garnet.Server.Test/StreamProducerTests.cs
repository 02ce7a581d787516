using System.Globalization;
using Garnet.Server.Test.Net;
using Garnet.Wire;

namespace Garnet.Server.Test;

/// <summary>Entries that producers send more than once are added once, for as long and as many as the stream says.</summary>
public sealed class StreamProducerTests
{
    // Times are never near the limit: the clock also runs by itself.
    private const int Steps = 4000, Seconds = 50, StepMs = 20_000, NamesMax = 6;

    [Test]
    public void What_is_added_and_what_not_is_as_in_a_model([Values(1, 2)] int seed)
    {
        using var server = new TestServer(TransportKind.Sockets);
        using RespConnection client = server.Connect();
        var random = new Random(seed);
        var model = new Dictionary<string, List<Sent>>();
        long now = 0, added = 0, repeated = 0;
        client.Call("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM");
        Assert.That(Call(client, "XCFGSET", "s", "IDMP-DURATION", Text(Seconds), "IDMP-MAXSIZE", Text(NamesMax)), Is.EqualTo("+OK"));
        for (int i = 0; i < Steps; i++)
        {
            if (random.Next(8) == 0)
            {
                server.Advance(StepMs);
                now += StepMs;
                client.Call("PING"); // the reactor has seen the new time
            }

            string producer = "p" + Text(random.Next(4)), name = "n" + Text(random.Next(12));
            List<Sent> sent = model.TryGetValue(producer, out List<Sent>? known) ? known : model[producer] = [];
            string id = Call(client, "XADD", "s", "IDMP", producer, name, "*", "f", Text(i));
            if (sent.Find(one => one.Name == name && now - one.AtMs <= Seconds * 1000) is { } before)
            {
                Assert.That(id, Is.EqualTo(before.Id), "step " + Text(i));
                repeated++;
                continue;
            }

            Assert.That(sent.Select(static one => one.Id), Does.Not.Contain(id), "step " + Text(i));
            added++;
            sent.RemoveAll(one => one.Name == name);
            sent.Add(new Sent(name, id, now));
            if (sent.Count > NamesMax) sent.RemoveAt(0);
        }

        Assert.That(Figure(client, "length"), Is.EqualTo(added));
        Assert.That(Figure(client, "iids-added"), Is.EqualTo(added));
        Assert.That(Figure(client, "iids-duplicates"), Is.EqualTo(repeated));
        Assert.That(repeated, Is.GreaterThan(Steps / 10), "the test repeats enough");
        int live = model.Values.Sum(sent => sent.Count(one => now - one.AtMs <= Seconds * 1000));
        Assert.That(Figure(client, "iids-tracked"), Is.InRange(live, model.Count * NamesMax));
    }

    [Test]
    public void Silent_producers_are_forgotten_while_others_send()
    {
        const int Silent = 300, Sends = 400;
        using var server = new TestServer(TransportKind.Sockets);
        using RespConnection client = server.Connect();
        for (int i = 0; i < Silent * 4; i++) client.Call("XADD", "s", "IDMP", "silent" + Text(i % Silent), "n" + Text(i), "*", "f", "v");
        Assert.That((Figure(client, "pids-tracked"), Figure(client, "iids-tracked")), Is.EqualTo((Silent, Silent * 4)));
        server.Advance(101_000);
        client.Call("PING");
        for (int i = 0; i < Sends; i++) client.Call("XADD", "s", "IDMP", "loud", "n" + Text(i), "*", "f", "v");
        Assert.That((Figure(client, "pids-tracked"), Figure(client, "iids-tracked")), Is.EqualTo((1, 100)));
    }

    [Test]
    public void Other_limits_forget_everything_and_the_same_ones_nothing()
    {
        using var server = new TestServer(TransportKind.Sockets);
        using RespConnection client = server.Connect();
        for (int i = 0; i < 1000; i++) client.Call("XADD", "s", "IDMP", "p" + Text(i / 100), "n" + Text(i), "*", "f", "v");
        string before = Call(client, "XADD", "s", "IDMP", "p0", "n0", "*", "f", "v");
        Assert.That(Call(client, "XCFGSET", "s", "IDMP-DURATION", "100"), Is.EqualTo("+OK"));
        Assert.That(Figure(client, "iids-tracked"), Is.EqualTo(1000));
        Assert.That(Call(client, "XADD", "s", "IDMP", "p0", "n0", "*", "f", "v"), Is.EqualTo(before));
        Assert.That(Call(client, "XCFGSET", "s", "IDMP-DURATION", "7"), Is.EqualTo("+OK"));
        Assert.That((Figure(client, "pids-tracked"), Figure(client, "iids-tracked")), Is.EqualTo((0, 0)));
        Assert.That(Call(client, "XADD", "s", "IDMP", "p0", "n0", "*", "f", "v"), Is.Not.EqualTo(before));
    }

    private static long Figure(RespConnection client, string name)
    {
        string[] words = Call(client, "XINFO", "STREAM", "s").Split(' ');
        int at = Array.IndexOf(words, '"' + name + '"');
        return at < 0 ? -1 : long.Parse(words[at + 1][1..], CultureInfo.InvariantCulture);
    }

    private static string Call(RespConnection client, params string[] words) => client.Call(words).ToString();

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private sealed record Sent(string Name, string Id, long AtMs);
}

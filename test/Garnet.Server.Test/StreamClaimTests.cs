using System.Globalization;
using Garnet.Server.Test.Net;
using Garnet.Wire;

namespace Garnet.Server.Test;

/// <summary>A reader takes what others have let go (XNACK) or left alone too long, the longest first, and then what is new (XREADGROUP CLAIM).</summary>
public sealed class StreamClaimTests
{
    // Times are never near the limit: the clock also runs by itself.
    private const int Steps = 600, StepMs = 20_000, IdleMs = 130_000;

    [Test]
    public void What_is_claimed_and_in_which_order_is_as_in_a_model([Values(1, 2)] int seed)
    {
        using var server = new TestServer(TransportKind.Sockets);
        using RespConnection client = server.Connect();
        var random = new Random(seed);
        var entries = new SortedSet<int>();
        var pending = new Dictionary<int, Delivered>();
        int last = 0, read = 0, claims = 0, releases = 0;
        Call(client, "XGROUP", "CREATE", "s", "g", "0", "MKSTREAM");
        for (int step = 1; step <= Steps; step++)
        {
            server.Advance(StepMs);
            Call(client, "PING"); // the reactor has seen the new time
            for (int i = random.Next(4); i > 0; i--)
            {
                entries.Add(++last);
                Call(client, "XADD", "s", Id(last), "f", Text(last));
            }

            int one = random.Next(1, last + 2);
            if (random.Next(2) == 0) Assert.That(Call(client, "XDEL", "s", Id(one)), Is.EqualTo(entries.Remove(one) ? ":1" : ":0"));
            else Assert.That(Call(client, "XACK", "s", "g", Id(one)), Is.EqualTo(pending.Remove(one) ? ":1" : ":0"));
            int nacked = random.Next(1, last + 2);
            bool isPending = pending.TryGetValue(nacked, out Delivered? before);
            Assert.That(Call(client, "XNACK", "s", "g", "SILENT", "IDS", "1", Id(nacked)), Is.EqualTo(isPending ? ":1" : ":0"));
            if (isPending) pending[nacked] = new Delivered(++releases - Steps * 2, Math.Max(before!.Times - 1, 0));
            int count = random.Next(1, 6);
            bool isClaim = random.Next(3) == 0;
            int[] due = isClaim ? [.. pending.Where(known => (step - known.Value.Step) * StepMs >= IdleMs).OrderBy(static known => known.Value.Step).ThenBy(static known => known.Key).Select(static known => known.Key)] : [];
            var shown = new List<string>();
            foreach (int id in due)
            {
                if (shown.Count == count) break;
                if (!entries.Contains(id))
                {
                    pending.Remove(id);
                    continue;
                }

                int idle = pending[id].Step < 0 ? -1 : (step - pending[id].Step) * StepMs / 1000;
                shown.Add($"[ \"{Id(id)}\" [ \"f\" \"{Text(id)}\" ] :{Text(idle)} :{Text(pending[id].Times)} ]");
                pending[id] = new Delivered(step, pending[id].Times + 1);
                claims++;
            }

            foreach (int id in entries.Where(id => id > read).Take(count - shown.Count).ToArray())
            {
                shown.Add($"[ \"{Id(id)}\" [ \"f\" \"{Text(id)}\" ]" + (isClaim ? " :0 :0 ]" : " ]"));
                pending[read = id] = new Delivered(step, 1);
            }

            string[] claim = isClaim ? ["CLAIM", Text(IdleMs)] : [];
            string reply = Call(client, ["XREADGROUP", "GROUP", "g", "c" + Text(random.Next(3)), .. claim, "COUNT", Text(count), "STREAMS", "s", ">"]);
            Assert.That(InSeconds(reply), Is.EqualTo(shown.Count == 0 ? "*-1" : $"[ [ \"s\" [ {string.Join(' ', shown)} ] ] ]"), "step " + Text(step));
        }

        Assert.That(claims, Is.GreaterThan(Steps / 10), "the test claims enough");
        Assert.That(releases, Is.GreaterThan(Steps / 10), "the test releases enough");
        Assert.That(Call(client, "XPENDING", "s", "g"), Does.StartWith($"[ :{Text(pending.Count)} "));
    }

    [Test]
    public void A_waiting_reader_is_given_what_becomes_due()
    {
        using var server = new TestServer(TransportKind.Sockets);
        using RespConnection client = server.Connect(), other = server.Connect();
        Deliver(client, 1);
        AwaitClaim(server, other, idleMs: 50_000);
        server.Advance(20_000);
        Assert.That(Call(client, "XPENDING", "s", "g"), Does.Contain("\"c\" \"1\""));
        server.Advance(31_000);
        Assert.That(other.Read().ToString(), Does.StartWith("[ [ \"s\" [ [ \"1-1\" [ \"f\" \"v\" ] :5"));
        Assert.That(Call(client, "XPENDING", "s", "g"), Does.Contain("\"d\" \"1\""));
    }

    [Test]
    public void A_waiting_reader_is_given_what_another_lets_go()
    {
        using var server = new TestServer(TransportKind.Sockets);
        using RespConnection client = server.Connect(), other = server.Connect();
        Deliver(client, 1);
        AwaitClaim(server, other, idleMs: 5_000_000);
        Assert.That(Call(client, "XNACK", "s", "g", "FAIL", "IDS", "1", "1-1"), Is.EqualTo(":1"));
        Assert.That(other.Read().ToString(), Is.EqualTo("[ [ \"s\" [ [ \"1-1\" [ \"f\" \"v\" ] :-1 :1 ] ] ] ]"));
        Assert.That(Call(client, "XPENDING", "s", "g"), Does.Contain("\"d\" \"1\""));
    }

    [Test]
    public void A_waiting_reader_is_given_what_was_delivered_meanwhile_and_then_left_alone()
    {
        using var server = new TestServer(TransportKind.Sockets);
        using RespConnection client = server.Connect(), other = server.Connect();
        Deliver(client, 2);
        Call(client, "XACK", "s", "g", "1-1", "1-2");
        AwaitClaim(server, other, idleMs: 5_000);
        Call(client, "XCLAIM", "s", "g", "c", "0", "1-2", "FORCE");
        server.Advance(6_000);
        Assert.That(other.Read().ToString(), Does.StartWith("[ [ \"s\" [ [ \"1-2\" [ \"f\" \"v\" ] :6"));
    }

    // A stream of so many entries, all delivered to c.
    private static void Deliver(RespConnection client, int entries)
    {
        Call(client, "XGROUP", "CREATE", "s", "g", "0", "MKSTREAM");
        for (int i = 1; i <= entries; i++) Call(client, "XADD", "s", Id(i), "f", "v");
        Call(client, "XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">");
    }

    // d asks for what was left alone so long, and has to wait.
    private static void AwaitClaim(TestServer server, RespConnection client, int idleMs)
    {
        client.Send(RespConnection.Encode("XREADGROUP", "GROUP", "g", "d", "BLOCK", "0", "CLAIM", Text(idleMs), "STREAMS", "s", ">"));
        Assert.That(() => server.Server.Context.Observers.Waits.Count, Is.EqualTo(1).After(60_000, 1));
    }

    // Times since the delivery before, whole seconds.
    private static string InSeconds(string reply) => string.Join(' ', reply.Split(' ').Select(static word =>
        word.Length > 5 && word[0] == ':' ? ":" + Text((int)(long.Parse(word[1..], CultureInfo.InvariantCulture) / 10_000 * 10)) : word));

    private static string Call(RespConnection client, params string[] words) => client.Call(words).ToString();

    private static string Id(int number) => "1-" + Text(number);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private sealed record Delivered(int Step, int Times);
}

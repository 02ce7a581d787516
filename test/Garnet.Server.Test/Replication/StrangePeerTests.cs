using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Garnet.Aof;
using Garnet.Replication;
using Garnet.Replication.Frames;

namespace Garnet.Server.Test.Replication;

/// <summary>Peers that are none, or lie: each is named with its reason, and what a server holds is not touched by them.</summary>
public sealed class StrangePeerTests
{
    private const int WaitMs = 20_000;
    private static readonly string Greeting = $"+REPL 2 {new string('a', 40)}\r\n";

    private static IEnumerable<TestCaseData> Answers()
    {
        yield return new TestCaseData("HTTP/1.1 400 Bad Request\r\n\r\n", "it answered HTTP/1.1 400").SetArgDisplayNames("a web server");
        yield return new TestCaseData("-ERR unknown command 'REPL', with args beginning with: 'HELLO' \r\n", "dump.rdb").SetArgDisplayNames("a Redis");
        yield return new TestCaseData($"+REPL 3 {new string('a', 40)}\r\n", "another version of the protocol").SetArgDisplayNames("a later version");
        yield return new TestCaseData("-NOAUTH Authentication required.\r\n", "NOAUTH").SetArgDisplayNames("a password");
        yield return new TestCaseData(new string('x', 5000), "its reply does not end").SetArgDisplayNames("an endless line");
        yield return new TestCaseData("\0\u0001\u001b[31m\r\n", "it answered ??").SetArgDisplayNames("control characters");
        yield return new TestCaseData(Greeting + new string('x', 100), "nonsense").SetArgDisplayNames("no frames");
        yield return new TestCaseData(Greeting + Frame(FrameKind.Batch, new byte[200]), "out of order").SetArgDisplayNames("a batch before the plan");
        yield return new TestCaseData(Greeting + Frame(FrameKind.Plan, new byte[60]), "a plan that is none").SetArgDisplayNames("an empty plan");
        yield return new TestCaseData(Greeting + Frame(FrameKind.Plan, Plan(isFull: false)), "goes on behind 7:8:").SetArgDisplayNames("a plan for somebody else");
    }

    [TestCaseSource(nameof(Answers))]
    public void A_primary_that_is_none_is_named_and_nothing_is_lost(string answer, string reason)
    {
        using EmbeddedServer server = new();
        using StrangePeer peer = new(answer);
        using TestClient client = new(server.Server.Port);
        client.Call("SET", "k", "v");
        Assert.That(client.Call("REPLICAOF", "127.0.0.1", Text(peer.Port)), Is.EqualTo("OK"));
        Assert.That(() => Problem(client), Does.Contain(reason).After(WaitMs, 10));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("v"));
        Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "k", "w"), Is.EqualTo("OK"));
    }

    [Test]
    public void A_peer_that_closes_or_never_answers_holds_nothing_up([Values] bool closes)
    {
        using EmbeddedServer server = new();
        using StrangePeer peer = new("", closes);
        using TestClient client = new(server.Server.Port);
        client.Call("SET", "k", "v");
        client.Call("REPLICAOF", "127.0.0.1", Text(peer.Port));
        if (closes) Assert.That(() => Problem(client), Is.Not.Empty.After(WaitMs, 10));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("v"));
        Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "k", "w"), Is.EqualTo("OK"), "it was not waited for");
    }

    [Test]
    public void Two_servers_that_are_told_to_follow_each_other_keep_what_they_have_and_say_why()
    {
        using EmbeddedServer one = new();
        using EmbeddedServer two = ReplicaGroup.ReplicaOf(one.Server.Port);
        using TestClient first = new(one.Server.Port), second = new(two.Server.Port);
        first.Call("SET", "k", "v");
        ReplicaGroup.CatchUp(two, one);
        Assert.That(first.Call("REPLICAOF", "127.0.0.1", Text(two.Server.Port)), Is.EqualTo("OK"));
        Assert.That(() => Problem(first), Does.Contain("NOMASTERLINK").Or.Contain("follows this server itself").After(WaitMs, 10));
        Assert.That(() => Problem(second), Does.Contain("NOMASTERLINK").Or.Contain("follows this server itself").After(WaitMs, 10));
        Assert.That((first.Call("GET", "k"), second.Call("GET", "k")), Is.EqualTo(("v", "v")));
        Assert.That(second.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
        Assert.That(second.Call("SET", "k", "w"), Is.EqualTo("OK"));
        ReplicaGroup.AssertSame(two, one);
    }

    [Test]
    public void Servers_whose_keys_hash_otherwise_hold_the_same_data_in_either_role()
    {
        using EmbeddedServer one = new();
        using EmbeddedServer two = ReplicaGroup.ReplicaOf(one.Server.Port);
        Assert.That(one.Server.Store.HashSeed, Is.Not.EqualTo(two.Server.Store.HashSeed));
        using TestClient first = new(one.Server.Port), second = new(two.Server.Port);
        for (int i = 0; i < 300; i++) first.Call("SET", $"k{i}", "1");
        ReplicaGroup.AssertSame(one, two);
        second.Call("REPLICAOF", "NO", "ONE");
        for (int i = 0; i < 300; i++) second.Call("APPEND", $"k{i}", "2");
        first.Call("REPLICAOF", "127.0.0.1", Text(two.Server.Port));
        ReplicaGroup.AssertSame(two, one);
    }

    private static IEnumerable<TestCaseData> Lies()
    {
        yield return new TestCaseData("sent nonsense", false, new byte[] { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 }).SetArgDisplayNames("no frame");
        yield return new TestCaseData("sent nonsense", false, Bytes(FrameKind.Batch, new byte[100])).SetArgDisplayNames("a batch");
        yield return new TestCaseData("acknowledged what cannot be", true, Bytes(FrameKind.Ack, Ack(1, 1_000_000))).SetArgDisplayNames("what was never sent"); // before, it is no more than a sign of life (replication.P3)
        yield return new TestCaseData("acknowledged what cannot be", false, Bytes(FrameKind.Ack, new byte[5])).SetArgDisplayNames("half an acknowledgement");
        yield return new TestCaseData("the replica left: so long", false, Bytes(FrameKind.Bye, Encoding.UTF8.GetBytes("so long"))).SetArgDisplayNames("a farewell");
    }

    [TestCaseSource(nameof(Lies))]
    public void A_replica_that_lies_is_sent_away_and_the_primary_goes_on(string reason, bool streams, byte[] lie)
    {
        var lines = new RecordedLines();
        using EmbeddedServer server = new(lines: lines);
        using TestClient client = new(server.Server.Port);
        using var replica = new TcpClient("127.0.0.1", server.Server.Port) { ReceiveTimeout = WaitMs };
        NetworkStream stream = replica.GetStream();
        string[] words = ["REPL", "HELLO", "2", new string('b', 40), "1", "-", "0:0:"];
        stream.Write(Encoding.ASCII.GetBytes($"*{words.Length}\r\n" + string.Concat(words.Select(static word => $"${word.Length}\r\n{word}\r\n"))));
        Assert.That(() => server.Server.Replication.Links.All is [var one] && (!streams || one.Link.Stage == LinkStage.Streaming), Is.True.After(WaitMs, 5));
        stream.Write(lie);
        byte[] bytes = new byte[4096];
        try
        {
            while (stream.Read(bytes) > 0)
            {
                // the plan, the snapshot, a farewell; then the end
            }
        }
        catch (IOException)
        {
            // or a reset
        }
        Assert.That(() => server.Server.Replication.Links.All, Is.Empty.After(WaitMs, 5));
        Assert.That(() => lines.All, Has.Some.Contains(reason).After(WaitMs, 5), "not for its silence");
        Assert.That(client.Call("SET", "k", "v"), Is.EqualTo("OK"));
        using EmbeddedServer honest = ReplicaGroup.ReplicaOf(server.Server.Port);
        ReplicaGroup.AssertSame(server, honest);
    }

    private static string Problem(TestClient client) =>
        client.Call("INFO", "replication").Split("\r\n").Single(static line => line.StartsWith("garnet_repl_link_problem:", StringComparison.Ordinal))["garnet_repl_link_problem:".Length..];

    private static byte[] Plan(bool isFull) => new PlanFrame
    {
        IsFull = isFull, At = new LogPosition(7, 8, [9]), Term = 7, Lanes = 64, HashSeed = 1, StartedUnixUs = 1, Fork = ulong.MaxValue,
        HistoryId = new string('c', 40), Path = [new string('a', 40)],
    }.Encode();

    private static byte[] Ack(uint term, ulong received)
    {
        byte[] bytes = new byte[AckFrame.Bytes];
        new AckFrame(term, 0, received, 0, 0).Write(bytes);
        return bytes;
    }

    private static byte[] Bytes(FrameKind kind, byte[] body)
    {
        var writer = new FrameWriter();
        writer.Add(kind, body);
        return writer.Bytes.ToArray();
    }

    private static string Frame(FrameKind kind, byte[] body) => Encoding.Latin1.GetString(Bytes(kind, body));

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

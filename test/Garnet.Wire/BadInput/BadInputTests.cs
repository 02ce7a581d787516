using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Test;
using Garnet.Wire.Framing;
using NUnit.Framework;

namespace Garnet.Wire.BadInput;

/// <summary>
/// A list of bad inputs, which has its rows' numbers here and in the tests of replication (<c>HostileInputTests</c>): each gets its outcome,
/// and afterwards the server is as it was. Rows 1, 2, 6 to 9, 11, 12, 15 and 16 stand among the framing cases; here they are judged by what they leave.
/// </summary>
[TestFixture]
[NonParallelizable]
internal sealed class BadInputTests
{
    private const string Password = "secret";
    private const int CloseMs = 20_000;

    private ServerProcess _server = null!, _locked = null!;
    private Aftermath _after = null!, _afterLocked = null!;

    [OneTimeSetUp]
    public void Start()
    {
        _ = Servers.Ours;   // skips with the reason when it is not there
        _server = ServerProcess.TryStartOurs("--maxmemory 512mb")!;
        _locked = ServerProcess.TryStartOurs($"--maxmemory 512mb --requirepass {Password}")!;
        _after = new Aftermath(_server);
        _afterLocked = new Aftermath(_locked, Password);
    }

    [OneTimeTearDown]
    public void Stop()
    {
        _after?.Dispose();
        _afterLocked?.Dispose();
        _server?.Dispose();
        _locked?.Dispose();
    }

    [TestCaseSource(typeof(FramingCases), nameof(FramingCases.All))]
    public void Bad_framing_leaves_nothing_behind(FramingCase row) => (row.BeforeAuth ? _afterLocked : _after).Of(() =>
    {
        ServerProcess server = row.BeforeAuth ? _locked : _server;
        for (int i = 0; i < 20; i++)
        {
            using RespConnection connection = new(server.Address);
            connection.Send(row.Bytes);
            if (row.EndingOf(ServerSide.Ours) == Ending.Closes) connection.ReadAll(CloseMs, out _);
        }
    });

    [TestCaseSource(typeof(BadCommands), nameof(BadCommands.All))]
    public void A_bad_command_is_answered(BadCommand bad)
    {
        string before = bad.GoesByTheClock ? Answer(Servers.Redis, bad) : "", ours = Answer(_server, bad);
        if (bad.GoesByTheClock) Assert.That(ours, Is.AnyOf(before, Answer(Servers.Redis, bad)));
        else if (bad.Reply is null) Assert.That(ours, Is.EqualTo(Answer(Servers.Redis, bad)));
        else if (bad.Reply != "?*") Assert.That(new Expected(bad.Reply).Matches(Reply(_server, bad)), $"wanted {bad.Reply}, got {ours}");
    }

    [TestCase(14)]
    [TestCase(15)]
    [TestCase(17)]
    [TestCase(20)]
    [TestCase(22)]
    [TestCase(27)]
    [TestCase(36)]
    [TestCase(38)]
    public void All_bad_commands_of_a_row_leave_nothing_behind(int row) => _after.Of(() =>
    {
        foreach (BadCommand bad in BadCommands.All().Where(command => command.Row == row)) Reply(_server, bad);
        using RespConnection connection = new(_server.Address);
        connection.Call("DEL", "bad:a", "bad:e", "bad:k", "bad:n", "k", "bad:" + new string('a', 2000));
    });

    [Test]
    public void Row_3_a_stranger_gathers_no_more_than_its_arguments_allow() => _afterLocked.Of(() =>
    {
        List<RespConnection> strangers = [];
        for (int i = 0; i < 20; i++)
        {
            strangers.Add(new RespConnection(_locked.Address));
            strangers[^1].Send(Encoding.ASCII.GetBytes("*10\r\n" + string.Concat(Enumerable.Repeat($"$16384\r\n{new string('x', 16384)}\r\n", 9))));
        }
        using RespConnection last = strangers[0];
        last.Send(Encoding.ASCII.GetBytes($"$5\r\nabcde\r\n*11\r\n"));
        Assert.That(last.Read().ToString(), Does.StartWith("-ERR unknown command"));
        Assert.That(last.Read().ToString(), Is.EqualTo("-ERR Protocol error: unauthenticated multibulk length"));
        Assert.That(last.ReadsEnd());
        strangers.ForEach(stranger => stranger.Dispose());
    });

    [Test]
    public void Row_4_a_stranger_that_never_reads_is_closed() => _afterLocked.Of(() =>
    {
        using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using CancellationTokenSource limit = new(CloseMs);
        socket.Connect(_locked.Address);
        byte[] pings = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("PING\r\n", 10_000)));
        Assert.That(async () => { for (int i = 0; i < 2000; i++) await socket.SendAsync(pings, limit.Token); }, Throws.InstanceOf<SocketException>());
    });

    [Test]
    public void Row_5_a_flood_of_connections_does_not_hold_up_others() => _after.Of(() =>
    {
        const int Flood = 3000;
        using RespConnection other = new(_server.Address);
        List<int> passed = []; // connections of the flood between a PING and its reply
        int came = 0;
        Task flood = Task.Run(() =>
        {
            for (; came < Flood; Interlocked.Increment(ref came))
            {
                using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { LingerState = new LingerOption(true, 0) };
                socket.Connect(_server.Address);
                socket.Send("*x\r\n"u8);
            }
        });
        Patience.Until(() =>
        {
            int before = Volatile.Read(ref came);
            other.Call("PING");
            passed.Add(Volatile.Read(ref came) - before);
            return flood.IsCompleted;
        });
        flood.Await();
        passed.Sort();
        int usual = passed[passed.Count / 2]; // of some the machine itself does not run this side for a while
        TestContext.Out.WriteLine($"{passed.Count} PINGs beside a flood of {Flood} connections: {usual} of these came during half of them at most, {passed[^1]} during the longest");
        Assert.That(usual, Is.LessThan(Flood / 30));
    });

    [Test]
    public void Row_10_announced_bytes_that_trickle_take_no_memory() => _after.Of(() =>
    {
        List<RespConnection> slow = [];
        long before = _server.ResidentBytes();
        for (int i = 0; i < 50; i++)
        {
            slow.Add(new RespConnection(_server.Address));
            slow[^1].Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n"u8);
            slow[^1].SendSplit("trickle"u8);
        }
        Assert.That(_server.ResidentBytes() - before, Is.LessThan(32 << 20));
        slow.ForEach(connection => connection.Dispose());
    });

    [Test]
    public void Row_17_APPEND_past_the_longest_value_is_refused() => _after.Of(() =>
    {
        using RespConnection connection = new(_server.Address);
        connection.Call("CONFIG", "SET", "proto-max-bulk-len", "1mb");
        connection.Call("SETRANGE", "bad:long", "1048574", "x");
        RespNode append = connection.Call("APPEND", "bad:long", "yy"), range = connection.Call("SETRANGE", "bad:long", "1048576", "y");
        Assert.That(connection.Call("STRLEN", "bad:long").ToString(), Is.EqualTo(":1048575"));
        connection.Call("DEL", "bad:long");
        connection.Call("CONFIG", "SET", "proto-max-bulk-len", "512mb");
        Assert.That(new[] { append.ToString(), range.ToString() }, Is.All.EqualTo("-ERR string exceeds maximum allowed size (proto-max-bulk-len)"));
    });

    [Test]
    public void Row_33_replies_nobody_reads_are_bounded() => _after.Of(() =>
    {
        using RespConnection other = new(_server.Address);
        other.Call("SET", "bad:bomb", new string('v', 1 << 20));
        long before = _server.ResidentBytes();
        using (RespConnection greedy = new(_server.Address))
        {
            greedy.Send([.. Enumerable.Repeat(RespConnection.Encode("GET", "bad:bomb"), 10_000).SelectMany(command => command)]);
            for (int i = 0; i < 2000; i++) Assert.That(other.Call("PING").Text, Is.EqualTo("PONG"), "others are served meanwhile");
            long growth = _server.ResidentBytes() - before;
            TestContext.Out.WriteLine($"10 GiB of replies asked for and not read: {growth >> 20} MiB taken");
            Assert.That(growth, Is.LessThan(400L << 20));
        }
        other.Call("DEL", "bad:bomb");
    });

    [TestCase("SUBSCRIBE", 250_000)]
    [TestCase("PSUBSCRIBE", 100_000)]
    public void Row_34_subscriptions_of_one_client_are_counted_and_bounded(string command, int count) => _after.Of(() =>
    {
        if (LongRun.IsWanted) count *= 4;
        using (RespConnection connection = new(_server.Address))
        {
            int refused = 0;
            for (int i = 0; i < count && refused == 0; i += 1000)
            {
                connection.Send(RespConnection.Encode([command, .. Enumerable.Range(i, 1000).Select(n => "channel:" + n.ToString(CultureInfo.InvariantCulture))]));
                for (int n = 0; n < 1000 && refused == 0; n++) refused = connection.Read().Kind == '-' ? i + n : 0;
            }
            TestContext.Out.WriteLine(refused == 0 ? $"{command}: all {count} taken" : $"{command}: refused after {refused}");
            using RespConnection other = new(_server.Address);
            Assert.That(other.Call("PUBLISH", "channel:7", "m").Kind, Is.EqualTo(':'));
            Match(other.Call("CLIENT", "LIST", "TYPE", "pubsub").Text);
        }
    });

    private static void Match(string clients)
    {
        string total = clients.Split(' ').Single(field => field.StartsWith("tot-mem=", StringComparison.Ordinal));
        Assert.That(long.Parse(total[8..], CultureInfo.InvariantCulture), Is.GreaterThan(4 << 20), clients);
    }

    private static string Answer(ServerProcess server, BadCommand bad) => Reply(server, bad).ToString();

    private static RespNode Reply(ServerProcess server, BadCommand bad)
    {
        using RespConnection connection = new(server.Address);
        foreach (string[] words in bad.Before) connection.Call(words);
        RespNode reply = connection.Call(bad.Words);
        Assert.That(connection.Call("PING").ToString(), Is.EqualTo("+PONG"), "one reply for one command");
        return reply;
    }
}

using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Garnet.Aof;
using Garnet.Common.Test;
using Garnet.Server.Clients;
using Garnet.Server.Net;
using Garnet.Server.Test.Persistence;

namespace Garnet.Server.Test.Net;

/// <summary>
/// What becomes of clients whose requests are served in one round of one reactor: it is held until all of them have come. Clients are stopped, and go, by what is sent
/// to them as well as by their own commands.
/// </summary>
public sealed class OneRoundTests
{
    private const int WaitMs = 30_000, Commands = 200; // more than one client may have in a turn

    [Test]
    public void Replies_that_the_log_holds_up_cost_no_command_of_the_same_pipeline()
    {
        using var disk = new GatedDisk();
        using EmbeddedServer server = new(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always, adjust: static settings =>
        {
            settings.Network.ReactorThreads = 1;
            settings.Persistence.SegmentBytes = 1 << 20;
        });
        server.Server.Loaded.Await();
        using TcpClient many = server.Connect(), other = server.Connect();
        disk.Hold();
        using (HeldReactor round = new(server.Server, many, other))
        {
            round.Send(many, string.Concat(Enumerable.Repeat("INCR k\r\n", Commands)));
            round.Send(other, "SET other 1\r\n");
        }

        Eventually.Holds(() => server.Server.Reactors[0].Replies.Held.Count == 2);
        disk.Release();
        Assert.That(Read(other, 5), Is.EqualTo("+OK\r\n"));
        string replies = string.Concat(Enumerable.Range(1, Commands).Select(static i => string.Create(CultureInfo.InvariantCulture, $":{i}\r\n")));
        Assert.That(Read(many, replies.Length), Is.EqualTo(replies));
        Write(many, "PING\r\n");
        Assert.That(Read(many, 7), Is.EqualTo("+PONG\r\n"));
    }

    [Test]
    public void What_stands_behind_a_long_reply_that_the_log_holds_up_is_not_run_before_that_has_left()
    {
        const int Bytes = Worker.SendEarlyBytes + 1; // so much is sent before the round ends
        using var disk = new GatedDisk();
        using EmbeddedServer server = new(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always, adjust: static settings => settings.Network.ReactorThreads = 1);
        server.Server.Loaded.Await();
        using TcpClient held = server.Connect(), other = server.Connect();
        Write(held, $"*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n${Bytes}\r\n{new string('x', Bytes)}\r\n");
        Assert.That(Read(held, 5), Is.EqualTo("+OK\r\n"));
        disk.Hold();
        using (HeldReactor round = new(server.Server, held))
            round.Send(held, "SET k 1\r\nGET big\r\nINCR n\r\nINCR n\r\n");
        Eventually.Holds(() => server.Server.Reactors[0].Replies.Held.Count == 1);
        Assert.That(EmbeddedServer.Send(other, "EXISTS n\r\n", "\r\n"), Is.EqualTo(":0\r\n"));
        disk.Release();
        string replies = Read(held, $"+OK\r\n${Bytes}\r\n".Length + Bytes + 2 + 8);
        Assert.That((replies[..5], replies[^10..]), Is.EqualTo(("+OK\r\n", "\r\n:1\r\n:2\r\n")));
    }

    [Test]
    public void What_the_log_holds_up_does_not_go_with_what_the_socket_had_not_taken()
    {
        const int Bytes = 4 << 20, Gets = 4;
        using var disk = new GatedDisk();
        using EmbeddedServer server = new(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always, adjust: static settings =>
        {
            settings.Network.ReactorThreads = 1;
            settings.Persistence.SegmentBytes = 16 << 20;
        });
        server.Server.Loaded.Await();
        using TcpClient reader = server.Connect(), writer = server.Connect();
        Write(writer, $"*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n${Bytes}\r\n{new string('x', Bytes)}\r\n");
        Assert.That(Read(writer, 5), Is.EqualTo("+OK\r\n"));
        Write(reader, string.Concat(Enumerable.Repeat("GET big\r\n", Gets)));
        Assert.That(() => server.Server.Context.Clients().Any(static client => client.WriteBlocked), Is.True.After(WaitMs, 1));
        disk.Hold();
        Write(reader, "SET k 1\r\n");
        Assert.That(() => server.Server.Reactors[0].Replies.Held.Count, Is.EqualTo(1).After(WaitMs, 1));
        int answer = $"${Bytes}\r\n".Length + Bytes + 2;
        reader.ReceiveTimeout = 300;
        int got = ReadUntilSilent(reader, Gets * answer + 5);
        Assert.That(got, Is.LessThanOrEqualTo(Gets * answer), "the +OK before its change is durable");
        disk.Release();
        reader.ReceiveTimeout = WaitMs;
        Assert.That(Read(reader, (Gets * answer) + 5 - got), Does.EndWith("+OK\r\n"));
    }

    [Test]
    public void Nothing_is_run_for_who_has_gone([Values("SUBSCRIBE ch", "BLPOP q 0")] string command)
    {
        using EmbeddedServer server = new(adjust: static settings => settings.Network.ReactorThreads = 1);
        using TcpClient other = server.Connect(), gone = server.Connect();
        using (HeldReactor round = new(server.Server, gone, other))
        {
            round.Send(gone, string.Concat(Enumerable.Repeat("PING\r\n", RequestReceiver.QuotaCommands)) + command + "\r\n");
            round.Send(other, "PING\r\n"); // served before the last one of the other, whose replies are sent then: its socket is found broken
            HeldReactor.Reset(gone);
        }

        Assert.That(Read(other, 7), Is.EqualTo("+PONG\r\n"));
        Assert.That(() => server.Server.Context.ClientLimits.ClientCount, Is.EqualTo(2).After(WaitMs, 5), "this one and the harness");
        Write(other, "PUBLISH ch x\r\nRPUSH q v\r\nLLEN q\r\n");
        Assert.That(Read(other, 12), Is.EqualTo(":0\r\n:1\r\n:1\r\n"));
    }

    [Test]
    public void Who_is_killed_while_a_script_of_its_transaction_runs_is_closed_behind_that()
    {
        const string UntilTheNextDay = "EVAL \"redis.call('SET','w',1) local t=redis.call('TIME') repeat until redis.call('TIME')[1]-t[1]>80000 return 1\" 0\r\n";
        ShiftedClock clock = new();
        using EmbeddedServer server = new(clock: clock, adjust: static settings =>
        {
            settings.Network.ReactorThreads = 1;
            settings.Scripts.BusyMilliseconds = 1;
        });
        using TcpClient victim = server.Connect(), killer = server.Connect();
        string id = EmbeddedServer.Send(victim, "CLIENT ID\r\n", "\r\n")[1..].Trim();
        Connection? killed = server.Server.Context.Clients().Find(client => client.Id.ToString(CultureInfo.InvariantCulture) == id);
        Write(victim, "MULTI\r\n" + UntilTheNextDay + string.Concat(Enumerable.Range(0, Commands).Select(static i => $"SET k{i} v\r\n")));
        Read(victim, 5 + (9 * (Commands + 1)));
        using (HeldReactor round = new(server.Server, killer))
        {
            round.Send(killer, $"CLIENT KILL ID {id}\r\n");
            round.Send(victim, "EXEC\r\n"); // which runs before what the other has posted is read
        }

        Eventually.Holds(() => killed!.Muted);
        Assert.That(killed!.Closed, Is.False, "its script is in the middle of what it has sent");
        clock.ShiftMs = 86_400_000;
        Assert.That(Read(killer, 4), Is.EqualTo(":1\r\n"));
        Eventually.Holds(() => killed.Closed);
        Assert.That(EmbeddedServer.Send(killer, "DBSIZE\r\n", "\r\n"), Is.EqualTo($":{Commands + 1}\r\n"), "all of the transaction");
    }

    private static void Write(TcpClient client, string text) => client.GetStream().Write(Encoding.Latin1.GetBytes(text));

    private static string Read(TcpClient client, int bytes)
    {
        byte[] buffer = new byte[bytes];
        client.ReceiveTimeout = WaitMs;
        client.GetStream().ReadExactly(buffer);
        return Encoding.Latin1.GetString(buffer);
    }

    // What comes until nothing does for a while.
    private static int ReadUntilSilent(TcpClient client, int most)
    {
        byte[] buffer = new byte[most];
        int got = 0;
        try
        {
            while (got < most) got += client.GetStream().Read(buffer, got, most - got);
        }
        catch (IOException e) when (e.InnerException is SocketException { SocketErrorCode: SocketError.TimedOut or SocketError.WouldBlock })
        {
            // silent
        }
        return got;
    }
}

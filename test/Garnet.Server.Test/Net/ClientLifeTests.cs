using System.Globalization;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Garnet.Common;
using Garnet.Wire;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>Who may connect, how long, and what ends a connection; the same over every transport.</summary>
[TestFixture(Route.Epoll)]
[TestFixture(Route.Sockets)]
[TestFixture(Route.Tls)]
internal sealed class ClientLifeTests(Route route)
{
    private const int WaitMs = 10_000;

    [Platform(Include = "Linux"), System.Runtime.Versioning.SupportedOSPlatform("linux")]
    [TestCase(0x180, "rw-------")]
    [TestCase(0x1B6, "rw-rw-rw-")]
    public void A_Unix_socket_has_the_permissions_that_were_asked_for(int bits, string shown)
    {
        string path = Path.Combine(Directory.CreateTempSubdirectory("garnet").FullName, "socket");
        using (TestServer server = new(route, settings => (settings.Network.UnixSocket, settings.Network.UnixSocketPermissions) = (path, bits)))
        {
            Assert.That((int)File.GetUnixFileMode(path), Is.EqualTo(bits), shown);
            using RespConnection client = new(new UnixDomainSocketEndPoint(path));
            Assert.That(client.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
            Assert.That(client.Call("CLIENT", "INFO").Text, Does.Contain($"addr={path}"));
        }
        Assert.That(File.Exists(path), Is.False);
        Directory.Delete(Path.GetDirectoryName(path)!);
    }

    [Test]
    public void What_lies_where_a_Unix_socket_should_be_and_is_none_is_left_there()
    {
        string path = Path.Combine(Directory.CreateTempSubdirectory("garnet").FullName, "socket");
        File.WriteAllText(path, "somebody's");
        Assert.That(() => new TestServer(route, settings => settings.Network.UnixSocket = path), Throws.TypeOf<GarnetException>().With.Message.Contains("not a socket"));
        Assert.That(File.ReadAllText(path), Is.EqualTo("somebody's"));
        Directory.Delete(Path.GetDirectoryName(path)!, recursive: true);
    }

    [Test]
    public void One_client_too_many_is_told_so_and_closed()
    {
        using TestServer server = new(route, settings => settings.Network.ClientsMax = 3);
        RespConnection[] clients = [.. Enumerable.Range(0, 3).Select(_ => server.Connect())];
        foreach (RespConnection client in clients) client.Call("PING");
        if (route == Route.Tls)
        {
            Assert.That(server.Connect, Throws.InstanceOf<IOException>(), "nothing is said that is not encrypted");
        }
        else
        {
            using RespConnection fourth = server.Connect();
            Assert.That(fourth.Read().ToString(), Is.EqualTo("-ERR max number of clients reached"));
            Assert.That(fourth.ReadsEnd());
        }
        clients[0].Dispose();
        server.AwaitClients(2);
        using RespConnection another = server.Connect();
        Assert.That(another.Call("PING").ToString(), Is.EqualTo("+PONG"));
        Assert.That(another.Call("INFO", "stats").Text, Does.Contain("rejected_connections:1"));
        foreach (RespConnection client in clients) client.Dispose();
        server.AwaitClients(1);
    }

    [Test]
    public void Protected_mode_turns_other_machines_away()
    {
        IPAddress? outside = NetworkInterface.GetAllNetworkInterfaces().SelectMany(nic => nic.GetIPProperties().UnicastAddresses)
            .Select(address => address.Address).FirstOrDefault(address => address.AddressFamily == AddressFamily.InterNetwork && !IPAddress.IsLoopback(address));
        if (outside is null) Assert.Ignore("this machine has no address but loopback");
        using TestServer server = new(route, settings => settings.Network.Bind = ["*"]);
        using (RespConnection client = server.Connect(outside!))
        {
            Assert.That(client.Read().ToString(), Does.StartWith("-DENIED "));
            Assert.That(client.ReadsEnd());
        }
        using RespConnection local = server.Connect();
        local.Call("CONFIG", "SET", "protected-mode", "no");
        using RespConnection open = server.Connect(outside!);
        Assert.That(open.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void An_idle_client_is_closed_and_a_subscriber_is_not()
    {
        using TestServer server = new(route);
        using RespConnection idle = server.Connect(), busy = server.Connect(), listener = server.Connect();
        idle.Call("PING");
        listener.Call("SUBSCRIBE", "c");
        busy.Call("CONFIG", "SET", "timeout", "60");
        server.Advance(59_000);
        busy.Call("PING");
        server.Advance(2_000);
        Assert.That(idle.ReadsEnd());
        Assert.That(busy.Call("PUBLISH", "c", "m").ToString(), Is.EqualTo(":1"));
        Assert.That(listener.Read().ToString(), Is.EqualTo("[ \"message\" \"c\" \"m\" ]"));
    }

    [Test]
    public void A_stranger_that_dawdles_is_closed()
    {
        using TestServer server = new(route, settings => settings.Security.Password = "secret");
        using RespConnection slow = server.Connect();
        slow.Send("*2\r\n$4\r\nAUTH\r\n$6\r\nsec"u8);
        using RespConnection other = server.Connect();
        Assert.That(other.Call("AUTH", "secret").ToString(), Is.EqualTo("+OK"));
        Assert.That(() => server.Server.Context.Clients().Count(client => client.BytesIn > 0), Is.EqualTo(2).After(WaitMs, 1));
        server.Advance(11_000);
        Assert.That(slow.ReadsEnd());
        Assert.That(other.Call("PING").ToString(), Is.EqualTo("+PONG"));
        Assert.That(other.Call("CONFIG", "SET", "requirepass", "").ToString(), Is.EqualTo("+OK"));
    }

    [Test]
    public void A_pause_holds_commands_back_and_then_runs_them_in_order()
    {
        using TestServer server = new(route);
        using RespConnection client = server.Connect(), other = server.Connect();
        client.Call("CLIENT", "PAUSE", "60000", "WRITE");
        client.Send("GET a\r\nSET a \"x \\x41\"\r\nECHO 'it\\'s'\r\nGET a\r\n"u8);
        Assert.That(client.Read().ToString(), Is.EqualTo("$-1"));
        Assert.That(client.WaitForBytes(150), Is.False);
        Assert.That(other.Call("GET", "a").ToString(), Is.EqualTo("$-1"));
        Assert.That(other.Call("CLIENT", "UNPAUSE").ToString(), Is.EqualTo("+OK"));
        Assert.That(client.Read().ToString(), Is.EqualTo("+OK"));
        Assert.That(client.Read().ToString(), Is.EqualTo("\"it's\""));
        Assert.That(client.Read().ToString(), Is.EqualTo("\"x A\""));
    }

    [Test]
    public void A_pause_ends_by_itself()
    {
        using TestServer server = new(route);
        using RespConnection client = server.Connect();
        client.Call("CLIENT", "PAUSE", "60000", "ALL");
        client.Send("PING\r\n"u8);
        Assert.That(client.WaitForBytes(50), Is.False);
        server.Advance(61_000);
        Assert.That(client.Read().ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void A_client_that_leaves_while_its_command_waits_is_noticed()
    {
        using TestServer server = new(route);
        using RespConnection admin = server.Connect();
        admin.Call("CLIENT", "PAUSE", "60000", "WRITE");
        RespConnection client = server.Connect();
        client.Send("SET a 1\r\n"u8);
        Assert.That(() => server.Server.Context.Clients().Count(c => c.Parked), Is.EqualTo(1).After(WaitMs, 1));
        client.Dispose();
        server.AwaitClients(1);
        admin.Call("CLIENT", "UNPAUSE");
        Assert.That(admin.Call("EXISTS", "a").ToString(), Is.EqualTo(":0"));
    }

    [Test]
    public void Replies_are_switched_off_and_skipped()
    {
        using TestServer server = new(route);
        using RespConnection client = server.Connect();
        client.Send("CLIENT REPLY SKIP\r\nSET a 1\r\nINCR a\r\nCLIENT REPLY OFF\r\nINCR a\r\nGET a\r\nCLIENT REPLY ON\r\nGET a\r\n"u8);
        Assert.That(client.Read().ToString(), Is.EqualTo(":2"));
        Assert.That(client.Read().ToString(), Is.EqualTo("+OK"));
        Assert.That(client.Read().ToString(), Is.EqualTo("\"3\""));
    }

    [Test]
    public void A_killed_client_is_closed_and_others_live()
    {
        using TestServer server = new(route);
        RespConnection[] victims = [.. Enumerable.Range(0, 6).Select(_ => server.Connect())];
        using RespConnection killer = server.Connect();
        foreach (RespConnection victim in victims)
        {
            string id = victim.Call("CLIENT", "ID").Text;
            Assert.That(killer.Call("CLIENT", "KILL", "ID", id).ToString(), Is.EqualTo(":1"));
            Assert.That(victim.ReadsEnd());
            victim.Dispose();
        }
        Assert.That(killer.Call("CLIENT", "KILL", "ID", killer.Call("CLIENT", "ID").Text, "SKIPME", "no").ToString(), Is.EqualTo(":1"));
        Assert.That(killer.ReadsEnd());
        server.AwaitClients(0);
    }

    [TestCase("1mb 0 0", 0, 2)]
    [TestCase("1mb 0 0", 0, 1)] // publisher and subscriber on one reactor: closed while the message is being handed out
    [TestCase("0 256kb 30", 31_000, 2)]
    public void A_subscriber_that_never_reads_is_closed(string limit, int laterMs, int reactors)
    {
        using TestServer server = new(route, settings => settings.Network.ReactorThreads = reactors);
        using RespConnection publisher = server.Connect(), listener = server.Connect();
        publisher.Call("CONFIG", "SET", "client-output-buffer-limit", "pubsub " + limit);
        listener.Call("SUBSCRIBE", "c");
        Flood(publisher, laterMs == 0 ? 400 : 120);
        if (laterMs > 0)
        {
            Assert.That(publisher.Call("PUBSUB", "NUMSUB", "c").ToString(), Is.EqualTo("[ \"c\" :1 ]"));
            // The listener's reactor may be behind: its time runs from when that has seen how much waits.
            Eventually.Holds(() => publisher.Call("CLIENT", "LIST").Text.Split('\n').Any(static line => Waiting(line) > 1 << 20));
            server.Advance(laterMs);
        }
        server.AwaitClients(1);
        Assert.That(publisher.Call("INFO", "clients").Text, Does.Contain("connected_clients:1"));
    }

    [Test]
    public void A_monitor_that_never_reads_is_closed()
    {
        using TestServer server = new(route);
        using RespConnection busy = server.Connect(), monitor = server.Connect();
        busy.Call("CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 0 0");
        Assert.That(monitor.Call("MONITOR").ToString(), Is.EqualTo("+OK"));
        Flood(busy, 400);
        server.AwaitClients(1);
    }

    [Test]
    public void A_client_that_reads_late_gets_everything_though_it_had_to_wait()
    {
        using TestServer server = new(route);
        using RespConnection client = server.Connect();
        client.Call("CONFIG", "SET", "client-output-buffer-limit", "normal 0 1mb 3600");
        client.Call("SET", "k", new string('v', 100_000));
        byte[] get = RespConnection.Encode("GET", "k"), count = RespConnection.Encode("INCR", "n");
        client.Send([.. Enumerable.Range(0, 500).SelectMany(_ => get.Concat(count))]);
        Assert.That(() => server.Server.Context.Clients().Any(c => c.Stalled), Is.True.After(WaitMs, 1));
        using RespConnection other = server.Connect();
        Assert.That(long.Parse(other.Call("GET", "n").Text, CultureInfo.InvariantCulture), Is.LessThan(500));
        for (int i = 1; i <= 500; i++)
        {
            Assert.That(client.Read().Text, Has.Length.EqualTo(100_000));
            Assert.That(client.Read().Text, Is.EqualTo(i.ToString(CultureInfo.InvariantCulture)));
        }
    }

    [Test]
    public void A_server_that_stops_closes_its_clients_and_ends()
    {
        TestServer server = new(route);
        using RespConnection client = server.Connect();
        client.Call("PING");
        server.Server.Stop(TimeSpan.FromMilliseconds(WaitMs));
        Assert.That(client.ReadsEnd());
        Assert.That(server.Server.Completion.IsCompletedSuccessfully);
        server.Server.Dispose();
    }

    // What is left of a stop may take long: the last snapshot, say, on a disk that is slow.
    [Test]
    public void A_server_that_has_stopped_serving_refuses_who_comes_and_lets_nobody_wait()
    {
        TestServer server = new(route);
        server.Server.Stop(TimeSpan.FromMilliseconds(WaitMs));
        Eventually.Holds(() => !Accepts(server.Server.Port));
        server.Server.Dispose();
    }

    private static bool Accepts(int port)
    {
        try
        {
            using TcpClient client = new("127.0.0.1", port);
            return true;
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionRefused) // not one that nobody has taken
        {
            return false;
        }
    }

    private static long Waiting(string client) =>
        client.Split(" omem=") is [_, var rest] ? long.Parse(rest.Split(' ')[0], System.Globalization.CultureInfo.InvariantCulture) : 0;

    private static void Flood(RespConnection publisher, int messages)
    {
        string text = new('m', 64 * 1024);
        for (int i = 0; i < messages; i++) publisher.Call("PUBLISH", "c", text);
    }
}

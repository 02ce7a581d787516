using System.Net.Sockets;
using System.Text;
using Garnet.Admin.Http;

namespace Garnet.Admin.Test;

/// <summary>What nobody sends who means well. After each the listener answers, the server answers, and nothing stays taken.</summary>
[Parallelizable(ParallelScope.Self)]
public sealed class HostileTests
{
    private static string Endless(string begin) => begin + new string('x', AdminLimits.RequestBytesMax);

    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ")]
    [TestCase("GET /")]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\n")]
    [TestCase("")]
    public void A_request_that_is_too_long_is_refused_before_all_of_it_has_come(string begin)
    {
        using var server = new AdminServer();
        Assert.That(AdminServer.StatusOf(server.Raw(Endless(begin) + new string('y', 3 * AdminLimits.DrainBytesMax))), Is.EqualTo(431).Or.Zero);
        Assert.That(AdminServer.StatusOf(server.Raw(Endless(begin))), Is.EqualTo(431));
        IsUnharmed(server);
    }

    [TestCase("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405)]
    [TestCase("DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 405)]
    [TestCase("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400)]
    [TestCase("CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400)]
    [TestCase("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400)]
    [TestCase("get / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 413)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413)]
    [TestCase("GET / HTTP/1.1\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\n folded: x\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\nHost: localhost\n\n\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nX: \0\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: lo\u00ffcalhost\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://lo\u00e9calhost\r\n\r\n", 400)]
    [TestCase("GET /\u00e9 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nX\u00e9: a\r\n\r\n", 400)]
    [TestCase("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\u00e9\r\n\r\n", 413)]
    [TestCase("GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400)]
    [TestCase("GET / HTTP/0.9\r\nHost: localhost\r\n\r\n", 400)]
    [TestCase("GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400)]
    [TestCase("*1\r\n$4\r\nPING\r\n\r\n", 400)]
    [TestCase("\u0016\u0003\u0001\u0002\0\r\n\r\n", 400)]
    [TestCase("\r\n\r\n", 400)]
    public void What_is_no_request_that_is_answered_is_refused(string request, int status)
    {
        using var server = new AdminServer();
        string answer = server.Raw(request);
        Assert.That(AdminServer.StatusOf(answer), Is.EqualTo(status));
        Assert.That(answer.Split("HTTP/1.1 "), Has.Length.EqualTo(2), "one answer");
        IsUnharmed(server);
    }

    /// <summary>Browsers send cookies of every site on this machine, whatever stands in them.</summary>
    [Test]
    public void What_does_not_count_may_be_in_any_language()
    {
        using var server = new AdminServer();
        Assert.That(AdminServer.BodyOf(server.Get("/healthz", "Cookie: a=\u00e9\u007f\r\nUser-Agent: \u00fc\r\n")), Is.EqualTo("ok\n"));
    }

    [Test]
    public void What_comes_behind_a_request_is_not_taken_for_another()
    {
        using var server = new AdminServer();
        string answer = server.Raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        Assert.That(AdminServer.BodyOf(answer), Is.EqualTo("ok\n"));
        Assert.That(answer, Does.Contain("Connection: close\r\n"));
    }

    [TestCase("/../etc/passwd")]
    [TestCase("/%2e%2e/%2e%2e/etc/passwd")]
    [TestCase("//page.js")]
    [TestCase("/page.js/")]
    [TestCase("/./page.js")]
    [TestCase("/page.js%00.html")]
    [TestCase("/PAGE.JS")]
    [TestCase("/page.html")]
    [TestCase("/metrics/..")]
    [TestCase("/\\..\\page.js")]
    public void Paths_are_taken_as_they_are(string path)
    {
        using var server = new AdminServer();
        Assert.That(AdminServer.StatusOf(server.Get(path)), Is.EqualTo(404));
    }

    [TestCase("localhost", 200)]
    [TestCase("LOCALHOST:80", 200)]
    [TestCase("127.0.0.1", 200)]
    [TestCase("127.1.2.3:9", 200)]
    [TestCase("[::1]:9", 200)]
    [TestCase("garnet.example", 200)]
    [TestCase("garnet.example.:9121", 200)]
    [TestCase("evil.example", 421)]
    [TestCase("localhost.evil.example", 421)]
    [TestCase("192.0.2.1", 421)]
    [TestCase("[2001:db8::1]", 421)]
    [TestCase("localhost:evil", 421)]
    [TestCase("localhost@evil.example", 421)]
    [TestCase("[::1", 421)]
    [TestCase("0", 421)]
    public void Only_names_of_this_server_are_answered_to(string host, int status)
    {
        using var server = new AdminServer(settings: ("admin-hosts", "other garnet.example"));
        Assert.That(AdminServer.StatusOf(server.Get("/healthz", host: host)), Is.EqualTo(status));
    }

    /// <summary>Probes ask by the address of the machine or the pod, which no name of others can stand for.</summary>
    [TestCase("10.1.2.3", "10.1.2.3:9121", true)]
    [TestCase("10.1.2.3", "10.1.2.4:9121", false)]
    [TestCase("::ffff:10.1.2.3", "10.1.2.3", true)]
    [TestCase("2001:db8::1", "[2001:db8::1]:9121", true)]
    [TestCase("2001:db8::1", "[2001:db8::2]:9121", false)]
    public void The_address_that_a_request_came_to_is_answered_to(string local, string host, bool isAnswered)
    {
        HttpRequest request = HttpRequest.Parse(Encoding.ASCII.GetBytes($"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), out _)!;
        Assert.That(RequestGuard.Refusal(request, System.Net.IPAddress.Parse(local), []) is null, Is.EqualTo(isAnswered));
    }

    [TestCase("/metrics", "Sec-Fetch-Site: cross-site\r\n", 403)]
    [TestCase("/events", "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n", 403)]
    [TestCase("/metrics", "Origin: http://evil.example\r\n", 403)]
    [TestCase("/metrics", "Origin: null\r\n", 403)]
    [TestCase("/login", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", 403)]
    [TestCase("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", 403)]
    [TestCase("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", 200)]
    [TestCase("/metrics", "Sec-Fetch-Site: none\r\n", 200)]
    [TestCase("/metrics", "Sec-Fetch-Site: same-origin\r\n", 200)]
    [TestCase("/metrics", "Origin: http://here:1\r\nSec-Fetch-Site: same-origin\r\n", 200)]
    [TestCase("/metrics", "Origin: http://evil.example\r\nSec-Fetch-Site: same-origin\r\n", 403)]
    [TestCase("/metrics", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n", 400)]
    public void Pages_from_elsewhere_get_nothing(string path, string fields, int status)
    {
        using var server = new AdminServer(settings: ("admin-hosts", "here"));
        string answer = server.Get(path, fields, host: "here:1");
        Assert.That(AdminServer.StatusOf(answer), Is.EqualTo(status));
        Assert.That(answer, Does.Not.Contain("Access-Control"));
        Assert.That(answer, Does.Contain("frame-ancestors 'none'").And.Contain("default-src 'none'").And.Not.Contain("unsafe"));
    }

    [Test]
    public void A_thousand_connections_take_the_places_there_are_and_no_more()
    {
        using var server = new AdminServer(new ManualTime()); // nobody's time is over
        long before = GC.GetTotalMemory(forceFullCollection: true);
        var held = new List<TcpClient>();
        try
        {
            for (int i = 0; i < 1000; i++)
            {
                TcpClient client = server.Connect();
                held.Add(client);
                TrySend(client, "GET / HTTP/1.1\r\nHost: loc"u8);
            }

            Assert.That(() => server.Connections, Is.EqualTo(AdminLimits.ConnectionsMax).After(AdminServer.WaitMs, 20));
            Assert.That(server.Command("PING"), Is.EqualTo("+PONG"));
        }
        finally
        {
            held.ForEach(static client => client.Dispose());
        }

        Assert.That(() => server.Connections, Is.Zero.After(AdminServer.WaitMs, 20));
        IsUnharmed(server);
        Assert.That(() => GC.GetTotalMemory(forceFullCollection: true) - before, Is.LessThan(4 << 20).After(AdminServer.WaitMs, 100));
    }

    [Test]
    public void Who_does_not_end_a_request_is_closed_when_its_time_is_over()
    {
        var time = new ManualTime();
        using var server = new AdminServer(time);
        using TcpClient slow = server.Connect();
        slow.GetStream().Write("GET / HTTP/1.1\r\n"u8);
        Assert.That(() => server.Connections, Is.EqualTo(1).After(AdminServer.WaitMs, 5));
        Assert.That(() => time.Timers, Is.Positive.After(AdminServer.WaitMs, 5));
        time.Advance(AdminLimits.RequestTime - TimeSpan.FromMilliseconds(1));
        Assert.That(server.Connections, Is.EqualTo(1));
        time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.That(slow.GetStream().Read(new byte[1]), Is.Zero);
        Assert.That(() => server.Connections, Is.Zero.After(AdminServer.WaitMs, 5));
    }

    [Test]
    public void Who_does_not_read_the_stream_is_closed_when_the_time_of_an_event_is_over()
    {
        var time = new ManualTime();
        using var server = new AdminServer(time);
        using TcpClient slow = new() { ReceiveBufferSize = 4096 };
        slow.Connect("127.0.0.1", server.Port);
        slow.GetStream().Write(Encoding.ASCII.GetBytes("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        Assert.That(() => server.Connections, Is.EqualTo(1).After(AdminServer.WaitMs, 5));
        // Events go until no more fits on its way; then the one that does not ends the connection.
        Assert.That(() =>
        {
            time.Advance(AdminLimits.EventTime);
            return server.Connections;
        }, Is.Zero.After(AdminServer.WaitMs, 1));
        Assert.That(CountToEnd(slow), Is.LessThan(4 * AdminLimits.SendBytesMax), "it is not kept for who does not read");
        IsUnharmed(server);
    }

    [Test]
    public void A_stream_ends_after_a_minute_so_that_its_rights_are_looked_at_anew()
    {
        var time = new ManualTime();
        using var server = new AdminServer(time);
        using TcpClient client = server.Connect();
        client.GetStream().Write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"u8);
        using var reader = new StreamReader(client.GetStream());
        int events = 0;
        bool asksSoon = false;
        while (reader.ReadLine() is { } line)
        {
            asksSoon |= line.StartsWith("retry: ", StringComparison.Ordinal);
            if (!line.StartsWith("data: ", StringComparison.Ordinal))
                continue;
            events++;
            time.Advance(AdminLimits.EventTime);
        }

        Assert.That(events, Is.EqualTo(60));
        Assert.That(asksSoon);
    }

    [Test]
    public void There_are_few_streams_and_one_that_ends_makes_room()
    {
        using var server = new AdminServer();
        var streams = new List<(TcpClient Client, StreamReader Reader)>();
        try
        {
            for (int i = 0; i < AdminLimits.StreamsMax; i++)
            {
                TcpClient client = server.Connect();
                client.GetStream().Write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"u8);
                var reader = new StreamReader(client.GetStream());
                streams.Add((client, reader));
                Assert.That(reader.ReadLine(), Is.EqualTo("HTTP/1.1 200 OK"));
            }

            Assert.That(FirstLine(server), Is.EqualTo("HTTP/1.1 503 Service Unavailable"));
            streams[0].Client.Dispose();
            Assert.That(() => FirstLine(server), Is.EqualTo("HTTP/1.1 200 OK").After(AdminServer.WaitMs, 50));
        }
        finally
        {
            streams.ForEach(static stream => stream.Client.Dispose());
        }

        Assert.That(() => server.Connections, Is.Zero.After(AdminServer.WaitMs, 20));
    }

    [Test]
    public void Bytes_by_chance_get_an_answer_or_none()
    {
        const int Seed = 7;
        using var server = new AdminServer();
        var random = new Random(Seed);
        byte[] whole = Encoding.ASCII.GetBytes("GET /metrics?a=b HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ZDp4\r\nOrigin: http://localhost\r\nX: y\r\n\r\n");
        for (int i = 0; i < 20_000; i++)
        {
            byte[] bytes = [.. whole];
            for (int j = random.Next(4); j >= 0; j--)
                bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
            HttpRequest? request = HttpRequest.Parse(bytes, out HttpStatus refusal);
            Assert.That(request is not null || (int)refusal >= 400, $"seed {Seed}, round {i}");
            if (request is null)
                continue;
            _ = RequestGuard.Refusal(request, System.Net.IPAddress.Loopback, []);
            _ = Credentials.Of(request.Authorization);
        }

        IsUnharmed(server);
    }

    // Of the answer to somebody who wants a stream.
    private static string? FirstLine(AdminServer server)
    {
        using TcpClient client = server.Connect();
        client.GetStream().Write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"u8);
        using var reader = new StreamReader(client.GetStream());
        return reader.ReadLine();
    }

    private static long CountToEnd(TcpClient client)
    {
        byte[] bytes = new byte[64 * 1024];
        long count = 0;
        try
        {
            while (client.GetStream().Read(bytes) is > 0 and var got)
                count += got;
        }
        catch (IOException)
        {
            // That is an end too.
        }

        return count;
    }

    private static void TrySend(TcpClient client, ReadOnlySpan<byte> bytes)
    {
        try
        {
            client.GetStream().Write(bytes);
        }
        catch (IOException)
        {
            // It was one too many, and is closed already.
        }
    }

    private static void IsUnharmed(AdminServer server)
    {
        Assert.That(() => server.Connections, Is.Zero.After(AdminServer.WaitMs, 5));
        Assert.That(AdminServer.StatusOf(server.Get("/healthz")), Is.EqualTo(200));
        Assert.That(server.Command("PING"), Is.EqualTo("+PONG"));
    }
}

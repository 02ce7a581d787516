using System.Net;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Text;
using Garnet.Common.Test;
using Garnet.Server.Net;
using Garnet.Server.Test.Net;
using Garnet.Wire;
using Garnet.Wire.Tls;
using NUnit.Framework;

namespace Garnet.Server.Test.Tls;

/// <summary>What strangers do in a handshake costs them their connection, and others nothing.</summary>
internal sealed class HandshakeTests
{
    private const int WaitMs = 60_000;

    private TestCertificates _files = null!;
    private RecordedLines _lines = null!;
    private TestServer _server = null!;
    private RespConnection _witness = null!;

    [SetUp]
    public void Start()
    {
        _files = new TestCertificates();
        _lines = new RecordedLines();
        _server = new TestServer(Route.Tls, static settings => settings.Security.AuditFile = "log", certificates: _files, lines: _lines);
        _witness = _server.Connect();
        Assert.That(_witness.Call("SET", "marker", "intact").ToString(), Is.EqualTo("+OK"));
    }

    [TearDown]
    public void Stop()
    {
        Assert.That(_witness.Call("GET", "marker").Text, Is.EqualTo("intact"));
        _server.AwaitClients(1);
        using (RespConnection another = _server.Connect())
            Assert.That(another.Call("PING").ToString(), Is.EqualTo("+PONG"));
        _witness.Dispose();
        _server.Dispose();
        _files.Dispose();
    }

    [TestCase(0)]
    [TestCase(1)]
    [TestCase(40)]
    [TestCase(-1)]
    public void Half_a_handshake_is_closed_when_its_time_is_over(int bytes)
    {
        byte[] hello = Hello();
        using RespConnection half = new(_server.TlsAddress);
        half.Send(hello.AsSpan(0, bytes < 0 ? hello.Length : bytes));
        _server.AwaitClients(2);
        if (bytes < 0) Assert.That(half.WaitForBytes(WaitMs), "the server has answered");
        else Assert.That(half.WaitForBytes(50), Is.False);
        _server.Advance(11_000);
        _server.AwaitClients(1);
        Assert.That(() => _lines.All, Has.Some.Contain("the handshake was not over after 10 s (tls-handshake-timeout)").After(WaitMs, 5));
    }

    [Test]
    public void A_byte_a_second_does_not_lengthen_the_time_of_a_handshake()
    {
        byte[] hello = Hello();
        _server.Clock.Stop();
        using RespConnection dripping = new(_server.TlsAddress);
        for (int second = 0; second < 12; second++)
        {
            if (second < 9) dripping.Send(hello.AsSpan(second, 1));
            using (RespConnection guest = _server.Connect())
                Assert.That(guest.Call("PING").ToString(), Is.EqualTo("+PONG"), "whoever comes after it has it looked at before");
            _server.Advance(1000);
        }

        Assert.That(() => _lines.All, Has.Some.Contain("the handshake was not over after 10 s (tls-handshake-timeout)").After(WaitMs, 5));
    }

    [Test]
    public void A_handshake_whose_bytes_come_one_by_one_comes_to_its_end()
    {
        using RespConnection slow = new(_server.TlsAddress, over: stream => _files.Over(new OneByOne(stream)));
        Assert.That(slow.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void Garbage_is_closed_and_the_log_says_so_a_few_times_a_second()
    {
        Random random = new(20_261_101);
        byte[] garbage = new byte[300];
        for (int i = 0; i < 200; i++)
        {
            random.NextBytes(garbage);
            if (i % 3 == 0) garbage[0] = 0x16;
            if (i % 6 == 0) (garbage[1], garbage[2], garbage[3]) = (3, 1, 0);
            using RespConnection stranger = new(_server.TlsAddress);
            stranger.Send(garbage);
            stranger.EndSending();
            Assert.That(ClosesAtLast(stranger), $"garbage {i}");
        }

        Assert.That(_lines.All.Count(static line => line.Contains("gets no TLS connection", StringComparison.Ordinal)), Is.InRange(1, 150));
    }

    [TestCase("PING\r\n")]
    [TestCase("*1\r\n$4\r\nPING\r\n")]
    [TestCase("GET / HTTP/1.1\r\nHost: a\r\n\r\n")]
    public void Plain_bytes_to_the_encrypted_port_are_closed(string text)
    {
        using RespConnection plain = new(_server.TlsAddress);
        plain.Send(Encoding.ASCII.GetBytes(text));
        Assert.That(ClosesAtLast(plain));
        Assert.That(() => _lines.All, Has.Some.Contain("what it sent is no TLS").After(WaitMs, 5));
    }

    [Test]
    public void TLS_to_the_plain_port_is_refused_in_words()
    {
        using RespConnection lost = new(_server.Address);
        lost.Send(Hello());
        Assert.That(lost.Read().ToString(), Is.EqualTo("-ERR Protocol error: this port is not encrypted, and what arrived is TLS"));
        Assert.That(ClosesAtLast(lost));
        Assert.That(() => _lines.All, Has.Some.Contain("spoke TLS to a port that is not encrypted").After(WaitMs, 5));
    }

    [Test]
    public void A_thousand_at_once_are_served_or_given_up_and_nobody_waits_for_them()
    {
        List<RespConnection> strangers = [];
        byte[] hello = Hello();
        _server.Clock.Stop(); // a busy machine may need more than their ten seconds for so many
        for (int i = 0; i < 1000; i++)
        {
            RespConnection one = new(_server.TlsAddress);
            one.Send(hello.AsSpan(0, i % 2 == 0 ? hello.Length : hello.Length / 2));
            strangers.Add(one);
            if (i % 100 == 0) Assert.That(_witness.Call("PING").ToString(), Is.EqualTo("+PONG"));
        }

        using (RespConnection guest = _server.Connect())
            Assert.That(guest.Call("GET", "marker").Text, Is.EqualTo("intact"), "others come in beside them");
        _server.AwaitClients(1001);
        Assert.That(_witness.Call("INFO", "stats").Text, Does.Contain("garnet_tls_handshakes_under_way:1000\r\n"));
        _server.Advance(11_000);
        _server.AwaitClients(1);
        Assert.That(_witness.Call("INFO", "stats").Text, Does.Contain("garnet_tls_handshakes_failed:1000\r\n"));
        strangers.ForEach(static one => one.Dispose());
    }

    [Test]
    public void Handshakes_have_places_among_maxclients()
    {
        Assert.That(_witness.Call("CONFIG", "SET", "maxclients", "3").ToString(), Is.EqualTo("+OK"));
        using RespConnection one = new(_server.TlsAddress), two = new(_server.TlsAddress);
        _server.AwaitClients(3);
        Assert.That(_server.Connect, Throws.InstanceOf<IOException>());
        using RespConnection plain = new(_server.Address);
        Assert.That(plain.Read().ToString(), Is.EqualTo("-ERR max number of clients reached"));
        one.Dispose();
        two.Dispose();
        _server.AwaitClients(1);
        Assert.That(_witness.Call("CONFIG", "SET", "maxclients", "100").ToString(), Is.EqualTo("+OK"));
    }

    [Test]
    public void Whoever_shows_no_certificate_or_a_strangers_is_refused_if_one_is_wanted()
    {
        using TestCertificates others = new();
        Assert.That(() => Reply("", _files), Throws.InstanceOf<IOException>());
        File.Copy(others.ClientCertificate, _files.Path("stranger.crt"));
        File.Copy(others.ClientKey, _files.Path("stranger.key"));
        Assert.That(() => Reply("stranger", _files), Throws.InstanceOf<IOException>());
        Assert.That(() => _lines.All, Has.Some.Contain("peer did not return a certificate").After(WaitMs, 5));
        Assert.That(() => _lines.All, Has.Some.Contain("its certificate is not believed").After(WaitMs, 5));
        Assert.That(_witness.Call("CONFIG", "SET", "tls-auth-clients", "optional").ToString(), Is.EqualTo("+OK"));
        Assert.That(Reply("", _files), Is.EqualTo("+PONG"));
        Assert.That(() => Reply("stranger", _files), Throws.InstanceOf<IOException>(), "one that is shown must be good");
        Assert.That(_witness.Call("CONFIG", "SET", "tls-auth-clients", "no").ToString(), Is.EqualTo("+OK"));
        Assert.That(Reply("", _files), Is.EqualTo("+PONG"));
    }

    [Test]
    public void Who_sends_nothing_but_new_keys_is_closed_and_the_log_says_so_at_its_usual_level()
    {
        const int Floods = 8, KeysMax = 1_000_000, LinesOfSecond = 5;
        _server.Clock.Stop();
        for (int i = 0; i < Floods; i++)
        {
            using TlsPeer peer = new(_server.TlsAddress, _files);
            Assert.That(peer.RenewKeys(KeysMax), Is.LessThan(KeysMax));
        }

        _server.AwaitClients(1);
        string[] said = [.. _lines.All.Where(static line => line.Contains("64 KiB without data", StringComparison.Ordinal))];
        Assert.That(said, Has.Length.EqualTo(LinesOfSecond).And.All.StartsWith("Warning The TLS connection of client "));
    }

    [Test]
    public void Versions_that_are_not_allowed_are_not_spoken()
    {
        Assert.That(Reply("client", _files, SslProtocols.Tls12), Is.EqualTo("+PONG"));
        Assert.That(Reply("client", _files, SslProtocols.Tls13), Is.EqualTo("+PONG"));
        Assert.That(_witness.Call("CONFIG", "SET", "tls-protocols", "TLSv1.3").ToString(), Is.EqualTo("+OK"));
        Assert.That(() => Reply("client", _files, SslProtocols.Tls12), Throws.InstanceOf<AuthenticationException>().Or.InstanceOf<IOException>());
        Assert.That(Reply("client", _files, SslProtocols.Tls13), Is.EqualTo("+PONG"));
        Assert.That(_witness.Call("CONFIG", "SET", "tls-protocols", "TLSv1.4").ToString(), Does.Contain("TLSv1, TLSv1.1, TLSv1.2, TLSv1.3"));
    }

    [Test]
    public void A_certificate_makes_its_bearer_the_user_of_that_name_if_it_is_to_and_there_is_one()
    {
        Assert.That(Reply("client", _files, words: ["ACL", "WHOAMI"]), Is.EqualTo("\"default\""));
        Assert.That(_witness.Call("CONFIG", "SET", "tls-auth-clients-user", "CN").ToString(), Is.EqualTo("+OK"));
        Assert.That(Reply("client", _files, words: ["ACL", "WHOAMI"]), Is.EqualTo("\"default\""), "there is no such user");
        Assert.That(_witness.Call("ACL", "SETUSER", "orders", "on", "+acl|whoami", "+get", "~order:*").ToString(), Is.EqualTo("+OK"));
        Assert.That(Reply("client", _files, words: ["ACL", "WHOAMI"]), Is.EqualTo("\"orders\""));
        _files.Make("two", "CN=orders,CN=orders");
        Assert.That(Reply("two", _files, words: ["ACL", "WHOAMI"]), Is.EqualTo("\"default\""), "of two names none is");
        _files.Make("foreign", "CN=j\u00f6rg");
        _witness.Send("*5\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$5\r\nj\u00f6rg\r\n$2\r\non\r\n$11\r\n+acl|whoami\r\n"u8);
        Assert.That(_witness.Read().ToString(), Is.EqualTo("+OK"));
        Assert.That(Reply("foreign", _files, words: ["ACL", "WHOAMI"]), Is.Not.EqualTo("\"default\"").And.StartWith("\"j"), "names are bytes");
        Assert.That(() => _lines.All.Any(static line => line.Contains("\"event\":\"login\",\"user\":\"orders\"", StringComparison.Ordinal) && line.Contains("\"tls\"", StringComparison.Ordinal)),
            Is.True.After(WaitMs, 5), "the audit trail tells of it");
        Assert.That(Reply("client", _files, words: ["GET", "marker"]), Does.StartWith("-NOPERM"));
        Assert.That(_witness.Call("CONFIG", "SET", "requirepass", "secret").ToString(), Is.EqualTo("+OK"));
        Assert.That(Reply("client", _files, words: ["GET", "order:1"]), Is.EqualTo("$-1"), "it needs no password");
        Assert.That(_witness.Call("ACL", "SETUSER", "orders", "off").ToString(), Is.EqualTo("+OK"));
        Assert.That(Reply("client", _files, words: ["GET", "order:1"]), Does.StartWith("-NOAUTH"), "one that is off has no certificate either");
        Assert.That(_witness.Call("CONFIG", "SET", "requirepass", "").ToString(), Is.EqualTo("+OK"));
    }

    private string Reply(string client, TestCertificates files, SslProtocols versions = SslProtocols.None, string[]? words = null)
    {
        using RespConnection connection = new(_server.TlsAddress, over: stream => files.Over(stream, client, versions));
        return connection.Call(words ?? ["PING"]).ToString();
    }

    // Whatever was sent before: an alert, say.
    private static bool ClosesAtLast(RespConnection connection)
    {
        connection.ReadAll(WaitMs, out bool closed);
        return closed;
    }

    // What the framework's client begins with.
    private byte[] Hello()
    {
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        Task client = Task.Run(() =>
        {
            using TcpClient tcp = new("127.0.0.1", ((IPEndPoint)listener.LocalEndpoint).Port);
            Assert.That(() => _files.Over(tcp.GetStream()), Throws.InstanceOf<IOException>());
        });
        using (TcpClient server = listener.AcceptTcpClient())
        {
            byte[] head = new byte[5];
            server.GetStream().ReadExactly(head);
            byte[] all = new byte[5 + (head[3] << 8) + head[4]];
            head.CopyTo(all, 0);
            server.GetStream().ReadExactly(all, 5, all.Length - 5);
            server.LingerState = new LingerOption(true, 0);
            server.Close();
            client.Await();
            return all;
        }
    }

    /// <summary>Writes every byte by itself.</summary>
    private sealed class OneByOne(Stream inner) : Stream
    {
        public override bool CanRead => true;

        public override bool CanWrite => true;

        public override bool CanSeek => false;

        public override long Length => throw new NotSupportedException();

        public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

        public override int Read(byte[] buffer, int offset, int count) => inner.Read(buffer, offset, count);

        public override void Write(byte[] buffer, int offset, int count)
        {
            for (int i = 0; i < count; i++) inner.Write(buffer, offset + i, 1);
        }

        public override void Flush() => inner.Flush();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        protected override void Dispose(bool disposing)
        {
            inner.Dispose();
            base.Dispose(disposing);
        }
    }
}

using System.Net;
using Garnet.Common;
using Garnet.Server.Net;
using Garnet.Wire;
using Garnet.Wire.Tls;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Server.Test.Net;

/// <summary>A server in this process with two reactors, over either transport; its store is checked at the end.</summary>
internal sealed class TestServer : IDisposable
{
    private const int WaitMs = 10_000;

    private readonly TestCertificates? _certificates;
    private readonly bool _ownsCertificates;

    public TestServer(TransportKind transport, Action<ServerSettings>? adjust = null, bool stopsClock = false)
        : this(transport == TransportKind.Sockets ? Route.Sockets : Route.Epoll, adjust, stopsClock)
    {
    }

    /// <param name="route">How clients reach it.</param>
    /// <param name="adjust">Sets more.</param>
    /// <param name="stopsClock">Time goes on by hand alone.</param>
    /// <param name="certificates">Those of an encrypted one, if they are not made for it.</param>
    /// <param name="lines">Its log.</param>
    public TestServer(Route route, Action<ServerSettings>? adjust = null, bool stopsClock = false, TestCertificates? certificates = null, ILogger? lines = null)
    {
        if (stopsClock) Clock.Stop();
        ServerSettings settings = new();
        settings.Network.AnyPort = true;
        settings.Network.Port = 0;
        settings.Network.Bind = ["127.0.0.1"];
        settings.Network.Transport = route == Route.Sockets ? TransportKind.Sockets : TransportKind.Auto;
        if (route == Route.Tls)
        {
            _ownsCertificates = certificates is null;
            _certificates = certificates ?? new TestCertificates();
            settings.Tls.AnyPort = true;
            settings.Tls.CertificateFile = _certificates.ServerCertificate;
            settings.Tls.KeyFile = _certificates.ServerKey;
            settings.Tls.AuthorityFile = _certificates.AuthorityFile;
        }

        settings.Network.ReactorThreads = 2;
        settings.Memory.MaxMemoryBytes = 1L << 30;
        adjust?.Invoke(settings);
        SettingTable table = new();
        settings.Register(table);
        Server = new RespServer(settings, table, lines ?? NullLogger.Instance, new GivenParts { Clock = Clock });
        Server.Start();
    }

    public RespServer Server { get; }

    public TestClock Clock { get; } = new();

    public IPEndPoint Address => new(IPAddress.Loopback, Server.Port);

    public IPEndPoint TlsAddress => new(IPAddress.Loopback, Server.TlsPort);

    public RespConnection Connect() => Connect(IPAddress.Loopback);

    /// <summary>The same by another address of this machine.</summary>
    public RespConnection Connect(IPAddress address) => _certificates is { } keys
        ? new(new IPEndPoint(address, Server.TlsPort), over: stream => keys.Over(stream)) : new(new IPEndPoint(address, Server.Port));

    /// <summary>Moves the time on and makes the reactors notice.</summary>
    public void Advance(long milliseconds)
    {
        Clock.Advance(milliseconds);
        foreach (Reactor reactor in Server.Reactors) reactor.Nudge();
    }

    public void AwaitClients(int count) => Assert.That(() => Server.Context.ClientLimits.ClientCount, Is.EqualTo(count).After(WaitMs, 1), "clients");

    /// <summary>Waits for connections of earlier steps to be gone, then checks that the server serves and its store is sound.</summary>
    public void AssertSound()
    {
        using RespConnection connection = Connect();
        Assert.That(connection.Call("PING").ToString(), Is.EqualTo("+PONG"));
        Assert.That(StoreCheck.Run(Server.Store), Is.Empty);
    }

    public void Dispose()
    {
        if (TestContext.CurrentContext.Result.Outcome.Status != NUnit.Framework.Interfaces.TestStatus.Failed) AssertSound();
        Server.Dispose();
        if (_ownsCertificates) _certificates!.Dispose();
    }
}

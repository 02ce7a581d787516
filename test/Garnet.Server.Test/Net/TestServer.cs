using System.Net;
using Garnet.Common;
using Garnet.Server.Net;
using Garnet.Wire;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Server.Test.Net;

/// <summary>A server in this process with two reactors, over either transport; its store is checked at the end.</summary>
internal sealed class TestServer : IDisposable
{
    private const int WaitMs = 10_000;

    public TestServer(TransportKind transport, Action<ServerSettings>? adjust = null, bool stopsClock = false)
    {
        if (stopsClock) Clock.Stop();
        ServerSettings settings = new();
        settings.Network.AnyPort = true;
        settings.Network.Port = 0;
        settings.Network.Bind = ["127.0.0.1"];
        settings.Network.Transport = transport;
        settings.Network.ReactorThreads = 2;
        settings.Memory.MaxMemoryBytes = 1L << 30;
        adjust?.Invoke(settings);
        SettingTable table = new();
        settings.Register(table);
        Server = new RespServer(settings, table, NullLogger.Instance, Clock);
        Server.Start();
    }

    public RespServer Server { get; }

    public TestClock Clock { get; } = new();

    public IPEndPoint Address => new(IPAddress.Loopback, Server.Port);

    public RespConnection Connect() => new(Address);

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
    }
}

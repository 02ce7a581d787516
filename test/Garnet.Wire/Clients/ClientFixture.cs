using System.Net;
using NUnit.Framework;
using StackExchange.Redis;

namespace Garnet.Wire.Clients;

/// <summary>A server that may be restarted and a client of it, for all tests of a class, in the protocol named.</summary>
internal abstract class ClientFixture(string protocol)
{
    protected string Protocol => protocol;

    protected RestartableServer Restartable { get; private set; } = null!;

    protected ConnectionMultiplexer Client { get; private set; } = null!;

    protected IDatabase Database => Client.GetDatabase();

    [OneTimeSetUp]
    public void Connect()
    {
        Restartable = new RestartableServer();
        Client = ConnectionMultiplexer.Connect(Options());
    }

    [OneTimeTearDown]
    public void Close()
    {
        Client?.Dispose();
        Restartable?.Dispose();
    }

    protected ConfigurationOptions Options() => Options(Restartable.Port);

    protected ConfigurationOptions Options(int port) => ClientVersion.Speak(protocol, new ConfigurationOptions
    {
        EndPoints = { { IPAddress.Loopback, port } },
        AbortOnConnectFail = false,
        AllowAdmin = true,
        ClientName = "cc",
        ConnectTimeout = 20_000,
        SyncTimeout = 30_000,
    });
}

using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Garnet.Common.Linux;
using Garnet.Common.Test;
using Garnet.Server.Clients;
using Garnet.Server.Net;

namespace Garnet.Server.Test.Net;

/// <summary>
/// A reactor that serves nobody until it is let go: what its clients have sent by then, it finds in one round, in the order in which it has come. Nothing here depends on
/// how fast anything is.
/// </summary>
internal sealed class HeldReactor : IDisposable
{
    private const int PatienceMs = 60_000, Peek = 2, DontWait = 0x40;

    private readonly RespServer _server;
    private readonly ManualResetEventSlim _isHeld = new(), _isLetGo = new();

    /// <summary>Holds the only reactor of the server; the clients are its already, so that it looks at what they send.</summary>
    internal HeldReactor(RespServer server, params TcpClient[] clients)
    {
        _server = server;
        foreach (TcpClient client in clients) EmbeddedServer.Send(client, "PING\r\n", "+PONG\r\n");
        Reactor reactor = server.Reactors.Single();
        reactor.Post((_, _, _) =>
        {
            _isHeld.Set();
            _isLetGo.Await();
        });
        Assert.That(_isHeld.Wait(PatienceMs), Is.True, "the reactor is held");
    }

    /// <summary>Sends for a client, and waits until all of it has come to the server's side.</summary>
    internal void Send(TcpClient client, string text)
    {
        Connection connection = Of(client);
        int before = Arrived(connection);
        client.GetStream().Write(System.Text.Encoding.Latin1.GetBytes(text));
        Eventually.Holds(() => Arrived(connection) == before + text.Length);
    }

    /// <summary>Ends the connection of a client with a reset, which has come as well.</summary>
    internal static void Reset(TcpClient client)
    {
        int port = PortOf(client);
        client.LingerState = new LingerOption(true, 0);
        client.Dispose();
        Eventually.Holds(() => System.Net.NetworkInformation.IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpConnections().All(other => other.RemoteEndPoint.Port != port));
    }

    /// <summary>The reactor goes on.</summary>
    public void Dispose() => _isLetGo.Set(); // which it may be about to wait for: the two are left to the collector

    private Connection Of(TcpClient client)
    {
        string port = ":" + PortOf(client).ToString(CultureInfo.InvariantCulture);
        return _server.Context.Clients().Single(connection => connection.Peer.Remote.EndsWith(port, StringComparison.Ordinal));
    }

    private static int PortOf(TcpClient client) => ((IPEndPoint)client.Client.LocalEndPoint!).Port;

    private static unsafe int Arrived(Connection connection)
    {
        if (connection.Socket is { } socket)
            return socket.Available;
        byte* to = stackalloc byte[Worker.ReceiveBytesMax];
        return (int)Math.Max(0, Libc.recv(connection.Descriptor, to, Worker.ReceiveBytesMax, Peek | DontWait));
    }
}

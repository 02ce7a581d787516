using System.Net.Sockets;
using Garnet.Server.Net;

namespace Garnet.Server.Test.Net;

/// <summary>What goes wrong while connections are accepted on the framework's threads, where nobody would catch it.</summary>
public sealed class SocketAcceptorTests
{
    [Test]
    public void A_listener_closed_before_the_next_accept_ends_it_quietly()
    {
        using TestServer server = new(TransportKind.Sockets);
        var acceptor = new SocketAcceptor(server.Server.Context.Core, server.Server.Context.ClientLimits);
        acceptor.Open(new NetworkSettings { Bind = ["127.0.0.1"], Port = 0, AnyPort = true });
        acceptor.Dispose();
        Assert.That(acceptor.Run, Throws.Nothing);
    }

    [Test]
    public void Clients_that_reset_before_they_are_accepted_leave_others_alone()
    {
        using TestServer server = new(TransportKind.Sockets);
        for (int i = 0; i < 200; i++)
        {
            using Socket gone = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { LingerState = new LingerOption(true, 0) };
            gone.Connect(server.Address);
        }
        using Garnet.Wire.RespConnection client = server.Connect();
        Assert.That(client.Call("PING").ToString(), Is.EqualTo("+PONG"));
        server.AwaitClients(1);
    }
}

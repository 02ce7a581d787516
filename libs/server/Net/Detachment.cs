using System.Net.Sockets;
using Garnet.Server.Clients;

namespace Garnet.Server.Net;

/// <summary>A connection that stops being a client's: its socket goes on in other hands.</summary>
internal static class Detachment
{
    /// <summary>
    /// Takes the connection from its reactor, on the reactor's thread, and returns its socket. Null, and nothing has happened, if
    /// something is still to be sent or was received on it.
    /// </summary>
    internal static Socket? Detach(Connection client)
    {
        if (client.Out.Count + client.Pending.Count + client.Pushes.Count > 0 || client.Big is not null || client.Subscriptions is { Count: > 0 })
            return null;
        Socket socket = client.Reactor.Transport.Detach(client);
        client.Closed = true;
        client.Reactor.Leave(client);
        return socket;
    }
}

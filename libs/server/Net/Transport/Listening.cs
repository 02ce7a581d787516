using Garnet.Common;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>By what a server listens and its reactors reach their sockets: chosen by its settings and by the system, once.</summary>
internal sealed class Listening : IDisposable
{
    private readonly ServerCore _server;
    private readonly bool _usesEpoll;
    private readonly Acceptor _acceptor;

    /// <exception cref="GarnetException">The system has not what is asked for.</exception>
    internal Listening(ServerCore server, ClientLimits limits)
    {
        _server = server;
        _usesEpoll = UsesEpoll(server.Settings.Network.Transport);
        _acceptor = _usesEpoll ? new EpollAcceptor(server, limits) : new SocketAcceptor(server, limits);
    }

    /// <summary>Addresses for people.</summary>
    internal IReadOnlyList<string> Addresses => _acceptor.Addresses;

    /// <summary>Connections accepted and refused so far.</summary>
    internal (long Accepted, long Rejected) Connections => (_acceptor.Accepted, _acceptor.Rejected);

    /// <summary>What its threads do, and their names.</summary>
    internal IEnumerable<(string Name, Action Work)> Threads
    {
        get
        {
            yield return ("acceptor", _acceptor.Run);
            if (_acceptor is EpollAcceptor { Handshakes: { } handshakes })
                yield return ("tls handshakes", handshakes.Run);
        }
    }

    /// <summary>A reactor's way to its sockets.</summary>
    internal ITransport NewTransport()
    {
        if (!_usesEpoll)
            return new SocketTransport();
        return _server.Settings.Tls.Serves ? new TlsTransport() : new EpollTransport();
    }

    /// <summary>Opens all listeners; the server knows its ports then.</summary>
    /// <exception cref="GarnetException">One of them cannot be had.</exception>
    internal void Open()
    {
        _acceptor.Open(_server.Settings.Network);
        (_server.Port, _server.TlsPort) = (_acceptor.Port, _acceptor.TlsPort);
        if (_acceptor is EpollAcceptor { Handshakes: { } handshakes })
            _server.Handshakes = () => (handshakes.Finished, handshakes.Failed, handshakes.Count);
    }

    /// <summary>Ends its threads.</summary>
    internal void Stop() => _acceptor.Stop();

    /// <inheritdoc/>
    public void Dispose() => _acceptor.Dispose();

    private static bool UsesEpoll(TransportKind transport)
    {
        bool isPossible = OperatingSystem.IsLinux();
        if (transport == TransportKind.Epoll && !isPossible)
            throw new GarnetException(ExitKind.Configuration, "transport epoll", "epoll exists on Linux only", "Use --transport auto");
        return isPossible && transport != TransportKind.Sockets;
    }
}

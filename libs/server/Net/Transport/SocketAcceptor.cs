using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;
using Garnet.Common;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>Accepting through <see cref="System.Net.Sockets.Socket"/>, where there is no epoll.</summary>
internal sealed class SocketAcceptor(ServerCore server, ClientLimits limits) : Acceptor(server, limits)
{
    private const int RetryMs = 100;

    private readonly List<Socket> _listeners = [];
    private readonly ManualResetEventSlim _stop = new();
    private string _unixPath = "";

    internal override void Run()
    {
        foreach (Socket listener in _listeners)
            AcceptNext(listener, new SocketAsyncEventArgs());
        _stop.Wait();
        lock (_listeners) // nobody is in the middle of being handed over
        {
            foreach (Socket listener in _listeners)
                listener.Dispose();
        }
    }

    internal override void Stop() => _stop.Set();

    public override void Dispose()
    {
        _stop.Set();
        foreach (Socket listener in _listeners)
            listener.Dispose();
        if (_unixPath.Length > 0)
            File.Delete(_unixPath);
    }

    // TlsKeys has refused encrypted ones.
    private protected override int? Listen(NetworkSettings settings, ListenAddress address, int port, bool isTls)
    {
        var end = new IPEndPoint(address.ToAddress(), port);
        var listener = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        if (address.IsV6)
            listener.DualMode = false;
        if (!TryBind(listener, end, $"{address} port {port}"))
            return null;
        listener.Listen(settings.TcpBacklog);
        _listeners.Add(listener);
        return ((IPEndPoint)listener.LocalEndPoint!).Port;
    }

    private protected override void ListenUnix(NetworkSettings settings)
    {
        var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        File.Delete(settings.UnixSocket);
        TryBind(listener, new UnixDomainSocketEndPoint(settings.UnixSocket), settings.UnixSocket); // nobody can connect before it listens
        _unixPath = settings.UnixSocket;
        if (!OperatingSystem.IsWindows() && settings.UnixSocketPermissions != 0)
            File.SetUnixFileMode(_unixPath, (UnixFileMode)settings.UnixSocketPermissions);
        listener.Listen(settings.TcpBacklog);
        _listeners.Add(listener);
    }

    private void AcceptNext(Socket listener, SocketAsyncEventArgs accept)
    {
        accept.Completed += (_, done) => AcceptDone(listener, done);
        if (CompletesAtOnce(listener, accept))
            AcceptDone(listener, accept);
    }

    /// <summary>Asks for the next connection. A stop may close the listener at any moment: that ends accepting, it is no failure.</summary>
    private static bool CompletesAtOnce(Socket listener, SocketAsyncEventArgs accept)
    {
        try
        {
            return !listener.AcceptAsync(accept);
        }
        catch (ObjectDisposedException)
        {
            return false;
        }
    }

    private void AcceptDone(Socket listener, SocketAsyncEventArgs accept)
    {
        do
        {
            if (accept.SocketError == SocketError.OperationAborted || _stop.IsSet)
            {
                accept.AcceptSocket?.Dispose();
                return;
            }

            if (accept.AcceptSocket is { } socket && accept.SocketError == SocketError.Success)
                Admit(socket);
            else
                AcceptFailed(accept.SocketError);
            accept.AcceptSocket = null;
        }
        while (CompletesAtOnce(listener, accept));
    }

    private void AcceptFailed(SocketError error)
    {
        if (error is SocketError.ConnectionAborted or SocketError.ConnectionReset or SocketError.WouldBlock or SocketError.Interrupted)
            return;
        SayFailed((int)error, lacksFiles: error == SocketError.TooManyOpenSockets);
        _stop.Wait(RetryMs);
    }

    private void Admit(Socket socket)
    {
        HasFailed = false;
        if (!TryPrepare(socket, out PeerAddress? peer))
        {
            socket.Dispose();
            return;
        }

        lock (_listeners)
        {
            if (_stop.IsSet)
            {
                socket.Dispose();
                return;
            }

            if (Refusal(peer) is { } refusal)
            {
                socket.Send(refusal, SocketFlags.None, out _);
                socket.Dispose();
                return;
            }

            HandOver(peer, client => client.Socket = socket);
        }
    }

    /// <summary>Sets the options of a new connection; false if the peer is gone already, which nobody above would catch.</summary>
    private bool TryPrepare(Socket socket, [NotNullWhen(true)] out PeerAddress? peer)
    {
        try
        {
            if (socket.AddressFamily == AddressFamily.Unix)
            {
                peer = new PeerAddress(_unixPath);
                return true;
            }

            peer = new PeerAddress(socket.RemoteEndPoint as IPEndPoint, socket.LocalEndPoint as IPEndPoint);
            socket.NoDelay = true;
            KeepAlive(socket, Server.Settings.Network.TcpKeepAliveSeconds);
            return true;
        }
        catch (SocketException)
        {
            peer = null;
            return false;
        }
    }

    private static void KeepAlive(Socket socket, int seconds)
    {
        if (seconds <= 0)
            return;
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, seconds);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, Math.Max(seconds / 3, 1));
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 3);
    }

    private static bool TryBind(Socket listener, EndPoint address, string what)
    {
        try
        {
            listener.Bind(address);
            return true;
        }
        catch (SocketException e)
        {
            listener.Dispose();
            throw e.SocketErrorCode switch
            {
                SocketError.AddressNotAvailable =>
                    new GarnetException(ExitKind.Configuration, $"cannot listen on {what}", "this machine has no such address",
                        "Check the bind setting"),
                SocketError.AccessDenied =>
                    new GarnetException(ExitKind.Permission, $"cannot listen on {what}", "the system refuses it",
                        "Choose a port above 1023"),
                _ => new GarnetException(ExitKind.PortInUse, $"cannot listen on {what}", e.SocketErrorCode.ToString(),
                    "Choose another port with --port"),
            };
        }
    }
}

using System.Net;
using System.Net.Sockets;

namespace Garnet.Server.Test.Replication;

/// <summary>An address where connections are begun and never answered: its queue is full.</summary>
internal sealed class Unanswering : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<Socket> _queued = [];

    public Unanswering()
    {
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(0);
        Task last;
        do
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            _queued.Add(socket);
            last = socket.ConnectAsync(_listener.LocalEndPoint!);
        }
        while (last.Wait(500));
    }

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    public void Dispose()
    {
        foreach (Socket socket in _queued) socket.Dispose();
        _listener.Dispose();
    }
}

using System.Net;
using System.Net.Sockets;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Replication;

/// <summary>An address where connections are begun and never answered: its queue is full.</summary>
internal sealed class Unanswering : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly Socket _queued = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    public Unanswering()
    {
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(0); // Linux keeps one connection then
        _queued.ConnectAsync(_listener.LocalEndPoint!).Await();
        if (!_listener.Poll(TimeSpan.FromMinutes(1), SelectMode.SelectRead))
            throw new TimeoutException("the connection did not come into the queue");
    }

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    public void Dispose()
    {
        _queued.Dispose();
        _listener.Dispose();
    }
}

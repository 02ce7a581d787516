using System.Net;
using System.Net.Sockets;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Replication;

/// <summary>Stands between a replica and its primary and can hold back what the primary sends, as a slow network does.</summary>
internal sealed class HeldProxy : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly ManualResetEventSlim _flows = new(true);
    private readonly List<Socket> _open = [];
    private readonly int _primary;

    public HeldProxy(int primary)
    {
        _primary = primary;
        _listener.Start();
        TestThread.Begin(AcceptAll);
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    public void Hold() => _flows.Reset();

    public void Release() => _flows.Set();

    public void Dispose()
    {
        _flows.Set();
        lock (_open)
        {
            foreach (Socket socket in _open) socket.Dispose();
        }
        _listener.Dispose();
    }

    private void AcceptAll()
    {
        while (true)
        {
            Socket replica = _listener.AcceptSocket();
            var primary = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            lock (_open) _open.AddRange([replica, primary]);
            primary.Connect(IPAddress.Loopback, _primary);
            TestThread.Begin(() => Pass(replica, primary, held: false));
            TestThread.Begin(() => Pass(primary, replica, held: true));
        }
    }

    private void Pass(Socket from, Socket to, bool held)
    {
        byte[] bytes = new byte[16 * 1024];
        try
        {
            for (int got; (got = from.Receive(bytes)) > 0;)
            {
                if (held) _flows.Await();
                for (int sent = 0; sent < got;) sent += to.Send(bytes, sent, got - sent, SocketFlags.None);
            }
        }
        finally
        {
            from.Dispose(); // after a reset too: the other side is to learn of it
            to.Dispose();
        }
    }
}

using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Server.Test.Replication;

/// <summary>Something that listens on a port and is no server of ours: answers whatever comes with the same bytes, and closes or stays.</summary>
internal sealed class StrangePeer : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly List<Socket> _open = [];

    public StrangePeer(byte[] answer, bool closes = false)
    {
        _listener.Start();
        TestThread.Begin(() => AcceptAll(answer, closes));
    }

    public StrangePeer(string answer, bool closes = false)
        : this(Encoding.Latin1.GetBytes(answer), closes)
    {
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    public void Dispose()
    {
        _listener.Dispose();
        lock (_open)
        {
            foreach (Socket socket in _open) socket.Dispose();
        }
    }

    private void AcceptAll(byte[] answer, bool closes)
    {
        try
        {
            while (true)
            {
                Socket socket = _listener.AcceptSocket();
                lock (_open) _open.Add(socket);
                if (answer.Length > 0 && socket.Receive(new byte[4096]) > 0) socket.Send(answer);
                if (closes) socket.Dispose();
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // closed
        }
    }
}

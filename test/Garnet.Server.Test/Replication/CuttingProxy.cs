using System.Net;
using System.Net.Sockets;

namespace Garnet.Server.Test.Replication;

/// <summary>
/// Stands between a replica and its primary: passes bytes on in both directions and cuts the connection after so many bytes of
/// the primary as it is told, in the middle of whatever they are.
/// </summary>
internal sealed class CuttingProxy : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly Func<int, long> _bytesUntilCut;
    private readonly Func<byte, byte>? _change;
    private readonly int _primary;
    private readonly List<Socket> _open = [];
    private bool _closed;
    private int _connections;
    private long _passed;

    /// <param name="primary">The primary's port.</param>
    /// <param name="bytesUntilCut">By the number of the connection, from 0; <see cref="long.MaxValue"/> = never.</param>
    /// <param name="change">What becomes of the last byte before a cut; null = it passes as it is.</param>
    public CuttingProxy(int primary, Func<int, long> bytesUntilCut, Func<byte, byte>? change = null)
    {
        (_primary, _bytesUntilCut, _change) = (primary, bytesUntilCut, change);
        _listener.Start();
        TestThread.Begin(AcceptAll);
    }

    /// <summary>What was passed on before a cut arrives in full; else what the replica has not read yet is lost with the connection.</summary>
    public bool IsGentle { get; init; }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>Bytes of the primary passed on so far.</summary>
    public long Passed => Interlocked.Read(ref _passed);

    /// <summary>Connections so far.</summary>
    public int Connections => Volatile.Read(ref _connections);

    public void Dispose()
    {
        lock (_open)
        {
            _closed = true;
            foreach (Socket socket in _open) socket.Dispose();
        }
        _listener.Dispose();
    }

    private void AcceptAll()
    {
        try
        {
            while (true) Join(_listener.AcceptSocket());
        }
        catch (SocketException)
        {
            // closed
        }
        catch (InvalidOperationException)
        {
            // closed
        }
    }

    private void Join(Socket replica)
    {
        var primary = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        lock (_open)
        {
            _open.Add(replica);
            _open.Add(primary);
            if (_closed) replica.Dispose();
        }
        try
        {
            primary.Connect(IPAddress.Loopback, _primary);
        }
        catch (SocketException)
        {
            replica.Dispose();
            return;
        }
        long left = _bytesUntilCut(Interlocked.Increment(ref _connections) - 1);
        TestThread.Begin(() => Pass(replica, primary, long.MaxValue, counts: false));
        TestThread.Begin(() => Pass(primary, replica, left, counts: true));
    }

    private void Pass(Socket from, Socket to, long left, bool counts)
    {
        byte[] bytes = new byte[16 * 1024];
        try
        {
            while (left > 0)
            {
                int got = from.Receive(bytes, 0, (int)Math.Min(bytes.Length, left), SocketFlags.None);
                if (got == 0) break;
                left -= got;
                if (counts) Interlocked.Add(ref _passed, got);
                if (left == 0 && _change is { } change) bytes[got - 1] = change(bytes[got - 1]);
                for (int sent = 0; sent < got;) sent += to.Send(bytes, sent, got - sent, SocketFlags.None);
            }
        }
        catch (SocketException)
        {
            // cut from the other side
        }
        catch (ObjectDisposedException)
        {
            // cut from the other side
        }
        if (left == 0 && IsGentle && to.Connected)
        {
            to.Shutdown(SocketShutdown.Send); // both are closed when the replica closes
            return;
        }
        from.Dispose();
        to.Dispose();
    }
}

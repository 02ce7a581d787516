using System.Net.Sockets;
using Garnet.Server.Clients;
using Garnet.Server.Net;

namespace Garnet.Server.Test.InProcess;

/// <summary>One connection without a socket: what it has sent is memory, and what it is sent is counted and dropped.</summary>
internal sealed unsafe class MemoryTransport : ITransport
{
    private Connection? _connection;
    private byte* _request;
    private int _left;

    /// <summary>Bytes of replies since <see cref="Give"/>.</summary>
    public int Replied { get; private set; }

    /// <summary>True when all of the request has been received.</summary>
    public bool IsTaken => _left == 0;

    /// <summary>The connection sends this.</summary>
    public void Give(byte* request, int bytes)
    {
        _request = request;
        (_left, Replied) = (bytes, 0);
    }

    public int Wait(int timeoutMs) => _left > 0 ? 1 : 0;

    public ReadyEvent this[int index] => new(_connection!.Slot, (int)_connection.Id, readable: true, writable: false, broken: false);

    public void Add(Connection connection) => _connection = connection;

    public void Watch(Connection connection, bool read, bool write)
    {
    }

    public int Receive(Connection connection, byte* to, int bytes)
    {
        int taken = Math.Min(bytes, _left);
        Buffer.MemoryCopy(_request, to, bytes, taken);
        _request += taken;
        _left -= taken;
        return taken;
    }

    public int Send(Connection connection, byte* from, int bytes)
    {
        Replied += bytes;
        return bytes;
    }

    public void Close(Connection connection)
    {
    }

    public Socket Detach(Connection connection) => throw new NotSupportedException();

    public Garnet.Media.ReaderWake ReaderWake => new(null, Wake);

    public void Wake()
    {
    }

    public void Dispose()
    {
    }
}

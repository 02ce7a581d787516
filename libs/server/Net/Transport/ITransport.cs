using Garnet.Common.Linux;
using Garnet.Server.Clients;

namespace Garnet.Server.Net;

/// <summary>
/// How one reactor reaches its sockets. Owned by the reactor's thread; only <see cref="Wake"/> may be called from
/// others. Level-triggered: what was not received is reported again.
/// </summary>
internal unsafe interface ITransport : IDisposable
{
    /// <summary>Result of <see cref="Receive"/> and <see cref="Send(Connection, byte*, int)"/> when the call would have to wait.</summary>
    const int Again = -1;

    /// <summary>Result of <see cref="Receive"/> and <see cref="Send(Connection, byte*, int)"/> when the connection is broken.</summary>
    const int Broken = -2;

    /// <summary>Waits for something to do, at most the given milliseconds (-1: without end); returns the number of events.</summary>
    int Wait(int timeoutMs);

    /// <summary>An event of the last <see cref="Wait"/>.</summary>
    ReadyEvent this[int index] { get; }

    /// <summary>Takes a connection in, watched for reading.</summary>
    void Add(Connection connection);

    /// <summary>Says what the connection is watched for.</summary>
    void Watch(Connection connection, bool read, bool write);

    /// <summary>Receives up to <paramref name="bytes"/>; 0 at the end of the stream.</summary>
    int Receive(Connection connection, byte* to, int bytes);

    /// <summary>Sends up to <paramref name="bytes"/>; returns how many were taken.</summary>
    int Send(Connection connection, byte* from, int bytes);

    /// <summary>Sends up to all of several pieces, one behind the other; returns how many bytes were taken.</summary>
    int Send(Connection connection, ReadOnlySpan<Libc.IoVector> pieces) => SendEach(this, connection, pieces);

    /// <summary>The same by one send for each piece.</summary>
    static int SendEach(ITransport transport, Connection connection, ReadOnlySpan<Libc.IoVector> pieces)
    {
        int total = 0;
        foreach (Libc.IoVector piece in pieces)
        {
            int sent = transport.Send(connection, piece.Bytes, (int)piece.Count);
            if (sent < 0)
                return total > 0 ? total : sent;
            total += sent;
            if (sent < piece.Count)
                break;
        }

        return total;
    }

    /// <summary>Closes the connection's socket.</summary>
    void Close(Connection connection);

    /// <summary>Lets go of the connection's socket and returns it, open.</summary>
    System.Net.Sockets.Socket Detach(Connection connection);

    /// <summary>How reads of the tier that have finished wake it.</summary>
    Garnet.Media.ReaderWake ReaderWake { get; }

    /// <summary>Makes the current or next <see cref="Wait"/> return at once. From any thread.</summary>
    void Wake();
}

using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Net;

namespace Garnet.Server.Test.InProcess;

/// <summary>
/// A client of a running server, on a reactor of its own that whoever asks turns: everything that a command passes but the socket and the
/// change of threads.
/// </summary>
public sealed unsafe class InProcessClient : IDisposable
{
    private readonly MemoryTransport _transport = new();
    private readonly Reactor _reactor;
    private readonly Connection _client;

    internal InProcessClient(RespServer server)
    {
        _reactor = new Reactor(server.Context, server.Reactors.Count, _transport, CommandFamilies.OnWorkers);
        _client = new Connection(_reactor, long.MaxValue, new PeerAddress(""), server.Clock.UnixMs);
        _reactor.Adopt(_client);
    }

    /// <summary>Sends what is in memory and runs it; bytes of the replies.</summary>
    public int Exchange(byte* request, int bytes)
    {
        _transport.Give(request, bytes);
        while (!_transport.IsTaken || _client.Parked || _client.Carried || _client.Held)
        {
            _reactor.Round();
            if (_client.Closed) throw new InvalidOperationException("the server closed the connection");
        }
        return _transport.Replied;
    }

    /// <summary>The same with text; bytes of the replies.</summary>
    public int Exchange(string request)
    {
        byte[] bytes = Encoding.ASCII.GetBytes(request);
        fixed (byte* start = bytes) return Exchange(start, bytes.Length);
    }

    public void Dispose() => _reactor.Dispose();
}

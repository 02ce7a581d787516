using System.Globalization;
using System.Net.Sockets;
using Garnet.Common;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Tls;

namespace Garnet.Server.Replication;

/// <summary>
/// Asks the primary for a token, over a connection of its own, for clients that want to read what anybody has written so far. One
/// question serves all who asked before it was put.
/// </summary>
internal sealed class Barriers(
    ReplicationSettings settings, TlsKeys keys, Action<GarnetException> fail, RoleState role, Moves moves, LinkTraffic traffic)
{
    private readonly Lock _gate = new();
    private readonly Signal _asked = new();
    private List<BarrierWait> _waiting = [];
    private Thread? _thread;
    private LinkSocket? _socket;
    private Peer? _peer;
    private bool _stops;

    /// <summary>The wait will be told.</summary>
    internal void Ask(BarrierWait wait)
    {
        lock (_gate)
        {
            _waiting.Add(wait);
            if (_thread is null && !_stops)
            {
                _thread = BackgroundThread.Begin("replica barriers", Run, fail);
            }
        }

        _asked.Set();
    }

    /// <summary>Ends the thread.</summary>
    internal void Stop()
    {
        lock (_gate)
            _stops = true;
        _asked.Set();
        Volatile.Read(ref _socket)?.Dispose();
        _thread?.Join();
    }


    private void Run()
    {
        while (true)
        {
            _asked.Wait(Timeout.Infinite);
            List<BarrierWait> waiting;
            lock (_gate)
            {
                if (_stops)
                    break;
                (waiting, _waiting) = (_waiting, []);
            }

            string? fault = TryAsk(out (uint, ulong, uint) token);
            foreach (BarrierWait wait in waiting)
                wait.Tell(token, fault);
            moves.Tell();
        }

        Hang();
    }

    // Null, or why there is no answer.
    private string? TryAsk(out (uint Term, ulong Batch, uint By) token)
    {
        token = default;
        try
        {
            Connect();
            string header = _socket!.Call("REPL", "BARRIER", settings.TimeoutMs.ToString(CultureInfo.InvariantCulture));
            if (header.StartsWith('$') && Tokens.TryParse(_socket.ReadLine(), out token.Term, out token.Batch, out token.By))
                return null;
            Hang();
            return header;
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            Hang();
            return e.Message;
        }
    }

    private void Connect()
    {
        Peer primary = role.Primary;
        if (_socket is not null && _peer == primary)
            return;
        Hang();
        LinkSocket socket = LinkSocket.Unconnected(settings.TimeoutMs, traffic, keys.OfReplication);
        Interlocked.Exchange(ref _socket, socket); // before the look: whoever stops sets that first
        _peer = primary;
        if (Volatile.Read(ref _stops))
            throw new IOException("the server stops");
        socket.Connect(primary.Host, primary.Port);
        socket.Authenticate(settings.Credentials);
    }

    private void Hang()
    {
        _socket?.Dispose();
        Volatile.Write(ref _socket, null);
    }
}

using Garnet.Server.Clients;
using Garnet.Server.Tls;

namespace Garnet.Server.Net;

/// <summary>
/// Epoll with connections among them that are encrypted: their sessions stand between the reactor and the socket, on the reactor's own thread, and
/// handshakes are over before a connection comes here. A server without tls-port has none of this.
///
/// net.T1  What a session has received and not handed out is reported in every round until it has (tls.T3), with an event of the socket or without one; a connection
///     has one event in a round all the same (net.R3).
/// net.T2  A connection that is not read is not reported, whatever its session holds.
/// net.T3  A read that waits for room to send (new keys) reads nothing until the socket takes bytes.
/// </summary>
internal sealed unsafe class TlsTransport : ITransport
{
    private const int ExtraMax = 32;

    private readonly EpollTransport _inner = new();
    private readonly List<Connection> _left = [];
    private readonly List<Connection> _held = [];
    private readonly List<ReadyEvent> _extra = [];
    private int[] _seen = new int[256];
    private int _round;
    private int _count;
    private int _turn;

    /// <inheritdoc/>
    public int Wait(int timeoutMs)
    {
        _extra.Clear();
        if (_left.Count == 0 && _held.Count == 0)
            return _count = _inner.Wait(timeoutMs);
        _left.RemoveAll(static client => client.Closed || client.Tls is not { IsLeft: true });
        _held.RemoveAll(static client => client.Closed || client.Tls is not { ReadWantsWrite: true });
        bool isReady = _left.Exists(static client => client.Tls!.IsRead);
        _count = _inner.Wait(isReady ? 0 : timeoutMs);
        NoteSeen();
        foreach (Connection client in _held)
            LetGo(client);
        ReportLeft();
        return _count + _extra.Count;
    }

    /// <inheritdoc/>
    public ReadyEvent this[int index] => index < _count ? _inner[index] : _extra[index - _count];

    /// <inheritdoc/>
    public void Add(Connection connection)
    {
        _inner.Add(connection);
        if (connection.Tls is { } session)
            Leave(connection, session); // the first request may have come with the end of the handshake
    }

    /// <inheritdoc/>
    public void Watch(Connection connection, bool read, bool write)
    {
        if (connection.Tls is { } session)
        {
            (session.IsRead, session.IsWritten) = (read, write);
            if (session.ReadWantsWrite)
                (read, write) = (false, true);
        }

        _inner.Watch(connection, read, write);
    }

    /// <inheritdoc/>
    public int Receive(Connection connection, byte* to, int bytes) =>
        connection.Tls is { } session ? Receive(connection, session, to, bytes) : _inner.Receive(connection, to, bytes);

    /// <inheritdoc/>
    public int Send(Connection connection, byte* from, int bytes) =>
        connection.Tls is { } session ? Send(session, from, bytes) : _inner.Send(connection, from, bytes);

    /// <inheritdoc/>
    public void Close(Connection connection)
    {
        if (connection.Tls is { } session)
        {
            session.End();
            session.Dispose(); // tls.T4
        }

        _inner.Close(connection);
    }

    /// <inheritdoc/>
    public System.Net.Sockets.Socket Detach(Connection connection) => _inner.Detach(connection); // its session goes with it

    /// <inheritdoc/>
    public Garnet.Media.ReaderWake ReaderWake => _inner.ReaderWake;

    /// <inheritdoc/>
    public void Wake() => _inner.Wake();

    /// <inheritdoc/>
    public void Dispose() => _inner.Dispose();

    // As few in a round as the kernel reports, in turns.
    private void ReportLeft()
    {
        for (int i = 0; i < _left.Count && _extra.Count < ExtraMax; i++)
        {
            _turn = (_turn + 1) % _left.Count;
            Connection client = _left[_turn];
            if (client.Tls!.IsRead && !Seen(client))
                _extra.Add(new ReadyEvent(client.Slot, (int)client.Id, readable: true, writable: false, broken: false));
        }
    }

    private int Receive(Connection connection, TlsSession session, byte* to, int bytes)
    {
        int total = 0;
        while (total < bytes)
        {
            int got = session.Read(to + total, bytes - total);
            if (got <= 0)
                return Stopped(connection, session, (TlsStep)got, total);
            total += got;
            if (!session.HasPending)
            {
                session.IsLeft = false; // what else there is makes an event
                return total;
            }
        }

        Leave(connection, session);
        return total;
    }

    // What was read before is handed out first; an end is found again in the next round.
    private int Stopped(Connection connection, TlsSession session, TlsStep step, int total)
    {
        if (total > 0 && (step is TlsStep.Ended or TlsStep.Broken))
        {
            Leave(connection, session);
            return total;
        }

        session.IsLeft = false;
        if (step == TlsStep.WantsWrite)
            Hold(connection, session);
        return total > 0 ? total : step switch
        {
            TlsStep.Ended => 0,
            TlsStep.Broken => ITransport.Broken,
            _ => ITransport.Again,
        };
    }

    private static int Send(TlsSession session, byte* from, int bytes)
    {
        int total = 0;
        while (total < bytes)
        {
            int sent = session.Write(from + total, bytes - total);
            if (sent <= 0)
                return total > 0 ? total : sent == (int)TlsStep.Broken ? ITransport.Broken : ITransport.Again;
            total += sent;
        }

        return total;
    }

    private void Leave(Connection connection, TlsSession session)
    {
        if (session.IsLeft)
            return;
        session.IsLeft = true;
        if (!_left.Contains(connection))
            _left.Add(connection);
    }

    private void Hold(Connection connection, TlsSession session)
    {
        if (session.ReadWantsWrite)
            return;
        session.ReadWantsWrite = true;
        _held.Add(connection);
        _inner.Watch(connection, read: false, write: true);
    }

    private void LetGo(Connection client)
    {
        if (!Seen(client) || client.Tls is not { } session)
            return;
        session.ReadWantsWrite = false;
        _inner.Watch(client, session.IsRead, session.IsWritten);
        Leave(client, session);
    }

    private void NoteSeen()
    {
        _round++;
        for (int i = 0; i < _count; i++)
        {
            int slot = _inner[i].Slot;
            if (slot < 0)
                continue; // the wakeup
            if (slot >= _seen.Length)
                Array.Resize(ref _seen, Math.Max(slot + 1, _seen.Length * 2));
            _seen[slot] = _round;
        }
    }

    private bool Seen(Connection client) => client.Slot < _seen.Length && _seen[client.Slot] == _round;
}

using Garnet.Common.Linux;
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
    private readonly Predicate<Connection> _hasNothingLeft, _isNotHeld, _isReady;
    private State[] _states = new State[256]; // by slot
    private int _round;
    private int _count;
    private int _turn;

    internal TlsTransport()
    {
        _hasNothingLeft = client => client.Closed || !StateOf(client).IsLeft;
        _isNotHeld = client => client.Closed || !StateOf(client).IsHeld;
        _isReady = client => StateOf(client).IsRead;
    }

    /// <inheritdoc/>
    public int Wait(int timeoutMs)
    {
        _extra.Clear();
        if (_left.Count == 0 && _held.Count == 0)
            return _count = _inner.Wait(timeoutMs);
        _left.RemoveAll(_hasNothingLeft);
        _held.RemoveAll(_isNotHeld);
        bool isReady = _left.Exists(_isReady);
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
        if (connection.Slot >= _states.Length)
            Array.Resize(ref _states, Math.Max(connection.Slot + 1, _states.Length * 2));
        StateOf(connection) = new State { IsRead = true };
        _inner.Add(connection);
        if (connection.Tls is not null)
            Leave(connection); // the first request may have come with the end of the handshake
    }

    /// <inheritdoc/>
    public void Watch(Connection connection, bool read, bool write)
    {
        ref State state = ref StateOf(connection);
        (state.IsRead, state.IsWritten) = (read, write);
        if (state.IsHeld)
            (read, write) = (false, true);
        _inner.Watch(connection, read, write);
    }

    /// <inheritdoc/>
    public int Receive(Connection connection, byte* to, int bytes) =>
        connection.Tls is { } session ? Receive(connection, session, to, bytes) : _inner.Receive(connection, to, bytes);

    /// <inheritdoc/>
    public int Send(Connection connection, byte* from, int bytes) =>
        connection.Tls is { } session ? Send(session, from, bytes) : _inner.Send(connection, from, bytes);

    /// <inheritdoc/>
    public int Send(Connection connection, ReadOnlySpan<Libc.IoVector> pieces) =>
        connection.Tls is null ? _inner.Send(connection, pieces) : ITransport.SendEach(this, connection, pieces);

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
            if (StateOf(client).IsRead && !Seen(client))
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
                return Stopped(connection, (TlsStep)got, total);
            total += got;
            if (!session.HasPending)
            {
                StateOf(connection).IsLeft = false; // what else there is makes an event
                return total;
            }
        }

        Leave(connection);
        return total;
    }

    // What was read before is handed out first; an end is found again in the next round.
    private int Stopped(Connection connection, TlsStep step, int total)
    {
        if (total > 0 && (step is TlsStep.Ended or TlsStep.Broken))
        {
            Leave(connection);
            return total;
        }

        StateOf(connection).IsLeft = false;
        if (step == TlsStep.WantsWrite)
            Hold(connection);
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

    private void Leave(Connection connection)
    {
        ref State state = ref StateOf(connection);
        if (state.IsLeft)
            return;
        state.IsLeft = true;
        if (!_left.Contains(connection))
            _left.Add(connection);
    }

    private void Hold(Connection connection)
    {
        ref State state = ref StateOf(connection);
        if (state.IsHeld)
            return;
        state.IsHeld = true;
        _held.Add(connection);
        _inner.Watch(connection, read: false, write: true);
    }

    private void LetGo(Connection client)
    {
        if (!Seen(client))
            return;
        ref State state = ref StateOf(client);
        state.IsHeld = false;
        _inner.Watch(client, state.IsRead, state.IsWritten);
        Leave(client);
    }

    private void NoteSeen()
    {
        _round++;
        for (int i = 0; i < _count; i++)
        {
            int slot = _inner[i].Slot;
            if (slot >= 0) // not the wakeup
                _states[slot].SeenInRound = _round;
        }
    }

    private bool Seen(Connection client) => StateOf(client).SeenInRound == _round;

    private ref State StateOf(Connection client) => ref _states[client.Slot];

    private struct State
    {
        internal bool IsLeft;  // it has to be looked at although the socket has nothing new (net.T1)
        internal bool IsHeld;  // its read waits for room to send (net.T3)
        internal bool IsRead, IsWritten; // what its reactor wants to hear of
        internal int SeenInRound;
    }
}

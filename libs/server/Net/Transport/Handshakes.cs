using System.Collections.Concurrent;
using Garnet.Common.Linux;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Tls;

namespace Garnet.Server.Net;

/// <summary>
/// One thread on which all handshakes are done: a reactor's commands never wait for the arithmetic of keys, and what a stranger does in a handshake
/// is over, one way or the other, before a reactor hears of the connection.
///
/// net.H1  Each handshake has a place among maxclients from the accept on, and its time (tls-handshake-timeout), whatever it sends.
/// net.H2  It steps back behind those who serve, but not so far that clients give up: it gets a third of what a reactor gets.
/// net.H3  A failure costs its own connection, and strangers a few lines of the log a second.
/// </summary>
internal sealed unsafe class Handshakes : IDisposable
{
    private const int EventsMax = 64, WakeMark = -1, LookMs = 100;

    private readonly ServerCore _server;
    private readonly ClientLimits _limits;
    private readonly Action<Handshake> _done;
    private readonly LinePace _pace;
    private readonly ConcurrentQueue<Handshake> _new = new();
    private readonly Dictionary<int, Handshake> _underWay = [];
    private readonly int _epoll = Libc.epoll_create1(Libc.EPOLL_CLOEXEC);
    private readonly WakeEvent _wakeup = new();
    private volatile bool _stopping;
    private long _failed, _finished, _nextLookUs;
    private int _count;

    /// <param name="server">Whose they are.</param>
    /// <param name="limits">Where a connection that is given up gives its place back.</param>
    /// <param name="done">Takes a connection over; on this thread.</param>
    internal Handshakes(ServerCore server, ClientLimits limits, Action<Handshake> done)
    {
        (_server, _limits, _done, _pace) = (server, limits, done, new LinePace(server.Clock));
        Control(Libc.EPOLL_CTL_ADD, _wakeup.Descriptor, Libc.EPOLLIN, WakeMark);
    }

    /// <summary>Handshakes that came to a good end.</summary>
    internal long Finished => Volatile.Read(ref _finished);

    /// <summary>Handshakes that did not.</summary>
    internal long Failed => Volatile.Read(ref _failed);

    /// <summary>Those under way.</summary>
    internal int Count => Volatile.Read(ref _count);

    /// <summary>Takes a new connection, which counts as a client already. From any thread.</summary>
    internal void Begin(int descriptor, PeerAddress peer)
    {
        long deadlineUs = _server.Clock.MonotonicUs + (_server.Settings.Tls.HandshakeSeconds * 1_000_000L);
        Interlocked.Increment(ref _count);
        _new.Enqueue(new Handshake(descriptor, peer, deadlineUs));
        _wakeup.Set();
    }

    /// <summary>Does handshakes until <see cref="Stop"/>; the body of the thread.</summary>
    internal void Run()
    {
        Libc.StepBack(keepsThird: true); // net.H2
        while (!_stopping)
            Round();
        while (_new.TryDequeue(out Handshake? one))
            _underWay.Add(one.Descriptor, one);
        foreach (Handshake one in _underWay.Values)
            Close(one);
        _underWay.Clear();
    }

    /// <summary>Ends <see cref="Run"/>. From any thread.</summary>
    internal void Stop()
    {
        _stopping = true;
        _wakeup.Set();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _ = Libc.close(_epoll);
        _wakeup.Dispose();
    }

    private void Round()
    {
        byte* events = stackalloc byte[EventsMax * Epoll.EventBytesMax];
        int count = Libc.epoll_wait(_epoll, events, EventsMax, _underWay.Count > 0 ? LookMs : -1);
        for (int i = 0; i < count; i++)
        {
            int mark = (int)Epoll.DataOf(events, i);
            if (mark == WakeMark)
                TakeNew();
            else if (_underWay.TryGetValue(mark, out Handshake? one))
                GoOn(one);
        }

        GiveUpLate();
    }

    private void TakeNew()
    {
        _wakeup.Reset();
        while (!_stopping && _new.TryDequeue(out Handshake? one))
        {
            _underWay.Add(one.Descriptor, one);
            Control(Libc.EPOLL_CTL_ADD, one.Descriptor, Libc.EPOLLIN, one.Descriptor); // what its peer has sent is looked at in its turn
        }
    }

    private void GoOn(Handshake one)
    {
        TlsStep step;
        try
        {
            one.Session ??= _server.Tls.Accept(one.Descriptor);
            step = one.Session.Handshake();
        }
        catch (IOException e)
        {
            GiveUp(one, e.Message);
            return;
        }

        if (step == TlsStep.Done)
        {
            _underWay.Remove(one.Descriptor);
            Control(Libc.EPOLL_CTL_DEL, one.Descriptor, 0, 0);
            Interlocked.Decrement(ref _count);
            Interlocked.Increment(ref _finished);
            _done(one);
            return;
        }

        if (step is TlsStep.Broken or TlsStep.Ended)
        {
            GiveUp(one, one.Session.Fault is { Length: > 0 } fault ? Told(fault) : "it left in the middle of the handshake");
            return;
        }

        if (one.AwaitsRoom == (step == TlsStep.WantsWrite))
            return;
        one.AwaitsRoom = !one.AwaitsRoom;
        Control(Libc.EPOLL_CTL_MOD, one.Descriptor, one.AwaitsRoom ? Libc.EPOLLOUT : Libc.EPOLLIN, one.Descriptor);
    }

    private void GiveUpLate()
    {
        long nowUs = _server.Clock.MonotonicUs;
        if (nowUs < _nextLookUs || _underWay.Count == 0)
            return;
        _nextLookUs = nowUs + (LookMs * 1000);
        foreach (Handshake one in _underWay.Values.Where(one => one.DeadlineUs <= nowUs).ToList())
            GiveUp(one, $"the handshake was not over after {_server.Settings.Tls.HandshakeSeconds} s (tls-handshake-timeout)");
    }

    private void GiveUp(Handshake one, string why)
    {
        _underWay.Remove(one.Descriptor);
        Interlocked.Increment(ref _failed);
        if (_pace.Allows(out long unsaid)) // net.H3
            _server.Log.HandshakeFailed(one.Peer.Remote, why, unsaid);
        Close(one);
    }

    private static string Told(string fault) =>
        TlsFault.IsNoTls(fault) ? $"what it sent is no TLS ({fault})" : fault;

    private void Close(Handshake one)
    {
        one.Session?.Dispose(); // OpenSSL has sent the peer its alert
        _ = Libc.close(one.Descriptor);
        Interlocked.Decrement(ref _count);
        _limits.ConnectionClosed();
    }

    private void Control(int operation, int descriptor, uint mask, int mark) => Epoll.Control(_epoll, operation, descriptor, mask, mark);
}

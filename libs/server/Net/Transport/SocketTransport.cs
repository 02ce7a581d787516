using System.Collections.Concurrent;
using System.Net.Sockets;
using Garnet.Server.Clients;

namespace Garnet.Server.Net;

/// <summary>
/// The portable transport, over <see cref="System.Net.Sockets.Socket"/>: readiness comes from receives of zero bytes and from
/// polling sends; the transfers themselves are non-blocking. Slower than epoll, the same to the
/// reactor; also the oracle of the transport tests.
///
/// net.K1  Completions come on pool threads and only queue; everything else happens on the reactor's thread.
/// net.K2  Readiness is a level, not an event: a link stays ready until it was received from, however often the reactor passes it over.
/// </summary>
internal sealed unsafe class SocketTransport : ITransport
{
    private readonly ConcurrentQueue<(Link Link, bool Readable)> _completed = new();
    private readonly Dictionary<Connection, Link> _links = [];
    private readonly AutoResetEvent _wakeup = new(false);
    private readonly List<Link> _readable = [];
    private readonly List<Link> _wroteLast = [];
    private readonly List<ReadyEvent> _ready = [];

    public int Wait(int timeoutMs)
    {
        foreach (Link link in _wroteLast)
            link.ArmWrite(); // net.K2
        _wroteLast.Clear();
        _readable.RemoveAll(static link => !link.Readable || link.Closed);
        if (_completed.IsEmpty && !_readable.Exists(static link => link.WantsRead))
            _wakeup.WaitOne(timeoutMs);
        _ready.Clear();
        for (int left = _completed.Count; left > 0 && _completed.TryDequeue(out (Link Link, bool Readable) done); left--)
            Take(done.Link, done.Readable);
        foreach (Link link in _readable)
        {
            if (link.WantsRead)
                _ready.Add(new ReadyEvent(link.Client.Slot, (int)link.Client.Id, readable: true, writable: false, broken: false));
        }

        return _ready.Count;
    }

    public ReadyEvent this[int index] => _ready[index];

    public void Add(Connection connection)
    {
        connection.Socket!.Blocking = false;
        var link = new Link(this, connection);
        _links.Add(connection, link);
        link.Arm();
    }

    public void Watch(Connection connection, bool read, bool write)
    {
        if (!_links.TryGetValue(connection, out Link? link))
            return;
        link.WantsRead = read;
        if (link.WantsWrite == write)
            return;
        link.WantsWrite = write;
        link.ArmWrite();
    }

    public int Receive(Connection connection, byte* to, int bytes)
    {
        Link link = _links[connection];
        int got = connection.Socket!.Receive(new Span<byte>(to, bytes), SocketFlags.None, out SocketError error);
        if (error == SocketError.WouldBlock)
            got = ITransport.Again;
        else if (error != SocketError.Success)
            return ITransport.Broken;
        if (got != 0 && link.Readable)
        {
            link.Readable = false;
            link.Arm();
        }

        return got;
    }

    public int Send(Connection connection, byte* from, int bytes)
    {
        int sent = connection.Socket!.Send(new ReadOnlySpan<byte>(from, bytes), SocketFlags.None, out SocketError error);
        return error switch
        {
            SocketError.Success => sent,
            SocketError.WouldBlock => ITransport.Again,
            _ => ITransport.Broken,
        };
    }

    public void Close(Connection connection)
    {
        if (_links.Remove(connection, out Link? link))
            link.Dispose();
    }

    public Socket Detach(Connection connection)
    {
        if (_links.Remove(connection, out Link? link))
            link.LetGo();
        return connection.Socket!;
    }

    public Garnet.Media.ReaderWake ReaderWake => new(null, Wake);

    public void Wake() => _wakeup.Set();

    public void Dispose()
    {
        foreach (Link link in _links.Values)
            link.Dispose();
        _links.Clear();
    }

    private void Take(Link link, bool readable)
    {
        if (link.Closed)
            return;
        if (!readable)
        {
            if (!link.WantsWrite)
                return;
            _wroteLast.Add(link);
            _ready.Add(new ReadyEvent(link.Client.Slot, (int)link.Client.Id, readable: false, writable: true, broken: false));
            return;
        }

        link.Readable = true;
        _readable.Add(link);
        if (!link.WantsRead && link.Client.Parked && HasEnded(link.Client.Socket!))
            _ready.Add(new ReadyEvent(link.Client.Slot, (int)link.Client.Id, readable: false, writable: false, broken: true));
    }

    // A parked client is not read; that it left must be noticed all the same.
    private static bool HasEnded(Socket socket)
    {
        byte one;
        int got = socket.Receive(new Span<byte>(&one, 1), SocketFlags.Peek, out SocketError error);
        return error == SocketError.Success ? got == 0 : error != SocketError.WouldBlock;
    }

    private void Report(Link link, bool readable)
    {
        _completed.Enqueue((link, readable));
        _wakeup.Set();
    }

    /// <summary>One connection's pending notifications.</summary>
    private sealed class Link : IDisposable
    {
        private const int WritePollMs = 1;

        private readonly SocketTransport _owner;
        private readonly SocketAsyncEventArgs _receive = new();
        private Timer? _writeRetry;
        private volatile bool _closed;

        internal Link(SocketTransport owner, Connection client)
        {
            _owner = owner;
            Client = client;
            _receive.SetBuffer([], 0, 0);
            _receive.Completed += (_, _) => owner.Report(this, readable: true);
        }

        internal Connection Client { get; }
        internal bool WantsRead { get; set; } = true;
        internal bool WantsWrite { get; set; }
        internal bool Readable { get; set; }
        internal bool Closed => _closed;

        /// <summary>Asks to be told when bytes are there: a receive of nothing completes then.</summary>
        internal void Arm()
        {
            if (!_closed && !Client.Socket!.ReceiveAsync(_receive))
                _owner.Report(this, readable: true);
        }

        /// <summary>Asks, where wanted, to be told when the socket takes bytes again; the framework has no such event, so it is polled.</summary>
        internal void ArmWrite()
        {
            if (_closed || !WantsWrite)
                return;
            _writeRetry ??= new Timer(_ => PollWrite());
            _writeRetry.Change(WritePollMs, Timeout.Infinite);
        }

        /// <summary>The socket goes on elsewhere; a receive of nothing that is under way takes nothing from it.</summary>
        internal void LetGo()
        {
            _closed = true;
            _writeRetry?.Dispose();
        }

        public void Dispose()
        {
            _closed = true;
            _writeRetry?.Dispose();
            EndOrderly(Client.Socket!);
            Client.Socket!.Dispose();
            _receive.Dispose();
        }

        // Disposed with a receive under way, the framework resets the connection, and the peer may lose the last replies.
        private static void EndOrderly(Socket socket)
        {
            try
            {
                socket.Shutdown(SocketShutdown.Send);
            }
            catch (SocketException)
            {
                // the peer is gone: nobody to end with
            }
        }

        private void PollWrite()
        {
            if (_closed)
                return;
            try
            {
                if (Client.Socket!.Poll(0, SelectMode.SelectWrite))
                    _owner.Report(this, readable: false);
                else
                    _writeRetry?.Change(WritePollMs, Timeout.Infinite);
            }
            catch (ObjectDisposedException)
            {
                // closed by the reactor in this very moment: nobody waits for the answer
            }
        }
    }
}

using System.Collections.Concurrent;
using System.Net.Sockets;

namespace Garnet.Server.Net;

/// <summary>
/// The portable transport, over <see cref="System.Net.Sockets.Socket"/>: readiness comes from receives of zero bytes and from
/// sends that complete; the transfers themselves are non-blocking. Slower than epoll (experiment E1), the same to the
/// reactor; also the oracle of the transport tests.
/// </summary>
internal sealed unsafe class SocketTransport : ITransport
{
    private readonly ConcurrentQueue<(Link Link, bool Readable, bool Writable)> _completed = new();
    private readonly Dictionary<Connection, Link> _links = [];
    private readonly AutoResetEvent _wakeup = new(false);
    private readonly List<ReadyEvent> _ready = [];

    public int Wait(int timeoutMs)
    {
        if (_completed.IsEmpty)
            _wakeup.WaitOne(timeoutMs);
        _ready.Clear();
        for (int left = _completed.Count; left > 0 && _completed.TryDequeue(out (Link Link, bool Readable, bool Writable) done); left--)
        {
            if (done.Link.Closed)
                continue;
            if (done.Readable)
                done.Link.Readable = true;
            _ready.Add(new ReadyEvent(done.Link.Client.Slot, done.Readable && done.Link.WantsRead, done.Writable, false));
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
        if (read && link.Readable)
            Report(link, readable: true, writable: false);
        if (write)
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
        link.Readable = false;
        if (got != 0)
            link.Arm();
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

    public void Wake() => _wakeup.Set();

    public void Dispose()
    {
        foreach (Link link in _links.Values)
            link.Dispose();
        _links.Clear();
    }

    private void Report(Link link, bool readable, bool writable)
    {
        _completed.Enqueue((link, readable, writable));
        _wakeup.Set();
    }

    /// <summary>One connection's pending notifications; completions come on pool threads and only queue.</summary>
    private sealed class Link : IDisposable
    {
        private readonly SocketTransport _owner;
        private readonly SocketAsyncEventArgs _receive = new();
        private Timer? _writeRetry;
        private volatile bool _closed;

        internal Link(SocketTransport owner, Connection client)
        {
            _owner = owner;
            Client = client;
            _receive.SetBuffer([], 0, 0);
            _receive.Completed += (_, _) => owner.Report(this, readable: true, writable: false);
        }

        internal Connection Client { get; }
        internal bool WantsRead { get; set; } = true;
        internal bool Readable { get; set; }
        internal bool Closed => _closed;

        /// <summary>Asks to be told when bytes are there: a receive of nothing completes then.</summary>
        internal void Arm()
        {
            if (!_closed && !Client.Socket!.ReceiveAsync(_receive))
                _owner.Report(this, readable: true, writable: false);
        }

        /// <summary>Asks to be told when the socket takes bytes again; the framework has no such event, so it is polled.</summary>
        internal void ArmWrite()
        {
            _writeRetry ??= new Timer(_ => PollWrite());
            _writeRetry.Change(1, Timeout.Infinite);
        }

        public void Dispose()
        {
            _closed = true;
            _writeRetry?.Dispose();
            Client.Socket!.Dispose();
            _receive.Dispose();
        }

        private void PollWrite()
        {
            if (_closed)
                return;
            try
            {
                if (Client.Socket!.Poll(0, SelectMode.SelectWrite))
                    _owner.Report(this, readable: false, writable: true);
                else
                    _writeRetry?.Change(1, Timeout.Infinite);
            }
            catch (ObjectDisposedException)
            {
                // closed by the reactor in this very moment: nobody waits for the answer
            }
        }
    }
}

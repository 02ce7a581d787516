using System.Net.Sockets;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Tls;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>A socket between two servers: blocking, with a limit on silence. Any thread may close it, which ends the waits of others.</summary>
internal sealed class LinkSocket : IDisposable
{
    private const int LineBytesMax = 1024, SendBytesMax = 256 << 10;
    private readonly Socket _socket;
    private readonly LinkTraffic _traffic;
    private readonly int _timeoutMs;
    private readonly TlsKeys? _keys;
    private readonly Func<bool>? _hasLostUser;
    private readonly Lock _sending = new(), _gate = new();
    private TlsStream? _encrypted;
    private bool _isClosed, _hasHeard;

    /// <summary>One that came in as a client's.</summary>
    internal LinkSocket(FreedSocket freed, int timeoutMs, LinkTraffic traffic) : this(freed.Socket, timeoutMs, traffic, keys: null)
    {
        (_hasLostUser, _hasHeard) = (freed.HasLostUser, true);
        if (freed.Session is { } session)
            _encrypted = new TlsStream(_socket, session, timeoutMs);
    }

    private LinkSocket(Socket socket, int timeoutMs, LinkTraffic traffic, TlsKeys? keys)
    {
        (_socket, _traffic, _timeoutMs, _keys) = (socket, traffic, timeoutMs, keys);
        socket.Blocking = true;
        socket.SendTimeout = socket.ReceiveTimeout = timeoutMs;
    }

    /// <summary>True if it came in as a client's whose user has been removed since.</summary>
    internal bool HasLostUser => _hasLostUser?.Invoke() == true;

    /// <summary>True of what concerns one link and nothing else: it ends, with the reason (replication.P5). Anything else is a fault of ours.</summary>
    internal static bool IsOfLink(Exception e) => BackgroundThread.IsOfEnvironment(e) || e is ObjectDisposedException;

    /// <summary>A socket to be connected (<see cref="Connect(string, int)"/>): whoever may end that has it before.</summary>
    /// <param name="timeoutMs">How long it may be silent.</param>
    /// <param name="traffic">Where its bytes are counted.</param>
    /// <param name="keys">Keys of the encryption; null without.</param>
    internal static LinkSocket Unconnected(int timeoutMs, LinkTraffic traffic, TlsKeys? keys) =>
        new(new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true }, timeoutMs, traffic, keys);

    /// <summary>Connects within the time.</summary>
    internal static LinkSocket Connect(Peer to, int timeoutMs, LinkTraffic traffic, TlsKeys? keys)
    {
        LinkSocket socket = Unconnected(timeoutMs, traffic, keys);
        try
        {
            socket.Connect(to.Host, to.Port);
            return socket;
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Connects within the time, or until another thread disposes of it: who does not answer must not keep a role, or a stop, waiting.</summary>
    /// <exception cref="SocketException">It cannot be reached, does not answer, or was not to be.</exception>
    /// <exception cref="IOException">It has no certificate that is believed, or wants one.</exception>
    internal void Connect(string host, int port)
    {
        try
        {
            if (!_socket.ConnectAsync(host, port).Wait(_timeoutMs))
                throw new SocketException((int)SocketError.TimedOut);
            _socket.Blocking = true;
            Encrypt(host);
        }
        catch (AggregateException e) when (e.InnerException is SocketException or ObjectDisposedException)
        {
            throw e.InnerException;
        }
    }

    internal void Send(ReadOnlySpan<byte> bytes)
    {
        lock (_sending)
        {
            while (!bytes.IsEmpty)
            {
                int sent = SendSome(bytes);
                _traffic.CountSent(sent);
                bytes = bytes[sent..];
            }
        }
    }

    /// <summary>Sends what the writer holds and empties it.</summary>
    internal void Send(FrameWriter writer)
    {
        Send(writer.Bytes);
        writer.Clear();
    }

    /// <summary>Receives some bytes; 0 at the end.</summary>
    internal int Receive(Span<byte> to)
    {
        int got = _encrypted is { } stream ? stream.Read(to) : _socket.Receive(to);
        _traffic.CountReceived(got);
        return got;
    }

    /// <summary>Says who is there, if there is a password to say.</summary>
    internal void Authenticate((string User, string Password) credentials)
    {
        (string user, string password) = credentials;
        if (password.Length == 0)
            return;
        string answer = user.Length > 0 ? Call("AUTH", user, password) : Call("AUTH", password);
        if (answer != "+OK")
            throw new IOException("it does not take masterauth: " + answer);
    }

    /// <summary>Sends a command and reads its one-line reply, byte by byte: what follows the line is no line.</summary>
    internal string Call(params string[] words)
    {
        Send(RespClient.Encode(words));
        return ReadLine();
    }

    /// <summary>Reads a line byte by byte: what follows it may be no line.</summary>
    internal string ReadLine()
    {
        var line = new RespLine(LineBytesMax);
        Span<byte> one = stackalloc byte[1];
        while (true)
        {
            if (!HasMore(one))
                throw Closed(line.Text);
            if (line.EndsWith(one[0]))
                return Said(line.Text);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
            _isClosed = true;
        try
        {
            _socket.Shutdown(SocketShutdown.Both); // wakes whoever waits in it
        }
        catch (SocketException)
        {
            // never connected, or the peer is gone: nobody waits
        }
        catch (ObjectDisposedException)
        {
            return;
        }

        _encrypted?.Dispose(); // before its socket, whose number another may have as soon as it is closed
        _socket.Dispose();
    }

    // A port that is encrypted may refuse plain bytes by an alert, an end, or an end for which some of them were never read.
    private bool HasMore(Span<byte> one)
    {
        try
        {
            return Receive(one) > 0;
        }
        catch (SocketException e) when (!_hasHeard && e.SocketErrorCode == SocketError.ConnectionReset)
        {
            return false;
        }
    }

    private IOException Closed(string line)
    {
        if (_hasHeard || _encrypted is not null)
            return new IOException("it closed the connection");
        LinkAdvice advice = LinkAdvice.OfReplication;
        return new IOException(line.Length == 0 ? advice.ClosedUnheard : advice.IfTls(line) ?? "it closed the connection");
    }

    private string Said(string line)
    {
        if (!_hasHeard && _encrypted is null && LinkAdvice.OfReplication.IfTls(line) is { } advice)
            throw new IOException(advice);
        _hasHeard = true;
        return line;
    }

    private int SendSome(ReadOnlySpan<byte> bytes)
    {
        if (_encrypted is not { } stream)
            return _socket.Send(bytes);
        bytes = bytes[..Math.Min(bytes.Length, SendBytesMax)];
        stream.Write(bytes);
        return bytes.Length;
    }

    private void Encrypt(string host)
    {
        if (_keys is null)
            return;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            _encrypted = new TlsStream(_socket, _keys.Connect((int)_socket.Handle, host), _timeoutMs, LinkAdvice.OfReplication);
        }

        _encrypted.Handshake();
    }
}

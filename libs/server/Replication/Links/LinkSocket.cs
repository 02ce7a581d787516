using System.Net.Sockets;
using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>A socket between two servers: blocking, with a limit on silence. Any thread may close it, which ends the waits of others.</summary>
internal sealed class LinkSocket : IDisposable
{
    private const int LineBytesMax = 1024;
    private readonly Socket _socket;
    private readonly LinkTraffic _traffic;
    private readonly int _timeoutMs;
    private readonly Lock _sending = new();

    internal LinkSocket(Socket socket, int timeoutMs, LinkTraffic traffic)
    {
        (_socket, _traffic, _timeoutMs) = (socket, traffic, timeoutMs);
        socket.Blocking = true;
        socket.SendTimeout = socket.ReceiveTimeout = timeoutMs;
    }

    /// <summary>True of what concerns one link and nothing else: it ends, with the reason (replication.P5). Anything else is a fault of ours.</summary>
    internal static bool IsOfLink(Exception e) => BackgroundThread.IsOfEnvironment(e) || e is ObjectDisposedException;

    /// <summary>A socket to be connected (<see cref="Connect(string, int)"/>): whoever may end that has it before.</summary>
    internal static LinkSocket Unconnected(int timeoutMs, LinkTraffic traffic) =>
        new(new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true }, timeoutMs, traffic);

    /// <summary>Connects within the time.</summary>
    internal static LinkSocket Connect(string host, int port, int timeoutMs, LinkTraffic traffic)
    {
        LinkSocket socket = Unconnected(timeoutMs, traffic);
        try
        {
            socket.Connect(host, port);
            return socket;
        }
        catch (SocketException)
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Connects within the time, or until another thread disposes of it: who does not answer must not keep a role, or a stop, waiting.</summary>
    /// <exception cref="SocketException">It cannot be reached, does not answer, or was not to be.</exception>
    internal void Connect(string host, int port)
    {
        try
        {
            if (!_socket.ConnectAsync(host, port).Wait(_timeoutMs))
                throw new SocketException((int)SocketError.TimedOut);
            _socket.Blocking = true;
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
                int sent = _socket.Send(bytes);
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
        int got = _socket.Receive(to);
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
        var line = new StringBuilder();
        Span<byte> one = stackalloc byte[1];
        while (line.Length < LineBytesMax)
        {
            if (Receive(one) == 0)
                throw new IOException("it closed the connection");
            if (one[0] == '\n')
                return line.ToString().TrimEnd('\r');
            line.Append((char)one[0]);
        }

        throw new IOException("its reply does not end");
    }

    /// <inheritdoc/>
    public void Dispose()
    {
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

        _socket.Dispose();
    }
}

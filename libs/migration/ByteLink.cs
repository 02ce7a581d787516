using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// A connection to a server, as a client has one. What has come lies in memory that grows with it, and never with what was only announced.
/// Each wait has an end: <see cref="IOException"/> or <see cref="SocketException"/> behind it.
/// </summary>
internal sealed unsafe class ByteLink : IDisposable
{
    private const int RoomMin = 16 << 10, RoomKept = 1 << 20, LineBytesMax = 64 << 10, DepthMax = 16;
    private const int BriefBytesMax = 4096, ItemBytes = 64; // an element of a list costs more than what it holds
    private const long AnswerBytesMax = 64 << 20;
    private const int ConnectMs = 10_000;

    private readonly Socket _socket;
    private readonly NativeBuffer _room = new();
    private readonly Lock _sending = new();
    private long _at, _end, _leftBytes;
    private bool _isBrief;
    private volatile bool _hasFailed;

    private ByteLink(ServerAddress address, Socket socket) => (Address, _socket) = (address, socket);

    /// <summary>Who is at the other end.</summary>
    internal ServerAddress Address { get; }

    /// <summary>True once it was to be used and had ended, or the other end said or took nothing for too long.</summary>
    internal bool HasFailed => _hasFailed;

    /// <summary>This end's port.</summary>
    internal int OwnPort => ((IPEndPoint)_socket.LocalEndPoint!).Port;

    /// <summary>The first byte that nobody took.</summary>
    internal byte* At => _room.Bytes + _at;

    /// <summary>Bytes that nobody took.</summary>
    internal long Held => _end - _at;

    /// <summary>True for what means that a link has failed or was never there.</summary>
    internal static bool IsLost(Exception e) => e is IOException or SocketException or OperationCanceledException;

    /// <summary>Connects, and says the password if there is one.</summary>
    internal static ByteLink Open(ServerAddress address)
    {
        int waitMs = address.WaitSeconds * 1000;
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, SendTimeout = waitMs, ReceiveTimeout = waitMs };
        var link = new ByteLink(address, socket);
        try
        {
            using var timeout = new CancellationTokenSource(ConnectMs);
            socket.ConnectAsync(address.Host, address.Port, timeout.Token).AsTask().GetAwaiter().GetResult();
            link.Authenticate();
            return link;
        }
        catch (Exception e)
        {
            link.Dispose();
            if (e is SocketException or OperationCanceledException)
            {
                string why = e is SocketException ? e.Message : "it takes no connection";
                throw new NotReachedException(address, why, e);
            }
            throw;
        }
    }

    /// <summary>Passes over bytes that have come.</summary>
    internal void Skip(long bytes)
    {
        _at += bytes;
        if (_at < _end)
            return;
        _at = _end = 0;
        if (_room.Capacity > RoomKept)
            _room.Dispose();
    }

    /// <summary>True once there is something to receive, or the link has ended.</summary>
    internal bool Waits(int milliseconds) => _socket.Poll(TimeSpan.FromMilliseconds(milliseconds), SelectMode.SelectRead);

    /// <summary>Receives at least a byte.</summary>
    internal void Receive()
    {
        if (_room.Capacity - _end < RoomMin)
            MakeRoom();
        int part = (int)Math.Min(_room.Capacity - _end, RoomKept);
        int bytes;
        try
        {
            bytes = _socket.Receive(_room.Span(_end, part));
        }
        catch (SocketException e)
        {
            throw e.SocketErrorCode == SocketError.TimedOut ? Silent() : Broken(e);
        }
        if (bytes == 0)
        {
            _hasFailed = true;
            throw new EndOfStreamException($"{Address} closed the connection");
        }
        _end += bytes;
    }

    /// <summary>Sends bytes; whole requests of several threads do not mix.</summary>
    internal void Send(ReadOnlySpan<byte> bytes)
    {
        lock (_sending)
        {
            try
            {
                while (!bytes.IsEmpty)
                    bytes = bytes[_socket.Send(bytes)..];
            }
            catch (SocketException e)
            {
                throw Broken(e);
            }
        }
    }

    /// <summary>Sends a request and reads its answer.</summary>
    internal Answer Call(params byte[][] words)
    {
        Send(Encode(words));
        return Read();
    }

    /// <summary>Sends a request of texts and reads its answer.</summary>
    internal Answer Call(params string[] words) => Call([.. words.Select(Encoding.UTF8.GetBytes)]);

    /// <summary>A request as it is sent.</summary>
    internal static byte[] Encode(params byte[][] words)
    {
        using var to = new MemoryStream();
        to.Write(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"*{words.Length}\r\n")));
        foreach (byte[] word in words)
        {
            to.Write(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"${word.Length}\r\n")));
            to.Write(word);
            to.Write("\r\n"u8);
        }
        return to.ToArray();
    }

    /// <summary>Reads an answer, which is no larger than that.</summary>
    internal Answer Read(long bytesMax = AnswerBytesMax)
    {
        (_leftBytes, _isBrief) = (bytesMax, false);
        return Read(depth: 0);
    }

    /// <summary>Reads an answer of any size to see whether it is an error: long strings, and lists in lists, are passed over.</summary>
    internal Answer ReadBrief()
    {
        (_leftBytes, _isBrief) = (long.MaxValue, true);
        return Read(depth: 0);
    }

    /// <summary>What is thrown where the other end says nothing any more.</summary>
    internal IOException Silent()
    {
        _hasFailed = true;
        return new(string.Create(CultureInfo.InvariantCulture, $"{Address} has said nothing for {Address.WaitSeconds} seconds"));
    }

    /// <summary>Reads a line without its end.</summary>
    internal string ReadLine()
    {
        long length;
        long seen = 0;
        while ((length = new ReadOnlySpan<byte>(At + seen, (int)(Held - seen)).IndexOf((byte)'\n')) < 0)
        {
            seen = Held;
            if (seen > LineBytesMax)
                throw new IOException($"{Address} does not speak the protocol of Redis: a line without an end");
            Receive();
        }
        string line = Encoding.UTF8.GetString(At, (int)(seen + length)).TrimEnd('\r');
        Skip(seen + length + 1);
        return line;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _socket.Dispose();
        _room.Dispose();
    }

    private void Authenticate()
    {
        if (Address.Password.Length > 0)
        {
            Answer said = Address.User.Length > 0 ? Call("AUTH", Address.User, Address.Password) : Call("AUTH", Address.Password);
            if (said.IsError)
                throw Refused("the password", said);
        }
        Answer pong = Call("PING");
        if (pong.IsError)
            throw Refused("PING", pong);
        if (pong.Text != "PONG")
            throw new IOException($"{Address} is no server of this protocol: it does not answer PING with PONG");
    }

    /// <summary>What is thrown where the other end refuses what it has to do for us, or cannot do it for now.</summary>
    internal Exception Refused(string what, Answer said) => said.IsPassing
        ? new PassingException($"{Address} cannot answer for now: {said.Printable}")
        : new GarnetException(ExitKind.Configuration, $"{Address} refuses {what}", said.Printable,
            "Give it the user and the password that may do so: in its address, or by GARNET_SOURCE_PASSWORD, GARNET_TARGET_PASSWORD "
                + "or …_FILE; the guide lists the rights it needs");

    private IOException Broken(SocketException e)
    {
        _hasFailed = true;
        return new($"the connection to {Address} is broken: {e.Message}", e);
    }

    private void MakeRoom()
    {
        long held = Held;
        if (_at > 0 && held < _room.Capacity / 2)
        {
            new ReadOnlySpan<byte>(At, checked((int)held)).CopyTo(_room.Span(0, held));
            (_at, _end) = (0, held);
            return;
        }
        _room.Grow(Math.Max(RoomMin * 4, _room.Capacity * 2), _end);
    }

    private Answer Read(int depth)
    {
        string line = ReadLine();
        if (line.Length == 0 || depth > DepthMax)
            throw Foreign();
        byte[] rest = Encoding.UTF8.GetBytes(line[1..]);
        switch (line[0])
        {
            case '+' or '-' or ':':
                return new(line[0], rest, []);
            case '$' when CountOf(line) is var bytes:
                return bytes < 0 ? new('$', [], []) { IsNil = true } : new('$', Text(bytes), []);
            case '*' when CountOf(line) is var count:
                return new('*', [], Items(count, depth)) { IsNil = count < 0 };
            default:
                throw Foreign();
        }
    }

    private List<Answer> Items(int count, int depth)
    {
        var items = new List<Answer>();
        for (int i = 0; i < count; i++)
        {
            Pay(ItemBytes);
            Answer item = Read(depth + 1);
            if (!_isBrief || depth == 0)
                items.Add(item);
        }
        return items;
    }

    private int CountOf(string line) =>
        int.TryParse(line.AsSpan(1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out int count) && count >= -1 ? count
            : throw Foreign();

    // A length is judged before anything is waited for.
    private void Pay(long bytes)
    {
        _leftBytes -= bytes;
        if (_leftBytes < 0)
            throw new IOException($"{Address} gives an answer that is too long for what was asked");
    }

    private byte[] Text(int bytes)
    {
        Pay(bytes);
        bool isKept = !_isBrief || bytes <= BriefBytesMax;
        byte[] text = isKept ? new byte[Math.Min(bytes, RoomKept)] : [];
        for (int done = 0; done < bytes;)
        {
            if (Held == 0)
                Receive();
            int part = (int)Math.Min(bytes - done, Held);
            if (isKept && done + part > text.Length)
                Array.Resize(ref text, (int)Math.Min(bytes, Math.Max((long)text.Length * 2, done + part)));
            if (isKept)
                new ReadOnlySpan<byte>(At, part).CopyTo(text.AsSpan(done));
            Skip(part);
            done += part;
        }
        while (Held < 2)
            Receive();
        if (At[0] != '\r' || At[1] != '\n')
            throw Foreign();
        Skip(2);
        return text;
    }

    private IOException Foreign() => new($"{Address} does not speak the protocol of Redis");
}

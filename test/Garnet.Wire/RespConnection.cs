using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Test;

namespace Garnet.Wire;

/// <summary>A raw client: sends bytes as given and reads exactly one reply at a time, as a tree and as its bytes.</summary>
internal sealed class RespConnection : IDisposable
{
    // Only who fails waits so long: on two busy cores an answer may take seconds.
    private const int TimeoutMs = 60_000, EndTimeoutMs = 20_000;

    private readonly Socket _socket;
    private readonly Stream? _over;
    private byte[] _buffer = new byte[16 * 1024];
    private int _start, _end;

    /// <param name="server">Where it is.</param>
    /// <param name="timeoutMs">How long it may be silent.</param>
    /// <param name="over">What is put over the connection, to encrypt it; nothing by default.</param>
    public RespConnection(EndPoint server, int timeoutMs = TimeoutMs, Func<Stream, Stream>? over = null)
    {
        bool unix = server is UnixDomainSocketEndPoint;
        _socket = new Socket(server.AddressFamily, SocketType.Stream, unix ? ProtocolType.Unspecified : ProtocolType.Tcp)
        {
            ReceiveTimeout = timeoutMs,
            SendTimeout = timeoutMs,
        };
        if (!unix) _socket.NoDelay = true;
        try
        {
            _socket.Connect(server);
            _over = over?.Invoke(new NetworkStream(_socket));
        }
        catch
        {
            _socket.Dispose();
            throw;
        }
    }

    /// <summary>Whether bytes have come that nobody read.</summary>
    public bool HasMore => _end > _start || _socket.Available > 0;

    public static byte[] Encode(params IEnumerable<byte[]> words)
    {
        List<byte[]> list = [.. words];
        using MemoryStream stream = new();
        stream.Write(Encoding.ASCII.GetBytes($"*{list.Count}\r\n"));
        foreach (byte[] word in list)
        {
            stream.Write(Encoding.ASCII.GetBytes($"${word.Length}\r\n"));
            stream.Write(word);
            stream.Write("\r\n"u8);
        }
        return stream.ToArray();
    }

    public static byte[] Encode(params string[] words) => Encode(words.Select(Encoding.Latin1.GetBytes));

    public void Send(ReadOnlySpan<byte> bytes)
    {
        if (_over is not null) _over.Write(bytes);
        else while (!bytes.IsEmpty) bytes = bytes[_socket.Send(bytes)..];
    }

    /// <summary>Sends every byte in a write of its own.</summary>
    public void SendSplit(ReadOnlySpan<byte> bytes)
    {
        for (int i = 0; i < bytes.Length; i++) Send(bytes.Slice(i, 1));
    }

    public RespNode Call(params string[] words)
    {
        Send(Encode(words));
        return Read();
    }

    /// <summary>Calls of the same connection, sent so many at a time: a call by itself is two turns of the processor.</summary>
    public List<RespNode> CallAll(IEnumerable<string[]> commands)
    {
        const int Together = 200;
        List<RespNode> replies = [];
        foreach (string[][] some in commands.Chunk(Together))
        {
            Send(some.SelectMany(static words => Encode(words)).ToArray());
            foreach (string[] _ in some) replies.Add(Read());
        }
        return replies;
    }

    public RespNode Read()
    {
        int from = _start;
        RespNode node = ReadNode(ref from);
        node.Raw = _buffer.AsSpan(_start, from - _start).ToArray();
        _start = from;
        return node;
    }

    /// <summary>Waits until the server closes; false when it sends something or keeps the connection open until the deadline.</summary>
    public bool ReadsEnd(int timeoutMs = EndTimeoutMs)
    {
        if (_end > _start) return false;
        try
        {
            if (!_socket.Poll(TimeSpan.FromMilliseconds(timeoutMs), SelectMode.SelectRead)) return false;
            return (_over is null ? _socket.Receive(_buffer) : _over.Read(_buffer)) == 0;
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.Shutdown)
        {
            return true;
        }
        catch (IOException) when (_over is not null)
        {
            return true;
        }
    }

    /// <summary>Whether a byte arrives within the time.</summary>
    public bool WaitForBytes(int timeoutMs) => _end > _start || _socket.Poll(TimeSpan.FromMilliseconds(timeoutMs), SelectMode.SelectRead);

    /// <summary>All bytes up to the moment the connection closes or stays silent for the given time.</summary>
    public byte[] ReadAll(int silenceMs, out bool closed)
    {
        closed = false;
        while (_socket.Poll(TimeSpan.FromMilliseconds(silenceMs), SelectMode.SelectRead))
        {
            try
            {
                if (Receive() > 0) continue;
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionReset)
            {
            }
            closed = true;
            break;
        }
        byte[] all = _buffer.AsSpan(_start, _end - _start).ToArray();
        _start = _end;
        return all;
    }

    /// <summary>Says that nothing more will be sent; replies can still be read.</summary>
    public void EndSending()
    {
        if (_over is System.Net.Security.SslStream encrypted) encrypted.ShutdownAsync().Await();
        else _socket.Shutdown(SocketShutdown.Send);
    }

    /// <summary>Breaks the connection off without a farewell.</summary>
    public void Reset()
    {
        _socket.LingerState = new LingerOption(true, 0);
        _socket.Dispose();
    }

    public void Dispose()
    {
        _over?.Dispose();
        _socket.Dispose();
    }

    private RespNode ReadNode(ref int at)
    {
        string line = ReadLine(ref at);
        char kind = line[0];
        string rest = line[1..];
        switch (kind)
        {
            case '$' or '=' or '!':
                int bytes = int.Parse(rest);
                if (bytes < 0) return new RespNode(kind, rest);
                while (_end - at < bytes + 2) Fill(ref at);
                string text = Encoding.Latin1.GetString(_buffer, at, bytes);
                at += bytes + 2;
                return new RespNode(kind, text) { IsBulk = true };
            case '*' or '~' or '>' or '%':
                int count = int.Parse(rest);
                if (count < 0) return new RespNode(kind, rest);
                List<RespNode> items = [];
                for (int i = 0; i < (kind == '%' ? 2 * count : count); i++) items.Add(ReadNode(ref at));
                return new RespNode(kind, "") { Items = items };
            case '+' or '-' or ':' or '_' or ',' or '#' or '(':
                return new RespNode(kind, rest);
            default:
                throw new InvalidDataException($"not a reply: {Quoted.Escape(line)}");
        }
    }

    private string ReadLine(ref int at)
    {
        int scanned = at;
        while (true)
        {
            int length = _buffer.AsSpan(scanned, _end - scanned).IndexOf((byte)'\n');
            if (length >= 0)
            {
                int stop = scanned + length;
                if (stop == at || _buffer[stop - 1] != (byte)'\r') throw new InvalidDataException("a reply line does not end in CR LF");
                string line = Encoding.Latin1.GetString(_buffer, at, stop - 1 - at);
                at = stop + 1;
                return line;
            }
            Fill(ref at);
            scanned = at;
        }
    }

    private void Fill(ref int at)
    {
        int consumed = at - _start;
        if (Receive() == 0) throw new EndOfStreamException("the server closed the connection");
        at = _start + consumed;
    }

    private int Receive()
    {
        if (_end == _buffer.Length)
        {
            byte[] room = _start > _buffer.Length / 2 ? _buffer : new byte[_buffer.Length * 2];
            _buffer.AsSpan(_start, _end - _start).CopyTo(room);
            _end -= _start;
            _start = 0;
            _buffer = room;
        }
        int bytes = _over is not null ? _over.Read(_buffer, _end, _buffer.Length - _end)
            : _socket.Receive(_buffer, _end, _buffer.Length - _end, SocketFlags.None);
        Debug.Assert(bytes >= 0);
        _end += bytes;
        return bytes;
    }
}

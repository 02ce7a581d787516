using System.Buffers;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Wire.Sizes;

/// <summary>A client that sends words of any size from one small buffer, and of replies keeps the beginning only.</summary>
internal sealed class SizedClient : IDisposable
{
    private const int BlockBytes = 1 << 20, KeptBytes = 200;

    private readonly NetworkStream _stream;
    private readonly TcpClient _socket;
    // Of thousands of clients, one after the other.
    private readonly byte[] _out = ArrayPool<byte>.Shared.Rent(BlockBytes), _in = ArrayPool<byte>.Shared.Rent(BlockBytes);
    private int _start, _end;
    private bool _isDisposed;

    public SizedClient(EndPoint server, int timeoutMs)
    {
        _socket = new TcpClient { NoDelay = true, ReceiveTimeout = timeoutMs, SendTimeout = timeoutMs };
        _socket.Connect((IPEndPoint)server);
        _stream = _socket.GetStream();
    }

    /// <summary>Sends a command; words that hold @ have so many bytes more. Returns the beginning of the reply, or "closed".</summary>
    public string Call(string command, long bytes)
    {
        long began = Stopwatch.GetTimestamp();
        try
        {
            Send(command.Split(' '), bytes);
            return Read();
        }
        catch (Exception e) when (e is EndOfStreamException || (e is IOException && (e.InnerException is SocketException { SocketErrorCode: not SocketError.TimedOut } || IsEarly(began))))
        {
            return "closed";
        }
    }

    // A connection that was closed amid gigabytes has timed out too, as the kernel says it now and then, long before our time is over.
    private bool IsEarly(long began) => Stopwatch.GetElapsedTime(began).TotalMilliseconds < _socket.SendTimeout / 2;

    public void Send(string[] words, long bytes)
    {
        Write($"*{words.Length}\r\n");
        foreach (string word in words)
        {
            int at = word.IndexOf('@', StringComparison.Ordinal);
            if (at < 0)
            {
                Write($"${word.Length}\r\n{word}\r\n");
                continue;
            }
            string head = word.Remove(at, 1); // what makes it distinct stands in front, if there is room for it
            if (head.Length > bytes) head = head[..(int)bytes];
            Write($"${bytes}\r\n{head}");
            long left = bytes - head.Length;
            _out.AsSpan(0, (int)Math.Clamp(left, 0, BlockBytes)).Fill((byte)'x');
            for (; left > 0; left -= BlockBytes) _stream.Write(_out, 0, (int)Math.Min(left, BlockBytes));
            Write("\r\n");
        }
    }

    public string Read()
    {
        string line = Line();
        char kind = line[0];
        if (kind is '$' or '=' && line != "$-1") return Bulk(long.Parse(line[1..]));
        if (kind is not ('*' or '~' or '>' or '%') || line == "*-1") return line;
        StringBuilder all = new();
        for (long i = long.Parse(line[1..]) * (kind == '%' ? 2 : 1); i > 0; i--)
        {
            string part = Read();
            if (all.Length < KeptBytes || part.StartsWith('-')) all.Append(part).Append(' ');
        }
        return $"{line}: {all}";
    }

    public void Dispose()
    {
        if (_isDisposed) return;
        _isDisposed = true;
        _stream.Dispose();
        _socket.Dispose();
        ArrayPool<byte>.Shared.Return(_out);
        ArrayPool<byte>.Shared.Return(_in);
    }

    private string Bulk(long bytes)
    {
        StringBuilder kept = new($"${bytes} ");
        for (long left = bytes + 2; left > 0;)
        {
            if (_start == _end) Fill();
            int part = (int)Math.Min(left, _end - _start);
            if (kept.Length < KeptBytes) kept.Append(Encoding.Latin1.GetString(_in, _start, Math.Min(part, KeptBytes)));
            _start += part;
            left -= part;
        }
        return kept.ToString().TrimEnd();
    }

    private string Line()
    {
        StringBuilder line = new();
        while (true)
        {
            if (_start == _end) Fill();
            int stop = _in.AsSpan(_start, _end - _start).IndexOf((byte)'\n');
            int bytes = stop < 0 ? _end - _start : stop;
            line.Append(Encoding.Latin1.GetString(_in, _start, bytes));
            _start += stop < 0 ? bytes : bytes + 1;
            if (stop >= 0) return line.ToString().TrimEnd('\r');
        }
    }

    private void Fill()
    {
        _start = 0;
        _end = _stream.Read(_in);
        if (_end == 0) throw new EndOfStreamException();
    }

    private void Write(string text) => _stream.Write(Encoding.Latin1.GetBytes(text));
}

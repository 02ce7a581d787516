using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Client;

/// <summary>A connection that sends a command and reads its reply, which is bytes, a number, nothing, or a list of these.</summary>
internal sealed class Connection(Socket socket) : IDisposable
{
    private const int LineBytesMax = 64 << 10, DepthMax = 8, ItemsMax = 1 << 20;
    private readonly NetworkStream _stream = new(socket, ownsSocket: true);
    private readonly byte[] _buffer = new byte[LineBytesMax];
    private int _start, _end;

    public static async Task<Connection> OpenAsync(EndPoint server, CancellationToken cancel)
    {
        bool isUnix = server is UnixDomainSocketEndPoint;
        var socket = new Socket(server is DnsEndPoint ? AddressFamily.InterNetworkV6 : server.AddressFamily, SocketType.Stream,
            isUnix ? ProtocolType.Unspecified : ProtocolType.Tcp);
        try
        {
            if (server is DnsEndPoint)
                socket.DualMode = true;
            if (!isUnix)
                socket.NoDelay = true;
            await socket.ConnectAsync(server, cancel).ConfigureAwait(false);
            return new Connection(socket);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>This machine's address on it; null for a Unix socket.</summary>
    public IPAddress? LocalAddress => (socket.LocalEndPoint as IPEndPoint)?.Address;

    /// <summary>
    /// Sends a command, of which words may be bytes of the caller's; a reply's last bytes go to <paramref name="into"/> where they fit.
    /// </summary>
    public async Task<object?> CallAsync(IReadOnlyList<ReadOnlyMemory<byte>> words, Memory<byte> into, CancellationToken cancel)
    {
        await _stream.WriteAsync(Header('*', words.Count), cancel).ConfigureAwait(false);
        foreach (ReadOnlyMemory<byte> word in words)
        {
            await _stream.WriteAsync(Header('$', word.Length), cancel).ConfigureAwait(false);
            await _stream.WriteAsync(word, cancel).ConfigureAwait(false);
            await _stream.WriteAsync("\r\n"u8.ToArray(), cancel).ConfigureAwait(false);
        }

        return await ReadAsync(into, 0, cancel).ConfigureAwait(false);
    }

    public void Dispose() => _stream.Dispose();

    private static byte[] Header(char kind, int count) =>
        Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{kind}{count}\r\n"));

    private async Task<object?> ReadAsync(Memory<byte> into, int depth, CancellationToken cancel)
    {
        string line = await LineAsync(cancel).ConfigureAwait(false);
        switch (line.Length == 0 ? '?' : line[0])
        {
            case '-':
                throw new BulkRefusedException(line[1..]);
            case '+':
                return new Memory<byte>(Encoding.Latin1.GetBytes(line[1..]));
            case ':':
                return long.Parse(line.AsSpan(1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
            case '$' when Count(line) is >= 0 and var bytes:
                return await BytesAsync(bytes, into, cancel).ConfigureAwait(false);
            case '*' when depth < DepthMax && Count(line) is >= 0 and <= ItemsMax and var items:
                var list = new List<object?>();
                for (int i = 0; i < items; i++)
                    list.Add(await ReadAsync(into, depth + 1, cancel).ConfigureAwait(false));
                return list;
            case '$' or '*' when Count(line) == -1:
                return null;
            default:
                throw new InvalidDataException("the server does not speak the protocol of Redis");
        }
    }

    private static int Count(string line) => int.Parse(line.AsSpan(1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);

    // Long ones go where they are wanted, and are so many bytes there.
    private async Task<object> BytesAsync(int count, Memory<byte> into, CancellationToken cancel)
    {
        bool isWanted = count > LineBytesMax && count <= into.Length;
        Memory<byte> to = isWanted ? into[..count] : new byte[count];
        for (int got = 0; got < count;)
            got += await TakeAsync(to[got..], cancel).ConfigureAwait(false);
        await LineAsync(cancel).ConfigureAwait(false);
        return to;
    }

    private async ValueTask<int> TakeAsync(Memory<byte> to, CancellationToken cancel)
    {
        if (_start == _end)
            return NotNone(await _stream.ReadAsync(to, cancel).ConfigureAwait(false));
        int count = Math.Min(_end - _start, to.Length);
        _buffer.AsSpan(_start, count).CopyTo(to.Span);
        _start += count;
        return count;
    }

    private async ValueTask<string> LineAsync(CancellationToken cancel)
    {
        while (true)
        {
            int length = _buffer.AsSpan(_start, _end - _start).IndexOf("\r\n"u8);
            if (length >= 0)
            {
                string line = Encoding.Latin1.GetString(_buffer, _start, length);
                _start += length + 2;
                return line;
            }

            _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
            (_start, _end) = (0, _end - _start);
            if (_end == _buffer.Length)
                throw new InvalidDataException("the server does not speak the protocol of Redis: a line without an end");
            _end += NotNone(await _stream.ReadAsync(_buffer.AsMemory(_end), cancel).ConfigureAwait(false));
        }
    }

    private static int NotNone(int count) => count > 0 ? count : throw new EndOfStreamException("the server has closed the connection");
}

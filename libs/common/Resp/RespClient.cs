using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Common.Resp;

/// <summary>
/// The client's end of a connection: requests, and replies of one line or of one string; what a server needs of others of its kind. Each step has its time and throws
/// <see cref="OperationCanceledException"/> behind it, <see cref="SocketException"/> if the connection fails, <see cref="IOException"/> if the other
/// end sends no line, of which <see cref="EndOfStreamException"/> if it closes it.
/// </summary>
public sealed class RespClient(Socket socket, int timeoutMs) : IDisposable
{
    private const int LineBytesMax = 64 << 10;
    private const int TogetherMax = 4 << 10; // short words: one call of the system for all

    private Stream? _stream;
    private readonly byte[] _received = new byte[4096];
    private int _at, _end;

    /// <summary>A request as it is sent: an array of bulk strings.</summary>
    public static byte[] Encode(params IReadOnlyList<string> words)
    {
        var request = new StringBuilder();
        request.Append(CultureInfo.InvariantCulture, $"*{words.Count}\r\n");
        foreach (string word in words)
            request.Append(CultureInfo.InvariantCulture, $"${Encoding.UTF8.GetByteCount(word)}\r\n{word}\r\n");
        return Encoding.UTF8.GetBytes(request.ToString());
    }

    /// <summary>Connects to an address, or to a name of a machine.</summary>
    public async Task Connect(EndPoint server)
    {
        using var timeout = new CancellationTokenSource(timeoutMs);
        await socket.ConnectAsync(server, timeout.Token).ConfigureAwait(false);
    }

    /// <summary>From here on all bytes go through what is made over the socket, which is connected, and goes with it.</summary>
    public async Task Over(Func<Socket, Task<Stream>> stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        _stream = await stream(socket).ConfigureAwait(false);
    }

    /// <summary>Sends a request.</summary>
    public async Task Send(params byte[][] words)
    {
        byte[] head = Head('*', words.Length);
        if (words.Sum(static word => (long)word.Length) <= TogetherMax)
        {
            byte[] all = [.. head, .. words.SelectMany(static word => (byte[])[.. Head('$', word.Length), .. word, .. "\r\n"u8])];
            await SendAll(all).ConfigureAwait(false);
            return;
        }

        await SendAll(head).ConfigureAwait(false);
        foreach (byte[] word in words)
        {
            await SendAll(Head('$', word.Length)).ConfigureAwait(false);
            await SendAll(word).ConfigureAwait(false);
            await SendAll("\r\n"u8.ToArray()).ConfigureAwait(false);
        }
    }

    /// <summary>Sends a request of words, and reads its reply of one line.</summary>
    public async Task<string> Call(params string[] words)
    {
        await SendAll(Encode(words)).ConfigureAwait(false);
        return await ReadLine().ConfigureAwait(false);
    }

    /// <summary>A reply of one line, without its end.</summary>
    public async Task<string> ReadLine()
    {
        var line = new RespLine(LineBytesMax);
        while (true)
        {
            if (_at == _end)
                await Refill().ConfigureAwait(false);
            if (line.EndsWith(_received[_at++]))
                return line.Text;
        }
    }

    /// <summary>Sends a request of words, and reads its reply: a string of at most so many bytes without its head, or a line as it stands.</summary>
    /// <exception cref="IOException">The string is longer.</exception>
    public async Task<string> CallForText(int bytesMax, params string[] words)
    {
        string head = await Call(words).ConfigureAwait(false);
        if (head is not ['$', .. string digits] || !int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out int bytes))
            return head;
        if (bytes > bytesMax)
            throw new IOException($"its reply has {bytes} bytes, and no more than {bytesMax} are read");
        byte[] text = new byte[bytes + 2]; // and the end of the line
        for (int at = 0; at < text.Length;)
        {
            if (_at == _end)
                await Refill().ConfigureAwait(false);
            int some = Math.Min(_end - _at, text.Length - at);
            _received.AsSpan(_at, some).CopyTo(text.AsSpan(at));
            (_at, at) = (_at + some, at + some);
        }
        return Encoding.UTF8.GetString(text, 0, bytes);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _stream?.Dispose();
        socket.Dispose();
    }

    private async Task Refill()
    {
        using var timeout = new CancellationTokenSource(timeoutMs);
        (_at, _end) = (0, await Receive(timeout.Token).ConfigureAwait(false));
        if (_end == 0)
            throw new EndOfStreamException("it closed the connection");
    }

    private static byte[] Head(char type, int count) =>
        Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{type}{count}\r\n"));

    private async Task SendAll(ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            using var timeout = new CancellationTokenSource(timeoutMs);
            bytes = bytes[await Send(bytes, timeout.Token).ConfigureAwait(false)..];
        }
    }

    private ValueTask<int> Receive(CancellationToken timeout) =>
        _stream is null ? socket.ReceiveAsync(_received, timeout) : _stream.ReadAsync(_received, timeout);

    private async ValueTask<int> Send(ReadOnlyMemory<byte> bytes, CancellationToken timeout)
    {
        if (_stream is null)
            return await socket.SendAsync(bytes, timeout).ConfigureAwait(false);
        await _stream.WriteAsync(bytes, timeout).ConfigureAwait(false);
        return bytes.Length;
    }
}

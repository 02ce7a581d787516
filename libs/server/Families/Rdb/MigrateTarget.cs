using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Server.Families.Rdb;

/// <summary>The other end of a MIGRATE: requests of a Redis client, one-line replies. Each step has its time.</summary>
internal sealed class MigrateTarget(int timeoutMs) : IDisposable
{
    private const int LineBytesMax = 64 << 10;

    private readonly Socket _socket = new(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly byte[] _received = new byte[4096];
    private int _at, _end;

    internal async Task Connect(string host, int port)
    {
        using var timeout = new CancellationTokenSource(timeoutMs);
        await _socket.ConnectAsync(host, port, timeout.Token).ConfigureAwait(false);
    }

    internal async Task Send(params byte[][] words)
    {
        await SendAll(Encoding.ASCII.GetBytes($"*{words.Length}\r\n")).ConfigureAwait(false);
        foreach (byte[] word in words)
        {
            await SendAll(Encoding.ASCII.GetBytes($"${word.Length.ToString(CultureInfo.InvariantCulture)}\r\n")).ConfigureAwait(false);
            await SendAll(word).ConfigureAwait(false);
            await SendAll("\r\n"u8.ToArray()).ConfigureAwait(false);
        }
    }

    /// <summary>A reply of one line.</summary>
    internal async Task<string> Read()
    {
        var line = new StringBuilder();
        while (line.Length < LineBytesMax)
        {
            if (_at == _end)
            {
                using var timeout = new CancellationTokenSource(timeoutMs);
                (_at, _end) = (0, await _socket.ReceiveAsync(_received, timeout.Token).ConfigureAwait(false));
                if (_end == 0)
                    throw new IOException("it closed the connection");
            }

            char next = (char)_received[_at++];
            if (next == '\n')
                return line.ToString().TrimEnd('\r');
            line.Append(next);
        }

        throw new IOException("its reply does not end");
    }

    /// <inheritdoc/>
    public void Dispose() => _socket.Dispose();

    private async Task SendAll(ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            using var timeout = new CancellationTokenSource(timeoutMs);
            bytes = bytes[await _socket.SendAsync(bytes, timeout.Token).ConfigureAwait(false)..];
        }
    }
}

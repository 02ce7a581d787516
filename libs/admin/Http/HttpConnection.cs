using System.Net;
using System.Net.Sockets;

namespace Garnet.Admin.Http;

/// <summary>A connection with its limits: what takes longer, or is more, ends it with an exception of the socket or of a cancellation.</summary>
internal sealed class HttpConnection : IDisposable
{
    private readonly Socket _socket;
    private readonly CancellationTokenSource _timed;
    private readonly CancellationTokenRegistration _stopped;

    internal HttpConnection(Socket socket, TimeProvider time, CancellationToken stop)
    {
        (_socket, Stop) = (socket, stop);
        _timed = new CancellationTokenSource(AdminLimits.RequestTime, time);
        _stopped = stop.UnsafeRegister(static timed => ((CancellationTokenSource)timed!).Cancel(), _timed);
        (Local, IPEndPoint remote) = (((IPEndPoint)socket.LocalEndPoint!).Address, (IPEndPoint)socket.RemoteEndPoint!);
        (IsLocal, From) = (IPAddress.IsLoopback(remote.Address), remote.ToString());
    }

    internal IPAddress Local { get; }

    /// <summary>True if it comes from this machine.</summary>
    internal bool IsLocal { get; }

    /// <summary>Where it comes from.</summary>
    internal string From { get; }

    /// <summary>The request, or the status to refuse it with; Ok if there was none.</summary>
    internal async Task<(HttpRequest? Request, HttpStatus Refusal)> ReadAsync()
    {
        byte[] bytes = new byte[AdminLimits.RequestBytesMax];
        int count = 0;
        CancellationToken timed = Within(AdminLimits.RequestTime);
        while (count < bytes.Length)
        {
            int got = await _socket.ReceiveAsync(bytes.AsMemory(count), timed).ConfigureAwait(false);
            if (got == 0)
                return (null, count == 0 ? HttpStatus.Ok : HttpStatus.BadRequest);
            int from = Math.Max(count - 3, 0);
            count += got;
            int end = bytes.AsSpan(from, count - from).IndexOf("\r\n\r\n"u8);
            if (end >= 0)
                return (HttpRequest.Parse(bytes.AsSpan(0, from + end + 4), out HttpStatus refusal), refusal);
        }

        return (null, HttpStatus.RequestHeaderFieldsTooLarge);
    }

    /// <summary>Sends all of it, or ends.</summary>
    internal async Task SendAsync(ReadOnlyMemory<byte> bytes)
    {
        CancellationToken timed = Within(AdminLimits.AnswerTime);
        while (bytes.Length > 0)
            bytes = bytes[await _socket.SendAsync(bytes, timed).ConfigureAwait(false)..];
        _timed.CancelAfter(Timeout.InfiniteTimeSpan);
    }

    /// <summary>Sends an answer, of HEAD the head alone.</summary>
    internal async Task SendAsync(HttpResponse response, bool withBody)
    {
        await SendAsync(response.Head).ConfigureAwait(false);
        if (withBody)
            await SendAsync(response.Body).ConfigureAwait(false);
    }

    /// <summary>Ends when the other side has closed, or has sent something that nobody expects.</summary>
    internal async Task EndOfReaderAsync(CancellationToken cancellation)
    {
        byte[] ignored = new byte[1];
        await _socket.ReceiveAsync(ignored, cancellation).ConfigureAwait(false);
    }

    /// <summary>Says that this was all, and waits a moment for the other side to have read it: what it has sent and nobody read would take the answer away.</summary>
    internal async Task CloseAsync()
    {
        _socket.Shutdown(SocketShutdown.Send);
        byte[] ignored = new byte[4096];
        CancellationToken timed = Within(AdminLimits.DrainTime);
        for (int left = AdminLimits.DrainBytesMax; left > 0;)
        {
            int got = await _socket.ReceiveAsync(ignored, timed).ConfigureAwait(false);
            if (got == 0)
                return;
            left -= got;
        }
    }

    /// <summary>Cancelled when the listener stops.</summary>
    internal CancellationToken Stop { get; }

    /// <inheritdoc/>
    public void Dispose()
    {
        _stopped.Dispose();
        _timed.Dispose();
    }

    // Cancelled after that time from now on, or by the stop.
    private CancellationToken Within(TimeSpan limit)
    {
        _timed.CancelAfter(limit);
        return _timed.Token;
    }
}

using System.Net.Sockets;

namespace Garnet.Server.Tls;

/// <summary>
/// A connection to another server that is waited for without a thread: what OpenSSL sends and receives goes through memory, between it and the
/// socket. One step at a time (tls.T1): who uses it awaits each.
/// </summary>
internal sealed class AwaitedTlsStream : LinkStream
{
    private const int RecordBytesMax = 17 << 10;
    private const int WriteBytesMax = 64 << 10; // what is made of it lies in memory until it is sent

    private readonly Socket _socket;
    private readonly TlsSession _session;
    private readonly LinkAdvice? _advice;
    private readonly byte[] _moved = new byte[RecordBytesMax];

    private AwaitedTlsStream(Socket socket, TlsSession session, LinkAdvice? advice) =>
        (_socket, _session, _advice) = (socket, session, advice);

    /// <summary>Takes a session in memory over and does the handshake; the socket stays the caller's.</summary>
    /// <param name="socket">Connected.</param>
    /// <param name="session">Freed with the stream, or if the other side does not agree.</param>
    /// <param name="timeoutMs">For all of the handshake.</param>
    /// <param name="advice">What to say if it fails; null for no more than the reason.</param>
    /// <exception cref="IOException">The other side does not agree; it says why.</exception>
    internal static async Task<Stream> Agreed(Socket socket, TlsSession session, int timeoutMs, LinkAdvice? advice)
    {
        var stream = new AwaitedTlsStream(socket, session, advice);
        try
        {
            using var timeout = new CancellationTokenSource(timeoutMs);
            await stream.Handshake(timeout.Token).ConfigureAwait(false);
            return stream;
        }
        catch (Exception e) when (e is EndOfStreamException or SocketException)
        {
            await stream.DisposeAsync().ConfigureAwait(false);
            throw new IOException(advice?.NoHandshake("closed the connection") ?? e.Message, e);
        }
        catch (OperationCanceledException e)
        {
            await stream.DisposeAsync().ConfigureAwait(false);
            throw new IOException(advice?.NoHandshake("does not answer") ?? "it does not answer", e);
        }
        catch (IOException)
        {
            await stream.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (true)
        {
            int got = Decrypt(buffer.Span);
            await SendMade(cancellationToken).ConfigureAwait(false); // new keys are answered
            if (got > 0)
                return got;
            if (got == (int)TlsStep.Ended)
                return 0;
            await Await((TlsStep)got, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!buffer.IsEmpty)
        {
            int sent = Encrypt(buffer.Span[..Math.Min(buffer.Length, WriteBytesMax)]);
            await SendMade(cancellationToken).ConfigureAwait(false);
            if (sent > 0)
                buffer = buffer[sent..];
            else
                await Await((TlsStep)sent, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        _session.End();
        int made = _session.Drain(_moved);
        if (made > 0)
        {
            _socket.Blocking = false;
            _socket.Send(_moved.AsSpan(0, made), SocketFlags.None, out _); // the goodbye, if there is room for it
        }

        _session.Dispose();
        base.Dispose(disposing);
    }

    private async Task Handshake(CancellationToken timeout)
    {
        while (true)
        {
            TlsStep step = _session.Handshake();
            await SendMade(timeout).ConfigureAwait(false); // an alert, too
            if (step == TlsStep.Done)
                return;
            await Await(step, timeout).ConfigureAwait(false);
        }
    }

    private async Task SendMade(CancellationToken timeout)
    {
        for (int made = _session.Drain(_moved); made > 0; made = _session.Drain(_moved))
        {
            try
            {
                for (int sent = 0; sent < made;)
                    sent += await _socket.SendAsync(_moved.AsMemory(sent, made - sent), timeout).ConfigureAwait(false);
            }
            catch (SocketException)
            {
                HearRefusal();
                throw;
            }
        }
    }

    // Whoever is refused by his certificate has done his part of the handshake, and sends: the alert that says why has come by then, and lies
    // in the socket.
    private void HearRefusal()
    {
        try
        {
            while (_session.Fault.Length == 0 && _socket.Available > 0 && _socket.Receive(_moved) is > 0 and var got)
            {
                _session.Feed(_moved.AsSpan(0, got));
                while (Decrypt(_moved) > 0)
                {
                }
            }
        }
        catch (SocketException)
        {
            return; // it is of no use: the first failure says more
        }

        ThrowFault();
    }

    private void ThrowFault()
    {
        if (_session.Fault.Length > 0)
            throw _session.Failure(_advice);
    }

    private async Task Await(TlsStep step, CancellationToken timeout)
    {
        ThrowFault();
        int got = step == TlsStep.WantsRead ? await _socket.ReceiveAsync(_moved, timeout).ConfigureAwait(false) : 0;
        if (got == 0)
            throw new EndOfStreamException("it closed the connection");
        _session.Feed(_moved.AsSpan(0, got));
    }

    private unsafe int Decrypt(Span<byte> to)
    {
        fixed (byte* head = to)
            return _session.Read(head, to.Length);
    }

    private unsafe int Encrypt(ReadOnlySpan<byte> from)
    {
        fixed (byte* head = from)
            return _session.Write(head, from.Length);
    }
}

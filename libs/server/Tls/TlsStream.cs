using System.Net.Sockets;
using Garnet.Common.Time;

namespace Garnet.Server.Tls;

/// <summary>
/// A session that several threads use, one that sends and one that receives, each waiting for the socket for a limited time. They take turns in the
/// session (tls.T1) and never wait within one. Any thread may shut the socket down, which ends the waits of others.
/// </summary>
internal sealed class TlsStream : Stream
{
    private readonly Lock _turn = new();
    private readonly Socket _socket;
    private readonly TlsSession _session;
    private readonly int _timeoutMs;
    private readonly IClock _clock = SystemClock.Instance; // it waits for a socket, in the system's time

    /// <summary>Takes both over.</summary>
    internal TlsStream(Socket socket, TlsSession session, int timeoutMs)
    {
        (_socket, _session, _timeoutMs) = (socket, session, timeoutMs);
        socket.Blocking = false;
    }

    /// <summary>Takes both over and does the handshake.</summary>
    /// <exception cref="IOException">As of <see cref="Handshake"/>; the session is freed then, the socket is the caller's.</exception>
    internal static TlsStream Agreed(Socket socket, TlsSession session, int timeoutMs)
    {
        var stream = new TlsStream(socket, session, timeoutMs);
        try
        {
            stream.Handshake();
            return stream;
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            stream.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanWrite => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>Does the handshake, which comes before anything else.</summary>
    /// <exception cref="IOException">The other side has no certificate that is believed, or wants one; it says why.</exception>
    internal void Handshake()
    {
        long began = _clock.MonotonicUs;
        for (TlsStep step = HandshakeStep(); step != TlsStep.Done; step = HandshakeStep())
            Await(step, began);
    }

    /// <inheritdoc/>
    public override unsafe int Read(Span<byte> buffer)
    {
        long began = _clock.MonotonicUs;
        while (true)
        {
            int got;
            lock (_turn)
            {
                fixed (byte* to = buffer)
                    got = _session.Read(to, buffer.Length);
            }

            if (got > 0)
                return got;
            if (got == (int)TlsStep.Ended)
                return 0;
            Await((TlsStep)got, began);
        }
    }

    /// <inheritdoc/>
    public override unsafe void Write(ReadOnlySpan<byte> buffer)
    {
        long began = _clock.MonotonicUs;
        while (!buffer.IsEmpty)
        {
            int sent;
            lock (_turn)
            {
                fixed (byte* from = buffer)
                    sent = _session.Write(from, buffer.Length);
            }

            if (sent <= 0)
            {
                Await((TlsStep)sent, began);
                continue;
            }

            buffer = buffer[sent..];
            began = _clock.MonotonicUs;
        }
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <inheritdoc/>
    public override void Flush()
    {
        // nothing is kept here
    }

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        lock (_turn)
        {
            _session.End();
            _session.Dispose();
        }

        base.Dispose(disposing);
    }

    private TlsStep HandshakeStep()
    {
        lock (_turn)
            return _session.Handshake();
    }

    // The time is that of the whole step: a peer that sends a byte of a record now and then is not alive for that.
    private void Await(TlsStep step, long beganUs)
    {
        if (step is TlsStep.Broken or TlsStep.Ended)
            throw new IOException(_session.Fault is { Length: > 0 } fault ? "TLS failed: " + fault : "it closed the connection");
        long leftUs = (_timeoutMs * 1000L) - (_clock.MonotonicUs - beganUs);
        int limitUs = _timeoutMs > 0 ? (int)Math.Clamp(leftUs, 0, int.MaxValue) : -1;
        if (limitUs == 0 || !_socket.Poll(limitUs, step == TlsStep.WantsRead ? SelectMode.SelectRead : SelectMode.SelectWrite))
            throw new SocketException((int)SocketError.TimedOut);
    }
}

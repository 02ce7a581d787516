using System.Net.Sockets;
using Garnet.Common.Time;

namespace Garnet.Server.Tls;

/// <summary>
/// A session that several threads use, one that sends and one that receives, each waiting for the socket for a limited time. They take turns in the
/// session (tls.T1) and never wait within one. Any thread may shut the socket down, which ends the waits of others.
/// </summary>
internal sealed class TlsStream : LinkStream
{
    private readonly Lock _turn = new();
    private readonly Socket _socket;
    private readonly TlsSession _session;
    private readonly int _timeoutMs;
    private readonly LinkAdvice? _advice;
    private readonly IClock _clock = SystemClock.Instance; // it waits for a socket, in the system's time

    /// <summary>Takes both over.</summary>
    /// <param name="socket">Connected.</param>
    /// <param name="session">Over that socket.</param>
    /// <param name="timeoutMs">How long a step may take.</param>
    /// <param name="advice">What to say if it fails; null of one that came in.</param>
    internal TlsStream(Socket socket, TlsSession session, int timeoutMs, LinkAdvice? advice = null)
    {
        (_socket, _session, _timeoutMs, _advice) = (socket, session, timeoutMs, advice);
        socket.Blocking = false;
    }

    /// <summary>Does the handshake, which comes before anything else.</summary>
    /// <exception cref="IOException">The other side has no certificate that is believed, or wants one; it says why.</exception>
    internal void Handshake()
    {
        long began = _clock.MonotonicUs;
        try
        {
            for (TlsStep step = HandshakeStep(); step != TlsStep.Done; step = HandshakeStep())
                Await(step, began);
        }
        catch (SocketException e) when (_advice is not null && e.SocketErrorCode == SocketError.TimedOut)
        {
            throw new IOException(_advice.NoHandshake("does not answer"), e);
        }
        catch (EndOfStreamException e) when (_advice is not null)
        {
            throw new IOException(_advice.NoHandshake("closed the connection"), e);
        }
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
            throw Ending();
        long leftUs = (_timeoutMs * 1000L) - (_clock.MonotonicUs - beganUs);
        int limitUs = _timeoutMs > 0 ? (int)Math.Clamp(leftUs, 0, int.MaxValue) : -1;
        if (limitUs == 0 || !_socket.Poll(limitUs, step == TlsStep.WantsRead ? SelectMode.SelectRead : SelectMode.SelectWrite))
            throw new SocketException((int)SocketError.TimedOut);
    }

    private IOException Ending()
    {
        if (_session.Fault.Length == 0)
            return new EndOfStreamException("it closed the connection");
        return _session.Failure(_advice);
    }
}

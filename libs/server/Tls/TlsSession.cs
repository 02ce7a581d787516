using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Garnet.Server.Tls;

/// <summary>
/// One end of an encrypted connection, over a socket that does not block. It never waits: each step says what it waits for.
///
/// tls.T1  One thread at a time. Who shares one between threads takes turns (<see cref="TlsStream"/>).
/// tls.T2  What was offered to <see cref="Write"/> and not taken is offered again, with the same bytes in front: a record of them may be made already.
/// tls.T3  What OpenSSL has received and not handed out (<see cref="HasPending"/>) makes no event of the socket: whoever stops reading must come back by himself.
/// tls.T4  It does not own the socket, and is freed before that is closed.
/// tls.T5  A peer that sends much and none of it is data (new keys again and again, each of which takes some microseconds) is cut off.
/// </summary>
internal sealed unsafe class TlsSession : IDisposable
{
    /// <summary>What one takes while nothing is under way, about: measured with 1,000 idle ones.</summary>
    internal const int MemoryBytes = 23 << 10;

    private const ulong BytesWithoutDataMax = 64 << 10; // several of the longest records

    private const string NoMemory = "there is no memory for a TLS connection";

    private nint _ssl;
    private nint _received, _made; // of one in memory
    private TlsStep _over;
    private bool _hasRead = true;
    private ulong _wireBytes; // received from the peer, when data was last among it

    /// <param name="context">The side's keys and rules; OpenSSL keeps it for as long as the session is there.</param>
    /// <param name="descriptor">The socket.</param>
    /// <param name="isServer">Which side.</param>
    internal TlsSession(nint context, int descriptor, bool isServer) : this(context)
    {
        if (LibSsl.SSL_set_fd(_ssl, descriptor) != 1)
            throw Failure();
        if (isServer)
            LibSsl.SSL_set_accept_state(_ssl);
        else
            LibSsl.SSL_set_connect_state(_ssl);
    }

    private TlsSession(nint context)
    {
        _ssl = LibSsl.SSL_new(context);
        if (_ssl == 0)
            throw Failure();
    }

    /// <summary>A client's end without a socket: its bytes are handed to it (<see cref="Feed"/>) and taken from it (<see cref="Drain"/>).</summary>
    /// <exception cref="IOException">There is no memory for it.</exception>
    internal static TlsSession InMemory(nint context)
    {
        var session = new TlsSession(context);
        session._received = LibSsl.BIO_new(LibSsl.BIO_s_mem());
        session._made = LibSsl.BIO_new(LibSsl.BIO_s_mem());
        if (session._received == 0 || session._made == 0)
            throw session.Failure();
        LibSsl.SSL_set_bio(session._ssl, session._received, session._made); // they are the session's from here on
        LibSsl.SSL_set_connect_state(session._ssl);
        return session;
    }

    /// <summary>True if a step may find more although the socket has nothing new.</summary>
    internal bool HasPending => _over != TlsStep.Done || (_ssl != 0 && LibSsl.SSL_has_pending(_ssl) != 0);

    /// <summary>Why it broke, for operators; empty if the peer just left.</summary>
    internal string Fault { get; private set; } = "";

    /// <summary>What whoever reads or writes over it throws then, in the words of the advice if there is one.</summary>
    internal IOException Failure(LinkAdvice? advice) => new(advice?.Of(Fault) ?? "TLS failed: " + Fault);

    /// <summary>True if it is broken because the peer was cut off (tls.T5).</summary>
    internal bool IsCutOff { get; private set; }

    /// <summary>Names the server that is wanted, so that one with several names shows the right certificate.</summary>
    internal void Ask(string host)
    {
        if (Uri.CheckHostName(host) != UriHostNameType.Dns)
            return;
        fixed (byte* name = NativeText.Of(host))
            _ = LibSsl.SSL_ctrl(_ssl, LibSsl.ControlHostName, 0, name);
    }

    /// <summary>Goes on with the handshake, as far as the socket lets it.</summary>
    internal TlsStep Handshake()
    {
        if (_over != TlsStep.Done)
            return _over;
        LibSsl.ERR_clear_error();
        int result = LibSsl.SSL_do_handshake(_ssl);
        return result == 1 ? TlsStep.Done : Failed(result);
    }

    /// <summary>Of one in memory: takes what came from the peer.</summary>
    internal void Feed(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* from = bytes)
        {
            if (LibSsl.BIO_write(_received, from, bytes.Length) != bytes.Length)
                throw new IOException(NoMemory);
        }
    }

    /// <summary>Of one in memory: hands out what is for the peer; how many bytes, 0 or less if there are none.</summary>
    internal int Drain(Span<byte> to)
    {
        fixed (byte* head = to)
            return _ssl == 0 ? 0 : LibSsl.BIO_read(_made, head, to.Length);
    }

    /// <summary>Bytes that were read, more than 0, or a <see cref="TlsStep"/>.</summary>
    internal int Read(byte* to, int bytes)
    {
        if (_over != TlsStep.Done)
            return (int)_over;
        LibSsl.ERR_clear_error();
        int got = LibSsl.SSL_read(_ssl, to, bytes);
        if (got > 0)
        {
            _hasRead = true;
            return got;
        }

        TlsStep step = Failed(got);
        return (int)(step == TlsStep.WantsRead ? AfterNothing() : step);
    }

    /// <summary>Bytes that were taken, more than 0, or a <see cref="TlsStep"/>; of more than a record holds, a record (tls.T2).</summary>
    internal int Write(byte* from, int bytes)
    {
        if (_over == TlsStep.Broken)
            return (int)_over;
        LibSsl.ERR_clear_error();
        int sent = LibSsl.SSL_write(_ssl, from, bytes);
        return sent > 0 ? sent : (int)Failed(sent);
    }

    /// <summary>Tells the peer that nothing follows, if the socket takes it now.</summary>
    internal void End()
    {
        if (_ssl == 0 || _over == TlsStep.Broken)
            return;
        LibSsl.ERR_clear_error();
        _ = LibSsl.SSL_shutdown(_ssl);
    }

    /// <summary>
    /// The common name (CN) in the peer's certificate; null if it has shown none, or one with no name, several, or a name that no user can have.
    /// </summary>
    internal string? PeerName()
    {
        nint certificate = LibSsl.SSL_get1_peer_certificate(_ssl);
        if (certificate == 0)
            return null;
        try
        {
            nint name = LibSsl.X509_get_subject_name(certificate);
            int at = LibSsl.X509_NAME_get_index_by_NID(name, LibSsl.CommonName, -1);
            if (at < 0 || LibSsl.X509_NAME_get_index_by_NID(name, LibSsl.CommonName, at) >= 0)
                return null;
            return TextOf(LibSsl.X509_NAME_ENTRY_get_data(LibSsl.X509_NAME_get_entry(name, at)));
        }
        finally
        {
            LibSsl.X509_free(certificate);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        LibSsl.SSL_free(_ssl); // of nothing: nothing
        _ssl = 0;
        _over = TlsStep.Broken;
    }

    // A zero byte within a name would make two names of one, by who reads it.
    private static string? TextOf(nint value)
    {
        byte* text;
        int bytes = LibSsl.ASN1_STRING_to_UTF8(&text, value);
        if (bytes < 0)
            return null;
        var span = new ReadOnlySpan<byte>(text, bytes);
        bool isName = bytes > 0 && !span.Contains((byte)0);
        string? name = isName ? System.Text.Encoding.Latin1.GetString(span) : null; // users' names stand for bytes
        LibSsl.CRYPTO_free(text, null, 0);
        return name;
    }

    private TlsStep AfterNothing()
    {
        ulong bytes = LibSsl.BIO_number_read(LibSsl.SSL_get_rbio(_ssl));
        if (_hasRead)
            (_hasRead, _wireBytes) = (false, bytes);
        if (bytes - _wireBytes <= BytesWithoutDataMax)
            return TlsStep.WantsRead;
        Fault = $"the peer has sent {BytesWithoutDataMax >> 10} KiB without data among them";
        IsCutOff = true;
        return _over = TlsStep.Broken;
    }

    private IOException Failure()
    {
        Dispose();
        return new IOException(NoMemory);
    }

    private TlsStep Failed(int result)
    {
        switch (LibSsl.SSL_get_error(_ssl, result))
        {
            case LibSsl.ErrorWantsRead:
                return TlsStep.WantsRead;
            case LibSsl.ErrorWantsWrite:
                return TlsStep.WantsWrite;
            case LibSsl.ErrorEnded:
                return _over = TlsStep.Ended;
            case LibSsl.ErrorSsl:
                Fault = Reason();
                return _over = TlsStep.Broken;
            default:
                LibSsl.ERR_clear_error();
                return _over = TlsStep.Broken;
        }
    }

    // The first error is the cause, those behind it are who passed it on. A certificate is refused for a reason of its own.
    private string Reason()
    {
        nint verified = LibSsl.SSL_get_verify_result(_ssl);
        string reason = TlsFault.Take();
        if (verified == 0 || LibSsl.SSL_get_verify_mode(_ssl) == LibSsl.VerifyNone)
            return reason;
        return TlsFault.NotBelieved + Marshal.PtrToStringUTF8((nint)LibSsl.X509_verify_cert_error_string(verified));
    }
}

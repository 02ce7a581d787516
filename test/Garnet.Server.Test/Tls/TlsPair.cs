using System.Net.Sockets;
using System.Runtime.InteropServices;
using Garnet.Common.Linux;
using Garnet.Server.Clients;
using Garnet.Server.Net;
using Garnet.Server.Tls;
using Garnet.Wire.Tls;
using NUnit.Framework;

namespace Garnet.Server.Test.Tls;

/// <summary>A transport with one encrypted connection, and its peer, which the test plays with OpenSSL itself: all on one thread. The socket is a local one: how much it
/// takes is the same each time.</summary>
internal sealed unsafe partial class TlsPair : IDisposable
{
    private const int StepsMax = 1000, StepMs = 1000, SocketBytes = 8 << 10;

    private readonly TlsContext _context, _peerContext;
    private readonly Socket _socket, _peerSocket;
    private readonly nint _peer;

    /// <param name="files">Certificates of both.</param>
    /// <param name="client">The name of the peer's.</param>
    /// <param name="agrees">False if there was no handshake yet, and the test plays the peer's with bytes.</param>
    public TlsPair(TestCertificates files, string client = "client", bool agrees = true)
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("TLS is served on Linux only");
        long now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        _context = TlsContext.OfServer(Settings(files, "server"), now);
        _peerContext = TlsContext.OfClient(Settings(files, client), now);
        using Socket listener = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(files.Path(Guid.NewGuid().ToString("n"))));
        listener.Listen();
        _peerSocket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        _peerSocket.Connect(listener.LocalEndPoint!);
        _socket = listener.Accept();
        _socket.SendBufferSize = SocketBytes;
        _socket.Blocking = _peerSocket.Blocking = false;
        Session = new TlsSession(_context.Handle, (int)_socket.Handle, isServer: true);
        _peer = LibSsl.SSL_new(_peerContext.Handle);
        Assert.That(LibSsl.SSL_set_fd(_peer, (int)_peerSocket.Handle), Is.EqualTo(1));
        LibSsl.SSL_set_connect_state(_peer);
        if (agrees) Agree();
        Client = new Connection(null!, 1, new PeerAddress(""), 0) { Slot = 3, Descriptor = (int)_socket.Handle, Tls = Session };
        Transport.Add(Client);
        if (!agrees) return;
        Say(1);
        Assert.That((Transport.Wait(StepMs), Receive(10), Transport.Wait(0)), Is.EqualTo((1, 1, 0)), "nothing is left of the handshake");
        _ = Hear(); // tickets
    }

    /// <summary>The sockets themselves, for bytes that nobody encrypts.</summary>
    public (Socket Near, Socket Far) Sockets => (_socket, _peerSocket);

    /// <summary>What makes another peer.</summary>
    public nint PeerContext => _peerContext.Handle;

    public TlsTransport Transport { get; } = new();

    public TlsSession Session { get; }

    public Connection Client { get; }

    /// <summary>The peer sends a record.</summary>
    public void Say(int bytes)
    {
        byte[] record = new byte[bytes];
        fixed (byte* from = record) Assert.That(LibSsl.SSL_write(_peer, from, bytes), Is.EqualTo(bytes));
    }

    /// <summary>The peer wants new keys of both sides, which is sent with what it says next.</summary>
    public void AskForKeys() => Assert.That(SSL_key_update(_peer, 1), Is.EqualTo(1));

    /// <summary>The peer takes new keys again and again, so many times at most, as long as its socket takes it; how often it did.</summary>
    public int RenewKeys(int max) => RenewKeys(_peer, max);

    /// <summary>The same of any peer.</summary>
    public static int RenewKeys(nint peer, int max)
    {
        int renewed = 0;
        while (renewed < max && SSL_key_update(peer, 0) == 1 && LibSsl.SSL_do_handshake(peer) == 1) renewed++;
        return renewed;
    }

    /// <summary>The same in few pieces; the peer says nothing after that.</summary>
    public void RenewKeysAtOnce(int count)
    {
        nint made = LibSsl.BIO_new(LibSsl.BIO_s_mem());
        SSL_set0_wbio(_peer, made);
        Assert.That(RenewKeys(count), Is.EqualTo(count));
        byte[] bytes = new byte[count * 64];
        fixed (byte* to = bytes) Assert.That(_peerSocket.Send(bytes.AsSpan(0, LibSsl.BIO_read(made, to, bytes.Length))), Is.GreaterThan(count));
    }

    /// <summary>The peer reads all that there is.</summary>
    public long Hear()
    {
        byte* to = stackalloc byte[16 << 10];
        long all = 0;
        for (int got = LibSsl.SSL_read(_peer, to, 16 << 10); got > 0; got = LibSsl.SSL_read(_peer, to, 16 << 10)) all += got;
        return all;
    }

    /// <summary>What the transport receives into so much room.</summary>
    public int Receive(int room)
    {
        byte* to = stackalloc byte[room];
        return Transport.Receive(Client, to, room);
    }

    /// <summary>Sends so many records at most, until the socket takes nothing more; how many it took.</summary>
    public int Fill(int recordsMax)
    {
        const int Bytes = 100;
        byte* from = stackalloc byte[Bytes];
        int sent = 0;
        while (sent < recordsMax && Transport.Send(Client, from, Bytes) > 0) sent++;
        return sent;
    }

    public void Dispose()
    {
        LibSsl.SSL_free(_peer);
        Session.Dispose();
        Transport.Dispose();
        _socket.Dispose();
        _peerSocket.Dispose();
        _context.Dispose();
        _peerContext.Dispose();
    }

    private void Agree()
    {
        bool isThrough = false;
        for (int i = 0; i < StepsMax && !isThrough; i++)
        {
            int peer = LibSsl.SSL_do_handshake(_peer);
            isThrough = Session.Handshake() == TlsStep.Done && peer == 1;
        }

        Assert.That(isThrough, Session.Fault);
    }

    private static TlsSettings Settings(TestCertificates files, string name) => new()
    {
        CertificateFile = files.Path(name + ".crt"),
        KeyFile = files.Path(name + ".key"),
        AuthorityFile = files.AuthorityFile,
    };

    [LibraryImport("libssl.so.3")] private static partial void SSL_set0_wbio(nint session, nint to);

    [LibraryImport("libssl.so.3")] private static partial int SSL_key_update(nint session, int type);
}

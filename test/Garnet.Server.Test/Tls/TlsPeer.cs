using System.Net;
using System.Net.Sockets;
using Garnet.Common.Linux;
using Garnet.Server.Tls;
using Garnet.Wire.Tls;
using NUnit.Framework;

namespace Garnet.Server.Test.Tls;

/// <summary>A client of a server, which the test plays with OpenSSL itself; it waits for its socket.</summary>
internal sealed class TlsPeer : IDisposable
{
    private readonly TlsContext _context;
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly nint _session;

    public TlsPeer(IPEndPoint server, TestCertificates files)
    {
        TlsSettings settings = new()
        {
            CertificateFile = files.Path("client.crt"), KeyFile = files.Path("client.key"), AuthorityFile = files.AuthorityFile,
        };
        _context = TlsContext.OfClient(settings, DateTimeOffset.UtcNow.ToUnixTimeSeconds());
        _socket.Connect(server);
        _session = LibSsl.SSL_new(_context.Handle);
        Assert.That(LibSsl.SSL_set_fd(_session, (int)_socket.Handle), Is.EqualTo(1));
        LibSsl.SSL_set_connect_state(_session);
        Assert.That(LibSsl.SSL_do_handshake(_session), Is.EqualTo(1));
    }

    /// <summary>Takes new keys again and again, so many times at most, until the server closes.</summary>
    public int RenewKeys(int max) => TlsPair.RenewKeys(_session, max);

    public void Dispose()
    {
        LibSsl.SSL_free(_session);
        _socket.Dispose();
        _context.Dispose();
    }
}

using System.Buffers.Binary;
using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>Accepting through libc: a small epoll set of listeners, woken by an event for the stop.</summary>
internal sealed unsafe class EpollAcceptor : Acceptor
{
    private const int RetryMs = 100;
    private const int AddressBytes = 128;

    private readonly List<int> _listeners = [];
    private readonly List<int> _encrypted = [];
    private readonly EpollListeners _set = new();
    private string _unixPath = "";
    private volatile bool _stopping;

    internal EpollAcceptor(ServerCore server, ClientLimits limits) : base(server, limits)
    {
        if (server.Settings.Tls.Serves)
            Handshakes = new Handshakes(server, limits, AdmitAgreed);
    }

    /// <summary>Handshakes of encrypted connections; null without any.</summary>
    internal Handshakes? Handshakes { get; }

    internal override void Run()
    {
        try
        {
            while (!_stopping)
            {
                foreach (int listener in _set.Wait())
                    AcceptAll(listener);
            }
        }
        finally
        {
            CloseListeners(); // the rest of a stop may take long: whoever comes now is refused, and does not wait for it in vain
            Handshakes?.Stop(); // not before: what was begun last would be closed by nobody
        }
    }

    internal override void Stop()
    {
        _stopping = true;
        _set.Wake();
    }

    public override void Dispose()
    {
        CloseListeners();
        _set.Dispose();
        Handshakes?.Dispose();
        if (_unixPath.Length > 0)
            Unlink(_unixPath);
    }

    private protected override int? Listen(NetworkSettings settings, ListenAddress address, int port, bool isTls)
    {
        int family = address.IsV6 ? Libc.AF_INET6 : Libc.AF_INET;
        int listener = Libc.socket(family, Libc.SOCK_STREAM | Libc.SOCK_NONBLOCK | Libc.SOCK_CLOEXEC, 0);
        if (listener < 0 && Libc.Errno == Libc.EAFNOSUPPORT)
            return null;
        if (listener < 0)
            throw BindFailure($"{address} port {port}", Libc.Errno);
        SetOption(listener, Libc.SOL_SOCKET, Libc.SO_REUSEADDR, 1);
        if (address.IsV6)
            SetOption(listener, Libc.IPPROTO_IPV6, Libc.IPV6_V6ONLY, 1);
        byte* name = stackalloc byte[AddressBytes];
        uint length = WriteAddress(name, address, port);
        if (Libc.bind(listener, name, length) != 0 || Libc.listen(listener, settings.TcpBacklog) != 0)
            return Failed(listener, address, port);
        length = AddressBytes;
        if (port == 0 && Libc.getsockname(listener, name, &length) == 0)
            port = PeerAddress.PortOf(new ReadOnlySpan<byte>(name, AddressBytes));
        Watch(listener);
        if (isTls)
            _encrypted.Add(listener);
        return port;
    }

    private protected override void ListenUnix(NetworkSettings settings)
    {
        byte[] path = Encoding.UTF8.GetBytes(settings.UnixSocket);
        if (path.Length > 107)
            throw new GarnetException(ExitKind.Configuration, $"unixsocket {settings.UnixSocket}", "the path is longer than 107 bytes",
                "Choose a shorter path");
        byte* name = stackalloc byte[AddressBytes];
        new Span<byte>(name, AddressBytes).Clear();
        *(ushort*)name = Libc.AF_UNIX;
        path.CopyTo(new Span<byte>(name + 2, path.Length));
        Unlink(settings.UnixSocket);
        int listener = Libc.socket(Libc.AF_UNIX, Libc.SOCK_STREAM | Libc.SOCK_NONBLOCK | Libc.SOCK_CLOEXEC, 0);
        if (listener < 0)
            throw BindFailure(settings.UnixSocket, Libc.Errno);
        uint mask = Libc.umask(0x7F); // nobody else may connect in the instant before the permissions are set
        int bound = Libc.bind(listener, name, (uint)(3 + path.Length));
        int errno = Libc.Errno;
        _ = Libc.umask(mask);
        if (bound != 0)
            throw BindFailure(settings.UnixSocket, errno);
        _unixPath = settings.UnixSocket;
        if (settings.UnixSocketPermissions != 0)
            _ = Libc.chmod(name + 2, (uint)settings.UnixSocketPermissions);
        else
            _ = Libc.chmod(name + 2, 0x1FF & ~mask);
        if (Libc.listen(listener, settings.TcpBacklog) != 0)
            throw BindFailure(settings.UnixSocket, Libc.Errno);
        Watch(listener);
    }

    // By the thread that accepts and by who ends the server, whichever comes first.
    private void CloseListeners()
    {
        lock (_listeners)
        {
            foreach (int listener in _listeners)
                _ = Libc.close(listener);
            _listeners.Clear();
        }
    }

    private void Watch(int listener)
    {
        _listeners.Add(listener);
        _set.Add(listener);
    }

    private void AcceptAll(int listener)
    {
        byte* name = stackalloc byte[AddressBytes];
        while (!_stopping)
        {
            uint length = AddressBytes;
            int descriptor = Libc.accept4(listener, name, &length, Libc.SOCK_NONBLOCK | Libc.SOCK_CLOEXEC);
            if (descriptor < 0)
            {
                AcceptFailed(Libc.Errno);
                return;
            }

            HasFailed = false;
            if (_encrypted.Contains(listener))
                BeginHandshake(descriptor, name);
            else
                Admit(descriptor, name);
        }
    }

    private void BeginHandshake(int descriptor, byte* remote)
    {
        if (IsTurnedAway())
        {
            _ = Libc.close(descriptor); // nothing that is not encrypted may be said to it
            return;
        }

        Tune(descriptor);
        Handshakes!.Begin(descriptor, Describe(descriptor, remote));
    }

    // On the thread of handshakes.
    private void AdmitAgreed(Handshake one)
    {
        if (LateRefusal(one.Peer) is { } refusal)
        {
            fixed (byte* text = refusal)
                _ = one.Session!.Write(text, refusal.Length);
            one.Session.End();
            one.Session.Dispose();
            _ = Libc.close(one.Descriptor);
            Limits.ConnectionClosed();
            return;
        }

        string? name = Server.Settings.Tls.ClientUser == TlsClientUser.Cn ? one.Session!.PeerName() : null;
        HandOver(one.Peer, client => (client.Descriptor, client.Tls, client.CertifiedName) = (one.Descriptor, one.Session, name));
    }

    private void AcceptFailed(int errno)
    {
        if (errno is Libc.EAGAIN or Libc.EINTR or Libc.ECONNABORTED)
            return;
        SayFailed(errno, lacksFiles: errno is Libc.EMFILE or Libc.ENFILE);
        _set.Pause(RetryMs);
    }

    private void Admit(int descriptor, byte* remote)
    {
        PeerAddress peer = Describe(descriptor, remote);
        if (Refusal(peer) is { } refusal)
        {
            fixed (byte* text = refusal)
                _ = Libc.send(descriptor, text, refusal.Length, Libc.MSG_NOSIGNAL);
            _ = Libc.close(descriptor);
            return;
        }

        if (!peer.IsUnix)
            Tune(descriptor);
        HandOver(peer, client => client.Descriptor = descriptor);
    }

    private PeerAddress Describe(int descriptor, byte* remote)
    {
        if (*(ushort*)remote is not (Libc.AF_INET or Libc.AF_INET6))
            return new PeerAddress(_unixPath);
        byte* local = stackalloc byte[AddressBytes];
        uint length = AddressBytes;
        bool known = Libc.getsockname(descriptor, local, &length) == 0;
        return new PeerAddress(new ReadOnlySpan<byte>(remote, PeerAddress.RawBytes),
            known ? new ReadOnlySpan<byte>(local, PeerAddress.RawBytes) : default);
    }

    private void Tune(int descriptor)
    {
        SetOption(descriptor, Libc.IPPROTO_TCP, Libc.TCP_NODELAY, 1);
        int seconds = Server.Settings.Network.TcpKeepAliveSeconds;
        if (seconds <= 0)
            return;
        SetOption(descriptor, Libc.SOL_SOCKET, Libc.SO_KEEPALIVE, 1);
        SetOption(descriptor, Libc.IPPROTO_TCP, Libc.TCP_KEEPIDLE, seconds);
        SetOption(descriptor, Libc.IPPROTO_TCP, Libc.TCP_KEEPINTVL, Math.Max(seconds / 3, 1));
        SetOption(descriptor, Libc.IPPROTO_TCP, Libc.TCP_KEEPCNT, 3);
    }

    private static int? Failed(int listener, ListenAddress address, int port)
    {
        int errno = Libc.Errno;
        _ = Libc.close(listener);
        return errno == Libc.EADDRNOTAVAIL ? null : throw BindFailure($"{address} port {port}", errno);
    }

    private static GarnetException BindFailure(string what, int errno) => errno switch
    {
        Libc.EADDRINUSE => new GarnetException(ExitKind.PortInUse, $"cannot listen on {what}", "the address is in use",
            "Stop the other server or choose another port with --port"),
        Libc.EACCES or Libc.EPERM => new GarnetException(ExitKind.Permission, $"cannot listen on {what}", "the system refuses it",
            "Choose a port above 1023, or for unixsocket a directory this user may write to"),
        _ => new GarnetException(ExitKind.Configuration, $"cannot listen on {what}",
            $"the system refuses it: {new System.ComponentModel.Win32Exception(errno).Message}",
            "Check the bind, port and unixsocket settings"),
    };

    private static void SetOption(int descriptor, int level, int option, int value) =>
        _ = Libc.setsockopt(descriptor, level, option, &value, sizeof(int));

    private static void Unlink(string path)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(path + "\0");
        fixed (byte* name = bytes)
            _ = Libc.unlink(name);
    }

    private static uint WriteAddress(byte* name, ListenAddress address, int port)
    {
        var span = new Span<byte>(name, AddressBytes);
        span.Clear();
        *(ushort*)name = (ushort)(address.IsV6 ? Libc.AF_INET6 : Libc.AF_INET);
        BinaryPrimitives.WriteUInt16BigEndian(span[2..], (ushort)port);
        address.Bytes.CopyTo(span[(address.IsV6 ? 8 : 4)..]);
        if (address.IsV6)
            *(uint*)(name + 24) = address.Scope;
        return address.IsV6 ? 28u : 16u;
    }
}

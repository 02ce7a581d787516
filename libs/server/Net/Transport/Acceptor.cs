using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// One thread that accepts for all reactors and hands each connection to the one with the fewest: with few reactors the
/// kernel's own spreading is lumpy. Refuses beyond <c>maxclients</c> and, in protected mode, from other machines.
/// </summary>
internal abstract class Acceptor(ServerCore server, ClientLimits limits) : IDisposable
{
    private static readonly byte[] TooManyText = Encoding.ASCII.GetBytes("-ERR max number of clients reached\r\n");
    private static readonly byte[] ProtectedText = Encoding.ASCII.GetBytes(
        "-DENIED This server is in protected mode: it has no password and serves only clients on its own machine. " +
        "Set a password (requirepass), or switch protected-mode off if every machine that reaches this port may use it.\r\n");

    private readonly List<string> _addresses = [];
    private long _accepted;

    /// <summary>Addresses for people.</summary>
    internal IReadOnlyList<string> Addresses => _addresses;

    /// <summary>The TCP port; 0 if none.</summary>
    internal int Port { get; private protected set; }

    /// <summary>The port for encrypted connections; 0 if none.</summary>
    internal int TlsPort { get; private protected set; }

    /// <summary>Connections accepted.</summary>
    internal long Accepted => Volatile.Read(ref _accepted);

    /// <summary>Connections refused because of <c>maxclients</c>.</summary>
    internal long Rejected { get; private protected set; }

    /// <summary>True from an accept that has failed to the next that has not.</summary>
    private protected bool HasFailed { get; set; }

    private protected ServerCore Server { get; } = server;

    private protected ClientLimits Limits { get; } = limits;

    /// <summary>Tells why nobody is accepted, once until somebody is again.</summary>
    private protected void SayFailed(int error, bool lacksFiles)
    {
        if (HasFailed)
            return;
        HasFailed = true;
        Server.Log.AcceptFailed(error, lacksFiles
            ? "no file descriptors are left; raise the limit of open files (ulimit -n) or lower maxclients"
            : "the system refused");
    }

    /// <summary>Opens all listeners.</summary>
    internal void Open(NetworkSettings settings)
    {
        Port = settings.Port;
        if (settings.Serves)
        {
            foreach (string bind in settings.Bind)
                Port = OpenAddress(settings, bind, Port, isTls: false);
        }

        TlsPort = Server.Settings.Tls.Port;
        if (Server.Settings.Tls.Serves)
        {
            foreach (string bind in settings.Bind)
                TlsPort = OpenAddress(settings, bind, TlsPort, isTls: true);
        }

        if (settings.UnixSocket.Length > 0)
        {
            // A socket is left over by a server that has ended, and is made anew; what is none is somebody's.
            if (OperatingSystem.IsLinux() && Libc.FactsBehindLinks(settings.UnixSocket) is { IsSocket: false })
                throw new GarnetException(ExitKind.Configuration, $"cannot listen on {settings.UnixSocket}",
                    "what lies there is not a socket", "Choose another path for unixsocket, or move it away");
            ListenUnix(settings);
            _addresses.Add(settings.UnixSocket);
        }

        if (_addresses.Count == 0)
        {
            throw new GarnetException(
                ExitKind.Configuration, $"port {settings.Port}", "there is nothing to listen on", "Set port, tls-port or unixsocket");
        }
    }

    /// <summary>Accepts until <see cref="Stop"/>; the body of the acceptor's thread. Nobody is handed over once it has returned.</summary>
    internal abstract void Run();

    /// <summary>Ends <see cref="Run"/>. From any thread.</summary>
    internal abstract void Stop();

    /// <inheritdoc/>
    public abstract void Dispose();

    /// <summary>Opens one TCP listener, at a port that is free if it is given 0; returns the port, null if the address does not exist here.</summary>
    private protected abstract int? Listen(NetworkSettings settings, ListenAddress address, int port, bool isTls);

    /// <summary>Opens the Unix socket, with its permissions set before it listens (CVE-2023-45145).</summary>
    private protected abstract void ListenUnix(NetworkSettings settings);

    /// <summary>Why the peer is turned away, as bytes to send; null to let it in (it then counts as a client).</summary>
    private protected byte[]? Refusal(PeerAddress peer)
    {
        if (IsProtected(peer))
            return ProtectedText;
        if (Limits.TryAdmit())
            return null;
        Rejected++;
        return TooManyText;
    }

    /// <summary>The same for a peer who cannot be sent anything yet: it gets its place, and is told when it can be (<see cref="LateRefusal"/>).</summary>
    private protected bool IsTurnedAway()
    {
        if (Limits.TryAdmit())
            return false;
        Rejected++;
        return true;
    }

    /// <summary>Why a peer that has its place is turned away all the same; null if it is not.</summary>
    private protected byte[]? LateRefusal(PeerAddress peer) => IsProtected(peer) ? ProtectedText : null;

    // A client's certificate does not lift protected mode, as in Redis: it says who the client is, and not that the operator wanted the server
    // to be reached from other machines.
    private bool IsProtected(PeerAddress peer) =>
        Server.Settings.Security.ProtectedMode && !Limits.PasswordRequired && !peer.IsLoopback;

    /// <summary>Gives an admitted connection to a reactor. From any thread.</summary>
    private protected void HandOver(PeerAddress peer, Action<Connection> attach)
    {
        Interlocked.Increment(ref _accepted);
        Worker worker = Server.Workers.LeastLoaded();
        Interlocked.Increment(ref worker.ConnectionCount);
        var client = new Connection(worker, Limits.NextClientId(), peer, Server.Clock.UnixMs);
        attach(client);
        worker.Post(static (owner, adopted, _) => ((Reactor)owner).Adopt(adopted!), client);
    }

    private int OpenAddress(NetworkSettings settings, string bind, int port, bool isTls)
    {
        bool optional = bind.StartsWith('-');
        string text = optional ? bind[1..] : bind;
        if (ListenAddress.TryRead(text) is not { } address)
            throw new Garnet.Common.GarnetException(
                Garnet.Common.ExitKind.Configuration, $"bind {bind}", "that is no IP address",
                "Give addresses like 127.0.0.1 or ::1, * for all");
        if (Listen(settings, address, port, isTls) is { } opened)
        {
            string host = address.IsV6 ? $"[{text}]" : text;
            _addresses.Add($"{host}:{opened}{(isTls ? " (TLS)" : "")}");
            return opened;
        }

        if (optional)
            return port;
        throw new Garnet.Common.GarnetException(
            Garnet.Common.ExitKind.Configuration, $"bind {bind}", "this machine has no such address", "List the addresses with: ip addr");
    }
}

using System.Net;
using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// One thread that accepts for all reactors and hands each connection to the one with the fewest: with few reactors the
/// kernel's own spreading is lumpy. Refuses beyond <c>maxclients</c> and, in protected mode, from other machines.
/// </summary>
internal abstract class Acceptor(ServerContext server) : IDisposable
{
    private static readonly byte[] TooManyText = Encoding.ASCII.GetBytes("-ERR max number of clients reached\r\n");
    private static readonly byte[] ProtectedText = Encoding.ASCII.GetBytes(
        "-DENIED This server is in protected mode: it has no password and serves only clients on its own machine. " +
        "Set a password (requirepass), or switch protected-mode off if every machine that reaches this port may use it.\r\n");

    private readonly List<string> _addresses = [];

    /// <summary>Addresses for people.</summary>
    internal IReadOnlyList<string> Addresses => _addresses;

    /// <summary>The TCP port; 0 if none.</summary>
    internal int Port { get; private protected set; }

    /// <summary>Connections accepted.</summary>
    internal long Accepted { get; private protected set; }

    /// <summary>Connections refused because of <c>maxclients</c>.</summary>
    internal long Rejected { get; private protected set; }

    private protected ServerContext Server { get; } = server;

    /// <summary>Opens all listeners.</summary>
    internal void Open(NetworkSettings settings)
    {
        Port = settings.Port;
        if (settings.Port > 0 || settings.AnyPort)
        {
            foreach (string bind in settings.Bind)
                OpenAddress(settings, bind);
        }

        if (settings.UnixSocket.Length > 0)
        {
            ListenUnix(settings);
            _addresses.Add(settings.UnixSocket);
        }
    }

    /// <summary>Accepts until <see cref="Stop"/>; the body of the acceptor's thread.</summary>
    internal abstract void Run();

    /// <summary>Ends <see cref="Run"/>. From any thread.</summary>
    internal abstract void Stop();

    /// <inheritdoc/>
    public abstract void Dispose();

    /// <summary>Opens one TCP listener; false if the address does not exist here.</summary>
    private protected abstract bool Listen(NetworkSettings settings, IPAddress address);

    /// <summary>Opens the Unix socket, with its permissions set before it listens (CVE-2023-45145).</summary>
    private protected abstract void ListenUnix(NetworkSettings settings);

    /// <summary>Why the peer is turned away, as bytes to send; null to let it in (it then counts as a client).</summary>
    private protected byte[]? Refusal(PeerAddress peer)
    {
        if (Server.Settings.Security.ProtectedMode && !Server.ClientLimits.PasswordRequired && !peer.IsLoopback)
            return ProtectedText;
        if (Server.ClientLimits.TryAdmit())
            return null;
        Rejected++;
        return TooManyText;
    }

    /// <summary>Gives an admitted connection to a reactor.</summary>
    private protected void HandOver(PeerAddress peer, Action<Connection> attach)
    {
        Accepted++;
        Worker worker = Server.LeastLoaded();
        Interlocked.Increment(ref worker.ConnectionCount);
        var client = new Connection(worker, Server.ClientLimits.NextClientId(), peer, Server.Clock.UnixMs);
        attach(client);
        worker.Post(static (owner, adopted, _) => ((Reactor)owner).Adopt(adopted!), client);
    }

    private void OpenAddress(NetworkSettings settings, string bind)
    {
        bool optional = bind.StartsWith('-');
        string text = optional ? bind[1..] : bind;
        IPAddress? address = text switch
        {
            "*" => IPAddress.Any,
            "::*" => IPAddress.IPv6Any,
            "127.0.0.1" => IPAddress.Loopback, // the defaults need no parser (start-up)
            "::1" => IPAddress.IPv6Loopback,
            _ => IPAddress.TryParse(text, out IPAddress? parsed) ? parsed : null,
        };
        if (address is null)
            throw new Garnet.Common.GarnetException(
                Garnet.Common.ExitKind.Configuration, $"bind {bind}", "that is no IP address", "Give addresses like 127.0.0.1 or ::1, * for all");
        if (Listen(settings, address))
            _addresses.Add(address.AddressFamily == System.Net.Sockets.AddressFamily.InterNetworkV6 ? $"[{text}]:{Port}" : $"{text}:{Port}");
        else if (!optional)
            throw new Garnet.Common.GarnetException(Garnet.Common.ExitKind.Configuration, $"bind {bind}", "this machine has no such address", "List the addresses with: ip addr");
    }
}

using System.Net;
using System.Net.Sockets;
using Garnet.Common.Resp;
using Garnet.Server;
using Garnet.Server.Tls;

namespace Garnet.Host.Operate;

/// <summary>
/// A connection to the server that the same settings would start: its address (or socket), over TLS if it has no other port, as the
/// default user. For the verbs that ask a running server: ping, status, doctor.
/// </summary>
internal sealed class ServerConnection : IDisposable
{
    /// <summary>Time limit of a step, and of a whole request, in milliseconds.</summary>
    public const int LimitMs = 3_000;

    private const int InfoBytesMax = 4 << 20; // one line a command and error kind, and a few hundred others

    private readonly ServerSettings _settings;
    private readonly RespClient _client;

    /// <summary>Nothing is sent yet.</summary>
    public ServerConnection(ServerSettings settings)
    {
        _settings = settings;
        Target = TargetOf(settings.Network, settings.Network.Port > 0 ? settings.Network.Port : settings.Tls.Port);
        _client = new RespClient(new Socket(Target.AddressFamily, SocketType.Stream, ProtocolType.Unspecified), LimitMs);
    }

    /// <summary>Where the server is asked.</summary>
    public EndPoint Target { get; }

    /// <summary>True for exceptions that mean: no server there, or none that speaks this protocol.</summary>
    public static bool IsSilence(Exception e) => e is SocketException or IOException or OperationCanceledException or TimeoutException;

    /// <summary>Connects and says the password, if there is one; what the server refused it with, or null.</summary>
    public async Task<string?> Open()
    {
        string password = _settings.Security.Password;
        await _client.Connect(Target).ConfigureAwait(false);
        if (_settings.Network.Port == 0 && _settings.Tls.Port > 0)
            await _client.Over(socket => OwnTls.Over(socket, _settings.Tls, LimitMs)).ConfigureAwait(false);
        return password.Length > 0 && await _client.Call("AUTH", password).ConfigureAwait(false) is ['-', ..] refused ? refused : null;
    }

    /// <summary>What PING is answered with.</summary>
    public Task<string> Ping() => _client.Call("PING");

    /// <summary>What INFO says, all of it, or the error it is answered with.</summary>
    public Task<string> Info() => _client.CallForText(InfoBytesMax, "INFO", "everything");

    /// <inheritdoc/>
    public void Dispose() => _client.Dispose();

    private static EndPoint TargetOf(NetworkSettings network, int port)
    {
        if (port == 0)
            return new UnixDomainSocketEndPoint(network.UnixSocket);
        foreach (string address in network.Bind)
        {
            bool named = IPAddress.TryParse(address.TrimStart('-'), out IPAddress? parsed);
            if (named && !parsed!.Equals(IPAddress.Any) && !parsed.Equals(IPAddress.IPv6Any))
                return new IPEndPoint(parsed, port);
        }
        return new IPEndPoint(IPAddress.Loopback, port);
    }
}

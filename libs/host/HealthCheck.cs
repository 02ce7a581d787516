using System.Net;
using System.Net.Sockets;
using Garnet.Common.Resp;
using Garnet.Server;
using Garnet.Server.Tls;

namespace Garnet.Host;

/// <summary>
/// The verb <c>ping</c> (or <c>health</c>): asks the server that the same settings would start, for containers whose
/// image has no shell and no client. Healthy is a PONG within the limit, or a server that answers that it wants a password.
/// </summary>
internal static class HealthCheck
{
    private const int LimitMs = 3_000;

    public static bool Ask(ServerSettings settings, TextWriter output)
    {
        EndPoint target = TargetOf(settings.Network, settings.Network.Port > 0 ? settings.Network.Port : settings.Tls.Port);
        try
        {
            using var client = new RespClient(new Socket(target.AddressFamily, SocketType.Stream, ProtocolType.Unspecified), LimitMs);
            string answer = AskAsync(client, target, settings).WaitAsync(TimeSpan.FromMilliseconds(LimitMs)).GetAwaiter().GetResult();
            output.WriteLine(answer);
            return answer.StartsWith("+PONG", StringComparison.Ordinal) || answer.StartsWith("-NOAUTH", StringComparison.Ordinal);
        }
        catch (Exception e) when (e is SocketException or IOException or OperationCanceledException or TimeoutException)
        {
            output.WriteLine($"{target} does not answer: {e.Message}");
            return false;
        }
    }

    private static async Task<string> AskAsync(RespClient client, EndPoint target, ServerSettings settings)
    {
        string password = settings.Security.Password;
        await client.Connect(target).ConfigureAwait(false);
        if (settings.Network.Port == 0 && settings.Tls.Port > 0)
            await client.Over(socket => OwnTls.Over(socket, settings.Tls, LimitMs)).ConfigureAwait(false);
        if (password.Length > 0 && await client.Call("AUTH", password).ConfigureAwait(false) is ['-', ..] refused)
            return refused;
        return await client.Call("PING").ConfigureAwait(false);
    }

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

using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common;
using Garnet.Server;

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
        EndPoint target = TargetOf(settings.Network);
        try
        {
            using var socket = new Socket(target.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
            using var limit = new CancellationTokenSource(LimitMs);
            string answer = AskAsync(socket, target, settings.Security.Password, limit.Token).GetAwaiter().GetResult();
            output.WriteLine(answer);
            return answer.StartsWith("+PONG", StringComparison.Ordinal) || answer.StartsWith("-NOAUTH", StringComparison.Ordinal);
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            output.WriteLine($"{target} does not answer: {e.Message}");
            return false;
        }
    }

    private static async Task<string> AskAsync(Socket socket, EndPoint target, string password, CancellationToken limit)
    {
        await socket.ConnectAsync(target, limit).ConfigureAwait(false);
        if (password.Length > 0)
        {
            int bytes = Encoding.UTF8.GetByteCount(password);
            string refused = await SendAsync(socket, $"*2\r\n$4\r\nAUTH\r\n${bytes}\r\n{password}\r\n", limit).ConfigureAwait(false);
            if (refused.StartsWith('-')) return refused;
        }
        return await SendAsync(socket, "*1\r\n$4\r\nPING\r\n", limit).ConfigureAwait(false);
    }

    private static async Task<string> SendAsync(Socket socket, string request, CancellationToken limit)
    {
        await socket.SendAsync(Encoding.UTF8.GetBytes(request), limit).ConfigureAwait(false);
        byte[] answer = new byte[512];
        int used = 0;
        while (used < answer.Length && !answer.AsSpan(0, used).Contains((byte)'\n'))
        {
            int received = await socket.ReceiveAsync(answer.AsMemory(used), limit).ConfigureAwait(false);
            if (received == 0) break;
            used += received;
        }
        return Encoding.UTF8.GetString(answer, 0, used).TrimEnd();
    }

    private static EndPoint TargetOf(NetworkSettings network)
    {
        if (network.Port == 0) return new UnixDomainSocketEndPoint(network.UnixSocket);
        foreach (string address in network.Bind)
        {
            bool named = IPAddress.TryParse(address.TrimStart('-'), out IPAddress? parsed);
            if (named && !parsed!.Equals(IPAddress.Any) && !parsed.Equals(IPAddress.IPv6Any)) return new IPEndPoint(parsed, network.Port);
        }
        return new IPEndPoint(IPAddress.Loopback, network.Port);
    }
}

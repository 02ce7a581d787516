using System.Net.Sockets;
using Garnet.Common.Time;

namespace Garnet.Server.Tls;

/// <summary>A client of the server that the same settings would start, for who asks whether it lives.</summary>
public static class OwnTls
{
    /// <summary>Encrypts a connected socket. Whether its certificate is believed is not asked: it is this machine's own.</summary>
    /// <exception cref="IOException">The server does not agree.</exception>
    /// <exception cref="Garnet.Common.GarnetException">The settings name no keys that can be used.</exception>
    public static Task<Stream> Over(Socket socket, TlsSettings settings, int timeoutMs)
    {
        ArgumentNullException.ThrowIfNull(socket);
        ArgumentNullException.ThrowIfNull(settings);
        _ = TlsFiles.Digest(settings); // a file that cannot be read is told by its name
        using TlsContext context = TlsContext.OfClient(settings, SystemClock.Instance.UnixMs / 1000, believesAll: true);
        return AwaitedTlsStream.Agreed(socket, TlsSession.InMemory(context.Handle), timeoutMs, LinkAdvice.OfPing);
    }
}

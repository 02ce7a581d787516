using System.Net;
using System.Net.Sockets;

namespace Garnet.Common.Test;

/// <summary>
/// Ports for servers of tests. They lie below those that the system gives to connections and to whoever asks for any port: between the look at
/// one of those and the start of its server, another test's connection or server would have it now and then.
/// </summary>
internal static class FreePorts
{
    private const int First = 12_000, End = 32_000;
    private static readonly HashSet<int> s_given = [];

    /// <summary>One that nobody listens on, and that this process has not been given before: its server may be between a kill and a restart.</summary>
    internal static int Next()
    {
        while (true)
        {
            int port = Random.Shared.Next(First, End);
            lock (s_given)
            {
                if (IsFree(port) && s_given.Add(port))
                    return port;
            }
        }
    }

    private static bool IsFree(int port)
    {
        try
        {
            using TcpListener listener = new(IPAddress.Loopback, port);
            listener.Start();
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}

using System.Globalization;
using NUnit.Framework;

namespace Garnet.Wire.Clients;

/// <summary>Our server on a port that it keeps over restarts.</summary>
internal sealed class RestartableServer : IDisposable
{
    private ServerProcess _process;

    public RestartableServer() => _process = Start(0);

    public int Port => _process.Address.Port;

    public string PortText => Port.ToString(CultureInfo.InvariantCulture);

    public void Restart()
    {
        int port = Port;
        _process.Dispose();
        _process = Start(port);
    }

    public void Dispose() => _process.Dispose();

    private static ServerProcess Start(int port)
    {
        _ = Servers.Ours;   // skips with the reason when it is not there
        return ServerProcess.TryStartOurs("--transport auto", port) ?? throw new IgnoreException("our server is not built");
    }
}

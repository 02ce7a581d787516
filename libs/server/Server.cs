using System.Net;
using System.Net.Sockets;
using Garnet.Common;
using Microsoft.Extensions.Logging;

namespace Garnet.Server;

/// <summary>Stand-in with the surface the host needs until the real server lands: answers every read with +PONG.</summary>
public sealed class Server(ServerSettings settings, SettingTable table, ILogger logger) : IDisposable
{
    private readonly TaskCompletionSource _completion = new();
    private TcpListener? _listener;

    public int Port { get; private set; }
    public IReadOnlyList<string> Addresses { get; private set; } = [];
    public long MemoryLimitBytes { get; } = MemoryPlan.LimitBytes(settings.Memory.MaxMemoryBytes);
    public bool HugePages => false;
    public Task Completion => _completion.Task;

    public void Start()
    {
        logger.LogDebug("{Count} settings", table.All.Count);
        _listener = new TcpListener(IPAddress.Loopback, settings.Network.AnyPort ? 0 : settings.Network.Port) { ExclusiveAddressUse = false };
        try
        {
            _listener.Start();
        }
        catch (SocketException e)
        {
            throw new GarnetException(ExitKind.PortInUse, $"cannot listen on port {settings.Network.Port}", e.Message, "Choose another port");
        }
        Port = ((IPEndPoint)_listener.LocalEndpoint).Port;
        Addresses = [$"127.0.0.1:{Port}"];
        _ = AcceptAsync(_listener);
    }

    public void Stop(TimeSpan grace)
    {
        _listener?.Stop();
        _completion.TrySetResult();
    }

    public void Dispose() => Stop(TimeSpan.Zero);

    private static async Task AcceptAsync(TcpListener listener)
    {
        try
        {
            while (true) _ = AnswerAsync(await listener.AcceptTcpClientAsync().ConfigureAwait(false));
        }
        catch (SocketException)
        {
            return;
        }
    }

    private static async Task AnswerAsync(TcpClient client)
    {
        using (client)
        {
            byte[] buffer = new byte[4096];
            while (await client.GetStream().ReadAsync(buffer).ConfigureAwait(false) > 0)
                await client.GetStream().WriteAsync("+PONG\r\n"u8.ToArray()).ConfigureAwait(false);
        }
    }
}

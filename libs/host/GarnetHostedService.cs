using Microsoft.Extensions.Hosting;

namespace Garnet.Host;

/// <summary>Ties a server to the life of a generic host.</summary>
internal sealed class GarnetHostedService(GarnetServerOptions options, IHostApplicationLifetime lifetime) : IHostedService
{
    private GarnetServer? _server;

    /// <summary>What was started.</summary>
    /// <exception cref="InvalidOperationException">The host has not started yet.</exception>
    public GarnetServer Server => _server
        ?? throw new InvalidOperationException("The Garnet server has not started: ask for it once the host has (IHost.StartAsync)");

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _server = await GarnetServer.StartAsync(options, cancellationToken).ConfigureAwait(false);
        _ = StopHostAfterAsync(_server.Completion);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_server is not null)
            await _server.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>A SHUTDOWN sent by a client stops the host as well: a host without its server would serve nothing.</summary>
    private async Task StopHostAfterAsync(Task completion)
    {
        await completion.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        lifetime.StopApplication();
    }
}

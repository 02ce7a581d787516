using Garnet.Host;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Puts a Garnet server into a generic host.</summary>
public static class GarnetServiceCollectionExtensions
{
    /// <summary>
    /// Starts a server with the host and stops it with the host; it logs through the host's logging. Once the host has started, <see cref="GarnetServer"/> is a service too: what it
    /// listens on and how it is connected to (<see cref="GarnetServer.ConnectionString"/>).
    /// </summary>
    public static IServiceCollection AddGarnetServer(this IServiceCollection services, Action<GarnetServerOptions>? configure = null)
    {
        services.AddSingleton(provider =>
        {
            var options = new GarnetServerOptions { LoggerFactory = provider.GetService<ILoggerFactory>() };
            configure?.Invoke(options);
            return new GarnetHostedService(options, provider.GetRequiredService<IHostApplicationLifetime>());
        });
        services.AddSingleton<IHostedService>(static provider => provider.GetRequiredService<GarnetHostedService>());
        services.AddSingleton(static provider => provider.GetRequiredService<GarnetHostedService>().Server);
        return services;
    }
}

using Garnet.Common;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Garnet.Host.Test;

public sealed class EmbeddedTests
{
    [Test]
    public async Task Two_servers_live_side_by_side()
    {
        await using GarnetServer first = await GarnetServer.StartAsync(new GarnetServerOptions());
        await using GarnetServer second = await GarnetServer.StartAsync(new GarnetServerOptions());
        Assert.That(first.Port, Is.Not.Zero.And.Not.EqualTo(second.Port));
        Assert.That(first.ConnectionString, Is.EqualTo($"127.0.0.1:{first.Port}"));
    }

    [Test]
    public async Task A_server_may_be_disposed_twice()
    {
        GarnetServer server = await GarnetServer.StartAsync(new GarnetServerOptions());
        await server.DisposeAsync();
        await server.DisposeAsync();
        Assert.That(server.Completion.IsCompletedSuccessfully);
    }

    [Test]
    public void A_wrong_setting_is_thrown_with_its_name()
    {
        var options = new GarnetServerOptions();
        options.Settings["maxmemory"] = "lots";
        GarnetException refused = Assert.ThrowsAsync<GarnetException>(() => GarnetServer.StartAsync(options))!;
        Assert.That(refused.Why, Does.Contain("options: maxmemory 'lots'"));
    }

    [Test]
    public async Task A_generic_host_starts_and_stops_it()
    {
        var services = new ServiceCollection();
        services.AddGarnetServer(static options => options.Settings["maxmemory"] = "64mb");
        var host = new SmallHost();
        var service = (IHostedService)services.Single().ImplementationFactory!(host);
        await service.StartAsync(default);
        await service.StopAsync(default);
        Assert.That(await host.Stopped.Task.WaitAsync(TimeSpan.FromSeconds(10)), Is.True);
    }

    /// <summary>What the hosted service asks of its host, without the packages of a whole one.</summary>
    private sealed class SmallHost : IServiceProvider, IHostApplicationLifetime
    {
        public TaskCompletionSource<bool> Stopped { get; } = new();
        public CancellationToken ApplicationStarted => default;
        public CancellationToken ApplicationStopping => default;
        public CancellationToken ApplicationStopped => default;

        public object? GetService(Type serviceType) => serviceType == typeof(IHostApplicationLifetime) ? this : null;

        public void StopApplication() => Stopped.TrySetResult(true);
    }
}

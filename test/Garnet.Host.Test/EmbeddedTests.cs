using Garnet.Common;
using Garnet.Host.Operate;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

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
    public async Task A_port_for_operators_is_noted_to_have_no_effect()
    {
        using var lines = new LinesKept();
        var options = new GarnetServerOptions { LoggerFactory = lines };
        options.Settings["admin-port"] = "1";
        await using GarnetServer server = await GarnetServer.StartAsync(options);
        Assert.That(lines.All, Has.Some.EqualTo("admin-port has no effect: a server that is embedded has no listener for operators"));
    }

    [Test]
    public async Task What_is_recommended_at_the_start_is_an_option_of_the_embedding()
    {
        using var lines = new LinesKept();
        await using GarnetServer server = await GarnetServer.StartAsync(new GarnetServerOptions { LoggerFactory = lines });
        Assert.That(lines.All, Has.One.StartsWith("Persistence: none").And.One.Contains("Settings[\"dir\"] = \"DIRECTORY\" keeps it"));
    }

    [Test]
    public async Task Directories_that_are_made_for_data_are_told_once()
    {
        using var folder = new TestFolder();
        string first = Path.Combine(folder.Path, "a"), path = Path.Combine(first, "b", "c");
        foreach (int told in (int[])[1, 0])
        {
            using var lines = new LinesKept();
            var options = new GarnetServerOptions { LoggerFactory = lines };
            options.Settings["dir"] = path;
            await using GarnetServer server = await GarnetServer.StartAsync(options);
            string made = $"The data directory {Path.Combine(path, "appendonlydir")} was not there and has been made, empty, from {first} on";
            Assert.That(lines.All.Count(line => line.StartsWith(made, StringComparison.Ordinal)), Is.EqualTo(told));
        }
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_limit_beyond_the_memory_there_is_is_told_at_the_start(bool isBeyond)
    {
        using var lines = new LinesKept();
        var options = new GarnetServerOptions { LoggerFactory = lines };
        long limit = isBeyond ? Machine.Own.MemoryBytes + (1 << 20) : 64 << 20;
        options.Settings["maxmemory"] = limit.ToString(System.Globalization.CultureInfo.InvariantCulture);
        await using GarnetServer server = await GarnetServer.StartAsync(options);
        Assert.That(lines.All.Count(static line => line.StartsWith("maxmemory is ", StringComparison.Ordinal)
            && line.Contains("out-of-memory killer", StringComparison.Ordinal)), Is.EqualTo(isBeyond ? 1 : 0));
    }

    [Test]
    public void A_wrong_setting_is_thrown_with_its_name()
    {
        var options = new GarnetServerOptions();
        options.Settings["maxmemory"] = "lots";
        GarnetException refused = Assert.ThrowsAsync<GarnetException>(() => GarnetServer.StartAsync(options))!;
        Assert.That(refused.Why, Does.Contain("options: maxmemory 'lots'"));
        Assert.That(refused.Next, Does.Contain("GarnetServerOptions"));
    }

    [TestCase(-1)]
    [TestCase(70_000)]
    public void A_port_that_is_none_is_refused(int port)
    {
        GarnetException refused = Assert.ThrowsAsync<GarnetException>(() => GarnetServer.StartAsync(new GarnetServerOptions { Port = port }))!;
        Assert.That(refused.Message, Does.Contain($"port {port}").And.Contain("0 to 65535"));
    }

    [TestCase(false, "-ERR SHUTDOWN is switched off")]
    [TestCase(true, "")]
    public async Task A_client_stops_a_part_of_another_process_only_where_that_is_allowed(bool allowed, string reply)
    {
        await using GarnetServer server = await GarnetServer.StartAsync(new GarnetServerOptions { AllowShutdown = allowed });
        using var client = new System.Net.Sockets.TcpClient("127.0.0.1", server.Port) { ReceiveTimeout = 10_000 };
        client.GetStream().Write("SHUTDOWN NOSAVE\r\n"u8);
        byte[] bytes = new byte[200];
        string got = System.Text.Encoding.Latin1.GetString(bytes, 0, client.GetStream().Read(bytes));
        Assert.That(got, allowed ? Is.Empty : Does.StartWith(reply));
        if (allowed) await server.Completion.WaitAsync(TimeSpan.FromSeconds(60));
        else Assert.That(server.Completion.IsCompleted, Is.False);
    }

    [Test]
    public async Task Starts_that_are_refused_leave_no_descriptors_behind()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("counted in /proc");
        await using GarnetServer holder = await GarnetServer.StartAsync(new GarnetServerOptions());
        Refuse(holder.Port);
        int before = Descriptors();
        for (int i = 0; i < 10; i++) Refuse(holder.Port);
        Assert.That(Descriptors() - before, Is.LessThan(10), "a refused start costs none");

        static int Descriptors() => Directory.GetFileSystemEntries("/proc/self/fd").Length;
        static void Refuse(int port) => Assert.ThrowsAsync<GarnetException>(() => GarnetServer.StartAsync(new GarnetServerOptions { Port = port }));
    }

    [Test]
    public async Task A_generic_host_starts_and_stops_it()
    {
        var services = new ServiceCollection();
        services.AddGarnetServer(static options => options.Settings["maxmemory"] = "64mb");
        var host = new SmallHost(services);
        var service = host.GetRequiredService<IHostedService>();
        Assert.That(() => host.GetRequiredService<GarnetServer>(), Throws.InvalidOperationException);
        await service.StartAsync(default);
        GarnetServer server = host.GetRequiredService<GarnetServer>();
        Assert.That(server.ConnectionString, Does.Contain($"{server.Port}"));
        await service.StopAsync(default);
        await server.DisposeAsync(); // as the host's provider does in the end
        Assert.That(await host.Stopped.Task.WaitAsync(TimeSpan.FromSeconds(60)), Is.True);
    }

    /// <summary>What the hosted service asks of its host, without the packages of a whole one.</summary>
    private sealed class SmallHost(ServiceCollection services) : IServiceProvider, IHostApplicationLifetime
    {
        private readonly Dictionary<Type, object> _made = [];

        public TaskCompletionSource<bool> Stopped { get; } = new();
        public CancellationToken ApplicationStarted => default;
        public CancellationToken ApplicationStopping => default;
        public CancellationToken ApplicationStopped => default;

        public object? GetService(Type serviceType)
        {
            if (serviceType == typeof(IHostApplicationLifetime))
                return this;
            if (!_made.TryGetValue(serviceType, out object? made) && services.FirstOrDefault(one => one.ServiceType == serviceType) is { } known)
                _made[serviceType] = made = known.ImplementationFactory!(this);
            return made;
        }

        public void StopApplication() => Stopped.TrySetResult(true);
    }

    /// <summary>What a server says.</summary>
    private sealed class LinesKept : ILoggerFactory, ILogger
    {
        internal System.Collections.Concurrent.ConcurrentQueue<string> All { get; } = [];

        public ILogger CreateLogger(string categoryName) => this;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            All.Enqueue(formatter(state, exception));

        public bool IsEnabled(LogLevel logLevel) => true;

        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

        public void Dispose()
        {
            // There is nothing to give back.
        }
    }
}

using System.Globalization;
using Garnet.Common;
using Garnet.Server;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Garnet.Host;

/// <summary>A server inside this process. Any number of them may run side by side; they share nothing.</summary>
public sealed class GarnetServer : IAsyncDisposable
{
    private readonly RespServer _server;
    private readonly ServerSettings _settings;
    private readonly TimeSpan _stopGrace;

    private GarnetServer(RespServer server, ServerSettings settings, TimeSpan stopGrace)
        => (_server, _settings, _stopGrace) = (server, settings, stopGrace);

    /// <summary>The TCP port the server listens on; 0 if it listens on a Unix socket only.</summary>
    public int Port => _server.Port;

    /// <summary>Every address the server listens on.</summary>
    public IReadOnlyList<string> Addresses => _server.Addresses;

    /// <summary>Host, port and password as StackExchange.Redis takes them.</summary>
    public string ConnectionString
    {
        get
        {
            string address = "127.0.0.1:" + Port.ToString(CultureInfo.InvariantCulture);
            return _settings.Security.Password.Length == 0 ? address : $"{address},password={_settings.Security.Password}";
        }
    }

    /// <summary>Ends when the server has stopped, whoever stopped it; fails if it failed.</summary>
    public Task Completion => _server.Completion;

    /// <summary>Starts a server; when the task ends, its data is loaded and it serves.</summary>
    /// <exception cref="GarnetException">A setting is wrong or an address is taken; the message says what to do.</exception>
    public static async Task<GarnetServer> StartAsync(GarnetServerOptions options, CancellationToken cancellation = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        cancellation.ThrowIfCancellationRequested();
        var settings = new ServerSettings();
        var table = new SettingTable();
        settings.Register(table);
        var sources = new SettingSources(settings, table, "Correct them in GarnetServerOptions, or in its ConfigFile");
        sources.AddFile(options.ConfigFile);
        sources.AddOptions(options.Settings);
        sources.Finish();
        if (!options.Settings.ContainsKey("port"))
            TakePort(settings.Network, options.Port);
        ILogger log = options.LoggerFactory?.CreateLogger("Garnet") ?? NullLogger.Instance;
        var server = new RespServer(settings, table, log)
        {
            ConfigurationFile = options.ConfigFile, AllowsShutdown = options.AllowShutdown,
        };
        server.RewriteConfiguration = ConfigRewrite.Of(options.ConfigFile, table, () => server.UserLines);
        try
        {
            await Task.Run(server.Start, cancellation).ConfigureAwait(false);
            await (await Task.WhenAny(server.Loaded, server.Completion).ConfigureAwait(false)).ConfigureAwait(false);
        }
        catch
        {
            server.Dispose();
            throw;
        }
        if (settings.Admin.Port > 0)
            sources.Notices.Add("admin-port has no effect: a server that is embedded has no listener for operators");
        Banner.Write(log, server, settings, sources.Notices, static (name, value) => $"Settings[\"{name}\"] = \"{value}\"");
        Banner.WriteReady(log);
        return new GarnetServer(server, settings, options.StopGrace);
    }

    /// <summary>Stops accepting, lets commands in flight end, closes every connection.</summary>
    public Task StopAsync() => Task.Run(() => _server.Stop(_stopGrace));

    /// <summary>Stops the server and gives its memory back.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopAsync().ConfigureAwait(false);
        _server.Dispose();
    }

    private static void TakePort(NetworkSettings network, int port)
    {
        if (port is < 0 or > ushort.MaxValue)
            throw new GarnetException(ExitKind.Configuration, $"port {port}", "ports are numbers from 0 to 65535",
                "Set GarnetServerOptions.Port to one of them; 0 takes any that is free");
        network.AnyPort = port == 0;
        network.Port = port;
    }
}

using Microsoft.Extensions.Logging;

namespace Garnet.Host;

/// <summary>How to start a server inside this process.</summary>
public sealed class GarnetServerOptions
{
    /// <summary>TCP port; 0 takes any free one, which <see cref="GarnetServer.Port"/> then names.</summary>
    public int Port { get; set; }

    /// <summary>A file in the syntax of redis.conf to read first; null for none.</summary>
    public string? ConfigFile { get; set; }

    /// <summary>Settings by their redis.conf names; they win over the file. A <c>port</c> here wins over <see cref="Port"/>.</summary>
    public IDictionary<string, string> Settings { get; } = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);

    /// <summary>Where the server logs; null for nowhere.</summary>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <summary>
    /// Whether a client's SHUTDOWN stops the server, and a host that has no other reason to run with it. A process that serves other things
    /// as well says no.
    /// </summary>
    public bool AllowShutdown { get; set; }

    /// <summary>How long commands in flight may take when the server stops.</summary>
    public TimeSpan StopGrace { get; set; } = TimeSpan.FromSeconds(5);
}

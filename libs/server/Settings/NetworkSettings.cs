using System.Net;
using Garnet.Common;

namespace Garnet.Server;

/// <summary>Where the server listens and how much a connection may hold.</summary>
public sealed partial class NetworkSettings
{
    /// <summary>Open files that are not clients: listeners, event queues, logs, the runtime's own, and some air.</summary>
    public const int FilesBesideClients = 128;

    [Setting("port", "TCP port to listen on; 0 switches TCP off.", Unit = SettingUnit.Count, Min = 0, Max = 65535)]
    public int Port { get; set; } = 6379;

    /// <summary>Listen on any free TCP port, whatever <see cref="Port"/> says; for servers inside another process and for tests.</summary>
    public bool AnyPort { get; set; }

    [Setting("bind", "Addresses to listen on; a leading dash tolerates an address that is not there, * and -::* mean all.")]
    public string[] Bind { get; set; } = ["127.0.0.1", "-::1"];

    /// <summary>True if one of the addresses is more than this machine's own.</summary>
    internal bool ReachesNetwork =>
        Bind.Any(static bind => !IPAddress.TryParse(bind.TrimStart('-'), out IPAddress? one) || !IPAddress.IsLoopback(one));

    /// <summary>True if clients may come unencrypted.</summary>
    internal bool Serves => Port > 0 || AnyPort;

    [Setting("unixsocket", "Path of a Unix socket to listen on as well; empty for none.")]
    public string UnixSocket { get; set; } = "";

    [Setting("unixsocketperm", "Permission bits of the Unix socket, in octal; 0 leaves them to the umask.",
        Unit = SettingUnit.Octal, Min = 0, Max = 511)]
    public int UnixSocketPermissions { get; set; }

    [Setting("tcp-backlog", "Connections that may wait to be accepted.", Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue)]
    public int TcpBacklog { get; set; } = 511;

    [Setting("timeout", "Closes a client idle for this long; 0 never does.",
        Unit = SettingUnit.Seconds, Min = 0, Max = int.MaxValue, Live = true)]
    public int TimeoutSeconds { get; set; }

    [Setting("tcp-keepalive", "Idle time before TCP probes the peer; 0 never probes.",
        Unit = SettingUnit.Seconds, Min = 0, Max = int.MaxValue, Live = true)]
    public int TcpKeepAliveSeconds { get; set; } = 300;

    [Setting("maxclients", "Clients connected at the same time; more are refused with an error.",
        Unit = SettingUnit.Count, Min = 1, Max = uint.MaxValue, Live = true)]
    public long ClientsMax { get; set; } = 10_000;

    [Setting("client-query-buffer-limit", "Bytes one client may have sent that are not yet executed.",
        Unit = SettingUnit.Bytes, Min = 1 << 20, Live = true)]
    public long QueryBufferBytesMax { get; set; } = 1L << 30;

    [Setting("proto-max-bulk-len", "Largest single argument a client may send.", Unit = SettingUnit.Bytes, Min = 1 << 20, Live = true)]
    public long BulkBytesMax { get; set; } = 512L << 20;

    [Setting("client-output-buffer-limit", "Per class (normal, slave, pubsub): hard limit, soft limit, seconds over the soft limit.",
        Live = true)]
    public OutputBufferLimits OutputBufferLimits { get; set; } = OutputBufferLimits.Default;

    [Setting("reactor-threads", "Threads that serve connections; 0 takes one per core.",
        Unit = SettingUnit.Count, Min = 0, Max = 1024)]
    public int ReactorThreads { get; set; }

    [Setting("transport", "How bytes reach the server; auto takes epoll where it exists.", Values = "auto epoll sockets")]
    public TransportKind Transport { get; set; }
}

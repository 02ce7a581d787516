using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Garnet.Server.Tls;
using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>
/// What every room may use of the server that it is in: the store and what is there before any machinery is. A machinery asks for this
/// and for the machineries it uses, each by itself.
/// </summary>
internal sealed class ServerCore
{
    /// <summary>The settings in force.</summary>
    internal required ServerSettings Settings { get; init; }

    /// <summary>The table over them.</summary>
    internal required SettingTable Table { get; init; }
    internal required ServerLog Log { get; init; }
    internal required IClock Clock { get; init; }
    internal required Store Store { get; init; }

    /// <summary>Keys of encrypted connections.</summary>
    internal required TlsKeys Tls { get; init; }

    /// <summary>Stops the server because the environment failed in a way that no client can be told.</summary>
    internal required Action<GarnetException> Fail { get; init; }

    /// <summary>Begins to stop the server; from any thread, also a worker's.</summary>
    internal required Action RequestStop { get; init; }

    /// <summary>The memory limit in force, bytes.</summary>
    internal long MemoryLimitBytes { get; set; }

    /// <summary>When the server was made, Unix milliseconds.</summary>
    internal long StartedUnixMs { get; init; }

    /// <summary>The threads that run commands.</summary>
    internal WorkerSet Workers { get; } = new();

    /// <summary>The server starts with these.</summary>
    internal void Begin(Worker[] workers) => Workers.Begin(workers);

    /// <summary>The TCP port in use; 0 if none.</summary>
    internal int Port { get; set; }

    /// <summary>The one for encrypted connections; 0 if none.</summary>
    internal int TlsPort { get; set; }

    /// <summary>Handshakes of encrypted connections that came to a good end, that did not, and that are under way.</summary>
    internal Func<(long Done, long Failed, long UnderWay)> Handshakes { get; set; } = static () => default;

    /// <summary>The one at which other servers reach this one.</summary>
    internal int LinkPort => Settings.Tls.OfReplication && TlsPort > 0 ? TlsPort : Port;
}

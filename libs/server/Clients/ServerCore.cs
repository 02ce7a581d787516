using System.Diagnostics.CodeAnalysis;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Server.Base;
using Garnet.Server.Bulk;
using Garnet.Server.Tls;
using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>
/// What every room may use of the server that it is in: the store and what is there before any machinery is. A machinery asks for this
/// and for the machineries it uses, each by itself.
/// </summary>
internal class ServerCore
{
    internal ServerCore()
    {
    }

    /// <summary>The same server.</summary>
    [SetsRequiredMembers]
    private protected ServerCore(ServerCore core)
    {
        (Settings, Table, Log, Clock, Store, Tls) = (core.Settings, core.Table, core.Log, core.Clock, core.Store, core.Tls);
        Bulk = new BulkSessions(core.Settings.Bulk, core.Log);
        (Fail, RequestStop, MemoryLimitBytes, StartedUnixMs) = (core.Fail, core.RequestStop, core.MemoryLimitBytes, core.StartedUnixMs);
    }

    /// <summary>The settings in force.</summary>
    internal required ServerSettings Settings { get; init; }

    /// <summary>The table over them.</summary>
    internal required SettingTable Table { get; init; }
    internal required ServerLog Log { get; init; }
    internal required IClock Clock { get; init; }
    internal required Store Store { get; init; }

    /// <summary>Keys of encrypted connections.</summary>
    internal required TlsKeys Tls { get; init; }

    /// <summary>Clients whose values go beside their connections.</summary>
    internal BulkSessions Bulk { get; } = null!; // of the server as a whole: what is there before the machineries has none

    /// <summary>Ends them; false if something still holds memory of a value of theirs.</summary>
    internal bool TryCloseBulk() => Bulk.TryClose();

    /// <summary>Stops the server because the environment failed in a way that no client can be told.</summary>
    internal required Action<GarnetException> Fail { get; init; }

    /// <summary>Begins to stop the server; from any thread, also a worker's.</summary>
    internal required Action RequestStop { get; init; }

    /// <summary>The memory limit in force, bytes.</summary>
    internal long MemoryLimitBytes { get; set; }

    /// <summary>When the server was made, Unix milliseconds.</summary>
    internal long StartedUnixMs { get; init; }

    /// <summary>The threads that run commands; none before the start.</summary>
    internal IReadOnlyList<Worker> Workers { get; set; } = [];

    /// <summary>The TCP port in use; 0 if none.</summary>
    internal int Port { get; set; }

    /// <summary>The one for encrypted connections; 0 if none.</summary>
    internal int TlsPort { get; set; }

    /// <summary>Handshakes of encrypted connections that came to a good end, that did not, and that are under way.</summary>
    internal Func<(long Done, long Failed, long UnderWay)> Handshakes { get; set; } = static () => default;

    /// <summary>The one at which other servers reach this one.</summary>
    internal int LinkPort => Settings.Tls.OfReplication && TlsPort > 0 ? TlsPort : Port;

    /// <summary>The script or function that runs now; null if none does. From any thread.</summary>
    internal Running? RunningScript()
    {
        foreach (Worker worker in Workers)
        {
            if (worker.Script is { } running)
                return running;
        }

        return null;
    }

    /// <summary>True if the script has run for longer than others should wait without a word.</summary>
    internal bool IsBusyWith(Running running) =>
        Settings.Scripts.BusyMilliseconds is > 0 and var limit && Clock.MonotonicUs - running.BeganUs > limit * 1000;

    /// <summary>Wakes all threads that run commands.</summary>
    internal void NudgeAll()
    {
        foreach (Worker worker in Workers)
            worker.Nudge();
    }

    /// <summary>Wakes the threads that have somebody who waits for the log.</summary>
    internal void NudgeWaiting()
    {
        foreach (Worker worker in Workers)
        {
            if (worker.AwaitsLog)
                worker.Nudge();
        }
    }
}

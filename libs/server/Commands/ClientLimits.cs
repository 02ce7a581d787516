using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>What clients may have: how many there are, how much each may send and leave unread, how long each may be idle.</summary>
internal sealed class ClientLimits
{
    /// <summary>Bytes of replies an unauthenticated client may leave unread before it is closed (CVE-2025-21605).</summary>
    internal const int UnauthenticatedOutputBytesMax = 64 * 1024;

    /// <summary>Unsent replies beyond which a client without a class limit is no longer served until it reads: 256 MiB.</summary>
    private const int DefaultStallBytes = 256 << 20;

    private const long UnauthenticatedIdleMs = 10_000;

    private long _lastClientId;
    private int _clients;
    private long _clientsMax;
    private readonly ServerSettings _settings;
    private readonly Users _users;

    /// <summary>Follows its settings from here on.</summary>
    /// <param name="settings">The settings.</param>
    /// <param name="users">Who may come in.</param>
    /// <param name="table">Tells of changes of the settings.</param>
    /// <param name="wake">Wakes all workers: one that waits without end does not know of a new limit of idle time.</param>
    internal ClientLimits(ServerSettings settings, Users users, SettingTable table, Action wake)
    {
        (_settings, _users) = (settings, users);
        table.OnSet(["proto-max-bulk-len", "client-query-buffer-limit", "client-output-buffer-limit"], Apply);
        table.OnSet(["requirepass", "timeout", "maxmemory-clients"], wake);
        table.OnSet("maxclients", () => Fit() ? null : "the limit of open files (ulimit -n) does not allow so many clients");
        Apply();
    }

    /// <summary>Limits of a request.</summary>
    internal RespLimits Requests { get; private set; }
    internal long QueryBufferLimit { get; private set; }
    internal int StallBytes { get; private set; }
    /// <summary>True if a new connection must say who it is.</summary>
    internal bool PasswordRequired => !_users.IsOpen;

    /// <summary>True if whoever reaches an address that other machines can reach may do everything.</summary>
    internal bool IsOpenToNetwork => !PasswordRequired && !_settings.Security.ProtectedMode && _settings.Network.ReachesNetwork
        && (_settings.Network.Serves || (_settings.Tls.Serves && _settings.Tls.ClientCheck != TlsClientCheck.Yes));

    internal bool HasIdleLimit =>
        PasswordRequired || _settings.Network.TimeoutSeconds > 0 || _settings.Memory.ClientsShare != MemoryShare.None;

    /// <summary>Clients at most, as far as the limit of open files allows.</summary>
    internal long ClientsMax => Volatile.Read(ref _clientsMax);

    internal int ClientCount => Volatile.Read(ref _clients);

    /// <summary>A place for a new client, or false when <c>maxclients</c> is reached.</summary>
    internal bool TryAdmit()
    {
        if (Interlocked.Increment(ref _clients) <= Volatile.Read(ref _clientsMax))
            return true;
        Interlocked.Decrement(ref _clients);
        return false;
    }

    /// <summary>Takes over <c>maxclients</c>, as far as the limit of open files allows; false if it does not allow all of them.</summary>
    internal bool Fit()
    {
        long fits = OpenFiles.ClientsFor(_settings.Network.ClientsMax);
        Volatile.Write(ref _clientsMax, fits);
        return fits == _settings.Network.ClientsMax;
    }

    /// <summary>The next client id.</summary>
    internal long NextClientId() => Interlocked.Increment(ref _lastClientId);

    /// <summary>A connection has gone.</summary>
    internal void ConnectionClosed() => Interlocked.Decrement(ref _clients);

    /// <summary>True if the client has been idle too long, or has not authenticated in time.</summary>
    internal bool IsOverdue(Connection client, long nowMs)
    {
        if ((client.Modes & ClientModes.Unauthenticated) != 0 && nowMs - client.CreatedMs > UnauthenticatedIdleMs
            && client.Pending.Count + (client.Big?.Count ?? 0) > 0)
            return true;
        int timeout = _settings.Network.TimeoutSeconds;
        bool exempt = client.Parked || (client.Modes & ClientModes.Monitor) != 0 || client.Subscriptions is { Count: > 0 };
        return timeout > 0 && !exempt && nowMs - client.ActiveMs > timeout * 1000L;
    }

    /// <summary>Hard limit, soft limit (bytes) and time over the soft limit (ms) for the client's unsent replies; 0 = none.</summary>
    internal (long Hard, long Soft, long SoftMs) OutputLimit(Connection client)
    {
        OutputBufferLimits limits = _settings.Network.OutputBufferLimits;
        // MONITOR counts as a subscription: Redis leaves it without a limit, and a slow one then takes all memory.
        bool listens = client.Subscriptions is { Count: > 0 } || (client.Modes & ClientModes.Monitor) != 0;
        BufferLimit limit = listens ? limits.PubSub : limits.Normal;
        return (limit.HardBytes, limit.SoftBytes, limit.SoftSeconds * 1000L);
    }

    /// <summary>True if the client may use a protected command; else the error to answer.</summary>
    internal bool AllowsProtected(Connection client, CommandSpec spec, out string refusal)
    {
        bool module = spec.Name.StartsWith("MODULE", StringComparison.Ordinal);
        AccessScope scope = module ? _settings.Security.ModuleCommand : _settings.Security.DebugCommand;
        string option = module ? "enable-module-command" : "enable-debug-command";
        string name = module ? "MODULE" : "DEBUG";
        refusal = $"ERR {name} command not allowed. If the {option} option is set to \"local\", you can run it from a local " +
            "connection, otherwise you need to set this option in the configuration file, and then restart the server.";
        return scope == AccessScope.Yes || (scope == AccessScope.Local && client.Peer.IsLoopback);
    }

    /// <summary><see cref="Fit"/>, and a line of the log where the limit of open files allows fewer.</summary>
    internal void FitOrSay(ServerLog log)
    {
        if (!Fit())
            log.TooFewFiles(_settings.Network.ClientsMax, ClientsMax + NetworkSettings.FilesBesideClients, ClientsMax);
    }

    // Takes over settings that are read on hot paths.
    private void Apply()
    {
        Requests = new RespLimits { ArgsMax = RespLimits.DefaultArgsMax, BulkBytesMax = _settings.Network.BulkBytesMax };
        QueryBufferLimit = _settings.Network.QueryBufferBytesMax;
        long soft = _settings.Network.OutputBufferLimits.Normal.SoftBytes;
        StallBytes = (int)Math.Min(soft > 0 ? soft : DefaultStallBytes, int.MaxValue / 2);
    }
}

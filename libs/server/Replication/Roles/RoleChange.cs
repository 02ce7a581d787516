using Garnet.Aof;
using Garnet.Common;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// The change of roles: the one composition of those that change the role of this server, and its first role. Its parts alone set what
/// <see cref="RoleState"/> says beside what clients tell it.
/// </summary>
internal sealed class RoleChange : IDisposable
{
    private readonly Store _store;
    private readonly RoleState _role;
    private readonly NodeHistory _history;
    private readonly NodeLog _log;
    private readonly Promotion _promotion;
    private readonly RoleThread _thread;

    internal RoleChange(ServerCore server, RoleState role, NodeHistory history, NodeLog log, ReplicaLinks links, Followers followers)
    {
        (_store, _role, _history, _log) = (server.Store, role, history, log);
        Own = new OwnChanges(server.Store, server.Settings.Memory, server.Workers, () => server.MemoryLimitBytes);
        _promotion = new Promotion(server, role, history, log, links, Own);
        var demotion = new Demotion(server.Workers, role, log, links, Own, followers.Make);
        var giving = new RoleGiving(server.Log, role, history, log, Own);
        _thread = new RoleThread(server, role, demotion, _promotion, giving, followers.Follow);
        server.Table.OnSet("maxmemory", () =>
        {
            server.MemoryLimitBytes = MemoryPlan.LimitBytes(server.Settings.Memory.MaxMemoryBytes, server.Settings.HasTier);
            Own.TakeMemorySettings();
        });
        server.Table.OnSet("maxmemory-policy", Own.TakeMemorySettings);
    }

    /// <summary>What changes here without a primary having said so.</summary>
    internal OwnChanges Own { get; }

    /// <summary>Raised when this server begins to decide what expires.</summary>
    internal event Action? Deciding
    {
        add => Own.Resumed += value;
        remove => Own.Resumed -= value;
    }

    /// <summary>The data are loaded, as far as <paramref name="start"/> if there is a log on disk: the server takes the role its settings give it.</summary>
    internal void Begin(AofStart? start)
    {
        _history.Terms.Take(start?.Terms ?? []);
        if (_role.Configured is not { } primary)
        {
            _promotion.Start(start);
            return;
        }

        if (start is not null)
            _log.Resume(start);
        _store.PauseExpiry(true);
        _role.Follow(primary);
    }

    /// <summary>Waits for the end of the role; it has been told to stop.</summary>
    internal void Stop() => _thread.Stop();

    /// <inheritdoc/>
    public void Dispose()
    {
        Stop();
        _role.Follower?.Dispose();
    }
}

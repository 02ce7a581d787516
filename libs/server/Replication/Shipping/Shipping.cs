using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Replication.Export;
using Garnet.Server.Tls;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>
/// What leaves this server for others: batches and copies for its replicas, digests to compare, exports for whoever sent SYNC. One composition: its
/// parts know each other only as far as they say in their constructors.
/// </summary>
internal sealed class Shipping : IDisposable
{
    // Of the memory limit, where nobody has said how much: some seconds of writes of a server of that size.
    private const int LimitParts = 8;
    private const long OwnBytesMin = 1 << 20, OwnBytesMax = 64 << 20;

    private readonly ServerCore _server;
    private readonly RoleState _role;
    private readonly NodeHistory _history;
    private readonly Backlog _backlog;

    internal Shipping(ServerCore server, RoleState role, NodeHistory history, NodeLog log, NodePosition position)
    {
        (_server, _role, _history, _backlog) = (server, role, history, log.Backlog);
        Links = new ReplicaLinks(server.Settings.Replication, server.Clock, server.Log, server.Tls, log);
        Cuts = new StoreCuts(server.Store, role, history, log);
        Shipper = new Shipper(role, history, log, position, Links, Cuts);
        Exports = new RdbExports(server, Cuts, Links.Traffic, () => $"{history.RunId} {position.Offset}");
        log.Backlog.Grew += Links.Nudge;
        log.Backlog.Grew += Links.ReviewPlaces;
        TakeSettings();
        server.Table.OnSet(["repl-backlog-size", "client-output-buffer-limit", "maxmemory"], TakeSettings);
        var round = new DigestRound(server, role, log, Links, server.Clock, () => server.Settings.Replication.DigestSeconds);
        Digests = new DigestThread(server.Fail, round);
    }

    /// <summary>Who follows this server.</summary>
    internal ReplicaLinks Links { get; }

    /// <summary>The store as it is at one moment.</summary>
    internal StoreCuts Cuts { get; }

    /// <summary>What a replica is shipped.</summary>
    internal Shipper Shipper { get; }

    /// <summary>A replica has acknowledged.</summary>
    internal event Action? Acked
    {
        add => Shipper.Acked += value;
        remove => Shipper.Acked -= value;
    }

    /// <summary>Data on their way to whoever sent SYNC.</summary>
    internal RdbExports Exports { get; }

    /// <summary>Reads all data, to compare them.</summary>
    internal DigestThread Digests { get; }

    /// <summary>
    /// A replica has come through the port and greeted: from here on it is served by threads of its own. If the role was changed (REPLICAOF) since its
    /// socket was taken, it is sent away.
    /// </summary>
    internal void Accept(FreedSocket socket, HelloFacts hello, long words)
    {
        var link = new ReplicaLink(Shipper, hello, _server.Clock);
        Digests.Ensure();
        string greeting = $"+REPL {FrameFormat.Protocol} {_history.RunId}\r\n";
        Links.Serve(link, new LinkSocket(socket, _server.Settings.Replication.TimeoutMs, Links.Traffic), greeting);
        if (_role.Words != words)
            Links.Break(hello.RunId, "this server is changing its role");
    }

    /// <summary>Users were removed: who was one of them gets nothing more.</summary>
    internal void EndLost()
    {
        Links.EndLost();
        Exports.EndLost();
    }

    /// <summary>Nothing is read to be compared any more.</summary>
    internal void EndDigests() => Digests.Stop();

    /// <inheritdoc/>
    public void Dispose()
    {
        Links.Dispose();
        Exports.Dispose();
    }

    // How much of the log is kept in memory for replicas.
    private void TakeSettings()
    {
        long asked = _server.Settings.Replication.BacklogBytes, hard = _server.Settings.Network.OutputBufferLimits.Replica.HardBytes;
        long limit = MemoryPlan.LimitBytes(_server.Settings.Memory.MaxMemoryBytes, _server.Settings.HasTier);
        long own = Math.Clamp(limit / LimitParts, OwnBytesMin, OwnBytesMax);
        long kept = asked != 0 ? asked : own;
        _backlog.BytesMax = kept;
        _backlog.PinnedBytesMax = Math.Max(kept, hard > 0 ? hard : long.MaxValue);
    }
}

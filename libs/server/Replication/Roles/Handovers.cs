using Garnet.Aof;
using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>The role given away by word, as either side is told of it: by FAILOVER, by a stop, by the primary that asks its replica to lead.</summary>
internal sealed class Handovers(
    ReplicationSettings settings, IClock clock, RoleState role, NodeHistory history, NodeLog log, ReplicaLinks links)
{
    private const int LookMs = 20;
    private readonly Signal _acked = new();
    private (string RunId, string At) _tookOver; // under the role's lock

    /// <summary>State of a handover in INFO's words.</summary>
    internal string State => role.Handover?.State ?? "no-failover";

    /// <summary>Begins to give the role away; null, or why not in the protocol's words.</summary>
    internal string? TryBegin(HandoverOrder order)
    {
        lock (role.Gate)
        {
            if (WhyNot(order) is { } refusal)
                return refusal;
            role.Give(new Handover(links, history.RunId, order, settings, clock));
            return null;
        }
    }

    /// <summary>FAILOVER ABORT; false if there is nothing to abort.</summary>
    internal bool TryAbort() => role.TryAbort();

    /// <summary>A server that stops gives its role away if it is told to and can; <paramref name="then"/> follows in any case.</summary>
    internal void BeforeStop(Action then)
    {
        bool isWanted = settings.HandsOverAtStop && links.All.Any(static one => one.Link.Stage == LinkStage.Streaming);
        if (!isWanted || TryBegin(new HandoverOrder(null, Math.Max(1, settings.StopSeconds) * 1000L, IsForced: false, then)) is not null)
            then();
    }

    /// <summary>The primary asks this replica of its to lead in its place; null if it does, else why not.</summary>
    internal string? TryTakeOver(string runId, LogPosition end, bool isForced)
    {
        lock (role.Gate)
        {
            if (!role.IsReplica)
                return _tookOver == (runId, end.ToString()) ? null : "this server is a primary already";
            if (role.IsTold)
                return "this server has been told another role, or stops";
            if (role.Following?.Plan is not { Path: [.., var primary] } || primary != runId)
                return "this server does not follow the one that asks";
            if (role.Follower is not { IsFed: true } follower || (!isForced && !follower.Position.Is(end)))
                return $"this server is at {role.Follower?.Position ?? LogPosition.None}, not at {end}";
            _tookOver = (runId, end.ToString());
            role.LeadAlone();
            return null;
        }
    }

    /// <summary>A replica has acknowledged something.</summary>
    internal void OnAck()
    {
        _acked.Set();
        role.Handover?.OnAck();
    }

    /// <summary>
    /// At a stop: replicas that keep up get what was written last. Each of them can then take over without loss, and this server come back
    /// to it.
    /// </summary>
    internal void LetReplicasCatchUp()
    {
        if (role.IsReplica || log.Leading is null || links.All.Count == 0)
            return;
        ulong last = log.Stop().Batch;
        long fromUs = clock.MonotonicUs;
        while (links.All.Any(one => one.Link.IsBehind(last)) && clock.MonotonicUs - fromUs < settings.StopSeconds * 1_000_000L)
            _acked.Wait(LookMs);
    }


    // In the protocol's words.
    private string? WhyNot(HandoverOrder order)
    {
        if (role.Handover is not null)
            return "FAILOVER already in progress.";
        if (role.IsReplica)
            return "FAILOVER is not valid when server is a replica.";
        if (role.IsChanging)
            return "FAILOVER is not possible while the server is taking its role; retry.";
        if (links.All.Count == 0)
            return "FAILOVER requires connected replicas.";
        if (order.IsForced && (order.Target is null || order.TimeoutMs == 0))
            return "FAILOVER with force option requires both a timeout and target HOST and IP.";
        if (order.Target is null)
            return null;
        if (links.All.FirstOrDefault(one => order.IsFor(one.Link.Hello)) is not { } named)
            return "FAILOVER target HOST and PORT is not a replica.";
        return named.Link.Stage == LinkStage.Streaming ? null : "FAILOVER target replica is not online.";
    }
}

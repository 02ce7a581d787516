using Garnet.Aof;
using Garnet.Replication;

namespace Garnet.Server.Replication;

/// <summary>
/// The role given away, on either side.
///
/// replication.Z7  From the word on writes wait, and the log ends. Only a replica that says it leads is followed; if none does, this server
///     leads on, in a new term.
/// </summary>
internal sealed partial class ReplicationNode
{
    private Handover? _handover;
    private (string RunId, string At) _tookOver;

    /// <summary>State of a handover in INFO's words.</summary>
    internal string HandoverState => Volatile.Read(ref _handover)?.State ?? "no-failover";

    /// <summary>Begins to give the role away; null, or why not in the protocol's words.</summary>
    internal string? TryHandOver(HandoverOrder order)
    {
        lock (_gate)
        {
            if (_handover is not null)
                return "FAILOVER already in progress.";
            if (_isReplica)
                return "FAILOVER is not valid when server is a replica.";
            if (Links.All.Count == 0)
                return "FAILOVER requires connected replicas.";
            if (order.IsForced && (order.Target is null || order.TimeoutMs == 0))
                return "FAILOVER with force option requires both a timeout and target HOST and IP.";
            ReplicaThreads? named = Links.All.FirstOrDefault(one => order.Target is { } target && one.Link.Hello.Address == target.Host && one.Link.Hello.Port == target.Port);
            if (order.Target is not null && named is null)
                return "FAILOVER target HOST and PORT is not a replica.";
            if (named is not null && named.Link.Stage != LinkStage.Streaming)
                return "FAILOVER target replica is not online.";
            _handover = new Handover(this, order, _server.Clock);
            _changes = true; // replication.Z7
            StartThread();
        }

        _roleWanted.Set();
        return null;
    }

    /// <summary>FAILOVER ABORT; false if there is nothing to abort.</summary>
    internal bool TryAbortHandover()
    {
        lock (_gate)
        {
            _handover?.Abort();
            return _handover is not null;
        }
    }

    /// <summary>A server that stops gives its role away if it is told to and can; <paramref name="then"/> follows in any case.</summary>
    internal void HandOverAndStop(Action then)
    {
        bool isWanted = Settings.HandsOverAtStop && Links.All.Any(static one => one.Link.Stage == LinkStage.Streaming);
        if (!isWanted || TryHandOver(new HandoverOrder(null, Math.Max(1, Settings.StopSeconds) * 1000L, IsForced: false, then)) is not null)
            then();
    }

    /// <summary>The primary asks this replica of its to lead in its place; null if it does, else why not.</summary>
    internal string? TryTakeOver(string runId, LogPosition end, bool isForced)
    {
        lock (_gate)
        {
            if (!_isReplica)
                return _tookOver == (runId, end.ToString()) ? null : "this server is a primary already";
            if (_following?.Plan is not { Path: [.., var primary] } || primary != runId)
                return "this server does not follow the one that asks";
            if (_follower is not { IsFed: true } follower || (!isForced && !follower.Position.Is(end)))
                return $"this server is at {_follower?.Position ?? LogPosition.None}, not at {end}";
            _tookOver = (runId, end.ToString());
            WantRole(null);
            return null;
        }
    }

    // On the thread of roles.
    private void HandOver(Handover handover)
    {
        Log.HandsOver();
        EndWriting();
        LogPosition end = Node.Stop();
        OnMoved();
        Peer? next = handover.Run(end);
        if (next is null)
            Log.HandoverGivenUp(handover.Reason);
        else
            Log.HandedOver(next.ToString(), end.InWords);
        lock (_gate)
        {
            _handover = null;
            if (next is not null && !_isRoleWanted && handover.Order.Then is null)
                WantRole(next);
        }

        if (next is not null)
            _termElsewhere = Math.Max(_termElsewhere, _terms.AfterPromotion(_term)); // even if this server leads again before it hears of that one

        if (handover.Order.Then is { } then)
        {
            then();
            return;
        }

        lock (_gate)
        {
            if (_isRoleWanted || _stopping)
                return; // the next role is on its way, or none
        }

        Promote();
        EndChange();
    }

    // Replicas that keep up get what was written last: each of them can then take over without loss, and this server come back to it.
    private void LetReplicasCatchUp()
    {
        if (_isReplica || Node.Leading is null || Links.All.Count == 0)
            return;
        ulong last = Node.Stop().Batch;
        long fromUs = _server.Clock.MonotonicUs;
        while (Links.All.Any(one => one.Link.IsBehind(last)) && _server.Clock.MonotonicUs - fromUs < Settings.StopSeconds * 1_000_000L)
            _acked.Wait(TurnMs);
    }
}

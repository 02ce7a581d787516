using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Replication;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>What replicas of this server are shipped, whichever role it has: its own log, or that of the primary it follows.</summary>
internal sealed class Shipper(
    RoleState role, NodeHistory history, NodeLog log, NodePosition position, ReplicaLinks links, StoreCuts cuts) : IShipper
{
    /// <summary>Raised when a replica has acknowledged something.</summary>
    internal event Action? Acked;

    /// <inheritdoc/>
    public Backlog Backlog => log.Backlog;

    /// <inheritdoc/>
    public AppendOnlyLog? LogOnDisk => log.OnDisk;

    /// <inheritdoc/>
    public uint Term => position.Term;

    /// <inheritdoc/>
    public (int Lanes, ulong HashSeed) Layout => role.Follower?.Layout ?? log.OwnLayout;

    /// <inheritdoc/>
    public string HistoryId => history.Id;

    /// <inheritdoc/>
    public IReadOnlyList<string> Path => role.Following?.Plan is { } plan ? [.. plan.Path, history.RunId] : [history.RunId];

    /// <inheritdoc/>
    public IReadOnlyList<TermStart> TermStarts => history.Terms.Known;

    /// <inheritdoc/>
    public bool Reaches(LogPosition position) => BatchFeed.Reaches(Backlog, LogOnDisk, position);

    /// <inheritdoc/>
    public bool Diverges(LogPosition position) => BatchFeed.Diverges(Backlog, LogOnDisk, position);

    /// <inheritdoc/>
    public bool IsToCome(LogPosition position) =>
        role.Follower is not null && position.IsKnown && Backlog.End is var end && position.Term == end.Term && position.Batch > end.Batch;

    /// <inheritdoc/>
    public ulong ForkOf(LogPosition position) => history.Terms.ForkOf(position, Backlog.End);

    /// <inheritdoc/>
    public bool TryResume(HelloFacts replica, out FullCopy? copy) => links.TryResume(replica, out copy);

    /// <inheritdoc/>
    public StoreSnapshot? TryCut() => cuts.TryCutForReplica();

    /// <inheritdoc/>
    public void OnDiverged(HelloFacts replica) => links.OnDiverged(replica);

    /// <inheritdoc/>
    public void OnPlanned(HelloFacts replica, bool isFull) => links.CountPlan(replica, isFull);

    /// <inheritdoc/>
    public void OnAck() => Acked?.Invoke();
}

using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Server.Persistence;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>This server's place as whoever keeps its data knows it.</summary>
internal sealed class LogRole(
    RoleState role, RoleChange change, NodeHistory history, NodeLog log, AppliedState applied, Shipping shipping) : ILogRole
{
    /// <inheritdoc/>
    public bool IsReplica => role.IsReplica;

    /// <inheritdoc/>
    public bool Decides => change.Own.Decides;

    /// <inheritdoc/>
    public ulong NeededFrom => shipping.Links.NeededFrom;

    /// <inheritdoc/>
    public long EntriesLogged => log.Current?.Figures().Entries ?? 0;

    /// <inheritdoc/>
    public uint AppliedTerm => applied.Term;

    /// <inheritdoc/>
    public IReadOnlyList<TermStart> TermStarts => history.Terms.Known;

    /// <inheritdoc/>
    public void Begin(AofStart? start) => change.Begin(start);

    /// <inheritdoc/>
    public StoreSnapshot? Cut(SnapshotOptions options, CancellationToken cancellation) => shipping.Cuts.Cut(options, cancellation);
}

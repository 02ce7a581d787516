using Garnet.Aof;
using Garnet.Common.Faults;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>
/// A primary gives its role away: what is done around a <see cref="Handover"/>, on the role's thread.
///
/// replication.Z7  From the word on writes wait, and the log ends. Only a replica that says it leads is followed; if none does, this server
///     leads on, in a new term.
/// </summary>
internal sealed class RoleGiving(ServerLog lines, RoleState role, NodeHistory history, NodeLog log, OwnChanges changes)
{
    /// <summary>True if this server is to lead on.</summary>
    internal bool Run(Handover handover)
    {
        Check.That(role.IsChanging, "replication.Z7 from the word on writes wait");
        lines.HandsOver();
        changes.End(() => role.Stops);
        LogPosition end = log.Stop();
        role.OnLogEnded();
        Peer? next = handover.Run(end);
        if (next is null)
            lines.HandoverGivenUp(handover.Reason);
        else
            lines.HandedOver(next.ToString(), end.InWords);
        role.EndHandover(next);
        if (next is not null)
            history.Meet(history.Terms.AfterPromotion(history.LedTerm)); // even if this server leads again before it hears of that one
        if (handover.Order.Then is not { } then)
            return !role.IsTold; // else the next role is on its way, or none
        then();
        return false;
    }
}

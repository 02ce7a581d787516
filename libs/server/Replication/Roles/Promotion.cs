using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>
/// How a server comes to lead: at the start, in place of the primary it followed, or again when nobody took the role it gave away.
///
/// replication.Z4  A promotion applies all batches that have come whole, and writes in a new term, durable before its first batch, which is empty
///     and tells replicas of it.
///     Until it leads, what can be read and named (tokens) is what has been applied.
/// replication.Z8  A start as a primary is a new term too: what this server wrote before, and its disk did not keep, may be on replicas, and
///     nothing written now may have the same name.
/// </summary>
internal sealed class Promotion(ServerCore server, RoleState role, NodeHistory history, NodeLog log, ReplicaLinks links, OwnChanges changes)
{
    /// <summary>The server starts as a primary, its data are loaded; <paramref name="start"/> is null without a log on disk.</summary>
    internal void Start(AofStart? start)
    {
        uint term = history.TermOfStart;
        if (start is not null)
            log.Lead(start with { Term = Math.Max(start.Term, term) }); // replication.Z8
        else if (log.HasDirectory)
            history.LedTerm = term; // of the log in memory that the first replica asks for
        changes.Begin();
    }

    /// <summary>On the role's thread; what the follower had received is applied by now (replication.Z4).</summary>
    internal void Run()
    {
        bool isTorn = role.Follower is { IsTorn: true, KeepsOld: false }, leadsOn = role.Follower is null;
        if (!leadsOn)
            // they come back and are told
            links.EndAll("the server that was followed has become a primary, and its log is divided as it likes itself");
        links.DropPlaces();
        role.Follower?.Dispose();
        LogPosition at = log.Stop();
        if (isTorn)
            at = ReadBack(at);
        history.Rename();
        if (log.IsThere)
            log.LeadFrom(at, history.NextTerm(at.Term, leadsOn));
        else
            log.Count();
        role.Follower = null; // from here on what is read and named is this server's own
        changes.Begin();
        changes.Resume();
        server.Log.Promoted(history.LedTerm, at.Batch, at.InWords);
    }

    // The store holds a part of a primary's data: what it held before is on this server's own disk, or nowhere.
    private LogPosition ReadBack(LogPosition at)
    {
        server.Store.Namespaces.Clear(wait: true);
        if (!log.HasDisk)
        {
            server.Log.PromotedTorn();
            return at;
        }

        server.Log.ReadsBack();
        AofStart start = log.ReadBack();
        history.Terms.Take(start.Terms);
        return start.Position;
    }
}

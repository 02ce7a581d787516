using Garnet.Replication;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>
/// How a primary comes to follow.
///
/// replication.Z2  Before a primary follows, every reactor has ended the round it was in, nothing expires or is evicted any more, and the log
///     is closed: what the server then says of its place in the history is all there is.
/// replication.Z3  A replica's store is changed by its follower only.
/// </summary>
internal sealed class Demotion(
    WorkerSet workers, RoleState role, NodeLog log, ReplicaLinks links, OwnChanges changes, Func<Follower> newFollower)
{
    /// <summary>On the role's thread. Whoever holds the data from here on.</summary>
    internal Follower Run()
    {
        links.EndAll("the server that was followed follows another one now");
        links.DropPlaces();
        changes.End(() => role.Stops); // replication.Z2
        RoleRounds.Unblock(workers);
        log.Yield();
        Follower follower = newFollower(); // replication.Z3
        role.Follower = follower;
        return follower;
    }
}

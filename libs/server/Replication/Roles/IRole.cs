using Garnet.Replication;

namespace Garnet.Server.Replication;

/// <summary>The role of this server as it is at the moment; it changes on another thread (replication.Z1).</summary>
internal interface IRole
{
    /// <summary>True from the word REPLICAOF on.</summary>
    bool IsReplica { get; }

    /// <summary>True while a role is being taken.</summary>
    bool IsChanging { get; }

    /// <summary>The data that a replica serves, and how far it is; null on a primary.</summary>
    Follower? Follower { get; }

    /// <summary>The link to the primary; null on a primary and while a replica is not one yet.</summary>
    Following? Following { get; }
}

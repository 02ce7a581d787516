using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>A write that waits, before it runs, until the server is the primary it has been told to be.</summary>
internal sealed class RoleWait(ReplicationNode replication) : LogWait
{
    internal override bool Resume(Worker worker, Connection client) => !replication.IsChanging || replication.IsReplica;
}

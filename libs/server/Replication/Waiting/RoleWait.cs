using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>A write that waits, before it runs, until the server is the primary it has been told to be.</summary>
internal sealed class RoleWait(IRole role) : LogWait
{
    internal override bool Resume(Worker worker, Connection client) => !role.IsChanging || role.IsReplica;
}

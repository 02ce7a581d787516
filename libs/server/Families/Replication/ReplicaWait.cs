using Garnet.Server.Clients;
using Garnet.Server.Replication;

namespace Garnet.Server.Families.Replication;

/// <summary>WAIT: until so many replicas have applied the client's last change, or for so long.</summary>
internal sealed class ReplicaWait(ReplicationNode replication, LogMark write, int wanted, long untilMs) : LogWait
{
    internal override bool IsBlocking => true;

    internal override bool Resume(Worker worker, Connection client)
    {
        bool isGivenUp = replication.Position.HasGivenUp(write); // nobody will ever have it
        int have = isGivenUp ? 0 : replication.Links.Count(link => !write.IsKnown || link.HasApplied(write.Term, write.Batch));
        if (have < wanted && !isGivenUp && worker.NowMs < untilMs && End == WaitEnd.None && !replication.IsReplica)
            return false;
        worker.Out.Int(have);
        return true;
    }
}

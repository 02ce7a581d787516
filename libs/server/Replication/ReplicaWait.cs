using Garnet.Server.Net;
using Garnet.Server.Persistence;

namespace Garnet.Server.Replication;

/// <summary>WAIT: until so many replicas have applied the client's last change, or for so long.</summary>
internal sealed class ReplicaWait(Replication replication, ulong batch, int wanted, long untilMs) : LogWait
{
    internal override bool IsBlocking => true;

    internal override bool Resume(Reactor reactor, Connection client)
    {
        int have = batch == 0 ? replication.Links.All.Count : replication.Links.Count(ack => ack.Applied >= batch);
        if (have < wanted && reactor.NowMs < untilMs && End == WaitEnd.None && !replication.IsReplica)
            return false;
        reactor.Out.Int(have);
        return true;
    }
}

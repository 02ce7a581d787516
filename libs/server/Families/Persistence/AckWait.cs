using Garnet.Server.Clients;
using Garnet.Server.Net;

namespace Garnet.Server.Families.Persistence;

/// <summary>WAITAOF: waits until the client's changes are durable here and on replicas, or for so long.</summary>
internal sealed class AckWait(Server server, LogMark write, int wantedLocal, int wantedReplicas, long untilMs) : LogWait
{
    internal override bool IsBlocking => true;

    internal override bool Resume(Reactor reactor, Connection client)
    {
        bool isGivenUp = server.Replication.HasGivenUp(write); // nobody will ever have it
        int local = !isGivenUp && server.Keeper is { HasLog: true } keeper && keeper.IsDurable(write) ? 1 : 0;
        int replicas = isGivenUp ? 0 : server.Replication.Links.Count(link => link.HasDurable(write.Term, write.Batch));
        if (!isGivenUp && (local < wantedLocal || replicas < wantedReplicas) && End == WaitEnd.None && reactor.NowMs < untilMs)
            return false;
        reactor.Out.Array(2);
        reactor.Out.Int(local);
        reactor.Out.Int(replicas);
        return true;
    }
}

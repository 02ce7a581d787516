using Garnet.Server.Net;

namespace Garnet.Server.Persistence;

/// <summary>WAITAOF: waits until the client's changes are durable here and on replicas, or for so long.</summary>
internal sealed class AckWait(Server server, ulong batch, int wantedLocal, int wantedReplicas, long untilMs) : LogWait
{
    internal override bool IsBlocking => true;

    internal override bool Resume(Reactor reactor, Connection client)
    {
        int local = server.Keeper is { HasLog: true } keeper && keeper.Durable >= batch ? 1 : 0;
        int replicas = server.Replication.Links.Count(ack => ack.Durable >= batch && ack.Durable > 0);
        if ((local < wantedLocal || replicas < wantedReplicas) && End == WaitEnd.None && reactor.NowMs < untilMs)
            return false;
        reactor.Out.Array(2);
        reactor.Out.Int(local);
        reactor.Out.Int(replicas);
        return true;
    }
}

using Garnet.Server.Net;

namespace Garnet.Server.Persistence;

/// <summary>WAITAOF: waits until the client's changes are durable here, or for so long.</summary>
internal sealed class AckWait(DataKeeper keeper, ulong batch, int wantedLocal, int wantedReplicas, long untilMs) : LogWait
{
    internal override bool Resume(Reactor reactor, Connection client)
    {
        int local = keeper.Durable >= batch ? 1 : 0;
        if ((local < wantedLocal || wantedReplicas > 0) && reactor.Session.NowMs < untilMs)
            return false;
        reactor.Out.Array(2);
        reactor.Out.Int(local);
        reactor.Out.Int(0); // there are no replicas yet
        return true;
    }
}

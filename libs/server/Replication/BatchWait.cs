using Garnet.Server.Clients;
using Garnet.Server.Net;

namespace Garnet.Server.Replication;

/// <summary>REPL WAIT: until what a token names can be read here, or for so long.</summary>
internal sealed class BatchWait(ReplicationNode replication, (uint Term, ulong Batch, uint Owner) token, long untilMs) : LogWait
{
    internal override bool Resume(Reactor reactor, Connection client)
    {
        switch (replication.Reached(token.Term, token.Batch, token.Owner))
        {
            case TokenState.Reached:
                reactor.Out.Ok();
                return true;
            case TokenState.GivenUp:
                reactor.Out.Error("STALETOKEN The batch was given up when another server became the primary, or nobody here knows any more whether it was.");
                return true;
            case TokenState.ToCome when reactor.NowMs < untilMs:
                return false;
            default:
                reactor.Out.Error("TRYAGAIN The batch has not been applied here in that time; retry.");
                return true;
        }
    }
}

using Garnet.Replication;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>REPL WAIT: until what a token names can be read here, or for so long.</summary>
internal sealed class BatchWait(NodePosition position, (uint Term, ulong Batch, uint Owner) token, long untilMs) : LogWait
{
    internal override bool Resume(Worker worker, Connection client)
    {
        switch (position.Reached(token.Term, token.Batch, token.Owner))
        {
            case TokenState.Reached:
                worker.Out.Ok();
                return true;
            case TokenState.GivenUp:
                worker.Out.Error("STALETOKEN The batch was given up when another server became the primary, or nobody here knows any " +
                    "more whether it was.");
                return true;
            case TokenState.ToCome when worker.NowMs < untilMs:
                return false;
            default:
                worker.Out.Error("TRYAGAIN The batch has not been applied here in that time; retry.");
                return true;
        }
    }
}

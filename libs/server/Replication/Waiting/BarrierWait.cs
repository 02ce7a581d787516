using Garnet.Replication;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>REPL BARRIER on a replica: until the primary has said how far it is and that can be read here, or for so long.</summary>
internal sealed class BarrierWait(NodePosition position, long untilMs) : LogWait
{
    private sealed record Answer(uint Term, ulong Batch, uint By, string? Fault);

    private volatile Answer? _answer;

    /// <summary>The primary has answered, or could not be asked; on any thread.</summary>
    internal void Tell((uint Term, ulong Batch, uint By) token, string? fault) =>
        _answer = new Answer(token.Term, token.Batch, token.By, fault);

    internal override bool Resume(Worker worker, Connection client)
    {
        Answer? answer = _answer;
        if (answer?.Fault is { } fault)
        {
            worker.Out.Error("NOMASTERLINK The primary cannot be asked: " + fault);
            return true;
        }

        if (answer is not null && position.Reached(answer.Term, answer.Batch, answer.By) == TokenState.Reached)
        {
            worker.Out.Bulk(Tokens.Text(answer.Term, answer.Batch, answer.By));
            return true;
        }

        if (worker.NowMs < untilMs)
            return false;
        worker.Out.Error("TRYAGAIN What the primary has could not be applied here in that time; retry.");
        return true;
    }
}

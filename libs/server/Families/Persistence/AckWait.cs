using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Persistence;

/// <summary>WAITAOF: waits until the client's changes are durable here and on replicas, or for so long.</summary>
internal sealed class AckWait(ServerContext server, LogMark write, int wantedLocal, int wantedReplicas, long untilMs) : LogWait
{
    internal override bool IsBlocking => true;

    internal override bool Resume(Worker worker, Connection client)
    {
        bool isGivenUp = server.Replication.Position.HasGivenUp(write); // nobody will ever have it
        int local = !isGivenUp && server.Keeper is { HasLog: true } keeper && keeper.Log.IsDurable(write) ? 1 : 0;
        int replicas = isGivenUp ? 0 : server.Replication.Links.Count(link => link.HasDurable(write.Term, write.Batch));
        if (!isGivenUp && (local < wantedLocal || replicas < wantedReplicas) && End == WaitEnd.None && worker.NowMs < untilMs)
            return false;
        worker.Out.Array(2);
        worker.Out.Int(local);
        worker.Out.Int(replicas);
        return true;
    }
}

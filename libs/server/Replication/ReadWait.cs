using Garnet.Server.Net;
using Garnet.Server.Persistence;

namespace Garnet.Server.Replication;

/// <summary>A read that waits, before it runs, until the batch after <paramref name="number"/> is applied; it runs from the start then.</summary>
internal sealed class ReadWait(Replication replication, ulong number, long untilMs) : LogWait
{
    private bool _isOver;

    internal override bool Resume(Reactor reactor, Connection client)
    {
        bool moved = replication.Applied.Number > number || !replication.ChecksReads;
        if (!moved && reactor.Session.NowMs < untilMs)
            return false;
        client.WaitedInVain = !moved;
        Finish();
        return true;
    }

    internal override void Abandon(Connection client) => Finish();

    private void Finish()
    {
        if (_isOver)
            return;
        _isOver = true;
        replication.CountWaitingRead(-1);
    }
}

using Garnet.Aof.Shipping;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>A read that waits, before it runs, until something behind the point is applied, or its time is up; it runs from the start then.</summary>
internal sealed class ReadWait(RoleAccess access, ReadPoint point, long untilMs) : LogWait
{
    private bool _isOver;

    internal override bool Resume(Worker worker, Connection client)
    {
        if (access.Applied.Point == point && access.ChecksReads && worker.NowMs < untilMs)
            return false;
        Finish();
        return true;
    }

    internal override void Abandon(Connection client) => Finish();

    private void Finish()
    {
        if (_isOver)
            return;
        _isOver = true;
        access.Reads.EndWait();
    }
}

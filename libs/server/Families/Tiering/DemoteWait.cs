using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Families.Tiering;

/// <summary>TIER.DEMOTE: waits until the mover's thread has written what was asked for, or the tier's disk takes no more writes.</summary>
internal sealed class DemoteWait : Parking
{
    private readonly DemotionRequest _request;

    internal DemoteWait(DemotionRequest request)
    {
        _request = request;
        DeadlineMs = EveryTick;
    }

    internal override bool OutlivesPeer => true;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client)
    {
        if (_request.IsDone)
        {
            worker.Out.Int(_request.Moved);
            return true;
        }

        if (!worker.Session.Tier!.IsHung(worker.NowMs))
            return false;
        _request.IsGivenUp = true;
        worker.Out.Error("ERR the tier's disk does not answer a write: the key stays where it is"u8);
        return true;
    }

    /// <inheritdoc/>
    internal override void Abandon(Connection client) => _request.IsGivenUp = true;
}

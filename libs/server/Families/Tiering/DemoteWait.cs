using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Families.Tiering;

/// <summary>TIER.DEMOTE: waits until the mover's thread has written what was asked for.</summary>
internal sealed class DemoteWait : Parking
{
    private const int PauseMs = 2; // a write; after that it is looked at every tick

    private readonly DemotionRequest _request;

    internal DemoteWait(DemotionRequest request, long nowMs)
    {
        _request = request;
        DeadlineMs = nowMs + PauseMs;
    }

    internal override bool OutlivesPeer => true;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client)
    {
        if (!_request.IsDone)
            return false;
        worker.Out.Int(_request.Moved);
        return true;
    }

    /// <inheritdoc/>
    internal override void Abandon(Connection client) => _request.IsGivenUp = true;
}

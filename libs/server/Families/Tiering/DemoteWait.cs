using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Families.Tiering;

/// <summary>TIER.DEMOTE: waits until the mover's thread has written what was asked for.</summary>
internal sealed class DemoteWait(DemotionRequest request) : Parking
{
    internal override bool OutlivesPeer => true;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client)
    {
        if (!request.IsDone)
            return false;
        worker.Out.Int(request.Moved);
        return true;
    }

    /// <inheritdoc/>
    internal override void Abandon(Connection client) => request.IsGivenUp = true;
}

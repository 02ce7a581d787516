using Garnet.Server.Clients;

namespace Garnet.Server.Tiering;

/// <summary>A command whose values are being fetched from the tier; it is framed again once they are there.</summary>
internal sealed class FetchWait(ulong[] wanted) : Parking
{
    /// <summary>True while one of them is on its way.</summary>
    internal bool IsWaiting(Worker worker) => worker.Session.Tier!.Awaits(wanted);

    internal override bool OutlivesPeer => true;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client) => !IsWaiting(worker);
}

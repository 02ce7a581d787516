using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Tiering;

/// <summary>A command whose values are being fetched from the tier; it is framed again once they are there, or once it is known that it names too many.</summary>
internal sealed class FetchWait(ColdWait wanted, Connection of) : Parking
{
    /// <summary>True while one of them is on its way.</summary>
    internal bool IsWaiting(Worker worker)
    {
        if (worker.Session.Tier!.Awaits(wanted))
            return true;
        if (wanted.IsTooMuch)
            of.NotedPutOffs.FetchTooMuchIn = of.Commands + 1; // as it is framed again
        return false;
    }

    internal override bool OutlivesPeer => true;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client) => !IsWaiting(worker);

    /// <inheritdoc/>
    internal override void Abandon(Connection client) => client.Worker.Session.Tier!.GiveUp(wanted);
}

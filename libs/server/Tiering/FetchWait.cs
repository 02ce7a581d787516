using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Tiering;

/// <summary>A command whose values are being fetched from the tier; it is framed again once they are there, or once it is known that it names too many.</summary>
internal sealed class FetchWait(ColdWait wanted, Connection of) : Parking
{
    // Of some tens of milliseconds: as long as others may be held up for by one, not by several in one round.
    private const int LongRecords = 4096;

    /// <summary>Whose command it is.</summary>
    internal Connection Client => of;

    /// <summary>It takes long to run, as it has come to so many records.</summary>
    internal bool IsLong => wanted.Records > LongRecords;

    /// <summary>True while one of them is on its way.</summary>
    internal bool IsComing(Worker worker) => worker.Session.Tier!.IsComing(wanted);

    /// <summary>True if it waits for longer than the other.</summary>
    internal bool IsBefore(FetchWait other) => wanted.Step < other.Step;

    internal override bool OutlivesPeer => true;

    private long Step => wanted.Step;

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client)
    {
        if (worker.Session.Tier!.Awaits(wanted))
            return false;
        if (wanted.IsTooMuch)
            of.FetchTooMuchIn = of.Commands + 1; // as it is framed again
        return true;
    }

    /// <inheritdoc/>
    internal override void Abandon(Connection client) => client.Worker.Session.Tier!.GiveUp(wanted);
}

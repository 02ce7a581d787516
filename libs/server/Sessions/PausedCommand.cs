using Garnet.Server.Clients;

namespace Garnet.Server.Sessions;

/// <summary>A command held back by CLIENT PAUSE; it runs from the start when the pause is over.</summary>
internal sealed class PausedCommand : Parking
{
    private readonly ClientPause _pause;

    internal PausedCommand(ClientPause pause)
    {
        _pause = pause;
        DeadlineMs = EveryTick; // a pause may be prolonged or ended
    }

    internal override bool Resume(Worker worker, Connection client) => !_pause.Active || _pause.UntilMs <= worker.NowMs;
}

using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Persistence;

namespace Garnet.Server.Families.Persistence;

/// <summary>SAVE, and SHUTDOWN with a snapshot: waits for the end of a save, then answers or stops the server.</summary>
/// <param name="saves">Who takes it.</param>
/// <param name="number">Which one; 0: the one that it begins as soon as the one that runs, whose state is too old, has ended.</param>
/// <param name="stops">The server that is stopped then.</param>
/// <param name="force">It is stopped though that fails.</param>
internal sealed class SaveWait(SaveJob saves, long number, ServerContext? stops, bool force = false) : LogWait
{
    private long _number = number;

    internal override bool Resume(Worker worker, Connection client)
    {
        if (_number == 0)
            _number = saves.TryStart();
        if (_number == 0 || !saves.HasEnded(_number, out bool failed))
            return false;
        if (failed && force && stops!.Keeper is { } keeper)
            keeper.SavesAtStop = false; // it would fail once more
        else if (failed)
        {
            worker.Out.Error(stops is not null ? FaultText.Of(Fault.ShutdownFailed) : "ERR the snapshot failed, the log says why"u8);
            return true;
        }

        if (stops is null)
        {
            worker.Out.Ok();
            return true;
        }

        stops.Log.ShutdownAsked();
        stops.Core.RequestStop();
        client.CloseAfterReply = true;
        return true;
    }
}

using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Persistence;

namespace Garnet.Server.Families.Persistence;

/// <summary>SAVE, and SHUTDOWN with a snapshot: waits for the end of a save, then answers or stops the server.</summary>
internal sealed class SaveWait(SaveJob saves, long number, ServerContext? stops) : LogWait
{
    internal override bool Resume(Worker worker, Connection client)
    {
        if (!saves.HasEnded(number, out bool failed))
            return false;
        if (failed)
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

using Garnet.Server.Clients;
using Garnet.Server.Net;
using Garnet.Server.Persistence;

namespace Garnet.Server.Families.Persistence;

/// <summary>SAVE, and SHUTDOWN with a snapshot: waits for the end of a save, then answers or stops the server.</summary>
internal sealed class SaveWait(SaveJob saves, long number, bool stops) : LogWait
{
    internal override bool Resume(Reactor reactor, Connection client)
    {
        if (!saves.HasEnded(number, out bool failed))
            return false;
        if (failed)
        {
            reactor.Out.Error(stops ? "ERR Errors trying to SHUTDOWN. Check logs." : "ERR the snapshot failed, the log says why");
            return true;
        }

        if (!stops)
        {
            reactor.Out.Ok();
            return true;
        }

        reactor.Server.Log.ShutdownAsked();
        reactor.Server.RequestStop();
        client.CloseAfterReply = true;
        return true;
    }
}

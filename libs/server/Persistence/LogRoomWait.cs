using Garnet.Server.Clients;

namespace Garnet.Server.Persistence;

/// <summary>A write that waits, before it takes any lock, until the log has memory again; it runs from the start then.</summary>
internal sealed class LogRoomWait(KeptLog log) : LogWait
{
    internal override bool Resume(Worker worker, Connection client) => !log.IsFull;
}

using Garnet.Server.Clients;
using Garnet.Server.Net;

namespace Garnet.Server.Persistence;

/// <summary>A write that waits, before it takes any lock, until the log has memory again; it runs from the start then.</summary>
internal sealed class RoomWait(DataKeeper keeper) : LogWait
{
    internal override bool Resume(Reactor reactor, Connection client) => !keeper.IsFull;
}

using Garnet.Server.Clients;

namespace Garnet.Server.Persistence;

/// <summary>A write that waits, before it takes any lock, until the log has memory again; it runs from the start then.</summary>
internal sealed class RoomWait(DataKeeper keeper) : LogWait
{
    internal override bool Resume(Worker worker, Connection client) => !keeper.IsFull;
}

using Tsavorite;

namespace Garnet.Server.Expiry;

/// <summary>What a reaper does in one go, and does again from its start where it lacked something of a tier (<see cref="ReapWait"/>).</summary>
internal interface IReapStep
{
    void Run(StoreSession session);
}

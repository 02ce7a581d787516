using Garnet.Replication;

namespace Garnet.Server.Replication;

/// <summary>What is wanted of a handover.</summary>
/// <param name="Target">Which replica is to lead; null = whichever has everything first.</param>
/// <param name="TimeoutMs">How long to wait for it to have everything; 0 = without end.</param>
/// <param name="IsForced">When that time is over it leads with what it has.</param>
/// <param name="Then">Runs at the end, in place of following the new primary or of leading on; for a server that stops.</param>
internal sealed record HandoverOrder(Peer? Target, long TimeoutMs, bool IsForced, Action? Then = null)
{
    /// <summary>True if this replica may be the one.</summary>
    internal bool IsFor(HelloFacts replica) => Target is null || (replica.Port == Target.Port && replica.Address == Target.Host);
}

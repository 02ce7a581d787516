using Garnet.Replication;
using Garnet.Server.Replication;

namespace Garnet.Server.Telemetry;

/// <summary>A replica of this server, as it says and as its link has it.</summary>
/// <param name="Address">Where it can be reached, as it says.</param>
/// <param name="Port">The port there.</param>
/// <param name="State">As Redis has it.</param>
/// <param name="Offset">Where its log stands.</param>
/// <param name="SilentUs">For how long nothing has come from it.</param>
/// <param name="LagBytes">Bytes of batches that it does not show yet.</param>
/// <param name="LagMs">How old what it shows is.</param>
internal readonly record struct ReplicaFigures(
    string Address, int Port, string State, long Offset, long SilentUs, long LagBytes, long LagMs)
{
    /// <summary>All of them; of those that say the same of themselves, the first.</summary>
    internal static List<ReplicaFigures> All(Moment moment)
    {
        var all = new List<ReplicaFigures>();
        foreach (ReplicaThreads replica in moment.Server.Replication.Links.All)
        {
            ReplicaLink link = replica.Link;
            (long bytes, long sealedUs) = moment.Server.Replication.Backlog.Behind(link.Ack.Applied);
            var one = new ReplicaFigures(
                link.Hello.Address, link.Hello.Port, StateOf(link), NodePosition.OffsetOf(link.Ack), link.SilentUs,
                bytes, moment.MsSince(sealedUs));
            if (!all.Exists(other => (other.Address, other.Port, other.State) == (one.Address, one.Port, one.State)))
                all.Add(one);
        }

        return all;
    }

    /// <summary>As Redis has the states of a replica.</summary>
    internal static string StateOf(ReplicaLink link) =>
        link.Stage == LinkStage.Streaming ? "online" : link.Stage == LinkStage.Snapshot ? "send_bulk" : "wait_bgsave";
}

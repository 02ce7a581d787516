using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Replication;
using Garnet.Replication.Frames;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>
/// How the data of this server come to be its primary's: as the primary's plan says, what was here before is given up, what others have of it is
/// taken back, and now and then both are compared (replication.Z9, in DigestRound).
/// </summary>
internal sealed class Adoption(ServerLog lines, WorkerSet workers, NodeHistory history, NodeLog log, Shipping shipping)
{
    private Discarding? _discarding; // given up when the copy is whole
    private long _comparisons;

    /// <summary>Raised when the store begins to have the data of another history: whoever knows some of them by heart knows nothing.</summary>
    internal event Action<Worker>? DataReplaced;

    /// <summary>Name of this run of the server: no primary whose data it has may have them from here.</summary>
    internal string RunId => history.RunId;

    /// <summary>What goes over the link to the primary is counted with what goes to replicas.</summary>
    internal LinkTraffic Traffic => shipping.Links.Traffic;

    /// <summary>How often this server has given up what it had for a primary's data, and the writes known to have gone that way.</summary>
    internal long Discards { get; private set; }
    internal long DiscardedWrites { get; private set; }

    /// <summary>How often this server's data were found to be its primary's.</summary>
    internal long Comparisons => Volatile.Read(ref _comparisons);

    /// <summary>The primary has said how this replica comes up to date; on the link's thread, before it happens.</summary>
    internal void OnPlan(PlanFrame plan, LogPosition mine, Peer primary)
    {
        history.Meet(plan.Term);
        _discarding = null;
        if (!plan.IsFull)
        {
            lines.PartialSync(primary.ToString(), plan.At.InWords);
            return;
        }

        shipping.Links.EndAll("the server that was followed gets all its data anew from its primary");
        shipping.Exports.Interrupt();
        shipping.Links.DropPlaces();
        log.InterruptSaves();
        lines.FullSync(primary.ToString(), plan.At.InWords);
        if (!mine.IsKnown || mine.Batch == 0)
            return;
        var discarding = new Discarding(shipping.Shipper, log.HasDisk ? log.Disk : null, lines);
        discarding.Run(plan, mine);
        _discarding = discarding;
    }

    /// <summary>The data are the primary's from here on, and so is their history; what was here before is gone.</summary>
    internal void OnBegan(PlanFrame plan)
    {
        history.Take(plan);
        if (plan.IsFull)
            workers.First?.Post((owner, _, _) => DataReplaced?.Invoke(owner)); // whoever keeps copies of keys
        if (!plan.IsFull || _discarding is not { } discarded)
            return;
        _discarding = null;
        Discards++;
        DiscardedWrites += Math.Max(discarded.Writes, 0);
        lines.Discarded(discarded.Mine.InWords, discarded.Writes, discarded.File);
    }

    /// <summary>The first batch of a term has come.</summary>
    internal void OnTermBegan(TermStart start) => history.Terms.Add(start);

    /// <summary>The primary has told what its data are: those who follow this server hold the same data, or are to learn that they do not.</summary>
    internal void PassOn(DigestFrame digest) => shipping.Links.Tell(digest);

    /// <summary>This replica's data behind <paramref name="batch"/> have been compared with its primary's.</summary>
    internal void OnCompared(Peer primary, bool agrees, ulong batch)
    {
        if (agrees)
        {
            Interlocked.Increment(ref _comparisons);
            return;
        }

        shipping.Links.CountDivergence();
        lines.Differs(primary.ToString(), batch);
    }
}

using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Recovery;
using Garnet.Aof.Shipping;
using Garnet.Replication;
using Garnet.Replication.Frames;
using Garnet.Server.Base;

namespace Garnet.Server.Replication;

/// <summary>
/// What a server has and its primary never had, before a full sync takes its place: counted, and kept in a file if there is a data
/// directory. It can only be told apart while the place is known at which the histories part.
/// </summary>
internal sealed class Discarding(IShipper shipper, IDisk? disk, ServerLog lines)
{
    /// <summary>Writes of this server's own; -1 if that is not known.</summary>
    internal long Writes { get; private set; } = -1;

    /// <summary>Where this server stood.</summary>
    internal LogPosition Mine { get; private set; } = LogPosition.None;

    /// <summary>The file that has them; null if there is none.</summary>
    internal string? File { get; private set; }

    /// <summary>Looks through the batches behind the place where the primary's history left this server's, which ends at <paramref name="mine"/>.</summary>
    internal void Run(PlanFrame plan, LogPosition mine)
    {
        Mine = mine;
        if (plan.Fork > mine.Batch)
            return;
        try
        {
            (int lanes, ulong seed) = shipper.Layout;
            using OrphanFile? orphan = disk is null ? null : new OrphanFile(disk, lanes, seed);
            using var feed = new BatchFeed(shipper.Backlog, () => shipper.LogOnDisk, plan.Fork);
            long entries = 0;
            while (feed.Next <= mine.Batch && feed.TryNext() is { } batch)
            {
                entries += batch.Entries;
                orphan?.Add(batch);
                batch.Release();
            }

            Writes = feed.Next > mine.Batch ? entries : -1;
            IReadOnlyList<string> dropped = [];
            File = orphan?.Finish(out dropped);
            foreach (string name in dropped)
                lines.OrphanDropped(name);
        }
        catch (DiskException e)
        {
            lines.OrphanFailed(e.Message); // a full disk must not keep a server from following
        }
    }
}

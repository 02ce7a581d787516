using Garnet.Aof.Shipping;
using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Tls;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>The replicas that are attached now, and what they together have.</summary>
internal sealed class ReplicaLinks(ReplicationSettings settings, IClock clock, ServerLog lines, TlsKeys keys, NodeLog log) : IDisposable
{
    private readonly Lock _gate = new();
    private readonly LeftPlaces _left = new(clock, (replica, why) => lines.PlaceGivenUp(replica.Address, replica.Port, why));
    private readonly ResumableCopy _copies = new(clock);
    private ReplicaThreads[] _all = [];
    private bool _closed;

    /// <summary>All of them, in the order in which they came.</summary>
    internal IReadOnlyList<ReplicaThreads> All => Volatile.Read(ref _all);

    /// <summary>What has gone over links of this server, to replicas and to a primary.</summary>
    internal LinkTraffic Traffic { get; } = new();

    /// <summary>Keys of links to others; null if they are not encrypted.</summary>
    internal TlsKeys? Keys => keys.OfReplication;

    /// <summary>Snapshots sent, and replicas that went on from memory or files.</summary>
    internal long Full { get; private set; }
    internal long Partial { get; private set; }

    /// <summary>Of the snapshots, those for replicas that would have gone on from a place of theirs, which is not known here or not kept any more.</summary>
    internal long Denied { get; private set; }

    /// <summary>
    /// Memory that replicas cost beside the backlog's own: what is kept beyond its size because one of them has not got it yet, and frames on their way.
    /// </summary>
    internal long MemoryBytes => Math.Max(0, log.Backlog.Bytes - log.Backlog.BytesMax) + All.Sum(static one => one.MemoryBytes);

    /// <summary>Replicas that came with another batch of a number and term that this server has too, and times its own data were not its primary's.</summary>
    internal long Divergences { get; private set; }

    /// <summary>The first batch that a replica, attached or just gone, still needs; <see cref="ulong.MaxValue"/> without one.</summary>
    internal ulong NeededFrom => Math.Min(_left.NeededFrom, All.Count == 0 ? ulong.MaxValue : All.Min(static one => one.Link.Needed));

    /// <summary>Begins to serve a replica, whose earlier link, if it has one here, is broken off.</summary>
    internal void Serve(ReplicaLink link, LinkSocket socket, string greeting)
    {
        Break(link.Hello.RunId, "it has connected again");
        var replica = new ReplicaThreads(link, socket, this, _copies, () => settings.CopyKeepSeconds * 1000);
        lock (_gate)
        {
            if (_closed)
            {
                replica.Dispose();
                return;
            }

            Volatile.Write(ref _all, [.. _all, replica]);
        }

        HelloFacts hello = replica.Link.Hello;
        lines.ReplicaCame(hello.Address, hello.Port, hello.Position.IsKnown ? hello.Position.InWords : null);
        replica.Start(greeting);
    }

    /// <summary>A replica's connection broke: what it may still need is kept for a while. On its own thread, before the link gives its place up.</summary>
    internal void KeepPlace(ReplicaLink link)
    {
        _left.Keep(link.Hello, link.Needed, log.OnDisk is null ? log.Backlog.Pin(link.Needed) : null);
        if (All.Any(other => other.Link != link && other.Link.Hello.RunId == link.Hello.RunId && other.Link.Stage != LinkStage.Planning))
            _left.Forget(link.Hello.RunId);
    }

    /// <summary>A batch has come: those who have been away for too long, or are too far behind, lose their places.</summary>
    internal void ReviewPlaces() => _left.Review(settings.TimeoutSeconds, log.OnDisk is null ? log.Backlog.First : 0);

    /// <summary>This server's log goes another way: nobody's place is one any more, nor is a copy that was begun.</summary>
    internal void DropPlaces()
    {
        _copies.Drop();
        _left.Clear();
    }

    /// <summary>
    /// The copy that the replica had begun when its link broke, to go on where it was, if there is one. False while the end of that link is still to
    /// come.
    /// </summary>
    internal bool TryResume(HelloFacts replica, out FullCopy? copy)
    {
        copy = null;
        if (All.Any(one => !ReferenceEquals(one.Link.Hello, replica) && one.Link.Hello.RunId == replica.RunId))
            return false;
        copy = _copies.Take(replica.RunId, replica.Copy);
        return true;
    }

    /// <summary>A replica has gone; on its own thread.</summary>
    internal void Remove(ReplicaThreads replica)
    {
        lock (_gate)
            Volatile.Write(ref _all, [.. _all.Where(one => one != replica)]);
        lines.ReplicaLeft(replica.Link.Hello.Address, replica.Link.Hello.Port, replica.Link.EndReason);
    }

    /// <summary>A replica comes up to date: it has its place itself now, and how is counted.</summary>
    internal void CountPlan(HelloFacts replica, bool isFull)
    {
        _left.Forget(replica.RunId);
        lock (_gate)
        {
            if (isFull)
                Full++;
            else
                Partial++;
            if (isFull && replica.Earlier.Batch > 0)
                Denied++;
        }
    }

    /// <summary>A replica's log has diverged from this one.</summary>
    internal void OnDiverged(HelloFacts replica)
    {
        CountDivergence();
        lines.Diverged(replica.Address, replica.Port, replica.Position.InWords);
    }

    /// <summary>Counts data that are not what they should be, here or on a replica.</summary>
    internal void CountDivergence()
    {
        lock (_gate)
            Divergences++;
    }

    /// <summary>All who follow are to be told what the data behind a batch are.</summary>
    internal void Tell(DigestFrame digest)
    {
        foreach (ReplicaThreads replica in All)
            replica.Link.Tell(digest);
        Nudge();
    }

    /// <summary>There is more to send.</summary>
    internal void Nudge()
    {
        foreach (ReplicaThreads replica in All)
            replica.Nudge();
    }

    /// <summary>Sends those away whose user was removed.</summary>
    internal void EndLost()
    {
        foreach (ReplicaThreads replica in All)
        {
            if (replica.HasLostUser)
                replica.End("its user was removed");
        }
    }

    /// <summary>Sends all replicas away.</summary>
    internal void EndAll(string reason)
    {
        foreach (ReplicaThreads replica in All)
            replica.End(reason);
    }

    /// <summary>Replicas that stream and of which the condition holds.</summary>
    internal int Count(Predicate<ReplicaLink> condition) => All.Count(one => one.Link.Stage == LinkStage.Streaming && condition(one.Link));

    /// <summary>Replicas that stream and were heard of within the time.</summary>
    internal int CountGood(int lagSecondsMax) =>
        All.Count(one => one.Link.Stage == LinkStage.Streaming && one.Link.SilentUs <= (lagSecondsMax + 1L) * 1_000_000);

    /// <inheritdoc/>
    public void Dispose()
    {
        _copies.Close();
        lock (_gate)
            _closed = true;
        EndAll("the server stops");
        foreach (ReplicaThreads replica in All)
            replica.Dispose();
        _left.Clear();
    }

    /// <summary>Breaks what links the same run of a server has here already.</summary>
    internal void Break(string runId, string reason)
    {
        foreach (ReplicaThreads replica in All)
        {
            if (replica.Link.Hello.RunId == runId)
                replica.Break(reason);
        }
    }
}

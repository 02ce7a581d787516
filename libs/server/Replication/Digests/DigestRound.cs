using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>
/// A primary's part in the comparison of data: now and then, when nobody has written for a moment, it reads everything and tells its
/// replicas what they must have. Steppable: <see cref="Turn"/> does what is due; a thread that calls it once a second is
/// the owner's business. Clients are not held up: if one of them writes meanwhile, the attempt is given up.
///
/// replication.Z9  Whoever follows is told now and then what the data behind a batch are, and compares: what differs is said, counted, and replaced
///     by a full sync.
/// </summary>
internal sealed class DigestRound(ServerCore server, IRole role, NodeLog log, ReplicaLinks links, IClock clock, Func<int> periodSeconds)
{
    private const long IdleUs = 2_000_000;
    private const int CostFactor = 50; // reading everything takes at most 2 % of a core
    private DigestFrame? _digest;
    private ulong _seen = ulong.MaxValue;
    private long _seenUs, _dueUs;

    /// <summary>Computes and tells if it is time; true if a replica was told.</summary>
    internal bool Turn()
    {
        long periodUs = periodSeconds() * 1_000_000L;
        if (periodUs == 0 || role.IsReplica || role.IsChanging || log.Leading is null || !IsIdle())
            return false;
        ReplicaLink[] behind = [.. links.All.Select(static one => one.Link).Where(link => link.Awaits(_seen))];
        if (behind.Length == 0)
            return false;
        if (_digest?.Batch != _seen)
        {
            if (clock.MonotonicUs < _dueUs)
                return false;
            long fromUs = clock.MonotonicUs;
            _digest = Compute();
            _dueUs = clock.MonotonicUs + Math.Max(periodUs, (clock.MonotonicUs - fromUs) * CostFactor);
        }

        if (_digest is not { } digest)
            return false;
        foreach (ReplicaLink link in behind)
            link.Tell(digest);
        links.Nudge();
        return true;
    }

    private bool IsIdle()
    {
        ulong end = log.Backlog.End.Batch;
        if (end != _seen)
            (_seen, _seenUs) = (end, clock.MonotonicUs);
        return clock.MonotonicUs - _seenUs >= IdleUs;
    }

    // Null if somebody has written since.
    private DigestFrame? Compute()
    {
        uint term = log.Backlog.End.Term;
        if (server.Store.EndBatch() != _seen)
            return null;
        StoreDigest? digest = StoreDigest.TryOf(server.Store, server.Settings.Memory.Databases, () => log.Backlog.End.Batch == _seen);
        return digest is null || server.Store.EndBatch() != _seen ? null : new DigestFrame(term, _seen, digest.Keys, [.. digest.Sums]);
    }
}

using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>
/// Where this server stands in the history, as clients and tools are told: as one number for those that know offsets, and as tokens. From any
/// thread.
/// </summary>
internal sealed class NodePosition(IRole role, NodeHistory history, NodeLog log, AppliedState applied)
{
    private const int BatchBits = 40; // more batches than that overflow into terms that no promotion takes

    /// <summary>Term of the log: the one this server leads in, or what it has heard of its primary's.</summary>
    internal uint Term => role.Follower is null ? history.LedTerm : Math.Max(applied.Term, role.Following?.Plan?.Term ?? 0);

    /// <summary>A larger one is a superset in the same history, and a later history. 0 while a replica's data is coming in: a Sentinel chooses by it.</summary>
    internal long Offset
    {
        get
        {
            if (role.Follower is { IsTorn: true })
                return 0;
            if (ShowsApplied)
                return OffsetOf(applied.Term, applied.Number);
            return log.Current is null ? 0 : OffsetOf(history.LedTerm, log.Backlog.End.Batch);
        }
    }

    /// <summary>
    /// What this replica would go on from if it were promoted now, as one number: all that has come whole, applied or not. Sentinels
    /// choose by it; 0 while there is nothing to go on from.
    /// </summary>
    internal long ReceivedOffset
    {
        get
        {
            LogPosition at = role.Follower?.Position ?? log.Backlog.End;
            return OffsetOf(at.Term, at.Batch);
        }
    }

    /// <summary>The last batch that counts here: applied on a replica, closed on a primary.</summary>
    internal ulong LastBatch => role.Follower is not null ? applied.Number : log.Leading is { } led ? led.Batch - 1 : log.Backlog.End.Batch;

    /// <summary>The first place of the history before this one that is not one of this; -1 if there was none before, or it is not known where that ended.</summary>
    internal long OffsetBefore => history.IdBefore.AsSpan().ContainsAnyExcept('0') && history.Terms.Known is [.., var begun]
        ? OffsetOf(begun.Before, begun.First) : -1;

    /// <summary>Where a replica stands.</summary>
    internal static long OffsetOf(AckFrame ack) => OffsetOf(ack.Term, ack.Applied);

    internal static long OffsetOf(uint term, ulong batch) => ((long)term << BatchBits) + (long)batch;

    /// <summary>Covers all that anybody can have seen here so far, also while the role is being changed. Ends a batch, so not out of a transaction (NoMulti).</summary>
    internal (uint Term, ulong Batch) Token() => ShowsApplied ? (applied.Term, applied.Number) : (history.LedTerm, log.EndBatch());

    /// <summary>The same for clients.</summary>
    internal string TokenText() => Token() is var (term, batch) ? TextOf(term, batch) : "";

    /// <summary>A moment of this history for clients.</summary>
    internal string TextOf(uint term, ulong batch) => Tokens.Text(term, batch, history.Terms.OwnerOf(term));

    // What can be read here is what was applied last: on a replica, and until it leads (replication.Z4). A primary becomes one when its log has ended (replication.Z2).
    private bool ShowsApplied => role.Follower is not null || (role.IsReplica && log.Current is null);

    /// <summary>
    /// True if a client's change is not a part of the history that this server leads now, or is about to lead: it was discarded, or nobody knows. Until a
    /// promotion is through, the term it led last is one of the history it has left.
    /// </summary>
    internal bool HasGivenUp(LogMark write) =>
        write.IsKnown && (write.Term != history.LedTerm || role.Follower is not null) && IsLost(write);

    private bool IsLost(LogMark write) =>
        history.Terms.IsOthers(write.Term, history.Owner) || history.Terms.LastOf(write.Term) is not { } end || write.Batch > end;

    /// <summary>Somebody waits for the change.</summary>
    internal void Demand(LogMark write)
    {
        if (write.Term == history.LedTerm)
            log.Leading?.Demand(write.Batch);
    }

    /// <summary>Whether what a token covers can be read here.</summary>
    internal TokenState Reached(uint term, ulong batch, uint by = 0)
    {
        bool showsApplied = ShowsApplied;
        (uint here, ulong last) = showsApplied ? (applied.Term, applied.Number) : (history.LedTerm, LastBatch);
        return history.Terms.Judge((term, batch, by), here, last, isReadable: !showsApplied || role.Follower is { IsFed: true });
    }
}
